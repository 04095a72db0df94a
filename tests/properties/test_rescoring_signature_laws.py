"""A signature and a result's address change with every field of a protocol and with every byte of every input."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import typing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.protocols.base import Protocol
from pipeline.protocols.settings import _options
from pipeline.store.address import address
from pipeline.terms import Source

NAMES = sorted(protocols.protocols())
SOURCES = (Source("u", "output", "ab" * 32, 3), Source("v", "rttm", "cd" * 32, 4))


def changed_setting(protocol: Protocol, name: str, value: Any) -> Protocol:
    """Even to what the settings would refuse: a signature does not ask whether a value makes sense."""
    settings = copy.copy(protocol.settings)
    object.__setattr__(settings, name, value)
    return replace(protocol, settings=settings)


def other_values(value: Any, hint: Any) -> Iterator[Any]:
    """Values that a field may have instead, of every type it allows."""
    for option in _options(hint):
        if typing.get_origin(option) is Literal:
            yield from (choice for choice in typing.get_args(option) if choice != value)
        elif option is bool:
            yield not value
        elif option is float:
            yield from (number for number in (0.25, 0.1 + 0.2, 0.3, 1e-300, 7.0) if number != value)
        elif option is type(None):
            if value is not None:
                yield None
        else:
            yield from (text for text in ("none", "a|b", "a\\x7cb", "a\nb", "'a\\nb'", "a:1", "ä") if text != value)


def perturbed(protocol: Protocol) -> Iterator[tuple[str, Protocol]]:
    """The protocol with each of its fields changed in turn, and fields of fields."""
    yield "name", replace(protocol, name=protocol.name + "x")
    yield "edition", replace(protocol, edition=protocol.edition + 1)
    yield "mode", replace(protocol, mode=protocol.mode + "x")
    yield "title", replace(protocol, title=protocol.title + "x")
    yield "primary", replace(protocol, primary=protocol.primary + "x")
    yield "family", replace(protocol, family=replace(protocol.family, name=protocol.family.name + "x"))
    for at, role in enumerate(protocol.roles):
        for field in dataclasses.fields(role):
            value = getattr(role, field.name)
            other = not value if isinstance(value, bool) else (value or "") + "x"
            roles = (*protocol.roles[:at], replace(role, **{field.name: other}), *protocol.roles[at + 1 :])
            yield f"roles.{at}.{field.name}", replace(protocol, roles=roles)
    for at, measure in enumerate(protocol.measures):
        rest = (*protocol.measures[:at], *protocol.measures[at + 1 :])
        yield f"measures.{at}", replace(protocol, measures=rest)
        for name in ("name", "unit", "better", "source") if at == 0 else ("name",):
            one = replace(measure, **{name: getattr(measure, name) + "x"})
            measures = (*protocol.measures[:at], one, *protocol.measures[at + 1 :])
            yield f"measures.{at}.{name}", replace(protocol, measures=measures)
    hints = typing.get_type_hints(type(protocol.settings))
    for field in dataclasses.fields(protocol.settings):
        for other in other_values(getattr(protocol.settings, field.name), hints[field.name]):
            yield f"settings.{field.name}={other!r}", changed_setting(protocol, field.name, other)


@pytest.mark.parametrize("name", NAMES, ids="/".join)
def test_every_field_of_a_protocol_changes_signature_and_address(name: tuple[str, str]) -> None:
    protocol = protocols.protocols()[name]
    covered = {"name", "edition", "mode", "title", "family", "roles", "settings", "measures", "primary"}
    assert {field.name for field in dataclasses.fields(protocol)} == {
        *covered,
        "tool",
        "leads",
    }  # which options and reports go by
    seen = {protocols.signature(protocol, SOURCES): "as it is"}
    addresses = {address("result", protocol=protocols.fields(protocol)): "as it is"}
    for what, other in perturbed(protocol):
        signature = protocols.signature(other, SOURCES)
        assert signature not in seen, f"{what} and {seen.get(signature)} have one signature"
        assert "\n" not in signature
        seen[signature] = what
        made = address("result", protocol=protocols.fields(other))
        assert made not in addresses, f"{what} and {addresses.get(made)} have one address"
        addresses[made] = what


@given(
    data=st.binary(min_size=1, max_size=200),
    at=st.integers(0, 199),
    flip=st.integers(1, 255),
    role=st.sampled_from(["ecf", "output"]),
)
def test_every_byte_of_every_input_changes_the_signature(data: bytes, at: int, flip: int, role: str) -> None:
    at %= len(data)
    other = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    protocol = protocols.find("sws2013")

    def signed(content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        return protocols.signature(protocol, (*SOURCES, Source("w", role, digest, len(content))))

    assert signed(data) != signed(other)
    assert signed(data) != signed(data + b"\0")
    assert signed(data) == signed(bytes(data))


def test_an_input_more_or_of_another_role_changes_the_signature() -> None:
    protocol = protocols.find("sws2013")
    variants = [SOURCES, SOURCES[:1], (), (replace(SOURCES[0], role="rttm"), SOURCES[1]), (*SOURCES, SOURCES[0])]
    assert len({protocols.signature(protocol, sources) for sources in variants}) == len(variants)
    assert protocols.signature(protocol, SOURCES) == protocols.signature(protocol, SOURCES[::-1])


def test_the_version_is_in_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = protocols.find("sws2013")
    before = protocols.signature(protocol, SOURCES)
    monkeypatch.setattr(protocols, "rescore_version", lambda: "99.9")
    assert protocols.signature(protocol, SOURCES) != before
