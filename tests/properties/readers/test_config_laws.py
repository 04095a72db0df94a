"""Laws of the evaluation file: names survive the way through file names, and no text gets anything but an answer."""

from __future__ import annotations

import io
import uuid

import fsspec
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.discover import find
from pipeline.config.document import read_document
from pipeline.config.models import validate
from pipeline.config.names import name_fault
from pipeline.config.urls import masked, resolved
from pipeline.errors import ConfigError, Problems

NAMES = st.text(
    st.characters(categories=("L", "N", "M", "Sc", "Pd"), include_characters="._+[] ()&'"), min_size=1, max_size=12
).filter(lambda name: name_fault(name) is None)
TREES = st.recursive(st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner))


@given(st.sets(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=6))
def test_names_survive_the_way_through_file_names(cells: set[tuple[str, str, str]]) -> None:
    memory, root = fsspec.filesystem("memory"), f"/laws-{uuid.uuid4().hex}"
    for system, query_set, dataset in cells:
        memory.pipe_file(f"{root}/{system}/{query_set}/{dataset}.kwslist.xml", b"")
    known = {"query_set": tuple({q for _, q, _ in cells}), "dataset": tuple({d for _, _, d in cells})}
    try:
        found = find(f"memory:/{root}/{{system}}/{{query_set}}/{{dataset}}.kwslist.xml", known)
    finally:
        memory.rm(root, recursive=True)
    assert {(m.names["system"], m.names["query_set"], m.names["dataset"]) for m in found} == cells
    assert len(found) == len(cells)


@given(st.text(max_size=200) | TREES.map(yaml.safe_dump))
def test_any_text_is_validated_or_refused(text: str) -> None:
    problems = Problems("e.yaml")
    try:
        document = read_document(io.BytesIO(text.encode("utf-8", "replace")), problems)
    except ConfigError:
        return
    assert validate(document, problems) is None
    assert problems.count


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="/?#@"), min_size=1))
def test_a_password_is_never_shown(password: str) -> None:
    shown = masked(f"cannot read s3://ID:{password}@bucket/a b")
    assert shown == "cannot read s3://***@bucket/a b"


@given(st.sampled_from(["/ev", "s3://b/ev", "memory://ev", "zip://ev::/a.zip"]), NAMES)
def test_an_absolute_url_is_its_own_resolution(folder: str, name: str) -> None:
    once = resolved(folder, name)
    assert resolved("/elsewhere", once) == once
