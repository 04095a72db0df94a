"""A class name means one thing, a docstring says what comes back, a folder can be seen at once."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = sorted(path for room in ("pipeline", "flows") for path in (ROOT / room).rglob("*.py"))
FILES_AT_MOST = 30


def classes() -> dict[str, list[Path]]:
    """The files of the classes of each name."""
    found = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path)
    return found


def strings(path: Path) -> Iterator[str]:
    """The docstrings of a file, those of attributes included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_a_class_name_means_one_thing() -> None:
    twice = {name: paths for name, paths in classes().items() if len(paths) > 1}
    assert twice == {}


def test_no_docstring_begins_with_the_same() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), text.splitlines()[0])
        for path in SOURCES
        for text in strings(path)
        if text.startswith("The same")
    }
    assert found == set()


def test_a_folder_can_be_seen_at_once() -> None:
    counts = Counter(path.parent for room in ("pipeline", "tests") for path in (ROOT / room).rglob("*.py"))
    assert {folder: n for folder, n in counts.items() if n > FILES_AT_MOST} == {}
