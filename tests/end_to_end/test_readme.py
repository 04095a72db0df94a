"""What the README shows is what happens: its figures, its evaluation file, its lines of Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from pipeline.config import load_evaluation
from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.protocols import find

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str, holding: str) -> str:
    """The README's first code block of a language that holds a text."""
    return next(b for b in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if holding in b)


def test_the_board_is_the_demos(demo_run):
    table = [line.strip("| ").split("|") for line in README.splitlines() if re.match(r"\| [1-6–] \| `", line)]
    rows = [r for r in demo_run.summary.board if (r["query_set"], r["dataset"]) == ("eval-q", "eval")]
    assert len(table) == len(rows) == 6
    for cells, row in zip(table, rows, strict=True):
        rank, system, *figures = (cell.strip() for cell in cells)
        assert (rank, system.strip("`")) == (str(row["rank"] or "–"), row["system"])
        measures = ("atwv", "mtwv", "cnxe", "min_cnxe_affine")
        expected = [row["failed"]] if row["failed"] else [f"{row[name]:.4f}" for name in measures]
        assert [figure.replace("−", "-").strip("`") for figure in figures if figure] == expected


def test_the_json_is_what_is_printed(demo_evaluation):
    folder = demo_evaluation.parent
    inputs = {
        "ecf": "datasets/eval.ecf.xml",
        "rttm": "datasets/eval.rttm",
        "kwlist": "queries/eval-q.tlist.xml",
        "output": "systems/aurora/eval-q_eval.stdlist.xml",
    }
    printed = document(score_files(find("sws2013"), {role: str(folder / path) for role, path in inputs.items()}))
    shown = json.loads(re.sub(r",?\s*…", "", block("json", '"measures"')))
    for part in ("protocol", "edition", "mode"):
        assert shown[part] == printed[part]
    assert shown["facts"].items() <= printed["facts"].items()
    for name, figure in shown["measures"].items():
        assert figure.items() <= printed["measures"][name].items()
    for query in shown["blocks"]:
        assert any(query.items() <= whole.items() for whole in printed["blocks"])


def test_the_evaluation_file_loads(tmp_path):
    text = block("yaml", "query_sets")
    cells = [f"{query_set}_{dataset}" for query_set in ("dev-q", "eval-q") for dataset in ("dev", "eval")]
    outputs = [
        f"outputs/{system}/{cell}.stdlist.xml" for system in ("alpha", "alpha-2", "withdrawn-1") for cell in cells
    ]
    names = re.findall(r"[\w-]+\.(?:ecf\.xml|rttm|tlist\.xml|csv)\b", text)
    for name in [*names, *outputs, "outputs/alpha/resources.yaml"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    (tmp_path / "evaluation.yaml").write_text(text, encoding="utf-8")
    evaluation = load_evaluation(str(tmp_path / "evaluation.yaml"))
    assert [system.name for system in evaluation.systems] == ["alpha", "alpha-2", "beta"]
    assert [len(system.outputs) for system in evaluation.systems] == [4, 4, 1]
    assert [system.primary for system in evaluation.systems] == [True, False, True]


def test_the_lines_of_python_work(demo_run):
    code = block("python", "open_zarr")
    assert len(code.strip().splitlines()) == 4
    trials = next(path for path in demo_run.store.listing("trials") if path.endswith(".zarr.zip"))
    code = re.sub(r'"zip::[^"]*/grids/[^"]*"', json.dumps(f"zip::{demo_run.summary.paths['grid']}"), code)
    code = re.sub(r'"zip::[^"]*/trials/[^"]*"', json.dumps(f"zip::{demo_run.store.url(trials)}"), code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "aurora" in done.stdout
    assert "bucket_offset" in done.stdout
