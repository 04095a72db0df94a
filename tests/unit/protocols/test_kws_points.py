"""Operating points and datasets of SWS 2011 to 2013 and STD 2006, worked by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from kws_inputs import codes, ecf, kwlist, kwslist, lexeme, score, write

from pipeline import protocols
from pipeline.errors import InputError, UsageError
from pipeline.protocols.kws.point import K_TABLES, operating_point
from pipeline.report.kwseval.tables import tables

MODES = ("official", "plan")


def _inputs(folder: Path, dur: float = 100.0) -> dict[str, str]:
    """Four occurrences of two queries; one false alarm."""
    return write(
        folder,
        ecf=ecf(("f.wav", "1", 0, dur)),
        rttm=lexeme("a", 10) + lexeme("a", 20) + lexeme("a", 30) + lexeme("b", 40),
        kwlist=kwlist(A="a", B="b"),
        output=kwslist(("A", [("f", "1", 10.0, 1.0, 2.0, "YES")]), ("B", [("f", "1", 70.0, 1.0, 1.0, "YES")])),
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_point_of_2012_is_made_of_the_key(tmp_path: Path, mode: str) -> None:
    result = score(_inputs(tmp_path), "sws2012", mode)
    # beta = (1 * 100 - 4) / 4; A misses 2 of 3, B misses its 1 and has 1 false alarm of 99.
    assert result.facts["beta"] == pytest.approx(24.0, rel=1e-15)
    assert result.facts["p_target_effective"] == pytest.approx(0.04, rel=1e-15)
    assert result.figures["atwv"].value == pytest.approx(1 - ((2 / 3 + 1) / 2 + 24 * (1 / 99) / 2), rel=1e-14)
    # A miss weighs |Q| alpha = 2 (1 - 0.02) / (1 - 0.04) false alarms (000 eq 19-20).
    assert result.facts["miss_weight"] == pytest.approx(2 * 0.98 / 0.96, rel=1e-14)


@pytest.mark.parametrize(
    ("overrides", "beta"),
    [
        ({"fa_per_miss": 2}, 12.0),
        ({"trials_per_s": 2}, 49.0),
        ({"k_table": "african_dev_dev"}, 15.32),
        ({"k_table": "indian_eval_eval"}, 21.59),
        ({"c_fa": 13.065, "c_miss": 1, "p_target": 0.5}, 13.065),
        ({"p_target_effective": 0.2}, 4.0),
    ],
)
def test_the_point_of_2012_may_be_given(tmp_path: Path, overrides: dict[str, object], beta: float) -> None:
    assert score(_inputs(tmp_path), "sws2012", **overrides).facts["beta"] == pytest.approx(beta, rel=1e-14)


@pytest.mark.parametrize("dur", [4.0, 3.0])
def test_as_many_occurrences_as_trials_are_refused(tmp_path: Path, dur: float) -> None:
    with pytest.raises(InputError, match="4 occurrences of the listed queries in") as caught:
        score(_inputs(tmp_path), "sws2012", t_audio=dur)
    assert caught.value.findings[0].code == "targets_exceed_trials"


def test_no_occurrence_at_all_is_undefined_and_no_error(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path)
    (tmp_path / "rttm").write_text("")
    result = score(inputs, "sws2012")
    assert result.figures["atwv"].reason == "no_targets"
    assert {figure.reason for figure in result.figures.values() if figure.value != figure.value} >= {"no_targets"}


@pytest.mark.parametrize(
    ("protocol", "beta", "tolerance_s", "word_gap_s"),
    [("std2006", 999.9, 0.5, 0.5), ("sws2011", 999.9, 20.0, 20.0), ("sws2013", 0.99985 / 0.015, 0.5, 0.5)],
)
@pytest.mark.parametrize("mode", MODES)
def test_points_and_tolerances(protocol: str, mode: str, beta: float, tolerance_s: float, word_gap_s: float) -> None:
    settings = protocols.find(protocol, mode=mode).settings
    assert operating_point(settings, 100.0, 4).beta == pytest.approx(beta, rel=1e-14)
    assert (settings.tolerance_s, settings.word_gap_s) == (tolerance_s, word_gap_s)


def test_the_tables_of_2012() -> None:
    allowed = next(
        entry for entry in protocols.describe(protocols.find("sws2012"))["settings"] if entry["name"] == "k_table"
    )["allowed"]
    assert set(allowed.split(" | ")) == {"none", *K_TABLES}


def test_stdeval_counts_channel_1_and_the_text_counts_all(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path)
    (tmp_path / "ecf").write_text(ecf(("f.wav", "1", 0, 60.4), ("f.wav", "2", 0, 60)))
    official, plan = score(inputs, "std2006"), score(inputs, "std2006", "plan")
    assert (official.facts["t_audio_s"], official.facts["n_trials"]) == (60.4, 60.0)
    assert (plan.facts["t_audio_s"], plan.facts["n_trials"]) == (120.4, 120.4)


@pytest.mark.parametrize(("flag", "n_target", "n_fa"), [("none", 2, 1), ("whole", 1, 0), ("excerpt", 2, 0)])
def test_stdeval_with_ecf_takes_whole_references(tmp_path: Path, flag: str, n_target: int, n_fa: int) -> None:
    inputs = write(
        tmp_path,
        ecf=ecf(("f.wav", "1", 0, 50)),
        rttm=lexeme("a", 10) + lexeme("b", 11) + lexeme("a", 49) + lexeme("b", 50),
        kwlist=kwlist(K="a b"),
        output=kwslist(("K", [("f", "1", 10.0, 2.0, 1.0, "YES"), ("f", "1", 60.0, 2.0, 1.0, "YES")])),
    )
    block = score(inputs, "std2006", ecf_filter=flag).blocks[0]
    assert (block["n_target"], block["n_hit"], block["n_fa"]) == (n_target, 1, n_fa)


def test_the_last_of_several_blocks_counts_in_stdeval(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path)
    first, last = ("f", "1", 10.0, 1.0, 2.0, "YES"), ("f", "1", 20.0, 1.0, 2.0, "YES")
    one_line = kwslist(("A", [first, first]), ("A", [last])).replace("\n", "")
    (tmp_path / "output").write_text(one_line)
    for mode, n_fa, n_hit in (("official", 0, 1), ("plan", 1, 2)):
        block = score(inputs, "std2006", mode).blocks[0]
        assert (block["n_hit"], block["n_fa"]) == (n_hit, n_fa)


def test_gap_and_tolerance_of_2012_are_those_of_the_flags() -> None:
    """-S is the tolerance and -F the gap, whatever the text calls them; other values are settings."""
    settings = protocols.find("sws2012", mode="plan").settings
    assert (settings.tolerance_s, settings.word_gap_s) == (1.0, 0.5)
    with pytest.raises(UsageError, match="k_table"):
        protocols.find("sws2012", overrides={"k_table": "african"})


@pytest.mark.parametrize(
    ("mode", "n_trials", "p_fa", "atwv"),
    [("official", 10.0, 1 / 8 + 1 / 9, 0.4549), ("plan", 10.5, 1 / 8.5 + 1 / 9.5, 0.4714)],
)
def test_stdeval_rounds_trials_and_neither_beta_nor_the_cross_entropy(
    tmp_path: Path, mode: str, n_trials: float, p_fa: float, atwv: float
) -> None:
    # STDEval 0.7 with -k 2.5 prints: Number of Trials 10, Total Speech Time 10.5, Coefficient C 2.5000, 0.4549.
    times = {"alpha": (1.0, 4.0), "beta": (7.0,)}
    inputs = write(
        tmp_path,
        ecf=ecf(("a.wav", "1", 0.0, 10.5)),
        rttm="".join(lexeme(word, at, dur=0.5, place="a 1") for word, begins in times.items() for at in begins),
        kwlist=kwlist(q1="alpha", q2="beta"),
        output=kwslist(
            ("q1", [("a", "1", 1.0, 0.5, 0.9, "YES"), ("a", "1", 5.5, 0.5, 0.7, "YES")]),
            ("q2", [("a", "1", 7.0, 0.5, 0.8, "YES"), ("a", "1", 2.5, 0.5, 0.75, "YES")]),
        ),
    )
    seen = score(inputs, "sws2012", mode)
    assert seen.facts["beta"] == (10.5 - 3) / 3
    assert seen.facts["n_trials"] == n_trials
    assert seen.figures["p_fa"].value == pytest.approx(p_fa / 2, rel=1e-15)
    assert seen.figures["atwv"].value == pytest.approx(atwv, abs=5e-5)
    assert seen.figures["cnxe"].detail["n_nontarget_trials"] == 2 * 10.5 - 3


@pytest.mark.parametrize("protocol", ["sws2013", "openkws13", "std2006", "sws2011"])
@pytest.mark.parametrize("mode", MODES)
def test_half_a_second_of_audio_leaves_no_trial_that_is_no_target(tmp_path: Path, protocol: str, mode: str) -> None:
    # A has 3 occurrences in half a trial (or none, rounded): P_fa, TWV and priors would be negative or above 1.
    seen = score(_inputs(tmp_path, 0.5), protocol, mode, ecf_filter="none", tolerance_s=0.5)
    undefined = "atwv mtwv mtwv_threshold p_fa twv_bayes twv_optimum c_det c_norm cxe cnxe min_cnxe_affine min_cnxe_pav"
    assert {seen.figures[name].reason for name in undefined.split()} == {"more_targets_than_trials"}
    assert all(math.isnan(seen.facts[name]) for name in ("prior_empirical", "miss_weight"))
    assert seen.figures["p_miss"].value == pytest.approx((2 / 3 + 1) / 2, rel=1e-15)
    assert seen.figures["twv_supremum"].value == pytest.approx((1 / 3 + 0) / 2, rel=1e-15)
    assert "more_targets_than_trials" in codes(seen)
    by_query, _ = tables(seen, protocols.find(protocol, mode=mode).settings, by_query=True, text=False)
    assert "NA" in by_query
