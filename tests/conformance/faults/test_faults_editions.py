"""A raised edition remakes what the older rule made, here a matcher that takes a dash for any word."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.steps import finish, score_here
from pipeline import protocols
from pipeline.align.tokens import graph as token_graph
from pipeline.align.tokens import match as token_match
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.engine.stored import references
from pipeline.grid import Run
from pipeline.store.blobs import Store

WORDS = 5


def match_by(monkeypatch: pytest.MonkeyPatch, rule: Callable[[Any, Any], Any]) -> None:
    """Match tokens by a rule about their texts alone, whatever the matcher that there is does."""

    class Matcher:
        def __init__(self, vocabulary: list[Any]) -> None:
            self._texts = np.array([token.text for token in vocabulary] or [""])

        def __call__(self, reference: Any, output: Any) -> Any:
            return rule(self._texts[reference], self._texts[output])

    monkeypatch.setattr("pipeline.align.tokens.steps.Matcher", Matcher)
    for module in (token_graph, token_match):
        monkeypatch.setattr(module, "matches", lambda reference, output: bool(rule(reference.text, output.text)))


def a_dash_is_any_word(reference: Any, output: Any) -> Any:
    return (reference == output) | (reference == "-") | (output == "-")


def a_dash_is_a_dash(reference: Any, output: Any) -> Any:
    return reference == output


def run(folder: Path, store: Store) -> Run:
    references.load.cache_clear()
    planned = plan(load_evaluation(str(folder / "ev.yaml")), store)
    return finish(store, planned, score_here(store, planned, missing(planned.jobs, store)))


def wer(store: Store, found: Run) -> float:
    result = json.loads(store.get_sealed(f"results/{found.results['q/d/dash']}.json"))
    return float(result["measures"]["wer"]["value"])


def test_02_word_errors_follow_a_mended_matcher(
    faults: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(faults / "02-edition-and-tiles", tmp_path / "e"))
    store, clean = Store(str(tmp_path / "st")), Store(str(tmp_path / "clean"))
    match_by(monkeypatch, a_dash_is_any_word)
    first = run(folder, store)
    assert wer(store, first) == 1 / WORDS  # four dashes are four words; the fifth is left out

    match_by(monkeypatch, a_dash_is_a_dash)
    known = protocols.protocols()["stt13", "official"]
    monkeypatch.setitem(protocols.protocols(), ("stt13", "official"), replace(known, edition=known.edition + 1))  # type: ignore[arg-type]
    second = run(folder, store)
    assert wer(store, second) == 1.0
    for path in (f"results/{address}.json" for address in run(folder, clean).results.values()):
        assert store.get(path) == clean.get(path)
    assert second.work["labels"] == {"made": len(clean.listing("labels")), "reused": 0}
    assert second.work["damaged"] == []
    capsys.readouterr()

    def cli(*words: str) -> int:
        return main([*words, "--store", store.root])

    assert cli("diff", "stiny~1", "stiny", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    moved = {cell["system"]: cell["figures"] for cell in told["cells"]}
    assert moved["dash"]["wer"] == {"before": 0.2, "after": 1.0, "by": 0.8}
    assert moved["good"] == {}
    [cause] = told["causes"]
    assert (cause["before"], cause["after"]) == (f"stt13.{known.edition}", f"stt13.{known.edition + 1}")
    for system in moved:
        assert cli("verify", f"q/d/{system}", "--run", "stiny") == 0
    capsys.readouterr()
    assert cli("verify", "q/d/dash", "--run", "stiny~1") == 3
    assert "wer is kept as 0.2, the inputs give 1" in capsys.readouterr().err
