"""Tests of several systems on one reference: analysis of variance by ranks, every pair, Holm's correction."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from pipeline.cli import main
from pipeline.metrics.stt.significance import anova_by_ranks, holm


@pytest.mark.parametrize("seed", range(40))
def test_the_analysis_of_variance_is_friedmans(seed: int) -> None:
    random = np.random.default_rng(seed)
    rates = random.integers(0, 4, (3 + seed % 4, 2 + seed % 7)) / 4
    figure = anova_by_ranks(rates)
    if all(len(set(column)) == 1 for column in rates.T.tolist()):
        assert figure.reason == "no_differences"
        return
    wanted = friedmanchisquare(*rates)
    assert figure.value == pytest.approx(wanted.pvalue, rel=1e-12)
    assert figure.detail["statistic"] == pytest.approx(wanted.statistic, rel=1e-12)


def test_the_order_of_speakers_and_systems_changes_no_bit() -> None:
    rates = np.random.default_rng(1).integers(0, 5, (5, 9)) / 7
    orders = [([0, 1, 2, 3, 4], 1), ([4, 2, 0, 1, 3], 1), ([1, 0, 4, 3, 2], -1)]
    assert len({anova_by_ranks(rates[order][:, ::step]).value for order, step in orders}) == 1


def test_what_cannot_be_tested_has_a_reason() -> None:
    assert anova_by_ranks(np.ones((3, 4))).reason == "no_differences"
    assert anova_by_ranks(np.ones((3, 1))).reason == "too_few"
    assert anova_by_ranks(np.ones((1, 3))).reason == "too_few"
    assert anova_by_ranks(np.zeros((0, 2)).T.reshape(2, 0)).reason == "too_few"


SPEAKERS = 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reference of eight speakers and three outputs, the third like the second."""
    random = Random(6)
    words = [f"w{at}" for at in range(30)]
    spoken = [[random.choice(words) for _ in range(30)] for _ in range(SPEAKERS)]
    rows = [f"f{at} 1 s{at} 0 100 <o> {' '.join(own)}" for at, own in enumerate(spoken)]
    (tmp_path / "r.stm").write_text("\n".join(rows) + "\n")
    for name, chance in (("good", 0.05), ("poor", 0.3), ("alike", 0.3)):
        heard = [
            f"f{at} 1 {place} 0.5 {'x' if random.random() < chance else word}"
            for at, own in enumerate(spoken)
            for place, word in enumerate(own)
        ]
        (tmp_path / f"{name}.ctm").write_text("\n".join(heard) + "\n")
    return tmp_path


def compare(folder: Path, *names: str, capsys: pytest.CaptureFixture[str]) -> Any:
    first, *others = (str(folder / f"{name}.ctm") for name in names)
    against = [word for one in others for word in ("--against", one)]
    inputs = ["--input", f"stm={folder / 'r.stm'}", "--input", f"ctm={first}"]
    assert main(["compare", "--protocol", "stt13", *inputs, *against, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_three_outputs_have_tests_of_every_pair_and_of_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = compare(folder, "good", "poor", "alike", capsys=capsys)
    pairs = {(one["first"], one["second"]): one["tests"] for one in made["tests_of_pairs"]}
    assert set(pairs) == {("good", "poor"), ("good", "alike"), ("poor", "alike")}
    for name in ("mapsswe", "mcnemar", "sign", "wilcoxon"):
        p = [math.nan if own[name]["value"] is None else own[name]["value"] for own in pairs.values()]
        told = [math.nan if own[name]["p_holm"] is None else own[name]["p_holm"] for own in pairs.values()]
        reasons = [own[name].get("reason") for own in pairs.values()]
        known = [1.0 if reason == "no_differences" else one for one, reason in zip(p, reasons, strict=True)]
        assert told == pytest.approx(holm(known), nan_ok=True)
    assert made["tests_of_all"]["anova"]["value"] < 0.01
    assert "tests" not in made
    letters = {one["system"]: one["letters"] for one in made["systems"]}
    assert letters["good"] == ""
    assert letters["poor"] == letters["alike"] == "a"
    assert {one["test"] for one in made["comparisons"]} == {"mapsswe"}


def test_two_outputs_have_the_tests_of_their_pair_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = compare(folder, "good", "poor", capsys=capsys)
    [pair] = made["tests_of_pairs"]
    assert made["tests"] == pair["tests"]
    assert pair["tests"]["mapsswe"]["p_holm"] == pair["tests"]["mapsswe"]["value"]


def test_the_text_has_a_row_for_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--input", f"stm={folder / 'r.stm'}", "--input", f"ctm={folder / 'good.ctm'}"]
    against = ["--against", str(folder / "poor.ctm"), "--against", str(folder / "alike.ctm")]
    assert main(["compare", "--protocol", "stt13", *inputs, *against]) == 0
    told = capsys.readouterr().out
    assert told.count("mcnemar") == 3
    assert told.count("anova") == 1
