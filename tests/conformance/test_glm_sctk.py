"""Rule files of SCTK's own tests: what csrfilt and rfilter1 make of its inputs, with and without split hyphens."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.glm import read_glm
from pipeline.formats.stt.stm import read_stm
from pipeline.formats.table import Table
from pipeline.trials.tokens.rewritten import Rewriting, segments_rewritten, words_rewritten

SEGMENT = ("file", "channel", "speaker", "label", "begin_s", "end_s", "text")
WORD = ("file", "channel", "word", "begin_s", "dur_s", "confidence")


@pytest.fixture
def folder(conformance: Path) -> Path:
    return conformance / "stt" / "g01_glm"


def rows(table: Table, names: tuple[str, ...]) -> list[list[Any]]:
    columns = [table.text(name) if name in table.vocabularies else table[name].tolist() for name in names]
    return [[str(value) for value in row] for row in zip(*columns, strict=True)]


def spoken(path: Path) -> Table:
    """A CTM whose words may be several, as the tool takes them and sclite does not."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")]
    numeric = [fields[-1].replace(".", "").isdigit() and len(fields) > 5 for fields in lines]
    words = [" ".join(fields[4:-1] if last else fields[4:]) for fields, last in zip(lines, numeric, strict=True)]
    texts = {
        "file": [fields[0] for fields in lines],
        "channel": [fields[1] for fields in lines],
        "word": words,
    }
    names = {name: tuple(dict.fromkeys(values)) for name, values in texts.items()}
    columns: dict[str, Any] = {
        name: np.array([names[name].index(value) for value in values], np.int32) for name, values in texts.items()
    }
    columns["begin_s"], columns["dur_s"] = (np.array([float(fields[at]) for fields in lines]) for at in (2, 3))
    columns["confidence"] = np.array(
        [float(fields[-1]) if last else np.nan for fields, last in zip(lines, numeric, strict=True)]
    )
    columns["line"] = np.arange(len(lines))
    return Table(columns, names)


@pytest.mark.parametrize("kind", ["stm", "ctm"])
def test_rfilter1_on_every_line(folder: Path, kind: str) -> None:
    glm = read_glm(io.BytesIO((folder / "test.cantonese.glm").read_bytes()), "glm")
    given = (folder / f"test.cantonese.{kind}").read_text()
    assert glm.reference.rewritten(given) == (folder / f"test.cantonese.{kind}.rfilter1").read_text()


@pytest.mark.parametrize(("split", "suffix"), [(False, "out"), (True, "-dh.out")])
def test_csrfilt_on_segments_and_words(folder: Path, split: bool, suffix: str) -> None:
    glm = read_glm(io.BytesIO((folder / "example.glm").read_bytes()), "glm")
    wanted = read_stm(io.BytesIO((folder / f"test.stm.{suffix}").read_bytes()), "stm").segments
    given = read_stm(io.BytesIO((folder / "test.stm.in").read_bytes()), "stm").segments
    made = segments_rewritten(given, Rewriting(glm.reference, split_hyphens=split), lambda _: False)
    assert rows(made, SEGMENT) == rows(wanted, SEGMENT)

    wanted = read_ctm(io.BytesIO((folder / f"test_ctm.{suffix}").read_bytes()), "ctm").words
    made, _ = words_rewritten(spoken(folder / "test_ctm.in"), Rewriting(glm.output, split_hyphens=split))
    assert rows(made, WORD) == rows(wanted, WORD)
