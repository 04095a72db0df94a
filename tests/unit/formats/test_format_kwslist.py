from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.errors import InputError

KWSLIST = """<?xml version="1.0" encoding="UTF-8"?>
<kwslist kwlist_filename="k" language="english" system_id="a > b" xmlns:x="u">
<detected_kwlist kwid="K1" search_time="24.3" oov_count="0">
  <kw file="f1.sph" channel="1" tbeg="6.956" dur="0.53" score="4.115" decision="YES"/>
  <kw decision='NO' score=' -inf ' dur='.3' tbeg='-1e0' channel='A' file='d/f2'></kw>
</detected_kwlist>
<detected_kwlist oov_count="NA" kwid="K2"/>
<detected_kwlist kwid="K3" search_time="" oov_count="2"><!-- x -->
  <kw file="f1.sph" channel="1" tbeg="45.5" dur="0" score="1e-3" decision="NO"/>
</detected_kwlist>
</kwslist>
"""
STDLIST = """<stdlist termlist_filename="t" indexing_time="1.0" language="x" index_size="1" system_id="s">
<detected_termlist termid="T1" term_search_time="1.5" oov_term_count="1">
<term file="f" channel="1" tbeg="1" dur="2" score="3" decision="YES"/>
</detected_termlist>
</stdlist>
"""
ROW = '<kw file="f" channel="1" tbeg="1" dur="1" score="1" decision="YES"/>'


def output(*rows: str, header: str = "", block: str = 'kwid="K"') -> str:
    """A KWSList with one block, whose first row stands in line 3."""
    lines = "\n".join(rows)
    return f"<kwslist {header}>\n<detected_kwlist {block}>\n{lines}\n</detected_kwlist>\n</kwslist>"


def test_detections_hold_what_the_file_says(read) -> None:
    kwslist = read("kwslist", KWSLIST)
    detections = kwslist.detections
    assert kwslist.attributes["system_id"] == "a > b"
    assert detections.text("query") == ["K1", "K1", "K3"]
    assert detections.text("file") == ["f1.sph", "d/f2", "f1.sph"]
    assert detections.text("channel") == ["1", "A", "1"]
    assert detections["begin_s"].tolist() == [6.956, -1.0, 45.5]
    assert detections["dur_s"].tolist() == [0.53, 0.3, 0.0]
    assert detections["score"].tolist() == [4.115, -math.inf, 0.001]
    assert detections["decision"].tolist() == [True, False, False]
    assert detections["line"].tolist() == [4, 5, 9]
    assert kwslist.findings == ()


def test_column_types_are_those_of_the_contract(read) -> None:
    detections = read("kwslist", KWSLIST).detections
    assert detections["query"].dtype == np.int32
    assert detections["score"].dtype == np.float64
    assert detections["decision"].dtype == np.bool_
    assert detections["line"].dtype == np.int32


def test_blocks_without_time_or_count_hold_nan(read) -> None:
    blocks = read("kwslist", KWSLIST).blocks
    assert blocks.text("query") == ["K1", "K2", "K3"]
    assert np.array_equal(blocks["search_time_s"], [24.3, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(blocks["oov_count"], [0.0, np.nan, 2.0], equal_nan=True)
    assert blocks["line"].tolist() == [3, 7, 8]


def test_stdlists_are_system_outputs_too(read) -> None:
    stdlist = read("kwslist", STDLIST)
    assert stdlist.attributes["indexing_time"] == "1.0"
    assert stdlist.detections.text("query") == ["T1"]
    assert stdlist.detections["score"].tolist() == [3.0]
    assert stdlist.blocks["search_time_s"].tolist() == [1.5]
    assert stdlist.blocks["oov_count"].tolist() == [1.0]


@pytest.mark.parametrize("content", ["<kwslist/>", "<stdlist></stdlist>", output()])
def test_an_output_without_detections_is_an_output(read, content: str) -> None:
    detections = read("kwslist", content).detections
    assert len(detections) == 0
    assert detections["decision"].dtype == np.bool_


@pytest.mark.parametrize("decision", ["yes", "Yes", "TRUE", "NO ", "", "1"])
def test_decisions_are_yes_or_no_and_nothing_else(read, refused, decision: str) -> None:
    content = output(ROW.replace("YES", decision))
    assert refused("kwslist", content) == [("f:3", "bad_decision")]
    with pytest.raises(InputError, match="allowed: YES or NO, in capitals"):
        read("kwslist", content)


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        ("tbeg", "inf", "not_a_number"),
        ("tbeg", "1e999", "not_finite"),
        ("dur", "ten", "not_a_number"),
        ("dur", "", "not_a_number"),
        ("score", "NaN", "nan_score"),
        ("score", "1_0", "not_a_number"),
        ("file", "", "empty_attribute"),
        ("channel", "", "empty_attribute"),
    ],
)
def test_bad_values_are_refused_by_line(refused, attribute: str, value: str, code: str) -> None:
    good = {"file": "f", "channel": "1", "tbeg": "1", "dur": "1", "score": "1", "decision": "YES"}
    row = " ".join(f'{name}="{text}"' for name, text in {**good, attribute: value}.items())
    assert refused("kwslist", output(ROW, f"<kw {row}/>", ROW)) == [("f:4", code)]


@pytest.mark.parametrize("attribute", ["file", "channel", "tbeg", "dur", "score", "decision"])
def test_all_six_attributes_are_required(refused, attribute: str) -> None:
    row = ROW.replace(f"{attribute}=", "x=")
    assert refused("kwslist", output(ROW, row, ROW)) == [("f:4", "missing_attribute")]


