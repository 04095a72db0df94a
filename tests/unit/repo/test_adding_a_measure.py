"""CONTRIBUTING, "A measure", done to the letter in a copy of the sources: one file, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "data" / "golden" / "kws"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RUN = """
import sys
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.store.blobs import Store
store = Store(sys.argv[2])
planned = plan(load_evaluation(sys.argv[1]), store)
print(finish(store, planned, score_here(store, planned, missing(planned.jobs, store))).reports["board.csv"])
"""
EVALUATION = f"""
name: golden
protocol: openkws13
datasets: {{d: {{ecf: {GOLDEN}/ecf.xml, rttm: {GOLDEN}/key.rttm}}}}
query_sets: {{q: {{kwlist: {GOLDEN}/kwlist.xml}}}}
systems: {{one: {{outputs: {{q/d: {GOLDEN}/output.xml}}}}}}
"""
INPUTS = ("-e", "ecf.xml", "-r", "key.rttm", "-t", "kwlist.xml", "-s", "output.xml")


def as_the_page_says() -> tuple[str, str]:
    """The file's path and its text."""
    section = PAGE.partition("### A measure")[2].partition("\n#")[0]
    path = re.search(r"a measure is one file, `([^`]+)`", section)
    code = re.search(r"```python\n(.*?)```", section, re.S)
    assert path is not None
    assert code is not None
    return path[1], code[1]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, without what was compiled of them."""
    root = tmp_path_factory.mktemp("clone")
    for room in ("pipeline", "flows", "rescore"):
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "evaluation.yaml").write_text(EVALUATION)
    return root


def python(clone: Path, *args: str) -> str:
    done = subprocess.run([sys.executable, *args], cwd=clone, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(clone: Path, rings: Sequence[str] = ("trials", "labels", "references", "results")) -> dict[str, bytes]:
    store = clone / "store"
    return {
        str(p.relative_to(store)): p.read_bytes() for ring in rings for p in (store / ring).rglob("*") if p.is_file()
    }


def scored(clone: Path) -> dict:
    flags = [str(GOLDEN / name) if name.endswith(("xml", "rttm")) else name for name in INPUTS]
    return json.loads(python(clone, "-m", "pipeline.cli", "score", "--protocol", "openkws13", *flags, "--json"))


def test_one_file_adds_a_measure_everywhere_and_rescores_nothing(clone: Path) -> None:
    before = scored(clone)
    python(clone, "-c", RUN, "evaluation.yaml", "store")
    kept = objects(clone)
    path, text = as_the_page_says()
    (clone / path).write_text(text, encoding="utf-8")
    after = scored(clone)
    assert after["signature"] == before["signature"]
    assert after["measures"].keys() - before["measures"].keys() == {"precision"}
    hits, alarms = (sum(block[name] for block in after["blocks"]) for name in ("n_hit", "n_fa"))
    assert after["measures"]["precision"]["value"] == hits / (hits + alarms)
    listed = json.loads(python(clone, "-m", "pipeline.cli", "protocols", "openkws13", "--json"))
    (own,) = [measure for measure in listed["measures"] if measure["name"] == "precision"]
    assert own["source"] == "van Rijsbergen 1979, chapter 7"
    board = python(clone, "-c", RUN, "evaluation.yaml", "store").strip()
    now = objects(clone)
    assert {name: now[name] for name in kept} == kept
    (result,) = [name for name in kept if name.startswith("results/")]
    assert now.keys() - kept.keys() == {f"{result.removesuffix('.json')}/precision.json"}
    head, row = (clone / "store" / board).read_text(encoding="utf-8").splitlines()[:2]
    assert float(dict(zip(head.split(","), row.split(","), strict=True))["precision"]) == hits / (hits + alarms)


def test_the_file_is_as_the_project_wants_it(tmp_path: Path) -> None:
    _, text = as_the_page_says()
    (tmp_path / "precision.py").write_text(text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--ignore", "INP001"]
    done = subprocess.run([*ruff, "--no-cache", str(tmp_path)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
