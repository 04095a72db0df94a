"""The readers on every input of the conformance cases, against the standard library's XML parser and a plain split."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import InputError
from pipeline.formats import READERS

REFUSED = {
    "dec_NO": "bad_decision",
    "dec_Yes": "bad_decision",
    "dec_empty": "bad_decision",
    "dec_yes": "bad_decision",
    "dup_kwlist_id": "duplicate_id",
    "ecf_empty": "no_excerpt",
    "ecf_missing_dur": "missing_attribute",
    "kwtext_empty": "empty_text",
    "latin1_kwlist": "xml_malformed",
    "missing_attr": "missing_attribute",
    "sc_1e400": "not_finite",
    "sc_abc": "not_a_number",
    "sc_nan": "nan_score",
    "scale_header_out_of_range": "score_outside_range",
    "t_10-0_0.5": "not_a_number",
    "t_10.0sc_0.5": "not_a_number",
}
"""Edge cases with a refused file; KWSEval refuses them too, but for ``sc_1e400``."""
SUFFIXES = {
    ".ecf.xml": "ecf",
    ".rttm": "rttm",
    ".kwlist.xml": "kwlist",
    ".tlist.xml": "kwlist",
    ".kwslist.xml": "kwslist",
    ".stdlist.xml": "kwslist",
}


def inputs(conformance: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted((conformance / "kws").glob("*/*/*")):
        for suffix, name in SUFFIXES.items():
            if path.name.endswith(suffix):
                yield path, name


def test_each_input_is_read_as_it_stands_or_refused_for_its_known_reason(conformance: Path) -> None:
    refused, seen = {}, 0
    for path, name in inputs(conformance):
        seen += 1
        try:
            with path.open("rb") as stream:
                value = READERS[name](stream, path.name)
        except InputError as error:
            refused[path.parent.name] = error.findings[0].code
        else:
            CHECKS[name](value, path)
    assert refused == REFUSED
    assert seen > 600


def check_ecf(ecf, path: Path) -> None:
    rows = list(ET.parse(path).getroot())  # noqa: S314
    table = ecf.excerpts
    assert table.text("file") == [row.get("audio_filename") for row in rows]
    assert table.text("channel") == [row.get("channel") for row in rows]
    assert table.text("source_type") == [row.get("source_type") for row in rows]
    assert table["begin_s"].tolist() == [float(row.get("tbeg")) for row in rows]
    assert table["dur_s"].tolist() == [float(row.get("dur")) for row in rows]


def check_kwlist(kwlist, path: Path) -> None:
    rows = list(ET.parse(path).getroot())  # noqa: S314
    texts = [row.findtext("kwtext") or row.findtext("termtext") for row in rows]
    details = [{attr.findtext("name"): attr.findtext("value") for attr in row.iter("attr")} for row in rows]
    assert kwlist.keywords.text("id") == [row.get("kwid") or row.get("termid") for row in rows]
    assert kwlist.keywords.text("text") == [" ".join(text.split()) for text in texts]
    assert list(kwlist.details) == details


def check_kwslist(kwslist, path: Path) -> None:
    blocks = list(ET.parse(path).getroot())  # noqa: S314
    rows = [(block.get("kwid") or block.get("termid"), row) for block in blocks for row in block]
    table = kwslist.detections
    assert len(kwslist.blocks) == len(blocks)
    assert table.text("query") == [query for query, _ in rows]
    assert table.text("file") == [row.get("file") for _, row in rows]
    assert table.text("channel") == [row.get("channel") for _, row in rows]
    assert table["begin_s"].tolist() == [float(row.get("tbeg")) for _, row in rows]
    assert table["dur_s"].tolist() == [float(row.get("dur")) for _, row in rows]
    assert table["score"].tolist() == [float(row.get("score")) for _, row in rows]
    assert table["decision"].tolist() == [row.get("decision") == "YES" for _, row in rows]


def check_rttm(rttm, path: Path) -> None:
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    fields = [[field.decode() for field in line.split(b";;")[0].split()] for line in lines]
    rows = [
        (number, row)
        for number, row in enumerate(fields, 1)
        if row and row[0].upper() in ("LEXEME", "SPEAKER", "NOSCORE")
    ]
    table = rttm.records
    assert table["line"].tolist() == [number for number, _ in rows]
    assert table.text("file") == [row[1] for _, row in rows]
    assert table.text("token") == [row[5] for _, row in rows]
    assert table.text("speaker") == [row[7] for _, row in rows]
    for name, place in (("begin_s", 3), ("dur_s", 4)):
        assert table[name].tolist() == [float(row[place].rstrip("*").replace("<NA>", "0")) for _, row in rows]


CHECKS = {"ecf": check_ecf, "kwlist": check_kwlist, "kwslist": check_kwslist, "rttm": check_rttm}
