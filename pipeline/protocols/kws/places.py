"""Where detections and words lie, by name: counted tile by tile, and joined with the ECF's recordings and channels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.align.excerpts import Places, at_places, inside_excerpts
from pipeline.arrays import Bools
from pipeline.errors import Finding
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Table, recode, wide
from pipeline.partials.tally import Tally
from pipeline.trials.joined import Join, Pair, PlacedRows, channel_finding, file_finding, silent_finding
from pipeline.trials.schema import Excerpts, Trials

_NAMED, _AT, _BETWEEN = "named/", "at/", "\0"


def place_tally(trials: Trials, files: tuple[str, ...], places: Bools) -> dict[str, int]:
    """Rows in recordings that ``files`` lacks and on channels that ``places`` denies, with all names where any is.

    Tiles hold the names of their whole output, so that those of one tile with an odd row are those of all.
    """
    known_files = recode(trials.files, files)[:-1] >= 0
    known = np.ones(len(trials), np.bool_) if known_files.all() else known_files[wide(trials.file)]
    counts = {"unknown_file": int(np.count_nonzero(~known)), "unknown_channel": int(np.count_nonzero(known & ~places))}
    if counts["unknown_channel"]:
        odd = known & ~places
        pair, n = np.unique(
            wide(trials.file[odd]).astype(np.int64) * len(trials.channels) + trials.channel[odd], return_counts=True
        )
        for code, times in zip(pair.tolist(), n.tolist(), strict=True):
            file, channel = divmod(code, len(trials.channels))
            counts[f"{_AT}{trials.files[file]}{_BETWEEN}{trials.channels[channel]}"] = times
    return counts | named_tally(trials.files, counts["unknown_file"])


def named_tally(files: tuple[str, ...], n_odd: int) -> dict[str, int]:
    """All names of an output, where rows are odd for their names: each with their number, which adds up."""
    return {f"{_NAMED}{name}": n_odd for name in files} if n_odd else {}


def named_in(tally: Tally) -> list[str]:
    """The names that ``named_tally`` kept."""
    return [name.removeprefix(_NAMED) for name in tally.counts if name.startswith(_NAMED)]


_OF_OUTPUT = PlacedRows("the output", "output", "detections", "they are not scored")


def output_findings(tally: Tally, places: tuple[Pair, ...]) -> tuple[Finding, ...]:
    """Recordings and channels of an output that the ECF lacks; ``places`` are the ECF's."""
    join = Join("the output", named_in(tally), "the ECF", list(dict.fromkeys(file for file, _ in places)))
    odd = dict[Pair, int]()
    for name, n in tally.counts.items():
        if name.startswith(_AT):
            file, _, channel = name.removeprefix(_AT).partition(_BETWEEN)
            odd[file, channel] = n
    files = file_finding(_OF_OUTPUT, tally["unknown_file"], join)
    return (*files, *channel_finding(_OF_OUTPUT, odd, places, "the ECF"))


def places_of(excerpts: Excerpts) -> tuple[Pair, ...]:
    """Every recording and channel of an ECF once, in its order."""
    pairs = zip(excerpts.file.tolist(), excerpts.channel.tolist(), strict=True)
    return tuple((excerpts.files[file], excerpts.channels[channel]) for file, channel in dict.fromkeys(pairs))


def key_findings(rttm: Rttm, excerpts: Excerpts, *, is_transcript: bool, is_filtered: bool) -> tuple[Finding, ...]:
    """Words of a key that the ECF has no place for and, where it is a whole transcript, recordings without a word.

    ``is_filtered``: whether the ECF says which words count.
    """
    records, effect = rttm.records, "they are no targets" if is_filtered else "no detection can be there"
    words = records.take(np.flatnonzero(records["kind"] == recode(("LEXEME",), records.vocabularies["kind"])[0]))
    said = _rows_by_place(words)
    places = places_of(excerpts)
    listed = list(dict.fromkeys(file for file, _ in places))
    join = Join("the key", list(dict.fromkeys(file for file, _ in said)), "the ECF", listed)
    rows, known = PlacedRows("the key", "rttm", "words", effect), set(listed)
    unknown = sum(n for (file, _), n in said.items() if file not in known)
    odd = {place: n for place, n in said.items() if place[0] in known}
    found = (*file_finding(rows, unknown, join), *channel_finding(rows, odd, places, "the ECF"))
    if is_filtered:
        found = (*found, *_outside(words, excerpts))
    if is_transcript or (unknown and join.only_other):
        silent = replace(rows, effect="every detection there is a false alarm")
        found = (*found, *silent_finding(silent, join))
    return found


def _rows_by_place(words: Table) -> dict[Pair, int]:
    files, channels = words.vocabularies["file"], words.vocabularies["channel"]
    pair = wide(words["file"]).astype(np.int64) * max(len(channels), 1) + words["channel"]
    codes, times = np.unique(pair, return_counts=True)
    return {
        (files[code // len(channels)], channels[code % len(channels)]): n
        for code, n in zip(codes.tolist(), times.tolist(), strict=True)
    }


def _outside(words: Table, excerpts: Excerpts) -> tuple[Finding, ...]:
    """Words of known places that no excerpt holds whole."""
    files, channels = words.vocabularies["file"], words.vocabularies["channel"]
    rows = Places(files, channels, words["file"], words["channel"])
    known = np.zeros((len(excerpts.files) + 1, len(excerpts.channels) + 1), np.bool_)
    known[excerpts.file, excerpts.channel] = True
    placed = at_places(known, excerpts, rows)
    inside = inside_excerpts(excerpts, rows, words["begin_s"], words["begin_s"] + words["dur_s"])
    out = np.flatnonzero(placed & ~inside)
    if not out.size:
        return ()
    message = (
        f"{out.size} words lie outside the ECF's excerpts of their recording and channel; where they are a query they "
        "are no targets. Compare the times of key and ECF."
    )
    return (Finding("outside_ecf", message, f"rttm:{int(words['line'][out].min())}"),)
