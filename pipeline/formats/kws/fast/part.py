"""A system output, or a part of one that begins with a block, in the hands of a scanner: bytes in, columns out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np

from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.kws.fast import state as fast_state
from pipeline.formats.kws.fast.state import COLUMNS, FEWEST, INSIDE, LIMIT, LINE, MOST, PLAIN, POSITION, ROWS, Scanner
from pipeline.formats.streams import filled, size_of
from pipeline.formats.table import Array
from pipeline.formats.xmlencoding import decoder_of

HEAD_BYTES_AT_MOST = 1 << 16
TAIL_BYTES_AT_MOST = 1 << 16
_ROW_BYTES_AT_LEAST = 64
_GROWTH_ROWS = 1 << 20

DETECTIONS = {b"detected_kwlist": b"kw", b"detected_termlist": b"term"}
"""The elements of detections by those of their blocks."""
FIRST_BLOCK = re.compile(rb"<(detected_kwlist|detected_termlist) ")
_ENCODING = re.compile(rb"<\?xml\s[^>]*?\bencoding\s*=\s*[\"'](?!(?i:utf-?8)[\"'])")


class NotCanonicalError(Exception):
    """The parser shall read this file."""


@dataclass(frozen=True)
class Frame:
    """What a part of a file holds beside its rows: blocks in turn, and what stands before and after them."""

    head: bytes
    tail: bytes
    block: bytes
    files: tuple[str, ...]
    channels: tuple[str, ...]
    tags: tuple[str, ...]
    """The tag that begins each block, with its row and its line."""
    tag_rows: Array
    tag_lines: Array
    n_rows: int
    n_breaks: int
    """Line ends in the part, its head and tail."""
    shapes: tuple[int, int, int]
    """See ``PLAIN``, ``FEWEST`` and ``MOST`` of ``fast_state``."""
    dur_s_min: float
    """The shortest duration, lowest and highest score; inf, inf and -inf without rows."""
    score_min: float
    score_max: float

    @property
    def n_rows_of_blocks(self) -> Array:
        """The rows of each block."""
        return np.diff(self.tag_rows, append=self.n_rows)


@dataclass(frozen=True)
class PartOfFile:
    """A part of a file: its frame and its rows."""

    frame: Frame
    columns: dict[str, Array]
    """As ``COLUMNS`` says; lines from 1 on."""


@dataclass(frozen=True)
class Place:
    """Where a part stands among those of its file: what its own numbers become there."""

    line: int
    """Lines, blocks and rows before it."""
    block: int
    row: int
    files: Array
    """The codes of its files and of its channels."""
    channels: Array


def read_part(stream: BinaryIO, make: type[Scanner]) -> PartOfFile:
    """The detections of a stream, from its beginning to its end.

    Raises ``NotCanonicalError`` for what the scanner does not know, and numbers that are none.
    """
    return _Reading.begin(stream, make).part()


@dataclass
class _Reading:
    """The part as it is read: bytes in a buffer of one size, rows in columns with room for all that may come."""

    stream: BinaryIO
    block: bytes
    head: bytes
    data: bytearray
    held: int
    state: Array
    """What a scan moves on."""
    scanner: Scanner
    columns: dict[str, Array]
    tags: list[tuple[str, int, int]] = field(default_factory=list)
    problems: Problems = field(default_factory=lambda: Problems(""))

    @classmethod
    def begin(cls, stream: BinaryIO, make: type[Scanner]) -> _Reading:
        n_bytes = size_of(stream)
        opening = bytearray(HEAD_BYTES_AT_MOST)
        held = filled(stream, opening, 0)
        found = FIRST_BLOCK.search(opening, 0, held)
        if found is None:
            raise NotCanonicalError
        head = bytes(opening[: found.start()])
        if decoder_of(head).codec is not None or _ENCODING.match(head):
            raise NotCanonicalError
        data = bytearray(max(make.buffer_bytes, held) + fast_state.PADDING)
        data[:held] = opening[:held]
        held = filled(stream, memoryview(data)[: -fast_state.PADDING], held)
        state = np.array([found.start(), 0, 1 + _breaks(head), 0, 0, 1, fast_state.DECIMALS_AT_MOST, 0])
        # Room that nothing is written to takes no memory.
        columns = {name: np.empty((n_bytes or 0) // _ROW_BYTES_AT_LEAST, kind) for name, kind in COLUMNS}
        return cls(stream, found[1], head, data, held, state, make(DETECTIONS[found[1]], found[1]), columns)

    def part(self) -> PartOfFile:
        """All of it."""
        while True:
            before = int(self.state[POSITION])
            self.state[LIMIT] = self.data.rfind(b">", before, self.held) + 1
            self._make_room()
            found = self.scanner.scan(self.data, self.state, tuple(self.columns.values()))
            self._take_tags(found.tags)
            self._take_odds(found.odds)
            if found.why == fast_state.DECLINED or self.problems.count:
                raise NotCanonicalError
            if found.why == fast_state.TAIL or not self._go_on(before):
                return self._finished(self._tail())

    def _make_room(self) -> None:
        """Room for the rows of one buffer. Columns grow in place, where the system can move pages."""
        rows = int(self.state[ROWS]) + len(self.data) // _ROW_BYTES_AT_LEAST
        have = len(self.columns["line"])
        if rows > have:
            self._resize(max(rows, have + min(have, _GROWTH_ROWS)))

    def _resize(self, rows: int) -> None:
        for column in self.columns.values():
            column.resize(rows, refcheck=False)

    def _go_on(self, before: int) -> bool:
        """Keep what is not read yet, and fill the buffer up behind it. False where nothing comes any more."""
        at = int(self.state[POSITION])
        left = self.held - at
        self.data[:left] = self.data[at : self.held]
        self.held = filled(self.stream, memoryview(self.data)[: -fast_state.PADDING], left)
        self.state[POSITION] = 0
        if self.held > left or at > before:
            return True
        if left + fast_state.PADDING == len(self.data):
            raise NotCanonicalError
        return False

    def _take_tags(self, tags: list[list[int]]) -> None:
        end_tag = b"</%s>" % self.block
        for start, end, row, line in tags:
            text = self.data[start:end]
            if text != end_tag:
                self.tags.append((characters(text), row, line))

    def _take_odds(self, odds: list[list[int]]) -> None:
        """Numbers that the scanner leaves: long ones, exponents, infinities, and what is none."""
        read = (numbers.decimal, numbers.decimal, numbers.score)
        for row, column, start in odds:
            text = characters(self.data[start : self.data.index(b'"', start)])
            self.columns[COLUMNS[column][0]][row] = read[column](text, "", None, self.problems)

    def _tail(self) -> bytes:
        rest = bytes(self.data[int(self.state[POSITION]) : self.held]) + self.stream.read(TAIL_BYTES_AT_MOST)
        if self.state[INSIDE] or self.stream.read(1):
            raise NotCanonicalError
        return rest

    def _finished(self, tail: bytes) -> PartOfFile:
        self._resize(int(self.state[ROWS]))
        files, channels = (tuple(map(characters, names)) for names in self.scanner.names())
        tags, rows, lines = zip(*self.tags, strict=True) if self.tags else ((), (), ())
        score = self.columns["score"]
        frame = Frame(
            head=self.head,
            tail=tail,
            block=self.block,
            files=files,
            channels=channels,
            tags=tags,
            tag_rows=np.array(rows, np.int64),
            tag_lines=np.array(lines, np.int64),
            n_rows=score.size,
            n_breaks=int(self.state[LINE]) - 1 + _breaks(tail),
            shapes=(int(self.state[PLAIN]), int(self.state[FEWEST]), int(self.state[MOST])),
            dur_s_min=float(self.columns["dur_s"].min(initial=np.inf)),
            score_min=float(score.min(initial=np.inf)),
            score_max=float(score.max(initial=-np.inf)),
        )
        return PartOfFile(frame, self.columns)


def joined(parts: Sequence[Frame]) -> tuple[Frame, list[Place]]:
    """The frame of a whole file from those of its parts, as it would have been read at once; where each part stands.

    Raises ``NotCanonicalError`` where something stands between parts, or they are not of one kind.
    """
    between = [text for part, after in pairwise(parts) for text in (part.tail, after.head)]
    if any(text.replace(b"\r\n", b"\n").strip(b" \t\n") for text in between) or len({p.block for p in parts}) > 1:
        raise NotCanonicalError
    lines_before, blocks_before, rows_before = (
        np.cumsum([0, *counts]).tolist()
        for counts in zip(*((part.n_breaks, len(part.tags), part.n_rows) for part in parts), strict=True)
    )
    files, file_codes = _together([part.files for part in parts], np.uint16)
    channels, channel_codes = _together([part.channels for part in parts], np.uint8)
    before = zip(lines_before, blocks_before, rows_before, file_codes, channel_codes, strict=False)
    plain, fewest, most = zip(*(part.shapes for part in parts), strict=True)
    whole = Frame(
        head=parts[0].head,
        tail=parts[-1].tail,
        block=parts[0].block,
        files=files,
        channels=channels,
        tags=tuple(tag for part in parts for tag in part.tags),
        tag_rows=_moved([part.tag_rows for part in parts], rows_before),
        tag_lines=_moved([part.tag_lines for part in parts], lines_before),
        n_rows=rows_before[-1],
        n_breaks=lines_before[-1],
        shapes=(min(plain), min(fewest), max(most)),
        dur_s_min=min(part.dur_s_min for part in parts),
        score_min=min(part.score_min for part in parts),
        score_max=max(part.score_max for part in parts),
    )
    return whole, [Place(*place) for place in before]


def _moved(places: Sequence[Array], before: Sequence[int]) -> Array:
    return np.concatenate([place + shift for place, shift in zip(places, before, strict=False)])


def _together(
    names: Sequence[tuple[str, ...]], kind: type[np.unsignedinteger[Any]]
) -> tuple[tuple[str, ...], list[Array]]:
    """All names in order of first appearance, and for each part the codes of its own."""
    codes: dict[str, int] = {}
    if len({name for part in names for name in part}) > np.iinfo(kind).max + 1:
        raise NotCanonicalError
    own = [[codes.setdefault(name, len(codes)) for name in part] for part in names]
    return tuple(codes), [np.array(part, kind) for part in own]


def characters(value: bytes | bytearray) -> str:
    """A value that holds nothing but characters of XML. Raises ``UnicodeDecodeError`` or ``NotCanonicalError``."""
    text = value.decode()
    if "\ufffe" in text or "\uffff" in text:
        raise NotCanonicalError
    return text


def _breaks(text: bytes) -> int:
    """Line ends as the parser counts them."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
