"""STDEval's figures of SWS 2011 to 2013 at full precision, from the tool's own files and options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import close, index

from pipeline.cli import main

COUNTS = {"n_target": "ref", "n_hit": "corr", "n_fa": "fa", "n_miss": "miss"}


def _cases(conformance: Path) -> dict[str, dict[str, Any]]:
    return {case["case"]: case for case in index(conformance, "generated") if "stdeval" in case}


def _arguments(conformance: Path, case: dict[str, Any], *extra: str) -> list[str]:
    folder, files = conformance / "kws" / "generated", case["stdeval"]["files"]
    inputs = {
        "-e": files["ecf"],
        "-r": files.get("rttm", case["files"]["rttm"]),
        "-t": files["tlist"],
        "-s": files["stdlist"],
    }
    named = [part for option, name in inputs.items() for part in (option, str(folder / name))]
    return ["score", "--protocol", case["case"], *named, *case["stdeval"]["argv"], "--json", "--curve", *extra]


@pytest.mark.parametrize("name", ["sws2011", "sws2012", "sws2013"])
def test_every_figure_of_stdeval(conformance: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    case = _cases(conformance)[name]
    expected = case["stdeval"]["expected"]
    assert main(_arguments(conformance, case)) == 0
    seen = json.loads(capsys.readouterr().out)
    measures, mean, det = seen["measures"], expected["mean"], expected["dets"][0]
    pairs = {
        "t_audio_s": (seen["facts"]["t_audio_s"], expected["total_time"]),
        "n_trials": (seen["facts"]["n_trials"], expected["num_trials"]),
        "n_queries_scored": (seen["facts"]["n_queries_scored"], expected["n_terms_with_refs"]),
        "beta": (seen["facts"]["beta"], det["beta"]),
        "atwv": (measures["atwv"]["value"], mean["atwv"]),
        "p_miss": (measures["p_miss"]["value"], mean["pmiss"]),
        "p_fa": (measures["p_fa"]["value"], mean["pfa"]),
        "mtwv": (measures["mtwv"]["value"], det["mtwv"]),
        "mtwv p_miss": (measures["mtwv"]["p_miss"], det["pmiss"]),
        "mtwv p_fa": (measures["mtwv"]["p_fa"], det["pfa"]),
    }
    assert {what: pair for what, pair in pairs.items() if not close(*pair)} == {}
    assert measures["mtwv_threshold"]["value"] == det["thresh"]
    assert len(seen["curve"]) == det["n_points"]
    blocks = {block["id"]: block for block in seen["blocks"]}
    for query, wanted in expected["terms"].items():
        block = blocks[query]
        assert {ours: block[ours] for ours in COUNTS} == {ours: wanted[theirs] for ours, theirs in COUNTS.items()}
        if wanted["ref"]:
            assert close(block["p_miss"], wanted["pmiss"])
            assert close(block["p_fa"], wanted["pfa"])


def test_the_bnews_subset_of_stdeval_is_a_condition(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = _cases(conformance)["sws2012"]
    [subset] = [det for det in case["stdeval"]["expected"]["dets"] if "BNEWS" in det["title"]]
    assert main(_arguments(conformance, case, "-Y", "BNEWS:bnews")) == 0
    figure = json.loads(capsys.readouterr().out)["conditions"]["BNEWS"]["measures"]["mtwv"]
    assert close(figure["value"], subset["mtwv"])
    assert close(figure["p_fa"], subset["pfa"])
