from __future__ import annotations

import pytest

KWLIST = """<kwlist ecf_filename="english_1" version="1" encoding="UTF-8" compareNormalize="lowercase">
<kw kwid="dev06-0001">
  <kwtext>
    find   it </kwtext>
  <kwinfo>
    <attr><name>NGram Order</name><value> 2-grams </value></attr>
    <attr><name>Syllables</name><value>02</value></attr>
  </kwinfo>
</kw>
<!-- a comment
     over two lines -->
<kw kwid="dev06-0002"><kwtext>a&amp;b <![CDATA[<c>]]> caf&#xE9;</kwtext></kw>
</kwlist>
"""
TERMLIST = """<termlist ecf_filename="e" version="1" language="x">
<term termid="T1"><termtext>chai14 ndege</termtext>
<terminfo><attr><name>Len</name><value>2</value></attr></terminfo></term>
</termlist>
"""


def test_texts_are_unescaped_and_their_white_space_squeezed(read) -> None:
    kwlist = read("kwlist", KWLIST)
    assert kwlist.attributes["compareNormalize"] == "lowercase"
    assert kwlist.keywords.text("id") == ["dev06-0001", "dev06-0002"]
    assert kwlist.keywords.text("text") == ["find it", "a&b <c> café"]
    assert kwlist.keywords["line"].tolist() == [2, 12]
    assert kwlist.details == ({"NGram Order": "2-grams", "Syllables": "02"}, {})
    assert [finding.code for finding in kwlist.findings] == ["undecoded_entity"]


def test_termlists_are_query_lists_too(read) -> None:
    termlist = read("kwlist", TERMLIST)
    assert termlist.keywords.text("id") == ["T1"]
    assert termlist.keywords.text("text") == ["chai14 ndege"]
    assert termlist.details == ({"Len": "2"},)


def test_an_empty_list_is_a_list(read) -> None:
    assert len(read("kwlist", "<kwlist/>").keywords) == 0


def test_ideographic_space_separates_words(read) -> None:
    content = '<kwlist><kw kwid="K"><kwtext>一\u3000 二\u00a0三</kwtext></kw></kwlist>'
    assert read("kwlist", content).keywords.text("text") == ["一 二 三"]


def test_two_ids_may_share_a_text(read) -> None:
    content = '<kwlist><kw kwid="K1"><kwtext>a</kwtext></kw><kw kwid="K2"><kwtext>a</kwtext></kw></kwlist>'
    assert read("kwlist", content).keywords["text"].tolist() == [0, 0]


def test_every_problem_is_reported_at_once(refused) -> None:
    content = (
        '<kwlist compareNormalize="upper">\n'
        '<kw kwid="K1"><kwtext>a</kwtext></kw>\n'
        '<kw kwid="K1"><kwtext>b</kwtext></kw>\n'
        '<kw kwid="K3"><kwtext> \n </kwtext></kw>\n'
        '<kw kwid="K4"/>\n'
        "<kw><kwtext>c</kwtext></kw>\n"
        '<kw kwid="K6"><kwtext>c</kwtext><kwtext>d</kwtext></kw>\n'
        '<kw kwid="K7"><kwtext>c</kwtext><kwinfo><attr><value>1</value></attr></kwinfo></kw>\n'
        "stray\n"
        "</kwlist>"
    )
    assert refused("kwlist", content) == [
        ("f:1", "unknown_normalization"),
        ("f:3", "duplicate_id"),
        ("f:5", "empty_text"),
        ("f:6", "missing_text"),
        ("f:7", "missing_attribute"),
        ("f:8", "duplicate_text"),
        ("f:9", "missing_name"),
        ("f:11", "stray_text"),
    ]


def test_the_early_end_tag_of_the_plans_own_example_is_explained(refused, read) -> None:
    content = '<kwlist>\n<kw kwid="K"><kwtext>a</kwtext></kw>\n<kwinfo>\n<attr/>\n</kwinfo>\n</kw>\n</kwlist>'
    assert refused("kwlist", content) == [("f:3", "unexpected_element"), ("f:6", "xml_malformed")]
    with pytest.raises(Exception, match="an end tag </kw> comes too early"):
        read("kwlist", content)


def test_a_system_output_in_its_place_is_named(read) -> None:
    with pytest.raises(Exception, match=r"f:1: the root element is <kwslist> .*This is a system output"):
        read("kwlist", "<kwslist/>")


def test_odd_headers_are_warned_of(read) -> None:
    content = (
        '<kwlist encoding=""><kw kwid="K" lang="x"><kwtext>a</kwtext><kwinfo>'
        "<attr><name>N</name><value>1</value></attr><attr><name>N</name><value>2</value></attr>"
        "</kwinfo></kw></kwlist>"
    )
    kwlist = read("kwlist", content)
    assert [finding.code for finding in kwlist.findings] == [
        "unknown_encoding",
        "unknown_attribute",
        "duplicate_attribute",
    ]
    assert kwlist.details == ({"N": "2"},)


@pytest.mark.parametrize(
    ("written", "text", "told"),
    [
        ("r&amp;b", "r&b", True),
        ("r&#38;b", "r&b", True),
        ("caf&#233;", "café", True),
        ("<![CDATA[ab]]>", "ab", True),
        ("a>b", "a>b", True),  # xmllint, which KWSEval reads through, makes a reference of it
        ("café", "café", False),
        ('it\'s "so"', 'it\'s "so"', False),
    ],
)
@pytest.mark.parametrize("root", ["kwlist", "termlist"])
def test_a_text_that_tools_read_otherwise_is_told(read, root, written, text, told):
    names = ("kw", "kwid", "kwtext") if root == "kwlist" else ("term", "termid", "termtext")
    rows = [f'<{names[0]} {names[1]}="{name}"><{names[2]}>{body}</{names[2]}></{names[0]}>' for name, body in
            (("K1", "plain"), ("K2", written), ("K3", "plain"))]  # fmt: skip
    found = read("kwlist", "\n".join([f"<{root}>", *rows, f"</{root}>"]))
    assert found.keywords.text("text") == ["plain", text, "plain"]
    assert [(finding.code, finding.where) for finding in found.findings] == told * [("undecoded_entity", "f:3")]
