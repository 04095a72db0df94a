"""Whatever the bytes, a reader returns its table or raises InputError with places and reasons."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.errors import Finding, InputError
from pipeline.formats import READERS
from tests.fuzz.seeds import SNIPPETS, VALID

pieces = st.sampled_from(SNIPPETS) | st.binary(max_size=4)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """``content`` with parts cut out, repeated and replaced."""
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(content)))
        last = draw(st.integers(first, min(len(content), first + 30)))
        content = content[:first] + draw(pieces) + content[draw(st.sampled_from([first, last])) :]
    return content


def findings_of(name: str, content: bytes) -> tuple[Finding, ...]:
    """What the reader says of the content: its warnings where it accepts it, its problems where not."""
    try:
        value = READERS[name](BytesIO(content), "f")
    except InputError as error:
        return error.findings
    return getattr(value, "findings", ())


def read(name: str, content: bytes) -> None:
    for finding in findings_of(name, content):
        assert finding.where.split(":")[0] == "f"
        assert finding.code
        assert finding.message.endswith(".")
        assert len(finding.message) < 1000


@pytest.mark.parametrize("name", VALID)
def test_the_undamaged_files_are_accepted(name: str) -> None:
    assert READERS[name](BytesIO(VALID[name]), "f") is not None


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_damaged_files_are_read_or_refused(name: str, data: st.DataObject) -> None:
    read(name, data.draw(damaged(VALID[name])))


@pytest.mark.parametrize("name", READERS)
@given(st.lists(pieces).map(b"".join))
@example(b"\xff\xfe<\0")
@example(b'"\\UFFFFFFFF"')
@example(b"%YAML " + b"9" * 5000 + b".1\n---\n")
def test_any_bytes_are_read_or_refused(name: str, content: bytes) -> None:
    read(name, content)


@pytest.mark.parametrize("name", ["ecf", "kwlist", "kwslist", "kwslist_texts"])
@given(st.data())
def test_what_follows_the_root_may_only_be_blank(name: str, data: st.DataObject) -> None:
    tail = data.draw(st.text(" \t\r\n", max_size=5).map(str.encode))
    whole = READERS[name](BytesIO(VALID[name]), "f")
    assert repr(READERS[name](BytesIO(VALID[name] + tail), "f")) == repr(whole)
    end = data.draw(st.integers(0, len(VALID[name]) - 1))
    with pytest.raises(InputError):
        READERS[name](BytesIO(VALID[name][:end] + tail), "f")
