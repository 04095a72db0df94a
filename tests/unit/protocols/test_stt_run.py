"""A speech-to-text evaluation through store, cells and grid: the figures of ``rescore score``, and reuse where due."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.engine.result import Result, document, from_bytes, to_bytes
from pipeline.engine.score import score_files
from pipeline.errors import InputError
from pipeline.grid import gather
from pipeline.protocols import find
from pipeline.store.blobs import Store

EVALUATION = """\
name: talk
protocol: stt13
settings: {alignment: true}
datasets:
  dev: {stm: dev.stm}
query_sets:
  all: {}
systems:
  pattern: output/{system}.ctm
"""
STM = """\
f1 1 Ann 0 10 <o,f0> one two (uh) three
f1 1 Bob 10 20 <o> four { five / fife } six
f2 1 Ann 0 10 seven th-
f3 1 Cid 0 10 IGNORE_TIME_SEGMENT_IN_SCORING
"""
GOOD = """\
f1 1 1 1 one 0.9
f1 1 2 1 two 0.8
f1 1 4 1 three 0.7
f1 1 11 1 four 0.9
f1 1 12 1 fife 0.6
f1 1 13 1 six 0.9
f2 1 1 1 seven 0.9
f2 1 2 1 theory 0.5
f3 1 1 1 noise 0.1
"""
POOR = "f1 1 1 1 one 0.9\nf1 1 2 1 too 0.2\nf9 1 2 1 lost 0.2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "talk"
    (root / "output").mkdir(parents=True)
    texts = {"dev.stm": STM, "evaluation.yaml": EVALUATION, "output/good.ctm": GOOD, "output/poor.ctm": POOR}
    for name, text in texts.items():
        (root / name).write_text(text)
    return root


def _run(folder: Path, store: Store) -> dict[str, Result]:
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return {job.cell.system: load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs}


def _scored(folder: Path, system: str, **overrides: str) -> Result:
    inputs = {"stm": str(folder / "dev.stm"), "ctm": str(folder / "output" / f"{system}.ctm")}
    return score_files(find("stt13", overrides={"alignment": "true", **overrides}), inputs)


def test_a_run_gives_the_figures_tables_and_alignments_of_score(folder: Path, tmp_path: Path) -> None:
    results = _run(folder, Store(str(tmp_path / "store")))
    for system, result in results.items():
        wanted, seen = document(_scored(folder, system)), document(result)
        for part in ("measures", "facts", "blocks", "sys", "raw", "files", "labels", "confusions", "alignment"):
            assert seen[part] == wanted[part], (system, part)


def test_the_figures_worked_by_hand(folder: Path) -> None:
    figures = {name: figure.value for name, figure in _scored(folder, "good").figures.items()}
    # Ann: one two (uh) three, the third left out; seven th-. Bob: four fife six. Nothing is wrong.
    assert (figures["wer"], figures["n_ref"], figures["n_ref_plan"], figures["corr"]) == (0.0, 9, 9, 9)
    assert _scored(folder, "good").figures["nce"].reason == "all_correct"
    poor = _scored(folder, "poor")
    counts = [poor.figures[name].value for name in ("corr", "sub", "del", "ins", "seg_err")]
    assert counts == [2, 1, 6, 0, 3]
    assert poor.figures["wer"].value == 7 / 9
    codes = {finding.code: finding.message for finding in poor.findings}
    assert "'f9 1'" in codes["unknown_file"]
    assert "'f2 1'" in codes["unknown_file"]
    assert "'f2 1'" in codes["missing_file"]
    assert poor.facts["n_words_unmatched"] == 1


def test_every_speaker_is_a_block_scored_or_not(folder: Path) -> None:
    blocks = {block["id"]: block for block in _scored(folder, "poor").blocks}
    assert list(blocks) == ["ann", "bob", "cid"]
    assert np.isnan(blocks["cid"]["wer"])
    assert blocks["bob"]["del"] == 3


def test_labels_and_files_are_tables_of_their_own(folder: Path) -> None:
    shown = document(_scored(folder, "poor"))
    assert {row["id"]: row["n_ref"] for row in shown["labels"]} == {"o": 7, "f0": 4}
    assert {row["id"]: row["err"] for row in shown["files"]} == {"f1 1": 5, "f2 1": 2, "f3 1": 0}


def test_modes_differ_where_the_plan_differs_from_the_tool(folder: Path) -> None:
    (folder / "output" / "put.ctm").write_text(
        "f1 1 1 1 one\nf1 1 2 1 two 0.8\nf1 1 3 1 (so) 0.8\nf1 1 4 1 three 0.3\n"
    )
    inputs = {"stm": str(folder / "dev.stm"), "ctm": str(folder / "output" / "put.ctm")}
    official, plan_mode = (score_files(find("stt13", mode=mode), inputs) for mode in ("official", "plan"))
    for result in (official, plan_mode):
        assert result.figures["n_ref_plan"].value == 9
    assert official.figures["wer"].detail["n_reference"] == official.figures["n_ref"].value
    assert plan_mode.figures["wer"].detail["n_reference"] == 9
    assert official.figures["nce"].detail["sum_log2_p"] < plan_mode.figures["nce"].detail["sum_log2_p"]


def test_an_unknown_recording_can_be_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pipeline.cli import main

    inputs = ["--input", f"stm={folder / 'dev.stm'}", "--input", f"ctm={folder / 'output' / 'poor.ctm'}"]
    assert main(["score", "--protocol", "stt13", *inputs, "--set", "unknown_file=error", "--json"]) == 1
    assert '"unknown_file"' in capsys.readouterr().out


def test_a_stored_result_keeps_its_tables(folder: Path) -> None:
    result = _scored(folder, "poor")
    assert document(from_bytes(to_bytes(result))) == document(result)
    assert to_bytes(from_bytes(to_bytes(result))) == to_bytes(result)


def test_a_corrected_segment_reads_no_output(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    _run(folder, store)
    before, trials = set(store.listing("labels")), store.listing("trials")
    (folder / "dev.stm").write_text(";; moved by a line\n" + STM.replace("seven th-", "seven eight"))
    results = _run(folder, store)
    assert len(set(store.listing("labels")) - before) == len(results)
    assert store.listing("trials") == trials
    assert results["good"].figures["wer"].value == 1 / 9


def test_results_fill_a_grid(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    results = [load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs]
    grid = gather(planned, results)
    board = grid[""]["rank"].sel(query_set="all", dataset="dev", condition="all")
    assert board.sel(system="good").item() == 1
    assert board.sel(system="poor").item() == 2
    value = grid[""]["value"].sel(system="poor", measure="wer", query_set="all", dataset="dev", condition="all")
    assert value.item() == 7 / 9
    assert replace(results[0], cell=None).cell is None


def _transcripts(tmp_path: Path, reference: str, output: str) -> Result:
    for name, text in (("key.trn", reference), ("output.trn", output)):
        (tmp_path / name).write_text(text)
    inputs = {"stm": str(tmp_path / "key.trn"), "ctm": str(tmp_path / "output.trn")}
    return score_files(find("stt-trn", overrides={"alignment": "true"}), inputs)


def test_braces_of_an_output_that_cannot_be_read_are_refused_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _transcripts(tmp_path, "a (s-1)\na (s-2)\n", "a (s-1)\na{b (s-2)\n")
    [finding] = caught.value.findings
    assert finding.code == "bad_alternation"
    assert finding.where.endswith("output.trn:2")


def test_transcripts_of_outputs_are_read_as_those_of_references(tmp_path: Path) -> None:
    text = "a } { b / c { d / e } }f <ALT_BEGIN> g\u00a0h { open (s_1-1)\n"
    result = _transcripts(tmp_path, text, text)
    [row] = document(result)["alignment"]
    assert [step[0] for step in row["steps"]] == ["C"] * 6
    assert row["speaker"] == "s_1"
    assert [finding.where.rpartition("/")[2] for finding in result.findings if finding.code == "unbalanced_braces"] == [
        "key.trn:1",
        "output.trn:1",
    ]


def test_a_speaker_without_confidences_has_p_0_where_others_have_some(folder: Path) -> None:
    (folder / "output" / "some.ctm").write_text("f1 1 1 1 one 0.9\nf1 1 2 1 too 0.2\nf1 1 11 1 four\nf1 1 12 1 no\n")
    result = _scored(folder, "some")
    nce = {block["id"]: block["nce"] for block in result.blocks}
    assert nce["bob"] == pytest.approx((2 + np.log2(1e-7) + np.log2(1 - 1e-7)) / 2, rel=1e-12)
    assert np.isnan(nce["cid"])
    raw = {row["id"]: row for row in document(result)["raw"]}
    assert [raw["bob"][name] for name in ("corr", "sub", "del", "ins")] == [1, 1, 1, 0]


RULES = """\
;; rules of ours
SEVEN => SIEBEN / [ ] __ [ ]
;; INPUT_DEPENDENT_APPLICATION = "ctm"
TOO => {TWO / TOO} / [ ] __ [ ]
"""


def test_rules_rewrite_both_sides_of_a_run_as_of_score(folder: Path, tmp_path: Path) -> None:
    (folder / "rules.glm").write_text(RULES)
    text = (folder / "evaluation.yaml").read_text()
    (folder / "evaluation.yaml").write_text(text.replace("stm: dev.stm", "stm: dev.stm, glm: rules.glm"))
    store = Store(str(tmp_path / "store"))
    results = _run(folder, store)
    for system, result in results.items():
        files = {"stm": "dev.stm", "ctm": f"output/{system}.ctm", "glm": "rules.glm"}
        inputs = {role: str(folder / file) for role, file in files.items()}
        wanted = document(score_files(find("stt13", overrides={"alignment": "true"}), inputs))
        assert document(result)["measures"] == wanted["measures"]
        assert document(result)["alignment"] == wanted["alignment"]
    steps = [step for row in results["poor"].tables["alignment"] for step in row["steps"]]
    assert ["C", "two", "two"] in [step[:3] for step in steps]
    assert ["D", "sieben", None] in [step[:3] for step in steps]
    assert _scored(folder, "poor").figures["corr"].value == results["poor"].figures["corr"].value - 1

    (folder / "rules.glm").write_text(RULES.replace("{TWO / TOO}", "TOE"))
    again = _run(folder, store)
    assert again["poor"].figures["corr"].value == results["poor"].figures["corr"].value - 1


def test_hyphens_are_split_where_a_setting_says_so(folder: Path) -> None:
    (folder / "rules.glm").write_text(";;\n")
    (folder / "dev.stm").write_text("f1 1 a 0 10 <o> two-way th- x\n")
    (folder / "output" / "good.ctm").write_text("f1 1 1 1 two\nf1 1 2 1 way\nf1 1 3 1 x\n")
    files = {"stm": "dev.stm", "ctm": "output/good.ctm", "glm": "rules.glm"}
    inputs = {role: str(folder / file) for role, file in files.items()}
    plain, split = (score_files(find("stt13", overrides={"glm_split_hyphens": yes}), inputs) for yes in (False, True))
    assert (plain.figures["sub"].value, plain.figures["del"].value) == (2, 0)
    assert (split.figures["corr"].value, split.figures["del"].value) == (3, 1)
    assert "no_rules" in {finding.code for finding in plain.findings}


def test_transcripts_whose_brackets_are_not_sound_cannot_be_rewritten(folder: Path) -> None:
    (folder / "rules.glm").write_text(";;\nA => B\n")
    (folder / "dev.stm").write_text("f1 1 a 0 10 <o> x (()) y\nf1 1 a 10 20 <o> (x) y\n")
    files = {"stm": "dev.stm", "ctm": "output/good.ctm", "glm": "rules.glm"}
    inputs = {role: str(folder / file) for role, file in files.items()}
    with pytest.raises(InputError, match=r"stm:1: brackets"):
        score_files(find("stt13"), inputs)
    assert score_files(find("stt13", mode="plan"), inputs).facts["n_segments_ignored"] == 1
