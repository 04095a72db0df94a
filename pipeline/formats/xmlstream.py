"""One secure streaming XML driver for every reader: expat, in bounded memory, without entities.

A reader describes the elements that its format knows (``element``); the driver calls it back for each, with the source
line, and notes what does not belong. Text that is not well-formed, declares or fetches anything, nests too deep or
holds a token beyond 1 MiB is refused with its line.

UTF-8, UTF-16 and single-byte encodings are expat's own; the GB family, which it cannot read, is decoded first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import BinaryIO
from xml.parsers import expat

from pipeline.errors import Problems
from pipeline.formats.budgets import Spent
from pipeline.formats.findings import quoted, refuse
from pipeline.formats.streams import chunks
from pipeline.formats.xmlencoding import KNOWN_ENCODINGS, Decoder, decoder_of

TOKEN_BYTES_AT_MOST = 1 << 20
DEPTH_AT_MOST = 32
LINES_AT_MOST = (1 << 31) - (1 << 17)
"""Lines fit 32 bits; a chunk that was read beyond holds fewer than the rest."""

Opened = Callable[[list[str], int], None]
Closed = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Element:
    """An element that a format knows, the elements that may stand in it, and what to call for it."""

    name: str
    children: Mapping[str, Element] = field(default_factory=dict)
    opened: Opened | None = None
    """Called with the attributes, flat (name, value, name, value, …), and the line."""
    closed: Closed | None = None
    """Called with the text of an element that ``has_text`` (else "") and the line."""
    has_text: bool = False
    misplaced: Mapping[str, str] = field(default_factory=dict)
    """How to mend known slips: by the name of an element wrongly found in this one."""


def element(
    name: str,
    *children: Element,
    opened: Opened | None = None,
    closed: Closed | None = None,
    has_text: bool = False,
    misplaced: Mapping[str, str] | None = None,
) -> Element:
    """An ``Element`` whose children are given in line."""
    return Element(name, {child.name: child for child in children}, opened, closed, has_text, misplaced or {})


_UNKNOWN = Element("unknown")
"""Stands for an element already noted as unexpected; what it contains is passed over."""


def attributes_of(flat: list[str]) -> dict[str, str]:
    """Attributes by name."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def parse(
    stream: BinaryIO,
    problems: Problems,
    document: Element,
    after_chunk: Callable[[], None] | None = None,
    referred: Callable[[], None] | None = None,
) -> None:
    """Read the whole stream and call back for every element that ``document`` (parent of the roots) knows.

    ``after_chunk`` is called after every 64 KiB, so that a reader can work on columns instead of rows. Unexpected
    elements and stray text are noted in ``problems``; raises ``InputError`` where reading on makes no sense.
    ``referred`` is called for every reference and CDATA section in the text of an element, before it is closed.
    """
    pieces = chunks(stream)
    head = next(pieces, b"")
    source = _Source(problems, decoder_of(head))
    text, spent = _XmlText(problems), Spent(problems.file)
    _connect(source.parser, problems, document, text, spent)
    if referred is not None:
        _tell_references(source.parser, text, referred)
    for data in chain((head,), pieces):
        first = source.parser.CurrentLineNumber
        source.feed(data)
        text.check(source.parser.CurrentLineNumber)
        spent.lines(source.parser.CurrentLineNumber - first, len(data))
        if after_chunk is not None:
            after_chunk()
    source.end()
    if after_chunk is not None:
        after_chunk()


