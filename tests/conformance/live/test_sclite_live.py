"""Random pairs scored by Debian's sclite and by ours: the same counts, percentages, entropies and alignments.

``RESCORE_SCLITE`` says how many pairs (500), ``RESCORE_SEED`` which. Where sclite has a fault, or ours reads on purpose
otherwise, the pair is one of ``READINGS``, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import sclite_live
import sclite_random
from sclite_random import Case

PAIRS = int(os.environ.get("RESCORE_SCLITE", "500"))
SEED = int(os.environ.get("RESCORE_SEED", "21"))
AT_ONCE = 50


@pytest.fixture(autouse=True)
def _sclite(require: Callable[[str, object, str], None]) -> None:
    require("sctk", sclite_live.command(), "sclite is not on the path (Debian: apt-get install sctk)")


@pytest.mark.parametrize("first", range(0, PAIRS, AT_ONCE))
def test_random_pairs_have_the_figures_and_alignments_of_sclite(tmp_path: Path, first: int) -> None:
    told = []
    for number in range(first, min(first + AT_ONCE, PAIRS)):
        case = sclite_random.made(SEED, number)
        wanted = sclite_live.theirs(case, tmp_path)
        seen = sclite_live.ours(case, tmp_path)
        found = [wanted] if isinstance(wanted, str) else sclite_live.differences(wanted, seen)
        told += [f"pair {case.name} {case.options}: {difference}" for difference in found]
    assert not told


class Reading(NamedTuple):
    """One pair that is read otherwise: why, what sclite counts (None: it gives up) and what ours counts."""

    reason: str
    case: Case
    theirs: tuple[int, ...] | None
    ours: tuple[int, ...]


def stm(reference: str, output: str, **settings: object) -> Case:
    """A pair of one segment, with words of an output between blanks; ``|`` parts rows that are given whole."""
    rows = output.split("|") if "|" in output else [f"f 1 {at} 0.5 {word}" for at, word in enumerate(output.split(), 1)]
    return Case("", "stt13", f"f 1 s 0 100 <o> {reference}\n", "".join(f"{row}\n" for row in rows), settings)


def trn(reference: str, output: str, **settings: object) -> Case:
    """A pair of transcripts whose lines are parted by ``|``."""
    return Case("", "stt-trn", reference.replace("|", "\n") + "\n", output.replace("|", "\n") + "\n", settings)


CER = {"variant": "cer"}
OPEN, OR, CLOSE = "f 1 * * <ALT_BEGIN>", "f 1 * * <ALT>", "f 1 * * <ALT_END>"
TURKISH = stm("ignore_time_segment_in_scoring\nf 1 s 100 200 <o> b", "a x", fold="turkish")
READINGS = (
    Reading(
        "characters without hyphens, none is left: sclite has a segmentation fault, ours nothing to align",
        stm("a -- b", "a b", **CER),
        None,
        (2, 2, 0, 0, 0),
    ),
    Reading("the same of an optional hyphen", stm("a (-) b", "a b", **CER), None, (2, 2, 0, 0, 0)),
    Reading(
        "the same of brackets around nothing",
        stm("a () b", "a b", **CER, keep_ascii=False, drop_hyphens=False),
        None,
        (2, 2, 0, 0, 0),
    ),
    Reading(
        "characters of optional words as alternatives: sclite splits them without end and takes all memory",
        stm("{ (ab) / (bc) / cd } a", "a", **CER, keep_ascii=False),
        None,
        (3, 3, 0, 0, 0),
    ),
    Reading(
        "characters of a CTM word with braces: sclite reads them anew as alternatives, for ours they are characters",
        stm("a 中", "{a}中", **CER),
        (2, 2, 0, 0, 0),
        (2, 1, 1, 0, 0),
    ),
    Reading(
        "the same of an open brace, with which sclite loses the rest of the word",
        stm("a b", "a{b", **CER, keep_ascii=False),
        (2, 1, 0, 1, 0),
        (2, 2, 0, 0, 1),
    ),
    Reading(
        "an empty alternative of an output before its last: sclite loses the next one's first word, ours is null",
        stm("a b c d", f"f 1 1 1 a|{OPEN}|{OR}|f 1 2 1 b|f 1 3 1 c|{CLOSE}|f 1 4 1 d"),
        (4, 3, 0, 1, 0),
        (4, 4, 0, 0, 0),
    ),
    Reading(
        "a CTM word that begins with <ALT and is no mark: sclite takes it for one and loses words, ours for a word",
        stm("a b c d e", "a <ALTO> c d e"),
        (5, 3, 0, 2, 0),
        (5, 4, 1, 0, 0),
    ),
    Reading(
        "an utterance that the output lacks: sclite leaves it out of trn (not of stm), ours counts it as deleted",
        trn("a b (s-1)|c (s-2)", "a b (s-1)"),
        (2, 2, 0, 0, 0),
        (3, 2, 0, 1, 0),
    ),
    Reading(
        "the mark of ignored segments with a small i: no mark for sclite's babel_turkish, where it is not that of I",
        TURKISH,
        (2, 0, 1, 1, 1),
        (1, 0, 0, 1, 0),
    ),
    Reading(
        "a recording that the reference lacks: sclite gives up, ours leaves it unscored and names it",
        stm("a b", "f 1 1 1 a|f 1 2 1 b|g 1 1 1 c"),
        None,
        (2, 2, 0, 0, 0),
    ),
    Reading(
        "nothing to score: sclite has a segmentation fault",
        stm("IGNORE_TIME_SEGMENT_IN_SCORING", "a b"),
        None,
        (0, 0, 0, 0, 0),
    ),
)
"""Counts are those of reference tokens, correct, substituted, deleted and inserted."""


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.reason)
def test_where_sclite_reads_otherwise(tmp_path: Path, reading: Reading) -> None:
    wanted = sclite_live.theirs(reading.case, tmp_path)
    assert (None if isinstance(wanted, str) else wanted.counts["Sum"][1:6]) == reading.theirs
    assert sclite_live.ours(reading.case, tmp_path).counts["Sum"][1:6] == reading.ours
