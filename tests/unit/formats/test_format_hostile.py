"""Files that are broken, cut off, or made to hurt: an InputError with a line, in bounded memory."""

from __future__ import annotations

import codecs
import tracemalloc
from io import BytesIO

import pytest

from pipeline.errors import InputError
from pipeline.formats import READERS

ROW = '<kw file="f" channel="1" tbeg="1" dur="1" score="1" decision="YES"/>'
KWSLIST = f'<?xml version="1.0"?>\n<kwslist>\n<detected_kwlist kwid="K">\n{ROW}\n</detected_kwlist>\n</kwslist>\n \n'
KWLIST = '<kwlist encoding="UTF-8">\n<kw kwid="K"><kwtext>a &amp; <![CDATA[b]]></kwtext></kw>\n<!-- c -->\n</kwlist>\n'
ECF = '<ecf>\n<excerpt audio_filename="é" channel="1" tbeg="0" dur="1" source_type="cts"/>\n</ecf>\n'
XML = {"kwslist": KWSLIST, "kwlist": KWLIST, "ecf": ECF}
MIB = 1 << 20


def peak_bytes(name: str, content: bytes) -> int:
    """The most memory that reading ``content`` took beyond what was there; the file must be refused."""
    stream = BytesIO(content)
    with pytest.raises(InputError):  # loads the reader, so that its modules are not counted
        READERS[name](BytesIO(b"\xff"), "f")
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            READERS[name](stream, "f")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


BOMB = "<!DOCTYPE kwslist [\n" + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">\n' for n in range(10))


@pytest.mark.parametrize(
    "doctype",
    [
        f"{BOMB}]>",
        '<!DOCTYPE kwslist [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE kwslist [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]>',
        '<!DOCTYPE kwslist SYSTEM "kwslist.dtd">',
        '<!DOCTYPE kwslist PUBLIC "p" "kwslist.dtd">',
        '<!DOCTYPE kwslist [<!ATTLIST kw score CDATA "1">]>',
        "<!DOCTYPE kwslist []>",
    ],
)
def test_a_doctype_may_declare_and_fetch_nothing(refused, doctype: str) -> None:
    assert refused("kwslist", f"<?xml version='1.0'?>\n{doctype}\n<kwslist/>") == [("f:2", "xml_doctype")]


def test_a_bare_doctype_is_harmless(read) -> None:
    assert len(read("kwslist", f"<!DOCTYPE kwslist>{KWSLIST[21:]}").detections) == 1


def test_undefined_entities_are_refused_not_dropped(refused) -> None:
    content = KWSLIST.replace('score="1"', 'score="&minus;1"')
    assert refused("kwslist", content) == [("f:4", "xml_malformed")]


