"""What is compiled beforehand is all that reading compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_READ = """
import sys
from pathlib import Path
from unittest.mock import patch
from bench.kws_files import write_files
from pipeline.engine.score import score_files
from pipeline.formats.kws import kwslist
from pipeline.protocols import find

with patch.object(kwslist, "START_FROM_BYTES", 0):
    print(score_files(find("openkws13"), write_files(Path(sys.argv[1]), 60_000, 100, 1000)).figures["mtwv"].value)
assert "pipeline.formats.kws.fast.fast_kernel" in sys.modules
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

    run("-m", "pipeline.formats.kws.fast.compiled")
    made = compiled_in(cache)
    assert made
    assert 0.0 < float(run("-c", _READ, str(tmp_path))) < 1.0
    assert compiled_in(cache) == made
