"""Whatever the bytes, a reader returns its table or raises InputError with places and reasons."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.errors import Finding, InputError
from pipeline.formats import READERS

ROW = b'<kw file="f" channel="1" tbeg="1.5" dur="1" score="-1e-3" decision="YES"/>'
VALID = {
    "ecf": b'<ecf source_signal_duration="2">\n'
    b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="1" source_type="cts"/></ecf>',
    "rttm": b";; c\nLEXEME f1 1 1.0 0.5* a lex s <NA> <NA>\nSPEAKER f1 1 0 9 <NA> <NA> s <NA>\n",
    "kwlist": b'<kwlist encoding="GB2312"><kw kwid="K"><kwtext>a &amp; b</kwtext>'
    b"<kwinfo><attr><name>n</name><value>v</value></attr></kwinfo></kw></kwlist>",
    "kwslist": b'<?xml version="1.0" encoding="UTF-8"?>\n<kwslist min_score="-1" max_score="1">'
    b'<detected_kwlist kwid="K" search_time="1" oov_count="NA">' + ROW + ROW + b"</detected_kwlist></kwslist>",
    "resources": b"index:\n  d: {wall_s: 1, cores: 2, peak_memory_bytes: 2 GB, nodes: [{count: 1, os: x}]}\n"
    b"search:\n  q/d: {cpu_s: 1}\n",
    "queries": b'query,example,dur_s\nq,"a ""b""",0.5\n',
    "stm": b";; LABEL\nf 1 s 0 1.5 <o,f0> { a / b @ } (c) d-\nf 1 s * * e\n",
    "ctm": b"; c\nf 1 0.5 0.25 a 0.9\nf 1 * * <ALT_BEGIN>\nf 1 1 1 b NA\nf 1 * * <ALT_END>\n",
    "lexicon": b"a\tr\tx _1 . y\tz\nb\ts\tq # q\n",
    "lre_key": b"a Basque\nb OOS\nc -\n",
    "lre_out": b"Empty Open a 1 -2.5 3e-1 .4 5\nEmpty Open b 1 2 3 4 0.0000\n",
    "med_index": b"TrialID,ClipID,EventID\nt1,c1,E1\n",
    "med_ref": b'"TrialID","Targ"\n"t1","y"\nt2,n\n',
    "med_clipmd": b"ClipID,DURATION\nc1,12.5\n",
    "med_eventdb": b'EventID,"EventName"\nE1,"Say ""cheese"""\n',
    "med_judgement": b"ClipID,EventID,INSTANCE_TYPE\nc1,E1,positive\n",
    "med_detection": b"TrialID,Score\nt1,.5\nt2,1e-05\n\n",
    "med_threshold": b"EventID,DetectionThreshold\nE1,0.5\n",
    "trn": b"a (b) { c / @ } (s-1)\n(s-2)\n",
}
VALID["kwslist_texts"] = VALID["kwslist"]
SNIPPETS = [
    *(
        b"<",
        b">",
        b"/>",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<?xml ",
        b"?>",
        b"<!DOCTYPE a [",
        b"]>",
        b"&",
        b"&#0;",
    ),
    *(
        b"<!ENTITY x 'y'>",
        b"&x;",
        b"'",
        b'"',
        b"=",
        b" ",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\xfe",
        b"\xef\xbb\xbf",
        b"\x80",
    ),
    *(
        b"<kw>",
        b"</kw>",
        b"<kwslist>",
        b"<term>",
        b"encoding='gbk'",
        b"encoding='x'",
        b"tbeg",
        b"NaN",
        b"inf",
        b"1e999",
        b"-1",
    ),
    *(
        b"<NA>",
        b";;",
        b"*",
        b"&a",
        b"*a",
        b"!!x",
        b"---",
        b"%YAML 9.9\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"- ",
        b"? ",
        b"|",
        b",",
    ),
    *(b'"\\U0011FFFF"', b"\xe2\x80\xa8", b"\xc2\x85", b"%TAG ! x\n", b"0" * 400, b"<<", b"''", b"#"),
]
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
