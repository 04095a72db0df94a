from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation_files import Folder

from pipeline.config import load_evaluation
from pipeline.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.add("keys/african.ecf.xml", "keys/african.rttm", "keys/indian.ecf.xml", "keys/indian.rttm")
    made.add("queries/dev.xml", "queries/eval.xml")
    for system in ("alpha", "beta"):
        made.add(*(f"outputs/{system}/{q}/{d}.kwslist.xml" for q in ("dev", "eval") for d in ("african", "indian")))
    made.add("outputs/gamma/dev/african.kwslist.xml")
    return made


@pytest.fixture
def faults(folder: Folder) -> Callable[[str], list[tuple[str, int, str]]]:
    """Load a text that must be refused: code, line and message of every problem."""

    def load(text: str) -> list[tuple[str, int, str]]:
        uri = folder.write(text)
        with pytest.raises(ConfigError) as caught:
            load_evaluation(uri)
        assert all(finding.where.startswith(uri) for finding in caught.value.findings)
        return [
            (finding.code, int(finding.where.removeprefix(uri).lstrip(":") or 0), finding.message)
            for finding in caught.value.findings
        ]

    return load
