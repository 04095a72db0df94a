"""A small evaluation on disk: two query sets, two datasets, three systems found by a pattern."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

FOUND = "systems:\n  pattern: outputs/{system}/{query_set}/{dataset}.kwslist.xml\n"
HEAD = """\
name: sws-demo
protocol: sws2013
datasets:
  african: {ecf: keys/african.ecf.xml, rttm: keys/african.rttm}
  indian: {ecf: keys/indian.ecf.xml, rttm: keys/indian.rttm}
query_sets:
  dev: {kwlist: queries/dev.xml}
  eval: {kwlist: queries/eval.xml}
"""
"""Eight lines: what follows starts in line 9."""


class Folder:
    """The folder of an evaluation. Files are empty: loading an evaluation reads none of them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, *names: str) -> None:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def write(self, text: str) -> str:
        path = self.root / "evaluation.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)
