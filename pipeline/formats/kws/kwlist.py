"""Query lists: KWList of OpenKWS (plan 004, appendix A.4), termlist of STD 2006 and MediaEval."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.attributes import note_missing, note_unknown
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table
from pipeline.formats.xmlstream import Element, attributes_of, element, parse

_TEXT_ENCODINGS = re.compile(r"utf-8|gb2312|gbk|gb18030", re.IGNORECASE)
_SLIPS = {
    "kwinfo": "It belongs inside its keyword: an end tag </kw> comes too early.",
    "terminfo": "It belongs inside its term: an end tag </term> comes too early.",
    "detected_kwlist": "This is a system output (KWSList), whose root is <kwslist>.",
    "detected_termlist": "This is a system output (STDList), whose root is <stdlist>.",
}


@dataclass(frozen=True)
class KeywordList:
    """One query list: the root's attributes as written and its keywords in file order."""

    attributes: Mapping[str, str]
    keywords: Table
    """Columns id*, text* (white space trimmed and squeezed to single blanks), line."""
    details: tuple[Mapping[str, str], ...]
    """Per keyword, the attributes of its kwinfo (terminfo) by name, trimmed."""
    findings: tuple[Finding, ...] = ()


def read_kwlist(stream: BinaryIO, where: str) -> KeywordList:
    """A KWList or termlist from a binary stream; ``where`` names it in messages.

    Texts are unescaped as XML says (``a&amp;b`` is the text ``a&b``), with a warning: the official tools compare what
    stands in the file. Raises ``InputError`` with every problem: XML
    faults, missing ids, missing or empty texts, ids given twice.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _KwlistReading(problems, notices)
    kwlist = reading.described("kwlist", "kw", "kwid", "kwtext", "kwinfo")
    termlist = reading.described("termlist", "term", "termid", "termtext", "terminfo")
    outputs = {"kwslist": "This is a system output (KWSList).", "stdlist": "This is a system output (STDList)."}
    parse(stream, problems, element("document", kwlist, termlist, misplaced=outputs), referred=reading.refer)
    problems.raise_if_any()
    keywords = table({"id": reading.ids, "text": reading.texts, "line": reading.lines})
    return KeywordList(reading.attributes, keywords, tuple(reading.details), notices.findings())


class _KwlistReading:
    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.attributes: dict[str, str] = {}
        self.ids, self.texts, self.lines = TextColumn(), TextColumn(), array("q")
        self.details: list[dict[str, str]] = []
        self._first_line: dict[str, int] = {}
        self._text: str | None = None
        self._referred = False
        self._name: str | None = None

    def described(self, root: str, keyword: str, id_name: str, text_name: str, info: str) -> Element:
        """The elements of one of the two spellings, with this reading's call-backs."""
        text = element(text_name, has_text=True, closed=lambda text, line: self._take_text(text, text_name, line))
        name = element("name", has_text=True, closed=self._take_name)
        value = element("value", has_text=True, closed=self._take_value)
        return element(
            root,
            element(
                keyword,
                text,
                element(info, element("attr", name, value, opened=self._open_attr)),
                opened=lambda flat, line: self._open(attributes_of(flat), keyword, id_name, line),
                closed=lambda _text, line: self._close(keyword, text_name, line),
            ),
            opened=self._root,
            misplaced=_SLIPS,
        )

    def _root(self, flat: list[str], line: int) -> None:
        self.attributes = attributes_of(flat)
        encoding = self.attributes.get("encoding", "UTF-8")
        if not _TEXT_ENCODINGS.fullmatch(encoding):
            message = f"encoding is {quoted(encoding)} (known: UTF-8, GB2312); the texts are read as the XML declares"
            self.notices.add("unknown_encoding", line, message)
        normalize = self.attributes.get("compareNormalize", "")
        if normalize not in ("", "lowercase"):
            what = f"compareNormalize is {quoted(normalize)} (allowed: lowercase, or empty)"
            self.problems.add("unknown_normalization", line, what, "Write one of the two.")

    def _open(self, attributes: dict[str, str], keyword: str, id_name: str, line: int) -> None:
        note_unknown(attributes, (id_name,), keyword, line, self.notices)
        note_missing(attributes, (id_name,), keyword, line, self.problems)
        name = attributes.get(id_name, "")
        first = self._first_line.setdefault(name, line)
        if name.strip() and name in self.ids.vocabulary:
            what = f"{id_name} {quoted(name)} is given twice (first in line {first})"
            self.problems.add("duplicate_id", line, what, "Give every keyword an id of its own.")
        self.ids.append(name)
        self.lines.append(line)
        self.details.append({})
        self._text = None

    def refer(self) -> None:
        """The text being read has a reference or a CDATA section."""
        self._referred = True

    def _note_undecoded(self, text: str, line: int) -> None:
        """KWSEval reads what xmllint writes, where ``>`` is a reference too."""
        if self._referred or ">" in text:
            message = (
                f"{quoted(text.strip())} is written with XML references or CDATA and read as XML says; KWSEval (&amp;, "
                "&lt;, &gt;, CDATA) and STDEval (any) do not decode them and find none of its words"
            )
            self.notices.add("undecoded_entity", line, message)
        self._referred = False

    def _take_text(self, text: str, text_name: str, line: int) -> None:
        self._note_undecoded(text, line)
        if self._text is not None:
            self.problems.add("duplicate_text", line, f"the keyword has a second <{text_name}>", "Keep one of them.")
        self._text = " ".join(text.split())
        if not self._text:
            self.problems.add("empty_text", line, f"<{text_name}> is empty", "Write the words to search for.")

    def _close(self, keyword: str, text_name: str, line: int) -> None:
        if self._text is None:
            self.problems.add("missing_text", line, f"the <{keyword}> that ends here has no <{text_name}>", "Add it.")
        self.texts.append(self._text or "")

    def _open_attr(self, _flat: list[str], _line: int) -> None:
        self._name = None

    def _take_name(self, text: str, line: int) -> None:
        self._name = text.strip()
        if self._name in self.details[-1]:
            message = f"the keyword has the attribute {quoted(self._name)} twice; the last value holds"
            self.notices.add("duplicate_attribute", line, message)

    def _take_value(self, text: str, line: int) -> None:
        self._note_undecoded(text, line)
        if not self._name:
            what = "the <attr> has a <value> without a <name> before it"
            self.problems.add("missing_name", line, what, "Write <name>…</name> first.")
        else:
            self.details[-1][self._name] = text.strip()
