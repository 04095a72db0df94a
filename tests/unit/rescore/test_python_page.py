"""The page on Python is run: each of its examples that is not marked to be skipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[-1][:40] for block in BLOCKS])
def test_an_example_of_the_page_runs(block, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(PAGE), "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.strip()


def test_the_page_names_every_format():
    from pipeline.frames import PLACES

    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in PLACES if f"`{name}`" not in page and not name.startswith("med_")] == ["resources"]
