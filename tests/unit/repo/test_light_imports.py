"""Scoring one cell starts fast: what costs seconds to import is imported where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.protocols import protocols

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


@pytest.mark.parametrize(("name", "family"), [("stt13", "stt"), ("med11", "med")])
def test_finding_a_protocol_imports_its_family_alone(name, family):
    code = (
        f"import sys; from pipeline.protocols import find, protocols; find({name!r})\n"
        "rooms = {m.split('.')[2] for m in sys.modules if m.startswith('pipeline.protocols.') and m.count('.') > 2}\n"
        "print(*rooms); print(*dict.fromkeys(key[0] for key in protocols()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms, names = (line.split() for line in done.stdout.splitlines())
    assert rooms == [family]
    ours = list(dict.fromkeys(name for name, _ in protocols()))
    assert names == ours, "the order of all is the same, whichever was searched first"
