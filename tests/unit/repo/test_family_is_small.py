"""A family stays small and typed: what few families can do are values of their own, not fields of all."""

from __future__ import annotations

import dataclasses
import re

import pytest

from pipeline import protocols
from pipeline.protocols.base import Abilities, Boards, Family, Kind, Reads

MOST_FIELDS = 12


@pytest.mark.parametrize("value", [Family, Kind, Abilities, Boards, Reads], ids=lambda value: value.__name__)
def test_it_has_few_fields_and_is_frozen(value):
    assert len(dataclasses.fields(value)) <= MOST_FIELDS
    assert value.__dataclass_params__.frozen


def test_no_field_of_a_family_is_untyped():
    assert not [field.name for field in dataclasses.fields(Family) if re.search(r"\bAny\b", str(field.type))]


def test_every_protocols_board_is_headed_by_a_measure_that_may():
    for protocol in protocols.protocols().values():
        own = {measure.name: measure for measure in protocol.measures}
        assert own[protocol.primary].heads_board, protocol.name
        assert own[protocol.primary].better in ("higher", "lower")
        assert set(protocol.leads) <= own.keys() - {protocol.primary}


def test_every_measure_says_all_that_is_asked_of_it():
    for name, measure in protocols.measures().items():
        assert str(measure.label), name
        assert measure.source, name
        assert measure.aggregation, name
        assert not measure.best or measure.best in protocols.measures(), name
        assert not measure.threshold or measure.threshold in protocols.measures(), name
