"""KWSEval's alignment.csv row by row: which detection went to which occurrence, not only how many."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipeline.align.excerpts import Places, inside_excerpts
from pipeline.align.occurrences import align_occurrences
from pipeline.formats.kws.ecf import read_ecf
from pipeline.formats.kws.kwlist import read_kwlist
from pipeline.formats.kws.kwslist import read_kwslist
from pipeline.formats.kws.rttm import read_rttm
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.layout import lay_out, timeline

READERS = {"ecf": read_ecf, "rttm": read_rttm, "kwlist": read_kwlist, "kwslist": read_kwslist}
GENERATED = (
    "base ties collar unicode_lower unicode_nonorm multichan_holes duplicates dense_minmax all_no medium",
    "sws2011 sws2012 sws2013",
)
F4DE = "test3 test3_scoring_ecf test6_plain test9_occ bn_cts_mtg"
CASES = [
    *(("generated", name) for name in " ".join(GENERATED).split()),
    *(("f4de", name) for name in F4DE.split()),
]
Row = tuple[str, str, str, str, float | None, float | None, float | None, float | None]
"""Outcome, query, file, channel, reference begin and end, detection begin and score."""


@pytest.mark.parametrize(("family", "name"), CASES)
def test_rows_are_those_of_kwseval(conformance, family, name):
    folder = conformance / "kws" / family
    cases = json.loads((folder / "index.json").read_text())["cases"]
    case = next(case for case in cases if case["case"] == name)
    expected = Counter(kwseval_rows(folder / case["outputs"]["alignment.csv"]))
    assert len(expected) > 10
    assert Counter(our_rows(folder, case)) == expected


def kwseval_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            (
                *(row[column] for column in ("alignment", "termid", "file", "channel")),
                *(
                    float(row[column]) if row[column] else None
                    for column in ("ref_bt", "ref_et", "sys_bt", "sys_score")
                ),
            )
            for row in csv.DictReader(stream)
        ]


def our_rows(folder: Path, case: dict[str, Any]) -> list[Row]:
    read = {}
    for role, reader in READERS.items():
        with (folder / case["files"][role]).open("rb") as stream:
            read[role] = reader(stream, role)
    options = case["options"]
    rules = SearchRules(
        search="kwseval",
        normalize=read["kwlist"].attributes.get("compareNormalize", ""),
        word_gap_s=options["find_gap"],
    )
    key, _ = find_occurrences(read["kwlist"], read["rttm"], rules)
    dataset = timeline(read["ecf"], files="kwseval")
    tile = lay_out(read["kwslist"], dataset, files="kwseval")
    aligned = align_occurrences(
        tile,
        key,
        tolerance_s=options["align_tol"],
        score_range=tile.header_range or "group",
        trial_rows=inside_excerpts(dataset.excerpts, Places.of(tile), tile.begin_s, tile.begin_s + tile.dur_s),
        reference_rows=inside_excerpts(dataset.excerpts, Places.of(key), key.begin_s, key.first_end_s),
    )
    rows: list[Row] = []
    for row, mapped in zip(aligned.kept.tolist(), aligned.reference.tolist(), strict=True):
        names = tile.queries[tile.query[row]], tile.files[tile.file[row]], tile.channels[tile.channel[row]]
        span = (key.begin_s[mapped], key.end_s[mapped]) if mapped >= 0 else (None, None)
        outcome = {(0, 0): "CORR!DET", (0, 1): "FA", (1, 0): "MISS", (1, 1): "CORR"}[mapped >= 0, tile.decision[row]]
        rows.append((outcome, *names, *span, tile.begin_s[row], tile.score[row]))
    for row in aligned.omitted.tolist():
        names = key.queries[key.query[row]], key.files[key.file[row]], key.channels[key.channel[row]]
        rows.append(("MISS", *names, key.begin_s[row], key.end_s[row], None, None))
    return rows
