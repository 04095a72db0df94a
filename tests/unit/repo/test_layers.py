"""The order of the rooms is checked by import-linter; here, that the check can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINTER = Path(sys.executable).with_name("lint-imports")

WRONG = {
    "a lower room imports a higher one": ("pipeline/formats/kws/ecf.py", "from pipeline.engine import score"),
    "two rooms of one layer": ("pipeline/formats/kws/ecf.py", "from pipeline.store import blobs"),
    "a room imports the flows": ("pipeline/grid/gather.py", "import flows.settings"),
    "the flows import the command line": ("flows/settings.py", "import pipeline.cli"),
    "Prefect outside the flows": ("pipeline/engine/cell.py", "import prefect"),
    "Prefect in the command line": ("pipeline/cli/__init__.py", "from prefect import flow"),
    "Dask in a low room": ("pipeline/metrics/kws/twv.py", "import dask.array"),
    "xarray in a reader": ("pipeline/formats/kws/ecf.py", "import xarray"),
    "statistics know keyword search": ("pipeline/metrics/statistics/draws.py", "from pipeline.metrics.kws import twv"),
    "two families of formats": ("pipeline/formats/med/csv.py", "from pipeline.formats.kws import ecf"),
    "what is stored knows tasks": ("pipeline/engine/stored/pieces.py", "from pipeline.engine import tasks"),
    "a plot knows the page": ("pipeline/report/plots/det.py", "from pipeline.report import page"),
    "a kind of cluster knows another": ("flows/clusters/slurm.py", "import flows.clusters.local"),
    "a room that stands in no layer": ("pipeline/attic.py", "X = 1"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINTER, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's sources in a folder of their own; whoever changes a file puts it back."""
    folder = tmp_path_factory.mktemp("copy")
    for room in ("pipeline", "flows", "rescore"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_project_keeps_its_layers(copy):
    checked = lint(copy)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("file", "line"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_import_is_refused(copy, file, line):
    path = copy / file
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        checked = lint(copy)
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "BROKEN" in checked.stdout or "pipeline.attic" in checked.stdout
