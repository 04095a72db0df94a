"""``rank_by``: what ranks is chosen by the evaluation file, for all boards or single ones, and costs figures only."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from med_tiny import CLIPMD, EVENTDB, INDEX, REF, SCORES, THRESHOLD, detection

from pipeline.cli import main

GOOD, EVERYTHING = "North_MED11_MED11TEST_MEDFull_AutoEAG_p-good_1", "South_MED11_MED11TEST_MEDFull_AutoEAG_p-all_1"
EVALUATION = """\
name: med
protocol: med11
settings: {conditions: ['short: ClipMD.DURATION <= 1800']}
datasets:
  test: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv}
query_sets: {events: {}}
systems: {pattern: {detection: 'out/{system}.detection.csv', threshold: 'out/{system}.threshold.csv'}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A system that decides, and one of worse scores that says YES to everything."""
    (tmp_path / "out").mkdir()
    texts = {"ref.csv": REF, "index.csv": INDEX, "clipmd.csv": CLIPMD, "eventdb.csv": EVENTDB}
    texts[f"out/{GOOD}.detection.csv"] = detection(SCORES)
    texts[f"out/{GOOD}.threshold.csv"] = THRESHOLD.replace("E1,0.4,", "E1,0.5,").replace("E2,0.5,", "E2,0.6,")
    texts[f"out/{EVERYTHING}.detection.csv"] = detection({e: dict.fromkeys(row, 0.5) for e, row in SCORES.items()})
    texts[f"out/{EVERYTHING}.threshold.csv"] = THRESHOLD.replace("E1,0.4,", "E1,0,").replace("E2,0.5,", "E2,0,")
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def said(rank_by: str = "") -> dict[str, Any]:
        (folder / "e.yaml").write_text(EVALUATION + (f"rank_by: {rank_by}\n" if rank_by else ""))
        given = ["run", str(folder / "e.yaml"), "--store", str(folder / "store"), "--cluster", "none", "--json"]
        code = main(given)
        printed = capsys.readouterr().out
        assert code == (1 if "errors" in printed else 0)
        return dict(json.loads(printed))

    return said


def _ranks(summary: dict[str, Any], condition: str = "all") -> dict[str, int]:
    return {row["system"]: row["rank"] for row in summary["board"] if row["condition"] == condition}


def test_who_detects_everything_is_not_first_in_med_unless_misses_alone_are_asked_for(
    run: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run()
    assert _ranks(first) == {GOOD: 1, EVERYTHING: 2}
    assert {row["rank_by"] for row in first["board"]} == {"ndc"}
    labels = {path.name for path in (folder / "store" / "labels").iterdir()}
    old = run("p_md")
    assert _ranks(old) == {EVERYTHING: 1, GOOD: 2}
    assert {path.name for path in (folder / "store" / "labels").iterdir()} == labels
    assert main(["diff", first["run_id"], old["run_id"], "--store", str(folder / "store")]) == 0
    told = capsys.readouterr().out
    assert "ranking measure ndc → p_md: 2 cells" in told
    assert "rank 1 → 2" in told
    assert re.search(r"Ranked by .*P<sub>md<", Path(old["paths"]["index.html"]).read_text())
    results = len(list((folder / "store" / "results").iterdir()))
    assert _ranks(run()) == _ranks(first)
    assert len(list((folder / "store" / "results").iterdir())) == results


def test_a_board_is_ranked_by_its_own_measure_and_says_so(
    run: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = run()
    after = run("{'*/test/short': p_fa}")
    by = {row["condition"]: row["rank_by"] for row in after["board"]}
    assert by == {"all": "ndc", "short": "p_fa", "MEDFull": "ndc"}
    assert _ranks(after) == _ranks(before)
    assert _ranks(before, "short") == {EVERYTHING: 1, GOOD: 2}
    assert _ranks(after, "short") == {EVERYTHING: 1, GOOD: 1}
    main(["diff", before["run_id"], after["run_id"], "--store", str(folder / "store")])
    assert "events/test/short is ranked by" in capsys.readouterr().out
    after = run("{'*/*': ap, 'events/test': p_fa, '*/test/short': p_md}")
    assert {row["rank_by"] for row in after["board"]} == {"p_fa"}
    assert "rank:p_fa" in after["board"][0]["signature"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("atwv", "ranks by no measure 'atwv'"),
        ("min_ndc_threshold", "ranks by no measure 'min_ndc_threshold'"),
        ("[ndc]", "must be a measure or a mapping"),
        ("", "must be a measure or a mapping"),
        ("{'evnts/test': ndc}", "fits no query set"),
        ("{'events/tst': ndc}", "fits no dataset"),
        ("{short: ndc}", "names no board"),
    ],
)
def test_a_measure_or_board_that_there_is_not_is_refused(run: Any, given: str, told: str) -> None:
    errors = run(given or "''")["errors"]
    assert any(told in error["message"] for error in errors)


def test_it_is_no_setting(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "e.yaml").write_text(EVALUATION.replace("settings: {", "settings: {rank_by: p_md, "))
    assert main(["run", str(folder / "e.yaml"), "--store", str(folder / "store"), "--cluster", "none"]) == 1
    assert "`settings.rank_by` is no setting" in capsys.readouterr().err
