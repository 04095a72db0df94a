"""Validating is scoring without a key: of 300 submissions with up to three slips, both speak of the same ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipeline.cli import main
from pipeline.engine.checks import ONLY_A_KEY_TELLS
from pipeline.engine.score import score_files
from pipeline.errors import InputError
from pipeline.protocols.base import Protocol
from tests.properties.handed_in import KEYS, every, made, slipped

SEED, N = 25, 300
PROTOCOLS = every()


def scored(protocol: Protocol, inputs: dict[str, str]) -> tuple[bool, set[str]]:
    """Whether scoring refuses, and the codes of what it says about anything but the key."""
    try:
        findings, refused = score_files(protocol, inputs).findings, False
    except InputError as error:
        findings, refused = error.findings, True
    key = inputs.get(KEYS[protocol.family.name])
    return refused, {one.code for one in findings if one.where.partition(":")[0] != key}


def validated(protocol: Protocol, inputs: dict[str, str], capsys: Any) -> tuple[bool, set[str]]:
    """The same of validating, without the key."""
    given = [f"--input={role}={path}" for role, path in inputs.items() if role != KEYS[protocol.family.name]]
    code = main(["validate", "--protocol", protocol.name, "--mode", protocol.mode, "--json", *given])
    said = json.loads(capsys.readouterr().out)
    assert (code == 1) == bool(said["errors"])
    return code == 1, {one["code"] for one in (said["errors"] or said["warnings"])}


def case(number: int) -> tuple[Protocol, Any, tuple[str, ...]]:
    """Submission ``number``: every protocol once without a slip, then with none to three."""
    rng, protocol = Random(f"{SEED}/{number}"), PROTOCOLS[number % len(PROTOCOLS)]
    clean = made(protocol, rng)
    return protocol, *slipped(protocol, clean, 0 if number < len(PROTOCOLS) else rng.randrange(4), rng)


@pytest.mark.parametrize("part", range(10))
def test_validating_without_a_key_speaks_exactly_where_scoring_with_one_does(
    part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(part * N // 10, (part + 1) * N // 10):
        protocol, submission, slips = case(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        inputs = submission.write(folder)
        refused, said = scored(protocol, inputs)
        told = (number, protocol.name, protocol.mode, slips)
        is_refused, found = validated(protocol, inputs, capsys)
        of_key = ONLY_A_KEY_TELLS.get(protocol.family.name, frozenset())
        if not slips:
            assert (said, found) == (set(), set()), told
        assert bool(said - of_key) == bool(found - of_key), (told, said, found)
        if not said & of_key and "unknown_query" not in said:  # which is refused where it can still be mended
            assert (refused, said) == (is_refused, found), told


def test_the_submissions_have_slips_of_every_protocol_and_are_refused_warned_of_and_fine(tmp_path: Path) -> None:
    outcomes = Counter[str]()
    for number in range(0, N, 7):
        protocol, submission, _ = case(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        refused, said = scored(protocol, submission.write(folder))
        outcomes["refused" if refused else "warned" if said else "fine"] += 1
    assert min(outcomes.values()) >= 3
    assert {case(number)[0].family.name for number in range(len(PROTOCOLS), N)} == set(KEYS)
