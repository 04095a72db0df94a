"""Intervals of every protocol's figures, and whether outputs differ."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rescore
from pipeline import protocols
from pipeline.cli import main
from pipeline.engine.result import plain
from tests.unit.protocols.golden import inputs_of


def scores(shift: float = 0.0, n: int = 300) -> pd.DataFrame:
    """Labelled scores of ten queries; ``shift`` is how much better targets score."""
    rng = np.random.default_rng(7)
    label = rng.random(n) < 0.3
    score = rng.normal(label * (0.5 + shift), 1.0).round(2)
    names = {"query": [f"q{row % 10}" for row in range(n)], "document": [f"d{row}" for row in range(n)]}
    return pd.DataFrame({**names, "label": label, "score": score, "decision": score > 0.5})


@pytest.mark.parametrize(("name", "mode"), protocols.protocols())
def test_figures_of_every_protocol_have_intervals(name, mode):
    protocol = protocols.find(name, mode=mode)
    result = rescore.score(name, mode=mode, ci=0.9, **inputs_of(protocol))
    assert set(result.intervals) == {one.name for one in protocol.measures if one.resample is not None}
    for measure, own in result.intervals.items():
        assert (own.reason is None) == (math.isfinite(own.low) and math.isfinite(own.high)), measure
        if not math.isnan(own.value):
            assert own.value == pytest.approx(result[measure], rel=1e-9, abs=1e-12), measure


def test_intervals_are_of_the_level_that_is_asked_for():
    narrow, wide = (rescore.score("detection", output=scores(), ci=level) for level in (0.5, 0.99))
    for name in ("c_det", "atwv", "mtwv"):
        assert wide.intervals[name].low < narrow.intervals[name].low < narrow.intervals[name].high
    assert {"low", "high"} <= set(narrow.measures.columns)
    assert f"c_det {narrow['c_det']:.4g} [" in repr(narrow)
    assert " to " in narrow._repr_html_()
    only = rescore.score("detection", output=scores(), ci=0.9, measures=["c_det"])
    assert set(only.intervals) == {"c_det"}
    with pytest.raises(rescore.UsageError, match=r"ci is 95"):
        rescore.score("detection", output=scores(), ci=95)


def test_systems_that_differ_are_told_apart():
    named = {"good": scores(3.0), "poor": scores(0.0), "twin": scores(3.0)}
    results = {name: rescore.score("detection", output=frame, decide=0.5) for name, frame in named.items()}
    found = rescore.compare(results)
    assert found.board.ranked[-1] == "poor"
    letters = found.systems.set_index("system")["letters"].to_dict()
    assert letters == {"good": "a", "twin": "a", "poor": ""}
    pairs = found.pairs.set_index(["first", "second"])
    assert pairs.loc[("good", "twin"), "difference"] == 0
    assert pairs.loc[("good", "poor"), "p_holm"] < 0.05
    assert pairs.loc[("good", "poor"), "high"] < 0  # a cost: lower is better
    assert "poor" in repr(found)
    assert found._repr_html_().count("<table") == 2


def test_only_what_was_scored_in_one_way_is_compared():
    one = rescore.score("detection", output=scores())
    with pytest.raises(rescore.UsageError, match="nothing to compare"):
        rescore.compare([one])
    with pytest.raises(rescore.UsageError, match="another protocol, setting or key"):
        rescore.compare([one, rescore.score("detection", output=scores(), c_fa=2)])
    with pytest.raises(rescore.UsageError, match="draws no auc"):
        rescore.compare([one, one], measure="auc")


def written(folder: Path) -> dict[str, str]:
    """Two outputs as files."""
    for name, shift in (("good", 3.0), ("poor", 0.0)):
        scores(shift).to_csv(folder / f"{name}.csv", index=False)
    return {name: str(folder / f"{name}.csv") for name in ("good", "poor")}


def test_the_command_scores_with_intervals(tmp_path, capsys):
    path = written(tmp_path)["good"]
    options = ["score", "--protocol", "detection", "-s", path]
    assert main([*options, "--ci", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    own = rescore.score("detection", output=path, ci=0.95).intervals
    assert {name: (one["low"], one["high"]) for name, one in made["intervals"].items()} == {
        name: (plain(one.low), plain(one.high)) for name, one in own.items()
    }
    assert made["intervals"]["c_det"]["level"] == 0.95
    assert main([*options, "--ci", "0.5"]) == 0
    assert " to " in capsys.readouterr().out
    assert main([*options, "--ci", "95"]) == 2


def test_the_command_compares_outputs_of_any_protocol(tmp_path, capsys):
    files = written(tmp_path)
    options = ["compare", "--protocol", "detection", "-s", files["good"], "--against", files["poor"]]
    assert main([*options, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [one["system"] for one in made["systems"]] == ["good", "poor"]
    assert made["comparisons"][0]["p_holm"] < 0.05
    assert "tests" not in made
    assert main([*options, "--measure", "atwv"]) == 0
    text = capsys.readouterr().out
    assert "atwv" in text
    assert "good - poor" in text
    assert main([*options, "--measure", "auc"]) == 2


def test_of_speech_to_text_it_has_the_family_s_tests_too(capsys):
    inputs = inputs_of(protocols.find("stt13"))
    given = [f"--input={role}={path}" for role, path in inputs.items() if role != "lexicon"]
    assert main(["compare", "--protocol", "stt13", *given, "--against", inputs["ctm"], "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["unit"] == "speaker"
    assert {"mapsswe", "mcnemar"} <= set(made["tests"])
