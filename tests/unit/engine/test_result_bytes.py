"""A result's bytes give the result back: figures, conditions, tables, undefined and infinite values."""

from __future__ import annotations

import math

from pipeline.engine.result import Result, from_bytes, to_bytes
from pipeline.errors import Finding
from pipeline.protocols.base import Conclusion
from pipeline.terms import Cell, Figure, Source

FIGURES = {
    "atwv": Figure(0.1, detail={"p_miss": 0.5}),
    "cnxe": Figure(math.inf, status="more_detections_than_trials"),
    "mtwv": Figure.undefined("no_targets"),
}
PART = Conclusion(
    figures={"atwv": Figure(-0.25)},
    blocks=({"id": "q2", "n_target": 1},),
    curve={"threshold": [1.0, math.inf], "twv": [0.0, 0.5]},
    facts={"n_target": 1},
    tables={"pairs": ({"id": "a|b", "c_mce": 0.5},)},
)
RESULT = Result(
    protocol="sws2013",
    edition=1,
    mode="plan",
    signature="s",
    primary="atwv",
    cell=Cell("q", "d", "s"),
    sources=(Source("output", "output", "ab" * 32, 7),),
    facts={"t_audio_s": 100.0, "decisions_consistent": "yes"},
    figures=FIGURES,
    units=dict.fromkeys(FIGURES, "1"),
    blocks=({"id": "q1", "n_target": 2, "twv": None},),
    curve={"threshold": [0.5, 1.5], "twv": [0.25, 0.0]},
    findings=(Finding("outside_ecf", "2 detections", "output"),),
    n_findings=1,
    conditions={"cts": PART},
    tables={"speakers": ({"id": "a", "wer": 0.5},), "labels": ()},
)


def test_bytes_give_the_result_back() -> None:
    assert to_bytes(from_bytes(to_bytes(RESULT))) == to_bytes(RESULT)


def test_tables_and_curves_of_conditions_come_back_too() -> None:
    part = from_bytes(to_bytes(RESULT)).conditions["cts"]
    assert part.tables == PART.tables
    assert {name: list(column) for name, column in part.curve.items()} == PART.curve


def test_undefined_and_infinite_figures_stay_what_they_are() -> None:
    figures = from_bytes(to_bytes(RESULT)).figures
    assert math.isnan(figures["mtwv"].value)
    assert figures["mtwv"].reason == "no_targets"
    assert figures["cnxe"].value == math.inf
