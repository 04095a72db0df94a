"""Large system outputs in canonical spelling, many times faster than through the XML parser; with the extra ``fast``.

The body, from the first block to the last, is read by ``fast_kernel``, which declines whatever is not exactly the
spelling it knows. What is left of the file, with one block in the body's place, goes through the XML parser. A body of
well-formed elements where one element may stand makes a well-formed file, so that what is accepted here is what the
parser would have said; everything else, and everything with a problem to report, is left to it.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from pipeline.errors import InputError, Problems
from pipeline.formats import fast_state, numbers
from pipeline.formats.columns import table
from pipeline.formats.detections import Blocks, Detections
from pipeline.formats.fast_state import INSIDE, LIMIT, LINE, PLAIN, POSITION, ROWS, Scanner
from pipeline.formats.findings import Notices
from pipeline.formats.kwslist import SystemOutput, described
from pipeline.formats.scoretexts import DIGITS
from pipeline.formats.table import Array, Table
from pipeline.formats.xmlencoding import decoder_of
from pipeline.formats.xmlstream import LINES_AT_MOST, parse

HEAD_BYTES_AT_MOST = 1 << 16
TAIL_BYTES_AT_MOST = 1 << 16
_ROW_BYTES_AT_LEAST = 64

_FIRST_BLOCK = re.compile(rb"<(detected_kwlist|detected_termlist) ")
_ENCODING = re.compile(rb"<\?xml\s[^>]*?\bencoding\s*=\s*[\"'](?!(?i:utf-?8)[\"'])")
_TAG = re.compile(rb"<([a-z_]+)((?: [A-Za-z_][A-Za-z0-9_.-]*+=\"[^\"<&\x00-\x1f]*+\")*+) ?/?>")
_ATTRIBUTES = re.compile(r" ([^=]+)=\"([^\"]*)\"")
_NAMES = {
    b"detected_kwlist": (b"kw", ("kwid", "search_time", "oov_count")),
    b"detected_termlist": (b"term", ("termid", "term_search_time", "oov_term_count")),
}


_COLUMNS = (
    *(("begin_s", np.float64), ("dur_s", np.float64), ("score", np.float64)),
    *(("file", np.int32), ("channel", np.int32), ("decision", np.bool_), ("line", np.int32)),
)
"""As ``Scanner.scan`` takes them."""


class _NotCanonicalError(Exception):
    """The parser shall read this file."""


def read_canonical(stream: BinaryIO, where: str, make: type[Scanner], *, texts: bool = False) -> SystemOutput | None:
    """The output as ``read_kwslist`` gives it; None where it is not canonical, or anything is wrong with it.

    With ``texts`` it declines where scores sort differently as text (see ``ScoreTexts``). Reads the stream from its
    beginning; when it declines, the position is anywhere.
    """
    try:
        body = _Body.begin(stream, where, make)
        output = body.read()
        return None if texts and not body.texts_sort_as_numbers() else output
    except (_NotCanonicalError, InputError, UnicodeDecodeError):
        return None


@dataclass
class _Body:
    """The file as it is read: bytes in a buffer of one size, rows in columns that grow."""

    stream: BinaryIO
    where: str
    block: bytes
    head: bytes
    data: bytearray
    held: int
    state: Array
    """What a scan moves on."""
    blocks: Blocks
    problems: Problems
    notices: Notices
    scanner: Scanner
    columns: dict[str, Array] = field(default_factory=lambda: {name: np.empty(0, kind) for name, kind in _COLUMNS})
    first_rows: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, stream: BinaryIO, where: str, make: type[Scanner]) -> _Body:
        opening = bytearray(HEAD_BYTES_AT_MOST)
        held = _filled(stream, opening, 0)
        found = _FIRST_BLOCK.search(opening, 0, held)
        if found is None:
            raise _NotCanonicalError
        head = bytes(opening[: found.start()])
        if decoder_of(head).codec is not None or _ENCODING.match(head):
            raise _NotCanonicalError
        data = bytearray(max(make.buffer_bytes, held) + fast_state.PADDING)
        data[:held] = opening[:held]
        held = _filled(stream, memoryview(data)[: -fast_state.PADDING], held)
        lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
        state = np.array([found.start(), 0, 1 + lines, 0, 0, 1, fast_state.DECIMALS_AT_MOST, 0])
        problems, notices = Problems(where), Notices(where)
        blocks = Blocks(problems, notices)
        scanner = make(_NAMES[found[1]][0], found[1])
        return cls(stream, where, found[1], head, data, held, state, blocks, problems, notices, scanner)

    def read(self) -> SystemOutput:
        """All of it, or ``_NotCanonicalError``."""
        while True:
            before = int(self.state[POSITION])
            self.state[LIMIT] = self.data.rfind(b">", before, self.held) + 1
            self._make_room()
            found = self.scanner.scan(self.data, self.state, tuple(self.columns.values()))
            self._take_tags(found.tags)
            self._take_odds(found.odds)
            if found.why == fast_state.TAIL:
                return self._finished(self._tail())
            if found.why == fast_state.DECLINED:
                raise _NotCanonicalError
            self._go_on(before)

    def texts_sort_as_numbers(self) -> bool:
        """Whether the order of the scores read, as text, is that of the numbers."""
        plain, fewest, most = self.state[PLAIN:].tolist()
        return bool(plain) or 0 < fewest == most < DIGITS

    def _make_room(self) -> None:
        """Room for the rows of one buffer. Columns grow in place, where the system can move pages."""
        rows = int(self.state[ROWS]) + len(self.data) // _ROW_BYTES_AT_LEAST
        have = len(self.columns["line"])
        if rows > have:
            self._resize(max(rows, have + have // 16))

    def _resize(self, rows: int) -> None:
        for column in self.columns.values():
            column.resize(rows, refcheck=False)

    def _go_on(self, before: int) -> None:
        """Keep what is not read yet, and fill the buffer up behind it."""
        at = int(self.state[POSITION])
        left = self.held - at
        self.data[:left] = self.data[at : self.held]
        self.held = _filled(self.stream, memoryview(self.data)[: -fast_state.PADDING], left)
        if self.held == left and at == before:
            raise _NotCanonicalError
        self.state[POSITION] = 0

    def _take_tags(self, tags: list[list[int]]) -> None:
        end_tag, name, attribute_names = b"</%s>" % self.block, self.block.decode(), _NAMES[self.block][1]
        for start, end, row, line in tags:
            text = bytes(self.data[start:end])
            if text != end_tag:
                self.first_rows.append(row)
                self.blocks.open(self._attributes(text), name, attribute_names, line)

    def _attributes(self, tag: bytes) -> dict[str, str]:
        found = _TAG.fullmatch(tag)
        if found is None or found[1] != self.block:
            raise _NotCanonicalError
        pairs = _ATTRIBUTES.findall(_text(found[2]))
        attributes = dict(pairs)
        if len(attributes) < len(pairs):
            raise _NotCanonicalError
        return attributes

    def _take_odds(self, odds: list[list[int]]) -> None:
        """Numbers that the kernel leaves: long ones, exponents, infinities, and what is none."""
        read = (numbers.decimal, numbers.decimal, numbers.score)
        for row, column, start in odds:
            text = bytes(self.data[start : self.data.index(b'"', start)])
            self.columns[_COLUMNS[column][0]][row] = read[column](text.decode("ascii"), "", None, self.problems)

    def _tail(self) -> bytes:
        rest = bytes(self.data[int(self.state[POSITION]) : self.held]) + self.stream.read(TAIL_BYTES_AT_MOST)
        if self.state[INSIDE] or self.stream.read(1):
            raise _NotCanonicalError
        return rest

    def _finished(self, tail: bytes) -> SystemOutput:
        skeleton = self._skeleton(tail)
        self._resize(int(self.state[ROWS]))
        low, high = skeleton.declared or (-np.inf, np.inf)
        dur_s, score = self.columns["dur_s"], self.columns["score"]
        if (
            self.state[LINE] > LINES_AT_MOST
            or self.problems.count
            or np.any(dur_s < 0)
            or np.any((score < low) | (score > high))
        ):
            raise _NotCanonicalError
        return SystemOutput(skeleton.attributes, self.blocks.table(), self._detections(), self.notices.findings())

    def _skeleton(self, tail: bytes) -> Detections:
        """What the parser says of the file with one block for all; ``_NotCanonicalError`` where anything is amiss."""
        problems, notices = Problems(self.where), Notices(self.where)
        blocks = Blocks(problems, notices)
        detections = Detections(blocks, problems, notices)
        name, (query, *_) = self.block, _NAMES[self.block][1]
        body = b'<%s %s="stand-in"/>' % (name, query.encode())
        parse(io.BytesIO(self.head + body + tail), problems, described(blocks, detections))
        if problems.count or notices.findings() or blocks.block != 0 or len(detections.table()):
            raise _NotCanonicalError
        return detections

    def _detections(self) -> Table:
        n_rows = np.diff([*self.first_rows, len(self.columns["line"])])
        block = np.repeat(np.arange(len(n_rows), dtype=np.int32), n_rows)
        queries = table({"query": self.blocks.queries})
        columns = {**self.columns, "query": queries["query"][block], "block": block}
        files, channels = (tuple(map(_text, names)) for names in self.scanner.names())
        return Table(columns, {**queries.vocabularies, "file": files, "channel": channels})


def _text(value: bytes) -> str:
    """A value that holds nothing but characters of XML. Raises ``UnicodeDecodeError`` or ``_NotCanonicalError``."""
    text = value.decode()
    if "\ufffe" in text or "\uffff" in text:
        raise _NotCanonicalError
    return text


def _filled(stream: BinaryIO, data: bytearray | memoryview, held: int) -> int:
    """Fill ``data`` up behind the ``held`` bytes; returns how many there are now."""
    with memoryview(data) as view:
        while held < len(view) and (n := stream.readinto(view[held:])):  # type: ignore[attr-defined]
            held += n
    return held
