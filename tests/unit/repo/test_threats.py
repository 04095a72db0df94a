"""docs/threats.md and the tests agree: every case in its table is tried, and every budget is told."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from pipeline.formats.budgets import BUDGETS

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8")
CASES_AT_LEAST = 80
_ROW = re.compile(r"^\| (\d+) \| (\w+) \| .+? \| .+? \| `([^`]+)` \| `(\w+)` \| ``(.+?)`` \|$", re.MULTILINE)
ROWS = _ROW.findall(TEXT)


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_there_are_many_cases_and_each_is_another() -> None:
    assert [int(number) for number, *_ in ROWS] == list(range(1, len(ROWS) + 1))
    assert len({(path, name, case) for _, _, path, name, case in ROWS}) == len(ROWS) >= CASES_AT_LEAST
    assert len(ROWS) == len(re.findall(r"^\| \d+ \|", TEXT, re.MULTILINE)), "a row that is not read as one"


def test_every_case_is_tried_by_a_test_that_is_there() -> None:
    known = {path: names_in(ROOT / "tests" / path) for _, _, path, _, _ in ROWS}
    missing = [name for _, _, path, name, _ in ROWS if name not in known[path]]
    assert not missing


def test_every_case_stands_in_its_test() -> None:
    texts = {path: (ROOT / "tests" / path).read_text(encoding="utf-8") for _, _, path, _, _ in ROWS}
    missing = [(name, case) for _, _, path, name, case in ROWS if case != "-" and case not in texts[path]]
    assert not missing


def test_everybody_is_told_about() -> None:
    people = set(re.findall(r"^\| (\w+) \| [^|]+ \| [^|]+ \|$", TEXT, re.MULTILINE)) - {"who"}
    assert {who for _, who, *_ in ROWS} <= people


def test_every_budget_is_told_with_its_default() -> None:
    for name, (default, meaning) in BUDGETS.items():
        assert f"| `{name}` | {default} | {meaning} |" in TEXT