class _Source:
    """A parser and the bytes that went into it."""

    def __init__(self, problems: Problems, decoder: Decoder) -> None:
        self.parser = expat.ParserCreate(decoder.parser_encoding)
        self._problems = problems
        self._decoder = decoder
        self._n_fed = 0
        if decoder.parser_encoding is None:
            self.parser.XmlDeclHandler = self._check_encoding

    def feed(self, data: bytes) -> None:
        """The next bytes of the file."""
        self._parse(data, final=False)
        if self._n_fed - self.parser.CurrentByteIndex > TOKEN_BYTES_AT_MOST:
            what = f"a tag, attribute or comment is longer than {TOKEN_BYTES_AT_MOST} bytes"
            mend = "Look for a missing quote or '>'."
            refuse(self._problems, "xml_token_too_long", self.parser.CurrentLineNumber, what, mend)

        if self.parser.CurrentLineNumber > LINES_AT_MOST:
            what = f"the file has more than {LINES_AT_MOST} lines"
            refuse(self._problems, "too_many_lines", LINES_AT_MOST, what, "Write one detection a line, without blanks.")

    def end(self) -> None:
        """The file ends here."""
        self._parse(b"", final=True)

    def _parse(self, data: bytes, *, final: bool) -> None:
        line = self.parser.CurrentLineNumber
        try:
            text = self._decoder.decode(data, final=final)
            self.parser.Parse(text, final)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            what = f"byte 0x{error.object[error.start]:02X} is not text in GB18030, the encoding the file declares"
            refuse(self._problems, "xml_encoding", line, what, "Save the file as UTF-8 and declare UTF-8.")
        except expat.ExpatError as error:
            what, mend = _explained(error, text, self.parser.ErrorByteIndex - self._n_fed)
            refuse(self._problems, "xml_malformed", error.lineno, what, mend)
        self._n_fed += len(text)

    def _check_encoding(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and not KNOWN_ENCODINGS.fullmatch(encoding):
            allowed = "UTF-8, UTF-16, ISO-8859-*, windows-125*, GB18030"
            what = f"encoding {quoted(encoding)} is not known (allowed: {allowed})"
            refuse(self._problems, "xml_encoding", 1, what, "Save the file as UTF-8 and declare UTF-8.")


class _XmlText:
    """Character data: gathered inside elements that hold text, and nothing but white space elsewhere."""

    def __init__(self, problems: Problems) -> None:
        self.pieces: list[str] = []
        self._problems = problems
        self.inside = False

    def begin(self, line: int) -> None:
        """An element that holds text begins."""
        self.check(line)
        self.inside = True

    def take(self) -> str:
        """The text of the element that ends."""
        text = "".join(self.pieces)
        self.pieces.clear()
        self.inside = False
        return text

    def check(self, line: int) -> None:
        """Note text that stands between elements at or before ``line``; bound the text inside one."""
        if self.inside:
            if sum(map(len, self.pieces)) > TOKEN_BYTES_AT_MOST:
                what = f"a text is longer than {TOKEN_BYTES_AT_MOST} characters"
                refuse(self._problems, "xml_token_too_long", line, what, "Look for a missing end tag.")
            return
        stray = "".join(self.pieces).strip(" \t\r\n")
        self.pieces.clear()
        if stray:
            what = f"text {quoted(stray)} stands between the elements, at or before this line"
            self._problems.add("stray_text", line, what, "Remove it, or write it as the element it was meant to be.")


def _connect(parser: expat.XMLParserType, problems: Problems, document: Element, text: _XmlText, spent: Spent) -> None:
    stack = [document]

    def start(name: str, flat: list[str]) -> None:
        parent = stack[-1]
        found = parent.children.get(name)
        if found is None:
            text.check(parser.CurrentLineNumber)
            _note_unexpected(parent, name, len(stack), parser.CurrentLineNumber, problems)
            spent.idle()
            found = _UNKNOWN
        stack.append(found)
        if found.has_text:
            text.begin(parser.CurrentLineNumber)
        if found.opened is not None:
            found.opened(flat, parser.CurrentLineNumber)

    def end(_name: str) -> None:
        ended = stack.pop()
        if ended.closed is not None:
            ended.closed(text.take() if ended.has_text else "", parser.CurrentLineNumber)
        elif ended is _UNKNOWN:
            text.pieces.clear()

    def doctype(_name: str, system: str | None, public: str | None, has_declarations: int) -> None:
        if system is not None or public is not None or has_declarations:
            what = "the DOCTYPE declares or fetches something (allowed: none, or a bare name)"
            mend = "Remove the <!DOCTYPE …> and write entities out as plain characters."
            refuse(problems, "xml_doctype", parser.CurrentLineNumber, what, mend)

    parser.ordered_attributes = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text.pieces.append
    parser.StartDoctypeDeclHandler = doctype


def _tell_references(parser: expat.XMLParserType, text: _XmlText, referred: Callable[[], None]) -> None:
    def data(piece: str) -> None:
        if text.inside and (parser.GetInputContext() or b"").startswith(b"&"):
            referred()
        text.pieces.append(piece)

    parser.CharacterDataHandler = data
    parser.StartCdataSectionHandler = referred


def _note_unexpected(parent: Element, name: str, depth: int, line: int, problems: Problems) -> None:
    if depth == 1:
        what = f"the root element is <{_short(name)}> (allowed: {_listed(parent)})"
        mend = parent.misplaced.get(name, "Check that this is the right file for its role.")
        refuse(problems, "xml_root", line, what, mend)
    if depth > DEPTH_AT_MOST:
        what = f"elements nest deeper than {DEPTH_AT_MOST}"
        refuse(problems, "xml_too_deep", line, what, "Look for missing end tags.")
    if parent is not _UNKNOWN:
        what = f"unexpected element <{_short(name)}> inside <{parent.name}> (allowed: {_listed(parent)})"
        problems.add("unexpected_element", line, what, parent.misplaced.get(name, "Remove it or correct its name."))


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:40]}…"


def _listed(parent: Element) -> str:
    return ", ".join(f"<{child}>" for child in parent.children) or "none"


_MENDS = {
    "no element found": "The file is empty or cut off: write it again to its last end tag.",
    "unclosed token": "The file is cut off inside a tag or comment: write it again to its last end tag.",
    "unclosed CDATA section": "The file is cut off: write it again to its last end tag.",
    "partial character": "The file is cut off inside a character: write it again to its last end tag.",
    "mismatched tag": "Every element must end with its own end tag, the innermost first.",
    "duplicate attribute": "Keep one of the two.",
    "junk after document element": "Only one root element is allowed: remove what follows it.",
    "undefined entity": "Only &lt; &gt; &amp; &quot; &apos; and character references are allowed: write the character.",
    "encoding specified in XML declaration is incorrect": "Declare the encoding that the file is saved in.",
}


def _explained(error: expat.ExpatError, data: bytes, offset: int) -> tuple[str, str]:
    """The fault that expat found, and how to mend it. ``offset`` is where in ``data``, if it is in there."""
    found = expat.ErrorString(error.code)
    what = f"the XML is not well-formed at column {error.offset + 1}: {found}"
    if found in _MENDS:
        return what, _MENDS[found]
    if 0 <= offset < len(data) and data[offset] >= 0x80:
        return f"{what} (byte 0x{data[offset]:02X})", "Save the file as UTF-8, or declare the encoding that it is in."
    return what, "Write & as &amp; and < as &lt; in values, and put every value in quotes."
