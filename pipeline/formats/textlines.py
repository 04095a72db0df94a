"""Lines of UTF-8 text files, streamed with bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from pipeline.errors import Problems
from pipeline.formats.budgets import Spent
from pipeline.formats.findings import Notices, refuse
from pipeline.formats.streams import chunks

LINE_BYTES_AT_MOST = 1 << 16

Lines = list[tuple[int, bytes]]


def line_groups(stream: BinaryIO, problems: Problems, notices: Notices) -> Iterator[Lines]:
    """Groups of ``(line number, line without its end)``, one group a chunk of the stream. Lines end with LF.

    Every line is valid UTF-8: others are noted as problems, with the byte, and left out. A byte-order mark is removed
    and noted as a warning. Raises ``InputError`` for UTF-16, a line beyond ``LINE_BYTES_AT_MOST`` and too many lines.
    """
    pieces = chunks(stream)
    head = _without_mark(next(pieces, b""), problems, notices)
    number, rest, spent = 1, b"", Spent(problems.file)
    for chunk in chain((head,), pieces):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if len(rest) > LINE_BYTES_AT_MOST:
            _refuse_long(problems, number + len(lines))
        spent.lines(len(lines), len(chunk))
        yield _checked(lines, number, problems)
        number += len(lines)
    if rest:
        yield _checked([rest], number, problems)


def text_lines(stream: BinaryIO, problems: Problems, notices: Notices) -> Iterator[str]:
    """The lines of ``line_groups`` as text that ends with LF, for csv, which counts them: a blank one stands for each
    that is refused."""
    n_lines = 0
    for lines in line_groups(stream, problems, notices):
        for number, line in lines:
            yield from ["\n"] * (number - n_lines - 1)
            yield line.decode().removesuffix("\r") + "\n"
            n_lines = number


def _without_mark(head: bytes, problems: Problems, notices: Notices) -> bytes:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        refuse(problems, "not_utf8", 1, "the file is UTF-16 (allowed: UTF-8)", "Save the file as UTF-8.")
    if head.startswith(codecs.BOM_UTF8):
        notices.add("bom", 1, "the file begins with a byte-order mark, which official tools take for part of a word")
        return head[len(codecs.BOM_UTF8) :]
    return head


def _refuse_long(problems: Problems, number: int) -> None:
    what = f"the line is longer than {LINE_BYTES_AT_MOST} bytes"
    refuse(problems, "line_too_long", number, what, "Check that this is a text file with one record a line.")


def _checked(lines: list[bytes], first: int, problems: Problems) -> Lines:
    """The lines with their numbers, those left out that are not UTF-8. Raises ``InputError`` for one too long."""
    numbered = list(enumerate(lines, first))
    if max(map(len, lines), default=0) <= LINE_BYTES_AT_MOST and _is_utf8(b"\n".join(lines)):
        return numbered
    return [(number, line) for number, line in numbered if _is_line(line, number, problems)]


def _is_line(line: bytes, number: int, problems: Problems) -> bool:
    if len(line) > LINE_BYTES_AT_MOST:
        _refuse_long(problems, number)
    return _note_bad_byte(line, number, problems)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _note_bad_byte(line: bytes, number: int, problems: Problems) -> bool:
    """Whether the line is UTF-8; if not, its first bad byte is noted."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        what = f"byte 0x{line[error.start]:02X} at position {error.start + 1} of the line is not UTF-8"
        problems.add("not_utf8", number, what, "Save the file as UTF-8.")
        return False
    return True
