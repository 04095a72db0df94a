"""Scoring one cell starts fast: what costs seconds to import is imported where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("prefect", "dask", "distributed", "xarray", "zarr", "s3fs", "aiobotocore", "pandas")
LIGHT = (
    "pipeline",
    "pipeline.formats",
    "pipeline.partials.ledger",
    "pipeline.trials.dataset",
    "pipeline.align.occurrences",
    "pipeline.metrics.kws.twv",
    "pipeline.protocols",
    "pipeline.store.blobs",
    "pipeline.store.arrays",
    "pipeline.engine.score",
    "pipeline.config",
    "pipeline.cli",
)


@pytest.mark.parametrize("module", LIGHT)
def test_importing_is_light(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_command_line_builds_its_parser_lightly():
    code = f"import sys, pipeline.cli as cli; cli.build_parser(); print(*(n for n in {HEAVY!r} if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