@pytest.mark.parametrize("name", XML)
def test_every_truncation_is_refused_or_loses_nothing(name: str) -> None:
    content = XML[name].encode()
    whole = READERS[name](BytesIO(content), "f")
    last_tag = content.rindex(b">")
    for end in range(len(content)):
        if end <= last_tag:
            with pytest.raises(InputError, match=r"f:\d+: "):
                READERS[name](BytesIO(content[:end]), "f")
        else:
            assert repr(READERS[name](BytesIO(content[:end]), "f")) == repr(whole)


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("", "f:1"),
        ("not xml", "f:1"),
        ("<kwslist>\n</kwlist>", "f:2"),
        ("<kwslist>\n<kw a='1' a='2'/></kwslist>", "f:2"),
        ("<kwslist>\n</kwslist>\n<kwslist/>", "f:3"),
        ("<kwslist>\n& </kwslist>", "f:2"),
        ("<kwslist a=1/>", "f:1"),
        ("<kwslist>\0</kwslist>", "f:1"),
    ],
)
def test_malformed_xml_is_refused_by_line_with_how_to_mend_it(content: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        READERS["kwslist"](BytesIO(content.encode()), "f")
    (finding,) = caught.value.findings
    assert finding.where == where
    assert finding.code == "xml_malformed"
    assert finding.message.count(". ") >= 1


@pytest.mark.parametrize(
    "content",
    [
        b'<kwslist>\n<x y="' + b"a" * 10 * MIB + b'"/></kwslist>',
        b"<kwslist>\n<!--" + b"a" * 10 * MIB + b"--></kwslist>",
        b"<kwslist " + b" " * 10 * MIB + b"/>",
        b"<" + b"k" * 10 * MIB,
        b"<kwslist>\n<?p " + b"a" * 10 * MIB + b"?></kwslist>",
    ],
    ids=["attribute", "comment", "blanks", "name", "instruction"],
)
def test_a_token_beyond_a_mebibyte_is_refused_in_bounded_memory(content: bytes) -> None:
    assert peak_bytes("kwslist", content) < 8 * MIB
    with pytest.raises(InputError) as caught:
        READERS["kwslist"](BytesIO(content), "f")
    assert caught.value.findings[0].code in {"xml_token_too_long", "xml_malformed"}


def test_an_attribute_below_a_mebibyte_is_read(read) -> None:
    name = "f" * (MIB - 100_000)
    assert read("kwslist", KWSLIST.replace('file="f"', f'file="{name}"')).detections.text("file") == [name]


def test_an_endless_text_is_refused_in_bounded_memory(refused) -> None:
    content = b'<kwlist>\n<kw kwid="K"><kwtext>' + b"a\n" * 5 * MIB + b"</kwtext></kw></kwlist>"
    assert peak_bytes("kwlist", content) < 16 * MIB
    assert refused("kwlist", content)[0][1] == "xml_token_too_long"


def test_deep_nesting_is_refused_in_bounded_memory(refused) -> None:
    content = b"<kwslist>\n" + b"<a>" * MIB
    assert peak_bytes("kwslist", content) < MIB
    assert refused("kwslist", content) == [("f:2", "unexpected_element"), ("f:2", "xml_too_deep")]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("garbage", [b"\0\xff\x01" * MIB, b"<a " * MIB, (b"a,b;c: [" + b"x" * 50 + b"\n") * 50_000])
def test_megabytes_of_garbage_are_refused_in_bounded_memory(name: str, garbage: bytes) -> None:
    flag = b";;\n" if name == "glm" else b""  # the first line says how comments begin: else all of it would be some
    most = 16 if name == "glm" else 8  # each side reads the lines of a GLM by itself: they are held
    assert peak_bytes(name, flag + garbage) < most * MIB


def test_thousands_of_bad_rows_take_no_more_memory_than_good_ones() -> None:
    good = f'<kwslist><detected_kwlist kwid="K">{ROW * 30_000}</detected_kwlist>'  # refused at its end
    bad = good.replace("YES", "yes")
    assert peak_bytes("kwslist", bad.encode()) < peak_bytes("kwslist", good.encode()) + MIB < 32 * MIB


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "iso-8859-1", "windows-1252", "gb18030", "gbk"])
def test_declared_encodings_are_read(encoding: str) -> None:
    name = "中文" if encoding.startswith("gb") else "café"
    declared = encoding.removesuffix("-sig")
    content = f'<?xml version="1.0" encoding="{declared}"?>\n{KWSLIST[22:]}'.replace('file="f"', f'file="{name}"')
    detections = READERS["kwslist"](BytesIO(content.encode(encoding)), "f").detections
    assert detections.text("file") == [name]
    assert detections["line"].tolist() == [4]


def test_a_query_list_may_declare_gb2312_in_its_root(read) -> None:
    content = '<!-- x -->\n<kwlist encoding="GB2312"><kw kwid="K">\n<kwtext>中文 词</kwtext></kw></kwlist>'
    kwlist = read("kwlist", content.encode("gb2312"))
    assert kwlist.keywords.text("text") == ["中文 词"]
    assert kwlist.findings == ()


def test_a_byte_order_mark_wins_over_the_declaration(read) -> None:
    content = codecs.BOM_UTF8 + '<?xml version="1.0" encoding="GBK"?><kwslist system_id="中"/>'.encode()
    assert read("kwslist", content).attributes["system_id"] == "中"


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape", "cp037", "hex", "x", "iso-8859-99"])
def test_other_encodings_are_refused(refused, encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?>\n<kwslist/>'
    assert refused("kwslist", content) == [("f:1", "xml_encoding")]


def test_bytes_outside_the_declared_encoding_are_named_by_line() -> None:
    with pytest.raises(InputError, match=r"f:2: .*byte 0xE9.*Save the file as UTF-8"):
        READERS["kwslist"](BytesIO('<kwslist>\n<a b="é"/></kwslist>'.encode("latin-1")), "f")
    broken = b'<?xml version="1.0" encoding="GBK"?>\n<kwslist>\n\xff</kwslist>'
    with pytest.raises(InputError, match="f:3: byte 0xFF is not text in GB18030"):
        READERS["kwslist"](BytesIO(broken), "f")


def test_gb_text_cut_inside_a_character_is_refused(refused) -> None:
    content = '<?xml version="1.0" encoding="GBK"?><kwslist system_id="中'.encode("gbk")[:-1]
    assert refused("kwslist", content) == [("f:1", "xml_encoding")]


def test_a_line_without_end_is_refused_in_bounded_memory(refused) -> None:
    content = b"LEXEME f1 1 1 1 a lex s <NA>\n" + b"a" * 10 * MIB
    assert refused("rttm", content) == [("f:2", "line_too_long")]
    assert peak_bytes("rttm", content) < 4 * MIB
