from __future__ import annotations

import math

import pytest

ECF = """<?xml version="1.0" encoding="UTF-8"?>
<ecf source_signal_duration="340.00" version="20060618_1400" language="english">
  <excerpt audio_filename="audio/dev04s/NIST_20020214-1148" channel="1" tbeg="0.0" dur="291.34" source_type="confmtg"/>
  <excerpt dur='5e1' tbeg='1.5' channel='02' audio_filename='b.v2.sph' language='fr' source_type='splitcts'></excerpt>
</ecf>
"""


def test_columns_hold_what_the_file_says(read) -> None:
    ecf = read("ecf", ECF)
    assert ecf.attributes["version"] == "20060618_1400"
    assert ecf.excerpts.text("file") == ["audio/dev04s/NIST_20020214-1148", "b.v2.sph"]
    assert ecf.excerpts.text("channel") == ["1", "02"]
    assert ecf.excerpts["begin_s"].tolist() == [0.0, 1.5]
    assert ecf.excerpts["dur_s"].tolist() == [291.34, 50.0]
    assert ecf.excerpts.text("source_type") == ["confmtg", "splitcts"]
    assert ecf.excerpts.text("language") == ["", "fr"]
    assert ecf.excerpts["line"].tolist() == [3, 4]
    assert ecf.findings == ()


def test_the_header_duration_is_nan_where_absent(read) -> None:
    assert read("ecf", ECF).source_signal_duration_s == 340.0
    assert math.isnan(read("ecf", ECF.replace('source_signal_duration="340.00"', "")).source_signal_duration_s)


def test_every_problem_is_reported_at_once(refused) -> None:
    content = (
        '<ecf source_signal_duration="long">\n'
        '<excerpt channel="1" tbeg="0" dur="1" source_type="cts"/>\n'
        '<excerpt audio_filename="a" channel="" tbeg="0" dur="1" source_type="cts"/>\n'
        '<excerpt audio_filename="a" channel="1" tbeg="-1" dur="inf" source_type="cts"/>\n'
        "<segment/>\n"
        "</ecf>"
    )
    assert refused("ecf", content) == [
        ("f:1", "not_a_number"),
        ("f:2", "missing_attribute"),
        ("f:3", "empty_attribute"),
        ("f:4", "negative_time"),
        ("f:4", "not_a_number"),
        ("f:5", "unexpected_element"),
    ]


def test_an_ecf_without_excerpts_is_refused(refused) -> None:
    assert refused("ecf", "<ecf/>") == [("f", "no_excerpt")]


def test_unknown_source_types_and_attributes_are_warned_of_once_with_their_count(read) -> None:
    row = '<excerpt audio_filename="a" channel="{}" tbeg="0" dur="1" source_type="meeting" gain="3"/>\n'
    rows = "".join(map(row.format, (1, 2, 3)))
    findings = read("ecf", f"<ecf>\n{rows}</ecf>").findings
    assert [(finding.code, finding.where) for finding in findings] == [
        ("unknown_attribute", "f:2"),
        ("unknown_source_type", "f:2"),
    ]
    assert all("(3 times, first here)" in finding.message for finding in findings)


@pytest.mark.parametrize("root", ["kwslist", "ECF", "e:ecf"])
def test_another_root_is_named(refused, root: str) -> None:
    assert refused("ecf", f"<{root}/>") == [("f:1", "xml_root")]


EXCERPT = '<excerpt audio_filename="{}" channel="{}" tbeg="{}" dur="{}" source_type="{}"/>\n'


def _told(read, *excerpts):
    rows = "".join(EXCERPT.format(*excerpt) for excerpt in excerpts)
    return [(finding.code, finding.where) for finding in read("ecf", f"<ecf>\n{rows}</ecf>").findings]


@pytest.mark.parametrize(
    ("excerpts", "expected"),
    [
        ([("a", 1, 0, 10, "cts"), ("a", 1, 10, 10, "cts"), ("a", 2, 0, 20, "cts")], []),
        ([("a", 1, 0.3, 4.8, "cts"), ("a", 1, 5.1, 1, "cts")], []),  # the sum is a little more than 5.1
        ([("a", 1, 0, 10, "cts"), ("a", 1, 9, 10, "cts")], [("overlapping_excerpts", "f:3")]),
        ([("a", 1, 9, 10, "cts"), ("a", 1, 0, 10, "cts")], [("overlapping_excerpts", "f:2")]),
        (
            [("a", 1, 0, 50, "cts"), ("a", 1, 1, 2, "cts"), ("a", 1, 40, 5, "cts")],
            [("overlapping_excerpts", "f:3")],
        ),
        ([("a", 1, 0, 10, "cts"), ("b", 1, 0, 10, "cts"), ("a", 1, 0, 10, "cts")], [("repeated_excerpt", "f:4")]),
        ([("a", 1, 0, 10, "cts"), ("a", 2, 0, 10, "splitcts")], [("mixed_source_types", "f:3")]),
        ([("a", 1, 0, 10, "cts"), ("b", 1, 0, 10, "splitcts")], []),
    ],
)
def test_excerpts_that_tools_read_by_their_order_are_told(read, excerpts, expected):
    assert _told(read, *excerpts) == expected


def test_a_name_that_tools_do_not_decode_is_told(read):
    assert _told(read, ("a&amp;b.sph", 1, 0, 10, "cts")) == [("undecoded_entity", "f:2")]
