"""An output that piles up more detections than can be weighed costs its own cell only."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
from pipeline.terms import Cell


def test_a_crowd_beyond_the_bound_is_a_refused_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.align.occurrences.MOST_LISTED", 8)
    monkeypatch.setattr("pipeline.align.occurrences.MOST_PAIRS", 10)
    pile = {"alpha": [("a", 10 + tenth / 10, 1.0, "YES") for tenth in range(6)], "beta": []}
    systems: dict[str, str | None] = {"good": tiny.stdlist(tiny.GOOD), "pile": tiny.stdlist(pile)}
    evaluation = tiny.write(tmp_path / "e", systems=systems)
    with (tmp_path / "e" / "key.rttm").open("a") as key:
        key.write("".join(f"LEXEME a 1 {10 + tenth / 10} 1 alpha lex SELF <NA>\n" for tenth in range(1, 6)))
    store = Store(str(tmp_path / "store"))
    planned = plan(evaluation, store)
    for job in planned.jobs:
        assert score_cell(store, planned, job.cell) == job.address
    good, refused = (load_result(store, planned.by_cell[Cell("q", "d", name)].address) for name in ("good", "pile"))
    assert good.failed is None
    assert refused.failed == "refused_input"
    (finding,) = refused.findings
    assert finding.code == "crowded_detections"
    assert finding.message.startswith(
        "query 'alpha' in file 'a', channel '1': 6 detections and 6 reference occurrences"
    )
