"""The first notebook runs from its first cell to its last, and shows what it says.

``PYTHONPATH=. python tests/unit/rescore/test_first_notebook.py`` writes what its cells show into it.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[3] / "docs" / "notebooks" / "first.ipynb"
SHOWN = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
LINES_AT_MOST = 25


def cells() -> list[dict[str, Any]]:
    """The cells of code."""
    notebook = json.loads(PATH.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def executed() -> list[dict[str, str]]:
    """What the last expression of each cell shows, by media type."""
    names: dict[str, Any] = {}
    shown = []
    for cell in cells():
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(PATH), "exec"), names)  # noqa: S102
        value = None if last is None else eval(compile(ast.Expression(last.value), str(PATH), "eval"), names)  # noqa: S307
        found = {kind: getattr(value, method)() for kind, method in SHOWN.items() if hasattr(value, method)}
        shown.append(found | ({"text/plain": repr(value)} if value is not None else {}))
    return shown


def written() -> None:
    """Write what the cells show into the notebook."""
    notebook = json.loads(PATH.read_text(encoding="utf-8"))
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for at, (cell, data) in enumerate(zip(codes, executed(), strict=True), 1):
        told = {kind: text.splitlines(keepends=True) for kind, text in data.items()}
        output = {"output_type": "execute_result", "execution_count": at, "metadata": {}, "data": told}
        cell |= {"execution_count": at, "outputs": [output] if told else []}
    PATH.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def test_it_goes_from_arrays_to_a_comparison_in_few_lines():
    lines = [line for cell in cells() for line in "".join(cell["source"]).splitlines() if line.strip()]
    assert len(lines) <= LINES_AT_MOST


def test_its_cells_show_what_they_showed_when_it_was_written():
    shown = executed()
    for cell, data in zip(cells(), shown, strict=True):
        kept = {kind for output in cell["outputs"] for kind in output["data"]}
        assert set(data) == kept
    text = "\n".join(data.get("text/plain", "") for data in shown)
    assert "<Result ours: atwv 0." in text
    assert "<Comparison atwv: ours 0." in text
    assert any("image/svg+xml" in data for data in shown)
    html = "\n".join(data.get("text/html", "") for data in shown)
    for word in ("interval", "p_holm", "n_target", "<svg"):
        assert word in html


if __name__ == "__main__":
    written()
