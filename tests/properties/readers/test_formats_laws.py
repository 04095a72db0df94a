"""Laws of the readers: what is written is what is read, however it is spelled and wherever chunks are cut."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Problems
from pipeline.formats import streams
from pipeline.formats.kws.kwlist import read_kwlist
from pipeline.formats.kws.kwslist import SystemOutput, read_kwslist
from pipeline.formats.kws.queries import read_queries
from pipeline.formats.kws.rttm import read_rttm
from pipeline.formats.numbers import decimal, decimals, score, scores

finite = st.floats(allow_nan=False, allow_infinity=False)
not_nan = st.floats(allow_nan=False)
# Surrogates and control characters cannot stand in XML; blank names are refused.
names = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), min_size=1).filter(
    str.strip
)
numerals = st.text("0123456789+-.eE_ \tinfaNx", max_size=12)
chunk_sizes = st.integers(1, 200)


@contextmanager
def chunks_of(n_bytes: int) -> Iterator[None]:
    """Let readers see their input in pieces of ``n_bytes``."""
    before = streams.CHUNK_BYTES
    streams.CHUNK_BYTES = n_bytes
    try:
        yield
    finally:
        streams.CHUNK_BYTES = before


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "file": draw(names),
        "channel": draw(names),
        "tbeg": draw(finite),
        "dur": draw(finite.map(abs)),
        "score": draw(not_nan),
        "decision": draw(st.booleans()),
    }


@st.composite
def spelled(draw: st.DrawFn, row: dict[str, Any]) -> str:
    """A detection as XML: attributes in any order, with either quote, over one line or more."""
    texts = {
        name: {True: "YES", False: "NO"}[value]
        if name == "decision"
        else escape(str(value), {'"': "&quot;", "'": "&#39;"})
        for name, value in row.items()
    }
    quote = draw(st.sampled_from("'\""))
    blank = draw(st.sampled_from([" ", "\n", "  \t"]))
    order = draw(st.permutations(sorted(texts)))
    attributes = blank.join(f"{name}={quote}{texts[name]}{quote}" for name in order)
    return draw(st.sampled_from([f"<kw {attributes}/>", f"<kw {attributes}></kw>", f"<!-- c --><kw {attributes} />\n"]))


@st.composite
def outputs(draw: st.DrawFn) -> tuple[list[tuple[str, dict[str, Any]]], str]:
    """Detections with their query, and a KWSList that holds them."""
    blocks = draw(st.lists(st.tuples(names, st.lists(rows(), max_size=4)), max_size=4))
    text = "<kwslist>"
    for query, block in blocks:
        inside = "".join(draw(spelled(row)) for row in block)
        text += f'<detected_kwlist kwid="{escape(query, {chr(34): "&quot;"})}">{inside}</detected_kwlist>\n'
    return [(query, row) for query, block in blocks for row in block], f"{text}</kwslist>"


def held(output: SystemOutput) -> list[tuple[str, dict[str, Any]]]:
    table = output.detections
    columns = {
        "file": table.text("file"),
        "channel": table.text("channel"),
        "tbeg": table["begin_s"].tolist(),
        "dur": table["dur_s"].tolist(),
        "score": table["score"].tolist(),
        "decision": table["decision"].tolist(),
    }
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return list(zip(table.text("query"), rows, strict=True))


@given(outputs(), chunk_sizes)
def test_detections_are_read_as_written_wherever_chunks_are_cut(output: Any, n_bytes: int) -> None:
    written, text = output
    with chunks_of(n_bytes):
        assert held(read_kwslist(BytesIO(text.encode()), "f")) == written


@given(outputs(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
def test_detections_are_the_same_in_every_encoding(output: Any, encoding: str) -> None:
    written, text = output
    document = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n{text}'
    assert held(read_kwslist(BytesIO(document.encode(encoding)), "f")) == written


@given(outputs())
def test_lines_are_those_where_rows_begin_to_stand(output: Any) -> None:
    _, text = output
    begins = [text.count("\n", 0, found.start()) + 1 for found in re.finditer("<kw ", text)]
    assert read_kwslist(BytesIO(text.encode()), "f").detections["line"].tolist() == begins


@given(st.lists(st.lists(names, min_size=1), unique_by=tuple), chunk_sizes)
def test_query_texts_are_their_words_in_order(texts: list[list[str]], n_bytes: int) -> None:
    keywords = "".join(
        f'<kw kwid="{n}"><kwtext>\n{escape("  ".join(words))}</kwtext></kw>' for n, words in enumerate(texts)
    )
    with chunks_of(n_bytes):
        table = read_kwlist(BytesIO(f"<kwlist>{keywords}</kwlist>".encode()), "f").keywords
    assert table.text("text") == [" ".join(" ".join(words).split()) for words in texts]
    assert table.text("id") == [str(n) for n in range(len(texts))]


fields = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=" ;\ufeff"), min_size=1)


@given(st.lists(st.tuples(fields, fields, finite, finite.map(abs), fields)), st.booleans(), chunk_sizes)
def test_transcripts_are_read_as_written_wherever_chunks_are_cut(words: Any, crlf: bool, n_bytes: int) -> None:
    end = "\r\n" if crlf else "\n"
    text = end.join(
        f"LEXEME {file} {chan} {begin!r} {dur!r} {word} lex s <NA>" for file, chan, begin, dur, word in words
    )
    with chunks_of(n_bytes):
        records = read_rttm(BytesIO(text.encode()), "f").records
    assert records.text("file") == [word[0] for word in words]
    assert records.text("channel") == [word[1] for word in words]
    assert np.array_equal(records["begin_s"], [word[2] for word in words])
    assert np.array_equal(records["dur_s"], [word[3] for word in words])
    assert records.text("token") == [word[4] for word in words]
    assert records["line"].tolist() == list(range(1, len(words) + 1))


@given(st.lists(st.tuples(names, names), unique=True), chunk_sizes)
def test_query_examples_are_read_as_written(examples: list[tuple[str, str]], n_bytes: int) -> None:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    text = "query,example,dur_s\n" + "".join(f"{quoted(query)},{quoted(name)},1\n" for query, name in examples)
    with chunks_of(n_bytes):
        table = read_queries(BytesIO(text.encode()), "f")
    assert list(zip(table.text("query"), table.text("example"), strict=True)) == examples


@given(finite)
def test_every_double_is_read_back_exactly(value: float) -> None:
    problems = Problems("f")
    for text in (repr(value), f" {value:.17g}\n", f"{value:+.17e}".upper()):
        assert decimal(text, "x", 1, problems) == value
        assert score(text, "x", 1, problems) == value
    assert problems.count == 0


@given(numerals)
def test_the_grammar_is_a_part_of_pythons(text: str) -> None:
    problems = Problems("f")
    value = score(text, "x", 1, problems)
    if problems.count == 0:
        assert value == float(text)
        assert "_" not in text
    else:
        assert math.isnan(value)


@given(st.lists(numerals))
def test_a_column_is_read_as_its_values_one_by_one(texts: list[str]) -> None:
    lines = list(range(len(texts)))
    for many, one in ((decimals, decimal), (scores, score)):
        together, apart = Problems("f"), Problems("f")
        values = many(texts, "x", lines, together)
        alone = [one(text, "x", line, apart) for text, line in zip(texts, lines, strict=True)]
        assert np.array_equal(values, alone, equal_nan=True)
        assert together == apart
