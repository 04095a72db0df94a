"""Files and frames of the same content have the same figures, to the last bit, under every protocol."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.engine.given import read_as
from pipeline.engine.inputs import format_of
from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.errors import InputError, RescoreError
from pipeline.formats import READERS
from pipeline.frames import form_of
from tests.properties.evaluations.made import make
from tests.properties.evaluations.written import WRITERS


def scored(protocol: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Everything that is said but where it was said of: digests are those of other files."""
    try:
        made = document(score_files(protocol, inputs), curve=True)
    except InputError as error:
        return {"refused": sorted(one.code for one in error.findings)}
    warnings = sorted({one["code"] for one in made["warnings"]})
    return {**{name: part for name, part in made.items() if name not in ("signature",)}, "warnings": warnings}


@pytest.mark.parametrize(("name", "mode"), protocols.protocols())
@given(size=st.integers(0, 4), seed=st.integers(0, 2**32))
def test_frames_have_the_figures_of_files(name, mode, size, seed):
    made = make(protocols.find(name, mode=mode), size, random.Random(seed))
    protocol = protocols.find(name, mode=mode, overrides=made.settings)
    files, frames = dict[str, Any](), dict[str, Any]()
    for role, rows in made.roles.items():
        kind = format_of(protocol, role)
        files[role] = frames[role] = WRITERS[kind.removesuffix("_texts")](rows).encode()
        if kind != "resources":
            try:
                frames[role] = form_of(kind).frame(READERS[kind](io.BytesIO(files[role]), role))
            except RescoreError:
                return  # refused as a file
    assert repr(scored(protocol, frames)) == repr(scored(protocol, files))


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(str.strip)
TIMES = st.floats(0, 1e6, allow_subnormal=False)


@given(
    rows=st.lists(
        st.tuples(NAMES, NAMES, NAMES, TIMES, TIMES, st.floats(allow_nan=False), st.booleans()), min_size=1, max_size=9
    )
)
def test_detections_read_as_they_were_given(rows):
    names = ("query", "file", "channel", "begin", "duration", "score", "decision")
    frame = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    table = read_as("kwslist", "output", frame).table.detections
    texts = [table.text(name) for name in names[:3]]
    numbers = [table[name].tolist() for name in ("begin_s", "dur_s", "score", "decision")]
    order = sorted(range(len(rows)), key=lambda row: list(dict.fromkeys(frame["query"])).index(rows[row][0]))
    assert list(zip(*texts, *numbers, strict=True)) == [rows[row] for row in order]
