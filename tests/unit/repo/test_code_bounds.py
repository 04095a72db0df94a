"""Functions and files stay short enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LONGEST_FUNCTION = 60
LONGEST_FILE = 400
SOURCES = sorted(path for room in ("pipeline", "flows", "rescore") for path in (ROOT / room).rglob("*.py"))


def function_lengths(source: str) -> dict[str, int]:
    """Lines of every function by name and line, its docstring not counted."""
    lengths = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            start = first.end_lineno if documented else node.lineno
            lengths[f"{node.name}:{node.lineno}"] = (node.end_lineno or 0) - (start or 0)
    return lengths


def test_lengths_are_counted_without_docstrings():
    source = 'def f():\n    """One.\n\n    Two.\n    """\n    a = 1\n    return a\n\n\ndef g():\n    return 1\n'
    assert function_lengths(source) == {"f:1": 2, "g:10": 1}


def test_there_is_something_to_measure():
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_function_or_file_is_too_long(path):
    source = path.read_text(encoding="utf-8")
    long = {name: lines for name, lines in function_lengths(source).items() if lines > LONGEST_FUNCTION}
    assert not long
    assert source.count("\n") <= LONGEST_FILE
