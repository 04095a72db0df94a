"""Kernels are compiled anew when any source that is compiled into them changes, and only then."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KERNELS = sorted((ROOT / "pipeline").rglob("*_kernel.py"))
SMALL = """
from numba import njit
from pipeline.formats.kws.fast.kernel_cache import by_sources
from pipeline.constant import ADDED

@njit(cache=True)
@by_sources
def add(number):
    return number + ADDED
"""
SHOWN = """
from pipeline.small_kernel import add
from pipeline.formats.kws.fast.fast_kernel import scan
print(add(1), *add.stats.cache_hits.values(), scan.py_func.__qualname__)
"""


def run_in(copy: Path) -> list[str]:
    """The sum, the hits of Numba's cache, and the name of the scanner of the fast reader."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache")}
    command = [sys.executable, "-c", SHOWN]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.usefixtures("numba")
def test_a_change_in_what_is_compiled_in_is_compiled_anew(tmp_path: Path) -> None:
    package = tmp_path / "pipeline"
    shutil.copytree(ROOT / "pipeline", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "small_kernel.py").write_text(SMALL)
    (package / "constant.py").write_text("from pipeline.deeper import ADDED\n")
    (package / "deeper.py").write_text("ADDED = 2\n")
    first, again = run_in(tmp_path), run_in(tmp_path)
    assert first == ["3", first[-1]]
    assert again == ["3", "1", first[-1]]
    (package / "deeper.py").write_text("ADDED = 3\n")
    with (package / "formats" / "kws" / "fast" / "words.py").open("a") as words:
        words.write("# other words\n")
    changed = run_in(tmp_path)
    assert changed == ["4", changed[-1]]
    assert changed[-1] != first[-1]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_kept_is_named_by_its_sources(path: Path) -> None:
    unnamed = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            said = [ast.unparse(decorator) for decorator in node.decorator_list]
            if any("cache=True" in one for one in said) and "by_sources" not in said:
                unnamed.append(node.name)
    assert unnamed == []