def test_rows_that_differ_in_attributes_keep_their_order(read) -> None:
    rows = [
        ROW.replace('score="1"', 'score="1"'),
        '<kw score="2" file="f" channel="1" tbeg="1" dur="1" decision="NO"/>',
        ROW.replace('score="1"', 'score="3" note="x"'),
        ROW.replace('score="1"', 'score="4"'),
    ]
    kwslist = read("kwslist", output(*rows))
    assert kwslist.detections["score"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert kwslist.detections["line"].tolist() == [3, 4, 5, 6]
    assert [(finding.code, finding.where) for finding in kwslist.findings] == [("unknown_attribute", "f:5")]


def test_identical_detections_are_all_kept(read) -> None:
    assert len(read("kwslist", output(ROW, ROW, ROW)).detections) == 3


def test_two_blocks_of_one_query_are_both_kept_with_a_warning(read) -> None:
    block = f'<detected_kwlist kwid="K">{ROW}</detected_kwlist>'
    kwslist = read("kwslist", f"<kwslist>{block}\n{block}\n{block}</kwslist>")
    assert kwslist.blocks.text("query") == ["K", "K", "K"]
    assert kwslist.detections.text("query") == ["K", "K", "K"]
    (finding,) = kwslist.findings
    assert (finding.code, finding.where) == ("duplicate_block", "f:2")
    assert "(2 times, first here)" in finding.message


def test_negative_durations_are_kept_with_a_warning(read) -> None:
    kwslist = read("kwslist", output(ROW, ROW.replace('dur="1"', 'dur="-0.5"')))
    assert kwslist.detections["dur_s"].tolist() == [1.0, -0.5]
    assert [(finding.code, finding.where) for finding in kwslist.findings] == [("negative_duration", "f:4")]


def test_a_negative_search_time_is_no_declaration(read) -> None:
    kwslist = read("kwslist", output(block='kwid="K" search_time="-1"'))
    assert math.isnan(kwslist.blocks["search_time_s"][0])
    assert [finding.code for finding in kwslist.findings] == ["negative_search_time"]


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ("", "missing_attribute"),
        ('kwid=" "', "empty_attribute"),
        ('kwid="K" search_time="fast"', "not_a_number"),
        ('kwid="K" oov_count="1.5"', "bad_count"),
        ('kwid="K" oov_count="-1"', "bad_count"),
        ('kwid="K" oov_count="none"', "bad_count"),
    ],
)
def test_bad_blocks_are_refused(refused, block: str, code: str) -> None:
    assert refused("kwslist", output(block=block)) == [("f:2", code)]


def test_scores_inside_the_declared_range_pass_at_its_borders(read) -> None:
    rows = [ROW.replace('score="1"', f'score="{score}"') for score in ("0", "0.5", "1")]
    kwslist = read("kwslist", output(*rows, header='min_score="0" max_score="1"'))
    assert kwslist.attributes["max_score"] == "1"
    assert len(kwslist.detections) == 3


@pytest.mark.parametrize(
    ("header", "problems"),
    [
        ('min_score="0"', [("f:1", "half_score_range")]),
        ('max_score="2"', [("f:1", "half_score_range")]),
        ('min_score="2" max_score="0"', [("f:1", "empty_score_range"), ("f:3", "score_outside_range")]),
        ('min_score="x" max_score="2"', [("f:1", "not_a_number")]),
        ('min_score="0" max_score="0.9"', [("f:3", "score_outside_range")]),
    ],
)
def test_the_declared_range_is_checked(refused, header: str, problems: list[tuple[str, str]]) -> None:
    assert refused("kwslist", output(ROW, header=header)) == problems


def test_detections_belong_inside_blocks(refused) -> None:
    content = f"<kwslist>\n{ROW}\n<detected_kwlist kwid='K'>\n<kw><kw/></kw>\n</detected_kwlist>\n</kwslist>"
    assert refused("kwslist", content) == [
        ("f:2", "unexpected_element"),
        ("f:4", "unexpected_element"),
        ("f:4", "missing_attribute"),
        *[("f:4", "missing_attribute")] * 5,
    ]


def test_escaped_rows_do_not_vanish(refused) -> None:
    content = output(ROW.replace("<", "&lt;"))
    assert refused("kwslist", content)[0][1] == "stray_text"


def test_a_root_named_as_in_the_plans_example_is_explained(read) -> None:
    with pytest.raises(InputError, match=r"Name it <kwslist> if it holds <detected_kwlist> blocks"):
        read("kwslist", output().replace("kwslist", "kwlist"))


def test_spellings_of_the_two_formats_do_not_mix(refused) -> None:
    content = f"<kwslist><detected_termlist termid='T'>{ROW}</detected_termlist></kwslist>"
    assert refused("kwslist", content) == [("f:1", "unexpected_element")]


def test_problems_beyond_the_first_are_counted_not_kept(read) -> None:
    content = output(*[ROW.replace("YES", "yes")] * 5000)
    with pytest.raises(InputError) as caught:
        read("kwslist", content)
    assert caught.value.count == 5000
    assert len(caught.value.findings) == 20


def test_rows_are_the_same_across_chunks(read) -> None:
    rows = [
        ROW.replace('tbeg="1"', f'tbeg="{n}"').replace('file="f"', f'file="{"f" * (n % 97)}x"') for n in range(9000)
    ]
    content = output(*rows)
    assert len(content) > 8 * 65_536
    detections = read("kwslist", content).detections
    assert detections["begin_s"].tolist() == [float(n) for n in range(9000)]
    assert detections["line"].tolist() == list(range(3, 9003))
    assert detections.text("file")[96] == "f" * 96 + "x"
