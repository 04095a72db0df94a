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
    rows = '<excerpt audio_filename="a" channel="1" tbeg="0" dur="1" source_type="meeting" gain="3"/>\n' * 3
    findings = read("ecf", f"<ecf>\n{rows}</ecf>").findings
    assert [(finding.code, finding.where) for finding in findings] == [
        ("unknown_attribute", "f:2"),
        ("unknown_source_type", "f:2"),
    ]
    assert all("(3 times, first here)" in finding.message for finding in findings)


@pytest.mark.parametrize("root", ["kwslist", "ECF", "e:ecf"])
def test_another_root_is_named(refused, root: str) -> None:
    assert refused("ecf", f"<{root}/>") == [("f:1", "xml_root")]
