"""Random cases with the live KWSEval whose excerpts overlap, repeat, differ in type and stand in any order."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from live_kws import case
from live_kws_odd import odd
from live_peers import Found, differing, started
from test_live_kwseval import compared

from bench.installed import KWSEVAL

OPTIONS = ((), ("-Y", "A:cts,splitcts", "-Y", "B:bnews,confmtg"), ("-q", "Level"), ("-F", "1"))


@pytest.fixture(scope="module")
def kwseval() -> tuple[str, ...]:
    return started(KWSEVAL)


@pytest.mark.parametrize("segments", [False, True], ids=["occurrences", "segments"])
def test_random_odd_cases(kwseval: tuple[str, ...], tmp_path: Path, segments: bool) -> None:
    def found(seed: int, place: Path) -> Found:
        random = Random(f"odd {segments} {seed}")
        made = odd(random, case(random, off_borders=segments), overlapping=not segments)
        options = list(random.choice(OPTIONS))
        return _without_empty_groups(compared(kwseval, made, options, place, segments=segments))

    assert differing(found, tmp_path) == {}


def _without_empty_groups(found: Found) -> Found:
    """The tool refuses a case where a group has no excerpt; ours has no figures for that group."""
    empty = any("must > 0" in str(theirs) for what, _, theirs in found if what == "refused")
    return [] if empty else found
