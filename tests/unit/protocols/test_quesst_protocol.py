"""The document protocol: missing scores, refusals, ties, subset keys, and the special cases of its figures."""

from __future__ import annotations

import math

import pytest
from quesst_files import score, stdlist, write

from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.errors import InputError
from pipeline.grid import gather
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

DOCS = ("d1", "d2", "d3", "d4")
TARGETS = (("a", "d1"), ("b", "d3"))
FULL = [
    ("a", "d1", 2.0, "YES"),
    ("a", "d2", 0.5, "NO"),
    ("a", "d3", -1.0, "NO"),
    ("a", "d4", 2.5, "YES"),
    ("b", "d1", 0.0, "NO"),
    ("b", "d2", -2.0, "NO"),
    ("b", "d3", 1.0, "YES"),
    ("b", "d4", -3.0, "NO"),
]


def cell(folder, rows=FULL, targets=TARGETS, queries=("a", "b"), documents=DOCS):
    return write(folder, queries, documents, targets, rows)


def figures(result):
    return {name: (float(f.value).hex(), f.reason, f.status) for name, f in result.figures.items()}


def test_a_worked_cell(tmp_path):
    result = score(cell(tmp_path), p_target_effective=0.5)
    got = {name: figure.value for name, figure in result.figures.items()}
    # One false alarm of 3 non-targets for a, none for b; beta = 1.
    assert got["atwv"] == pytest.approx(1 - 1 / 6)
    assert (result.facts["n_documents"], result.facts["n_pairs"], result.facts["n_default"]) == (4, 8, 0)
    nontarget = [0.5, -1.0, 2.5, 0.0, -2.0, -3.0]
    cost = [math.log2(1 + math.exp(-s)) / 2 for s in (2.0, 1.0)], [math.log2(1 + math.exp(s)) / 6 for s in nontarget]
    assert got["cnxe"] == pytest.approx((sum(cost[0]) + sum(cost[1])) / 2)
    # a at 2.5 or 2.0 or nothing: its best is everything from 2.0, P_fa 1/3. b at 1.0 has neither miss nor false alarm.
    assert got["ub_twv"] == pytest.approx(1 - 1 / 6)
    # b separates by itself; of a the non-target at 2.5 pools with the target at 2.0: 1/2 and 1/6 of the class masses.
    a, b = 0.5 / 2, 0.5 / 6
    assert got["lb_cnxe"] == pytest.approx((a * math.log(1 + b / a) + b * math.log(1 + a / b)) / math.log(2))


def test_the_tools_threshold_is_the_largest_rejected_score(tmp_path):
    found = score(cell(tmp_path), p_target_effective=0.5).figures["mtwv_threshold"]
    assert (found.value, found.detail["jar_threshold"]) == (1.0, 0.5)
    rejecting = score(cell(tmp_path)).figures["mtwv_threshold"]  # beta = 12.49: one false alarm is too many
    assert (rejecting.reason, rejecting.detail["jar_threshold"]) == ("reject_all", 2.5)
    lowest = [(q, d, -9.0 if (q, d) in TARGETS else s, decision) for q, d, s, decision in FULL]
    accepting = score(cell(tmp_path / "all", lowest), p_target_effective=0.99).figures["mtwv_threshold"]
    assert accepting.value == -9.0
    assert math.isnan(accepting.detail["jar_threshold"])  # nothing is rejected


def test_missing_pairs_are_refused_without_a_default_score(tmp_path):
    inputs = cell(tmp_path, FULL[:-1])
    with pytest.raises(InputError, match="1 pairs of 1 queries have no score \\('b'\\)") as refused:
        score(inputs)
    assert refused.value.findings[0].code == "missing_trials"


@pytest.mark.parametrize("default", [-10.0, 0.0, 2.5, 7.5])
def test_a_default_score_is_the_same_as_submitting_it(tmp_path, default):
    kept = [row for row in FULL if row[1] != "d2"]
    filled = [row if row in kept else (row[0], row[1], default, "NO") for row in FULL]
    short = score(cell(tmp_path / "short", kept), censor=default)
    long = score(cell(tmp_path / "long", filled))
    skipped = {"min_cnxe_pav_input_order"}  # the order of ties differs: what is missing comes last
    seen, expected = figures(short), figures(long)
    assert {k: v for k, v in seen.items() if k not in skipped} == {
        k: v for k, v in expected.items() if k not in skipped
    }
    assert repr(short.curve) == repr(long.curve)
    assert short.facts["n_default"] == 2


