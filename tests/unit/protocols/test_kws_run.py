"""Keyword search through store and grid: conditions, boards by the systems' names, settings of datasets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from kws_inputs import ecf, kwlist, kwslist, lexeme, write

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import Plan, load_plan, plan
from pipeline.engine.result import Result, to_bytes
from pipeline.engine.score import score_files
from pipeline.errors import ConfigError
from pipeline.grid import gather
from pipeline.report.board import board_rows
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

FULL = "KWS13_A_babel101b-v0.4c_conv-eval_BaEval_KWS_FullLP_BaseLR_NTAR_p-a_1"
LIMITED = "KWS13_B_babel101b-v0.4c_conv-eval_BaEval_KWS_LimitedLP_BaseLR_NTAR_p-b_1"
HIT = ("f", "1", 10.0, 1.0, 0.9, "YES")


def _evaluation(folder: Path, *, condition: str = "", settings: tuple[tuple[str, str, str], ...] = ()) -> Evaluation:
    inputs = write(
        folder,
        ecf=ecf(("f.sph", "1", 0, 100)),
        rttm="SPKR-INFO f 1 <NA> <NA> <NA> adult_female s <NA>\n" + lexeme("a", 10) + lexeme("b", 20) + lexeme("a", 30),
        kwlist=kwlist(K="a", L="b", M="c"),
        full=kwslist(("K", [HIT, ("f", "1", 31.8, 1.0, 0.8, "YES")]), ("K", []), ("M", [])),
        limited=kwslist(("K", [HIT]), ("L", [("f", "1", 20.0, 1.0, 0.7, "YES")])),
    )
    return Evaluation(
        name="e",
        protocol="openkws13",
        mode="official",
        overrides=(("condition", condition),),
        datasets=(Dataset("d", inputs["ecf"], inputs["rttm"], settings),),
        query_sets=(QuerySet("q", inputs["kwlist"]),),
        systems=(
            System(FULL, outputs={("q", "d"): inputs["full"]}),
            System(LIMITED, outputs={("q", "d"): inputs["limited"]}),
        ),
    )


def _results(planned: Plan, store: Store) -> list[Result]:
    return [load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def test_a_run_equals_the_same_cell_in_memory(tmp_path: Path, store: Store) -> None:
    """Blocks and their out-of-vocabulary counts come from the stored trials, excerpts' parts from tiles."""
    evaluation = _evaluation(tmp_path, condition="oov\nsource_type BN:bnews\nspeaker F:adult_female\nhas_targets")
    planned = plan(evaluation, store)
    for job, kept in zip(planned.jobs, _results(planned, store), strict=True):
        inputs = {role: source.uri for role, source in job.inputs.items()}
        alone = score_files(planned.protocol_of(job), inputs, cell=job.cell)
        assert to_bytes(replace(alone, sources=(), findings=())) == to_bytes(
            replace(kept, sources=(), findings=(), address="", made_from=())
        )
        assert set(kept.conditions) == {"OOV", "IV", "BN", "F", "HasTargets", "NoTargets"}
    # The first output has two blocks of K, the second one silent: 2 occurrences become 4.
    assert _results(planned, store)[0].blocks[0]["n_target"] == 4


def test_conditions_and_boards_are_conditions_of_the_grid(tmp_path: Path, store: Store) -> None:
    planned = plan(_evaluation(tmp_path, condition="query onlyL:L"), store)
    root = gather(planned, _results(planned, store))[""]
    assert root["condition"].values.tolist() == ["all", "onlyL", "FullLP+BaseLR+NTAR", "LimitedLP+BaseLR+NTAR"]
    assert root["lp"].values.tolist() == ["FullLP", "LimitedLP"]
    assert root["sysid"].values.tolist() == ["p-a", "p-b"]
    assert root["team"].values.tolist() == ["A", "B"]
    # Conditions were never comparable: each is first among those of its own, on the board of all too.
    assert root["rank"].sel(condition="all").values.ravel().tolist() == [1, 1]
    # Each is first on its own board and not on the other's.
    assert root["rank"].sel(condition="FullLP+BaseLR+NTAR").values.ravel().tolist() == [1, 0]
    assert root["reason"].sel(condition="LimitedLP+BaseLR+NTAR", measure="atwv").values.ravel()[0] == "other_board"
    assert root["value"].sel(condition="onlyL", measure="p_miss").values.ravel().tolist() == [1.0, 0.0]
    rows = board_rows({"": root})
    assert [row["system"] for row in rows if row["condition"] == "LimitedLP+BaseLR+NTAR"] == [LIMITED]


def test_a_dataset_has_settings_of_its_own(tmp_path: Path, store: Store) -> None:
    wide = (("", "tolerance_s", "2"), ("q", "c_fa", "0.2"), ("other", "c_fa", "5"))
    planned = plan(_evaluation(tmp_path, settings=wide), store)
    assert load_plan(store, planned.address).jobs == planned.jobs
    job = planned.jobs[0]
    settings = planned.protocol_of(job).settings
    assert (settings.tolerance_s, settings.c_fa) == (2.0, 0.2)
    result = _results(planned, store)[0]
    # The detection at 31.8-32.8 lies 1.3 s behind the occurrence at 30-31: a hit within 2 s.
    assert result.blocks[0]["n_hit"] == 2
    assert "tolerance_s:2.0" in result.signature
    assert planned.jobs[0].address != plan(_evaluation(tmp_path), store).jobs[0].address


FILE = """name: e
protocol: sws2012
settings: {{condition: [oov, "query ks:K"]}}
datasets:
  d: {{ecf: ecf, rttm: rttm, settings: {settings}}}
query_sets:
  dev: {{kwlist: kwlist}}
systems:
  a: {{outputs: full}}
"""


def test_settings_of_a_dataset_in_an_evaluation_file(tmp_path: Path) -> None:
    _evaluation(tmp_path)
    path = tmp_path / "e.yaml"
    path.write_text(FILE.format(settings="{tolerance_s: 20, k_table: {dev: indian_dev_dev}}"))
    evaluation = load_evaluation(str(path))
    assert dict(evaluation.overrides_of("dev", "d")) == {
        "condition": "oov\nquery ks:K",
        "tolerance_s": "20",
        "k_table": "indian_dev_dev",
    }
    assert dict(evaluation.overrides_of("eval", "d")).keys() == {"condition", "tolerance_s"}


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ("{tolerence_s: 20}", "bad_setting", "no setting 'tolerence_s'"),
        ("{k_table: {dev: indian}}", "bad_setting", "the value is 'indian'"),
        ("{k_table: {evl: none}}", "unknown_query_set", "allowed: dev"),
    ],
)
def test_wrong_settings_of_a_dataset_are_told_at_their_line(
    tmp_path: Path, settings: str, code: str, said: str
) -> None:
    _evaluation(tmp_path)
    path = tmp_path / "e.yaml"
    path.write_text(FILE.format(settings=settings))
    with pytest.raises(ConfigError) as caught:
        load_evaluation(str(path))
    [finding] = caught.value.findings
    assert (finding.code, finding.where.rpartition(":")[2]) == (code, "5")
    assert said in finding.message
