"""Which word belongs to which segment: by mid points against segment ends, in one pass (SCTK stm2ctm)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.stt.ctm import ALT_BEGIN, ALT_END
from pipeline.trials.tokens.layout import unit_name
from pipeline.trials.tokens.schema import UNTIMED, TokenSegments, Words


@dataclass(frozen=True)
class Chopped:
    """The segment of every word, and the recordings that only one side has."""

    segment: Ints
    """Row of the segment, -1 where the reference lacks the recording or has no times in it."""
    in_gap: Bools
    """Whether the mid point lies outside the segment the word was given to."""
    only_output: dict[str, int]
    """Words of recordings that the reference lacks, by ``file channel``."""
    only_reference: tuple[str, ...]
    """Recordings of the reference without any word."""


def chop(words: Words, segments: TokenSegments, *, segment_end: str) -> Chopped:
    """Give each word to a segment of its recording.

    A word goes to the first segment, not before that of the word before it, whose end lies beyond its mid point; the
    last segment takes all that is left. Begins are never looked at: a word in a gap goes to the segment after it. With
    ``segment_end`` ``float32`` ends are rounded to single precision, as sclite holds them. An alternation moves as
    one, by its latest mid point.
    """
    mid_s = _mid_points(words)
    result = np.full(len(words), -1, np.int64)
    known = dict(units(segments.files, segments.channels, segments.file, segments.channel))
    spoken = dict(units(words.files, words.channels, words.file, words.channel))
    with np.errstate(over="ignore"):  # a time beyond single precision is infinite, as in C
        end_s = segments.end_s.astype(np.float32).astype(np.float64) if segment_end == "float32" else segments.end_s
    timed = np.flatnonzero(segments.state != UNTIMED)
    for unit, rows in spoken.items():
        if unit in known:
            first, last = np.searchsorted(timed, (known[unit].start, known[unit].stop))
            candidates = timed[first:last]
            if candidates.size:
                result[rows] = candidates[_places(mid_s[rows], end_s[candidates])]
    given = np.flatnonzero(result >= 0)
    own = result[given]
    in_gap = np.zeros(len(words), np.bool_)
    in_gap[given] = ~((mid_s[given] >= segments.begin_s[own]) & (mid_s[given] < segments.end_s[own]))
    return Chopped(result, in_gap & np.isfinite(mid_s), *recordings_apart(words, segments))


def recordings_apart(words: Words, segments: TokenSegments) -> tuple[dict[str, int], tuple[str, ...]]:
    """Words of the recordings that the reference lacks, and the recordings of the reference without any word."""
    known = {unit for unit, _ in units(segments.files, segments.channels, segments.file, segments.channel)}
    spoken = dict(units(words.files, words.channels, words.file, words.channel))
    only_output = {unit: rows.stop - rows.start for unit, rows in spoken.items() if unit not in known}
    return only_output, tuple(sorted(known - set(spoken)))


def units(
    files: tuple[str, ...], channels: tuple[str, ...], file: Codes, channel: Codes
) -> Iterator[tuple[str, slice]]:
    """Runs of rows of one recording: its name ``file channel`` and its rows."""
    if not file.size:
        return
    changes = np.flatnonzero((file[1:] != file[:-1]) | (channel[1:] != channel[:-1])) + 1
    edges = [0, *changes.tolist(), int(file.size)]
    for start, stop in pairwise(edges):
        yield unit_name(files[file[start]], channels[channel[start]]), slice(start, stop)


def _places(mid_s: Floats, end_s: Floats) -> Ints:
    """For each word the position of its segment among the ends of one recording."""
    last = end_s.size - 1
    if (end_s[1:] >= end_s[:-1]).all():
        places = np.minimum(np.searchsorted(end_s, mid_s, side="right"), last)
        return np.maximum.accumulate(places)
    at, places, ends = 0, np.zeros(mid_s.size, np.int64), end_s.tolist()
    for word, mid in enumerate(mid_s.tolist()):
        while at < last and mid >= ends[at]:
            at += 1
        places[word] = at
    return places


def _mid_points(words: Words) -> Floats:
    """Mid points in seconds; rows of one alternation share the latest, rows without a time have -inf."""
    mid_s = words.begin_s + words.dur_s / 2
    mid_s[np.isnan(mid_s)] = -np.inf
    marks = [words.words.index(mark) if mark in words.words else -2 for mark in (ALT_BEGIN, ALT_END)]
    if marks == [-2, -2]:
        return mid_s
    opens, closes = words.word == marks[0], words.word == marks[1]
    depth = np.cumsum(opens.astype(np.int64) - closes)
    inside = (depth > 0) | closes
    group = np.cumsum(opens & (depth == 1))
    latest = np.full(int(group.max(initial=0)) + 1, -np.inf)
    np.maximum.at(latest, group[inside], mid_s[inside])
    mid_s[inside] = latest[group[inside]]
    return mid_s