def test_other_censoring_policies_take_the_lowest_scores(tmp_path):
    kept = [row for row in FULL if row[1] != "d2"]
    inputs = cell(tmp_path, kept)
    assert score(inputs, censor="llr_min").figures["cnxe"].value == score(inputs, censor=-3.0).figures["cnxe"].value
    filled = [*kept, ("a", "d2", -1.0, "NO"), ("b", "d2", -3.0, "NO")]
    long = score(cell(tmp_path / "long", sorted(filled)))
    assert score(inputs, censor="query").figures["cnxe"].value == long.figures["cnxe"].value


def test_ties_keep_the_order_of_the_output_only_where_it_is_asked_for(tmp_path):
    docs, targets = ("d1", "d2", "d3"), (("a", "d1"),)
    first = [("a", "d1", 1.0, "NO"), ("a", "d2", 1.0, "NO"), ("a", "d3", 1.0, "NO")]
    last = [*first[1:], first[0]]
    pair = [score(cell(tmp_path / n, rows, targets, ("a",), docs)) for n, rows in (("f", first), ("l", last))]
    assert [result.figures["min_cnxe_pav_input_order"].value for result in pair] == [pytest.approx(1.0), 0.0]
    for result in pair:
        assert result.figures["min_cnxe_pav"].value == pytest.approx(1.0)
        assert result.figures["min_cnxe_affine"].value == pytest.approx(1.0)
        assert result.figures["min_cnxe_affine"].status == "gamma_zero"
        assert "tied_scores" in {finding.code for finding in result.findings}


def test_unscored_pairs_follow_in_the_order_of_query_list_and_ecf(tmp_path):
    # By score: d9 (submitted at the default) comes first, then the ECF's d3, d2 (target), d1.
    rows = [("a", "d9", -5.0, "NO")]
    for documents, expected in ((("d3", "d1", "d9", "d2"), 0.0), (("d3", "d2", "d9", "d1"), None)):
        inputs = cell(tmp_path / str(expected), rows, (("a", "d2"),), ("a",), documents)
        found = score(inputs, censor=-5.0, p_target_effective=0.5).figures["min_cnxe_pav_input_order"].value
        # The last of all is separable; before d1, target and one of three non-targets pool.
        a, b = 0.5, 0.5 / 3
        pooled = (a * math.log(1 + b / a) + b * math.log(1 + a / b)) / math.log(2)
        assert found == pytest.approx(pooled if expected is None else expected)


def test_rows_of_one_line_keep_their_order(tmp_path):
    docs, targets = ("d1", "d2", "d3"), (("a", "d3"),)
    inputs = cell(tmp_path, [("a", d, 1.0, "NO") for d in docs], targets, ("a",), docs)
    path = tmp_path / "output.xml"
    path.write_text(path.read_text().replace("\n", " "))
    assert score(inputs).figures["min_cnxe_pav_input_order"].value == 0.0


def test_no_scores_at_all(tmp_path):
    inputs = cell(tmp_path, [])
    with pytest.raises(InputError, match="8 pairs of 2 queries"):
        score(inputs)
    constant = score(inputs, censor=0.0).figures
    assert (constant["cnxe"].value, constant["mtwv"].value) == (pytest.approx(1.0), 0.0)
    silent = score(inputs, censor="llr_min").figures
    for name in ("cnxe", "min_cnxe_affine", "min_cnxe_pav", "min_cnxe_pav_input_order", "lb_cnxe"):
        assert (silent[name].value, silent[name].status) == (1.0, "no_scores")
    assert silent["mtwv_threshold"].reason == "no_scores"


def test_infinite_scores_are_legal_and_their_cost_survives(tmp_path):
    worst = [("a", "d1", "-inf", "NO"), *FULL[1:]]
    found = score(cell(tmp_path, worst)).figures
    assert found["cnxe"].value == math.inf
    assert (found["min_cnxe_affine"].value, found["min_cnxe_affine"].status) == (pytest.approx(1.0), "infinite_loss")
    assert 0 < found["min_cnxe_pav"].value < 1
    best = [(q, d, "inf" if (q, d) in TARGETS else "-inf", "NO") for q, d, _, _ in FULL]
    found = score(cell(tmp_path / "best", best)).figures
    assert (found["cnxe"].value, found["min_cnxe_affine"].status) == (0.0, "separable")


def test_queries_without_targets_take_no_part(tmp_path):
    some = [*FULL, ("c", "d1", 9.0, "YES")]
    with_c = score(cell(tmp_path / "c", some, queries=("a", "b", "c")))
    seen, expected = figures(with_c), figures(score(cell(tmp_path / "ab")))
    over_all = {"atwv_all", "mtwv_all"}  # they count the false alarms of all queries
    assert {name for name in seen if seen[name] != expected[name]} <= over_all
    assert {block["id"] for block in with_c.blocks} == {"a", "b", "c"}
    nothing = score(cell(tmp_path / "none", targets=()))
    assert {nothing.figures[name].reason for name in ("atwv", "cnxe", "lb_cnxe")} == {"no_targets"}


