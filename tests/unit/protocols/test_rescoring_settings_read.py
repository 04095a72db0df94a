"""What a family says its stages read of the settings is what they read: addresses are made of it."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import replace
from typing import Any

import pytest
from golden import every_protocol, inputs_of

from pipeline.engine.score import read_all
from pipeline.engine.stored.reference_groups import to_groups
from pipeline.protocols.base import Protocol
from pipeline.protocols.settings import _options
from pipeline.store.groups import encode
from pipeline.trials.schema import N_BUCKETS


class Watched:
    """A protocol or its settings that notes which fields are read."""

    def __init__(self, value: Any, seen: set[str], inner: Any = None) -> None:
        self.__dict__.update(_value=value, _seen=seen, _inner=inner)

    def __getattr__(self, name: str) -> Any:
        if name == "settings":
            return self._inner
        if name in {field.name for field in dataclasses.fields(self._value)}:
            self._seen.add(name)
        return getattr(self._value, name)


def watched(protocol: Protocol) -> tuple[Protocol, set[str], set[str]]:
    """A protocol whose reads are noted: of its own fields, and of its settings."""
    settings_type = type(protocol.settings)
    read: set[str] = set()

    class Settings(settings_type):  # type: ignore[misc, valid-type]
        def __getattribute__(self, name: str) -> Any:
            if name in settings_type.__dataclass_fields__:
                read.add(name)
            return super().__getattribute__(name)

    values = {field.name: getattr(protocol.settings, field.name) for field in dataclasses.fields(protocol.settings)}
    settings = Settings(**values)
    own: set[str] = set()
    read.clear()
    return Watched(protocol, own, settings), own, read  # type: ignore[return-value]


ONE_OF_EACH = {(protocol.family.name, protocol.mode): name for name, protocol in every_protocol().items()}


# Segments copy the settings, and so read them all: they are held to their values below.
WATCHED = sorted({*ONE_OF_EACH.values(), "sws2013/official", "med14/official"})


@pytest.mark.parametrize("name", [name for name in WATCHED if "segments" not in name])
def test_stages_read_no_other_settings(name: str) -> None:
    protocol = every_protocol()[name]
    family = protocol.family
    tables, _ = read_all(protocol, inputs_of(protocol))

    spied, own, read = watched(protocol)
    reference = family.refer(spied, tables)
    if family.derivation is not None:
        assert read <= set(family.derivation)
    assert own <= {"family", "settings"}, "a reference depends on nothing of a protocol but its settings"

    spied, own, read = watched(protocol)
    trials, _ = family.lay_out(spied, tables, reference.timeline)
    family.kind.timeline_parts(spied.settings, reference.timeline)
    for bucket in range(N_BUCKETS):
        tile, key = trials.tiles(bucket, bucket + 1), reference.key.tiles(bucket, bucket + 1)
        family.align(spied, tile, key, reference)
    assert not read & set(family.conclusion)
    assert own <= {"family", "settings"}


@pytest.mark.parametrize("name", every_protocol())
def test_the_stages_name_settings_that_exist(name: str) -> None:
    protocol = every_protocol()[name]
    known = {field.name for field in dataclasses.fields(protocol.settings)}
    assert {*(protocol.family.derivation or ()), *protocol.family.conclusion} <= known
    derivation = known if protocol.family.derivation is None else set(protocol.family.derivation)
    assert not derivation & set(protocol.family.conclusion)


@pytest.mark.parametrize("name", ["openkws13-segments/official", "openkws13-segments/plan", "openkws13/plan"])
def test_settings_outside_a_stage_do_not_change_what_it_makes(name: str) -> None:
    protocol = every_protocol()[name]
    family, kind = protocol.family, protocol.family.kind
    tables, _ = read_all(protocol, inputs_of(protocol))
    reference = family.refer(protocol, tables)
    whole = encode(to_groups(reference, kind))
    trials, _ = family.lay_out(protocol, tables, reference.timeline)
    outcomes = family.counted(protocol, trials, reference.key, reference)
    for field in dataclasses.fields(protocol.settings):
        for other in other_settings(protocol, field.name):
            if field.name not in family.derivation:
                assert encode(to_groups(family.refer(other, tables), kind)) == whole, field.name
            if field.name in family.conclusion:
                again, _ = family.lay_out(other, tables, reference.timeline)
                assert family.counted(other, again, reference.key, reference) == outcomes, field.name


def other_settings(protocol: Protocol, name: str) -> list[Protocol]:
    """The protocol with another value of one setting, as many as its type allows at a glance."""
    hint = typing.get_type_hints(type(protocol.settings))[name]
    value = getattr(protocol.settings, name)
    choices = [choice for option in _options(hint) for choice in typing.get_args(option)]
    candidates = [*choices, not value if isinstance(value, bool) else None, 0.37 if float in _options(hint) else None]
    values = [one for one in candidates if one is not None and one != value]
    return [replace(protocol, settings=replace(protocol.settings, **{name: one})) for one in values]
