"""What is compiled beforehand is all that scoring a cell compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCORE = """
import sys
from pathlib import Path
from unittest.mock import patch
from bench.kws_files import write_files
from pipeline import compiled
from pipeline.engine.score import score_files
from pipeline.formats.kws import kwslist
from pipeline.protocols import find

compiled.start(compiled.START_FROM)
with patch.object(kwslist, "START_FROM_BYTES", 0):
    print(score_files(find("openkws13"), write_files(Path(sys.argv[1]), 60_000, 100, 1000)).figures["mtwv"].value)
"""


def compiled_in(place: Path) -> dict[str, float]:
    """Compiled functions that Numba keeps, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in place.rglob("*.nbc")}


@pytest.mark.usefixtures("numba")
def test_scoring_compiles_nothing_more(tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def run(*words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=240).stdout

    kernels = run("-m", "pipeline.engine.kernels").split()
    assert {"pipeline.partials.tally_kernel", "pipeline.align.mapping.group_kernel"} <= set(kernels)
    made = compiled_in(cache)
    assert len(made) >= len(kernels)
    assert 0.0 < float(run("-c", _SCORE, str(tmp_path))) < 1.0
    assert compiled_in(cache) == made