def test_a_query_with_targets_everywhere_has_no_false_alarm_rate(tmp_path):
    full = score(cell(tmp_path, FULL[:4], [("a", d) for d in DOCS], ("a",)))
    assert {full.figures[name].reason for name in ("atwv", "cnxe", "min_cnxe_pav")} == {"no_nontarget_trials"}


def test_a_subset_key_is_another_key(tmp_path):
    part = score(cell(tmp_path, queries=("b",), targets=TARGETS[1:]))
    alone = score(cell(tmp_path / "alone", FULL[4:], queries=("b",), targets=TARGETS[1:]))
    assert figures(part) == figures(alone)
    assert [finding.code for finding in part.findings if finding.code == "unknown_query"] == ["unknown_query"]
    with pytest.raises(InputError, match="not in the query list"):
        score(cell(tmp_path, queries=("b",), targets=TARGETS[1:]), unknown_query="error")


def test_a_key_names_fillers_and_queries_that_no_list_has_are_told(tmp_path):
    fillers = [*TARGETS, ("NO_KEYWORD", "d3")]
    assert "unknown_query" not in {finding.code for finding in score(cell(tmp_path, targets=fillers)).findings}
    other = score(cell(tmp_path / "other", targets=[*fillers, ("NO_KEYWORDS", "d3")]))
    assert [finding.message.count("NO_KEYWORD") for finding in other.findings if finding.code == "unknown_query"] == [1]


@pytest.mark.parametrize(
    ("row", "code"),
    [(("a", "d2", 0.7, "NO"), "duplicate_trial"), (("a", "d9", 0.7, "NO"), "unknown_document")],
)
def test_what_the_tool_refuses_is_refused_with_its_line(tmp_path, row, code):
    rows = [*FULL[:4], row, *FULL[4:]]
    with pytest.raises(InputError) as refused:
        score(cell(tmp_path, rows))
    [finding] = refused.value.findings
    assert (finding.code, finding.where) == (code, f"{tmp_path}/output.xml:7")


def test_documents_outside_the_ecf_may_be_kept(tmp_path):
    rows = [*FULL[:4], ("a", "d9", 0.7, "NO"), *FULL[4:]]
    kept = score(cell(tmp_path, rows), unknown_document="keep")
    assert figures(kept) == figures(score(cell(tmp_path / "plain")))
    assert "unknown_document" in {finding.code for finding in kept.findings}


def test_a_document_listed_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match="document 'd1' is listed twice"):
        score(cell(tmp_path, documents=(*DOCS, "d1")))


def test_the_truncated_prior_is_a_setting(tmp_path):
    found = score(cell(tmp_path), p_target_effective=0.0741289)
    assert found.facts["beta"] == pytest.approx(12.49001536512750088, rel=1e-15)
    assert score(cell(tmp_path)).facts["beta"] == pytest.approx(12.49, rel=1e-15)


def test_the_document_shows_calibration_over_all_operating_points(tmp_path):
    tables = score(cell(tmp_path)).tables
    assert [row["id"] for row in tables["calibration"]] == ["cllr", "min_cllr", "eer"]
    assert len(tables["ape"]) == 82


def test_a_run_over_the_store_gives_the_same_bits(tmp_path):
    inputs = cell(tmp_path)
    (tmp_path / "short.xml").write_text(stdlist(FULL[:-2]))
    evaluation = Evaluation(
        name="documents",
        protocol="quesst",
        mode="official",
        overrides=(("censor", "-4"),),
        datasets=(Dataset("d", inputs["ecf"], inputs["rttm"]),),
        query_sets=(QuerySet("q", inputs["kwlist"]),),
        systems=(
            System("full", outputs={("q", "d"): inputs["output"]}),
            System("short", outputs={("q", "d"): str(tmp_path / "short.xml")}),
        ),
    )
    store = Store(str(tmp_path / "store"))
    made = plan(evaluation, store)
    results = []
    for job in made.jobs:
        stored = load_result(store, score_cell(store, made, job.cell))
        results.append(stored)
        memory = score(
            {**inputs, "output": evaluation.systems[job.cell.system == "short"].outputs["q", "d"]}, censor=-4
        )
        assert stored.failed is None
        assert figures(stored) == figures(memory)
        assert stored.tables["ape"]
    grid = gather(made, results)[""]
    assert grid["value"].sel(system="full", measure="lb_cnxe").item() == results[0].figures["lb_cnxe"].value
    assert grid["rank"].values.ravel().tolist() == [1, 2]
