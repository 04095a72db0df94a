"""MED figures by hand: two events, six clips; and what the policies do to an incomplete submission."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from med_tiny import CLIPMD, REF, SCORES, THRESHOLD, detection, written

from pipeline.engine.result import Result, document
from pipeline.engine.score import score_files
from pipeline.errors import InputError, UsageError
from pipeline.protocols import find, names
from pipeline.protocols.med.named import MEASURES

TER = 12.4875


def _score(folder: Path, *, mode: str = "official", settings: dict[str, Any] | None = None, **changed: str | None):
    protocol = find("med11", mode=mode, overrides=settings or {})
    return score_files(protocol, written(folder, **changed))


def _block(result: Result, event: str) -> dict[str, Any]:
    [block] = [block for block in result.blocks if block["id"] == event]
    return dict(block)


def _without(*trials: str) -> str:
    scores = copy.deepcopy(SCORES)
    for trial in trials:
        clip, event = trial.split(".")
        del scores[event][clip]
    return detection(scores)


def test_rates_and_cost_at_the_submitted_thresholds(tmp_path: Path) -> None:
    result = _score(tmp_path)
    one, two = _block(result, "E1"), _block(result, "E2")
    # E1 detects 0.9 0.6 0.4 0.4: both targets and two of four others. E2 detects 0.8 and 0.5.
    assert [one[name] for name in ("n_hit", "n_miss", "n_fa", "n_correct_rejection")] == [2, 0, 2, 2]
    assert [two[name] for name in ("n_hit", "n_miss", "n_fa", "n_correct_rejection")] == [1, 0, 1, 4]
    assert (one["p_md"], one["p_fa"]) == (0.0, 0.5)
    assert one["ndc"] == pytest.approx(TER / 2, rel=1e-15)
    assert result.figures["p_fa"].value == pytest.approx((0.5 + 0.2) / 2, rel=1e-15)
    assert result.figures["p_fa"].detail["pooled"] == pytest.approx(3 / 9, rel=1e-15)
    assert one["text"] == 'Making a "sandwich"'


def test_minimum_and_error_ratio(tmp_path: Path) -> None:
    result = _score(tmp_path)
    one, two = _block(result, "E1"), _block(result, "E2")
    # E1: at 0.9 one of two targets is missed and nothing is falsely detected.
    assert (one["min_ndc"], one["min_ndc_threshold"]) == (0.5, 0.9)
    assert (two["min_ndc"], two["min_ndc_threshold"], two["ndc_at_ter"]) == (0.0, 0.8, 0.0)
    # E1 walks from (P_FA 1/4, P_MD 1/2) at 0.6 to (0, 1/2) at 0.9: the line crosses at P_MD = 1/2.
    assert one["ndc_at_ter"] == pytest.approx(1.0, rel=1e-15)
    assert (one["p_md_at_ter"], one["ndc_at_ter_threshold"]) == (0.5, 0.9)
    assert result.figures["min_ndc"].value == 0.25


def test_average_precision_by_the_rule_for_ties(tmp_path: Path) -> None:
    # E1 ranks a c (b d): b before d by id, after it by id descending and where ties never help.
    expected = {"id": (1 + 2 / 3) / 2, "id_descending": (1 + 2 / 4) / 2, "against": (1 + 2 / 4) / 2}
    for rule, value in expected.items():
        result = _score(tmp_path, settings={"tie_order": rule})
        assert _block(result, "E1")["ap"] == pytest.approx(100 * value, rel=1e-15)
        assert result.figures["ap"].value == pytest.approx(100 * (value + 1) / 2, rel=1e-15)


def test_ro_and_real_time_factors(tmp_path: Path) -> None:
    result = _score(tmp_path)
    assert _block(result, "E1")["ro"] == pytest.approx(100 - 12.5 * 100 * 4 / 6, rel=1e-15)
    assert result.figures["rtf_metadata"].value == pytest.approx(7 / 3.5, rel=1e-15)
    assert [_block(result, event)["rtf_execution"] for event in ("E1", "E2")] == [2.0, 1.0]
    assert result.figures["rtf_execution"].value == 1.5


def test_what_is_not_known_has_a_reason(tmp_path: Path) -> None:
    figures = _score(tmp_path, clipmd=None, resources=None).figures
    assert figures["rtf_metadata"].reason == "no_resources"
    assert figures["rtf_execution"].reason == "no_clip_durations"
    endless = _score(tmp_path, clipmd=CLIPMD.replace(",1200", ",1.7e308").replace(",1800", ",1.7e308"))
    assert endless.figures["rtf_metadata"].value == 0.0
    no_target = _score(tmp_path, ref=REF.replace("f.E2,y", "f.E2,n"))
    assert _block(no_target, "E2")["p_md"] != _block(no_target, "E2")["p_md"]
    assert no_target.figures["p_md"].detail["n_events"] == 1
    nothing = _score(tmp_path, ref=REF.replace(",y", ",n"))
    reasons = {name: figure.reason for name, figure in nothing.figures.items() if not name.startswith("rtf")}
    assert set(reasons.values()) == {"no_targets"}


def test_an_incomplete_submission_is_refused_dropped_or_missed(tmp_path: Path) -> None:
    left_out = _without("b.E1", "d.E1")
    with pytest.raises(InputError, match=r"2 of 6 trials of event 'E1' are not scored \(first 'b.E1'\)"):
        _score(tmp_path, detection=left_out)
    dropped = _block(_score(tmp_path, detection=left_out, settings={"missing_trials": "drop"}), "E1")
    assert [dropped[name] for name in ("n_target", "n_omitted", "n_nontarget")] == [1, 0, 3]
    missed = _block(_score(tmp_path, detection=left_out, settings={"missing_trials": "miss"}), "E1")
    assert [missed[name] for name in ("n_target", "n_omitted", "n_nontarget", "p_md")] == [2, 1, 3, 0.5]
    whole = {"missing_trials": "miss", "p_fa_trials": "index"}
    assert _block(_score(tmp_path, detection=left_out, settings=whole), "E1")["n_nontarget"] == 4


def test_an_event_that_was_not_processed_is_not_scored(tmp_path: Path) -> None:
    only_one = _without(*(f"{clip}.E2" for clip in "abcdef"))
    threshold = THRESHOLD.replace("E2,0.5,3.5\n", "")
    result = _score(tmp_path, detection=only_one, threshold=threshold)
    assert (_block(result, "E2")["submitted"], _block(result, "E1")["submitted"]) == (0, 1)
    assert result.facts["submission"] == "MEDPart"
    assert result.figures["p_md"].status == "part_of_events"
    assert result.figures["p_md"].detail["n_events"] == 1


def test_an_event_without_a_threshold_row(tmp_path: Path) -> None:
    threshold = THRESHOLD.replace("E2,0.5,3.5\n", "")
    with pytest.raises(InputError, match="event 'E2' has trials and no threshold row"):
        _score(tmp_path, threshold=threshold)
    result = _score(tmp_path, threshold=threshold, settings={"missing_trials": "drop"})
    assert _block(result, "E2")["submitted"] == 0
    assert "missing_threshold" in {finding.code for finding in result.findings}


def test_trials_without_a_key(tmp_path: Path) -> None:
    ref = REF.replace("b.E1,y\n", "")
    official = _score(tmp_path, ref=ref)
    assert [_block(official, "E1")[name] for name in ("n_target", "n_nontarget")] == [1, 5]
    assert "unkeyed_trials" in {finding.code for finding in official.findings}
    dropped = _score(tmp_path, ref=ref, settings={"unkeyed_trials": "drop"})
    assert [_block(dropped, "E1")[name] for name in ("n_target", "n_nontarget")] == [1, 4]
    with pytest.raises(InputError, match=r"1 of 12 trials of the index have no key \(first 'b.E1'\)"):
        _score(tmp_path, ref=ref, mode="plan")


def test_the_point_that_detects_nothing(tmp_path: Path) -> None:
    worst = detection({**SCORES, "E1": {"a": 0.1, "b": 0.1, "c": 0.9, "d": 0.9, "e": 0.9, "f": 0.9}})
    official = _block(_score(tmp_path, detection=worst), "E1")
    assert official["min_ndc"] == pytest.approx(TER, rel=1e-15)
    plan = _block(_score(tmp_path, detection=worst, mode="plan"), "E1")
    assert plan["min_ndc"] == 1.0
    assert plan["min_ndc_threshold"] != plan["min_ndc_threshold"]


def test_conditions_are_scored_beside_the_whole(tmp_path: Path) -> None:
    conditions = "short: ClipMD.DURATION <= 1800; rest: ClipMD.DURATION > 1800 and EventDB.EventName == Parade"
    result = _score(tmp_path, settings={"conditions": conditions})
    assert set(result.conditions) == {"short", "rest"}
    [one, two] = result.conditions["short"].blocks
    assert (one["n_target"], one["n_nontarget"], two["n_target"], two["n_nontarget"]) == (2, 1, 0, 3)
    [one, two] = result.conditions["rest"].blocks
    assert (one["n_target"] + one["n_nontarget"], two["n_target"], two["n_nontarget"]) == (0, 1, 2)
    assert document(result)["conditions"]["short"]["measures"]["p_md"]["value"] == 0.0


def test_a_judgement_of_a_clip_holds_for_its_event_or_for_all(tmp_path: Path) -> None:
    judged = "ClipID,EventID,INSTANCE_TYPE\nc,E1,near_miss\nd,NULL,near_miss\na,E1,positive\n"
    settings = {"conditions": "near: JudgementMD.INSTANCE_TYPE == near_miss"}
    [one, two] = _score(tmp_path, judgement=judged, settings=settings).conditions["near"].blocks
    assert (one["n_target"], one["n_nontarget"], two["n_nontarget"]) == (0, 2, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ClipMD.DURATION < 3", "does not begin with a new name"),
        ("a: ClipMD.DURATION ~ 3", "is no comparison"),
        ("a: Clips.DURATION < 3", "is no comparison"),
        ("a: ClipMD.LENGTH < 3", "ClipMD has no column LENGTH"),
        ("a: JudgementMD.INSTANCE_TYPE == near_miss", "JudgementMD is not among the inputs"),
        ("all: ClipMD.DURATION < 3", "does not begin with a new name"),
    ],
)
def test_a_wrong_condition_is_a_usage_error(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        _score(tmp_path, settings={"conditions": text})


def test_every_protocol_of_the_family_has_the_same_measures_and_two_modes() -> None:
    years = [name for name in names() if name.startswith("med1")]
    assert years == sorted([*(f"med{year}" for year in range(11, 18)), "med13aladdin"])
    for name in years:
        for mode in ("official", "plan"):
            assert find(name, mode=mode).measures == MEASURES
