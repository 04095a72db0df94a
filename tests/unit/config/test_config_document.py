from __future__ import annotations

import io

import pytest

from pipeline.config.document import Document, dotted, read_document
from pipeline.errors import ConfigError, Problems


def read(text: str) -> tuple[Document, Problems]:
    problems = Problems("e.yaml")
    return read_document(io.BytesIO(text.encode()), problems), problems


def test_numbers_and_dates_stay_as_written_and_lines_are_known() -> None:
    document, problems = read("a: 1e-4\nb:\n  - 2013-01-02\n  - true\n  - no\n  - 'true'\nc:\n")
    assert document.value == {"a": "1e-4", "b": ["2013-01-02", True, "no", "true"], "c": None}
    assert document.line(("b", 1)) == 4
    assert document.line(("c", "missing")) == 7
    assert document.line(("nowhere",)) == 1
    assert problems.count == 0


def test_repeated_fields_are_noted_and_the_first_is_kept() -> None:
    document, problems = read("a: 1\nb: {d: 1, d: 2}\na: 3\n? [x]\n: y\n")
    assert document.value == {"a": "1", "b": {"d": "1"}}
    assert [(f.code, f.where, f.message) for f in problems.findings] == [
        ("duplicate_key", "e.yaml:2", "`b.d` is given twice (first in line 2)."),
        ("duplicate_key", "e.yaml:3", "`a` is given twice (first in line 1)."),
        ("wrong_type", "e.yaml:4", "`the file`: a field name must be text."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: *x\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: 1\n---\nb: 2\n",
        "a: [1\nb: 2\n",
        "a: \x00",
        "[" * 100_000,
        "#" * (1 << 21),
    ],
)
def test_what_is_no_plain_yaml_is_a_refused_evaluation_file(text: str) -> None:
    with pytest.raises(ConfigError, match=r"e\.yaml"):
        read(text)


def test_an_empty_file_is_an_empty_value() -> None:
    assert read("")[0].value is None


def test_fields_are_named_with_dots() -> None:
    assert dotted(("systems", "primary", 0)) == "systems.primary.0"
