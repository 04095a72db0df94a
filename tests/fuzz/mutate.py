"""Mutations of bytes: cut, repeated, replaced, cross-bred, grown; the same for the same source of chance."""

from __future__ import annotations

import random
import re

from tests.fuzz.seeds import SNIPPETS

CHANGES_AT_MOST = 4
GROWN_BYTES_AT_MOST = 900_000
"""A file that is grown stays below a megabyte, for which times are bounded."""
MEMORY_BYTES_AT_MOST = 512 << 20
"""What a file of less than 10 MB may take."""
_DIGITS = b"0123456789.-"
_WORD = re.compile(rb"[^\s<>=\"',:{}\[\]]+")
_NUMBERS = (b"0", b"-0", b"1e308", b"-1e308", b"1e-320", b"9" * 30, b"0x10", b"1_0", b"+.5e+5", b"\xd9\xa3", b"nan")


def mutated(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    """``data`` after a few changes; ``others`` are files that pieces may come from."""
    changes = _FORM_KEPT if rng.random() < 0.5 else _CHANGES
    for _ in range(rng.choice((1, 1, 1, 2, 3, CHANGES_AT_MOST))):
        data = rng.choice(changes)(data, others, rng)
    return _grown(data, rng) if rng.random() < 0.0005 else data


def _span(data: bytes, rng: random.Random, longest: int = 30) -> tuple[int, int]:
    first = rng.randint(0, len(data))
    return first, min(len(data), first + rng.randint(0, longest))


def _cut(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    first, last = _span(data, rng)
    return data[:first] + data[last:]


def _replaced(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    first, last = _span(data, rng)
    return data[:first] + rng.choice(SNIPPETS) + data[rng.choice((first, last)) :]


def _noise(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    first, last = _span(data, rng, 4)
    return data[:first] + rng.randbytes(rng.randint(1, 4)) + data[last:]


def _repeated(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    first, last = _span(data, rng, 200)
    return data[:last] + data[first:last] * rng.randint(1, 5) + data[last:]


def _bred(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    other = rng.choice(others)
    (first, last), (begin, end) = _span(data, rng), _span(other, rng, 120)
    return data[:first] + other[begin:end] + data[last:]


def _valued(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    """One word instead of another: what keeps the form and so comes far."""
    words = list(_WORD.finditer(data))
    if not words:
        return data
    place = rng.choice(words)
    kin = [word for word in words if (word[0][:1] in _DIGITS) == (place[0][:1] in _DIGITS)]
    drawn = rng.choice(kin)[0] if rng.random() < 0.8 else rng.choice(_NUMBERS)
    return data[: place.start()] + drawn + data[place.end() :]


def _lines(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    for _ in range(rng.choice((0, 1, 2))):
        lines.insert(rng.randint(0, len(lines)), line)
    return b"\n".join(lines)


def _truncated(data: bytes, others: tuple[bytes, ...], rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _grown(data: bytes, rng: random.Random, n_bytes: int = 0) -> bytes:
    """A piece again and again, up to a size at which it hurts whoever is not linear."""
    first, last = _span(data, rng, 300)
    piece = data[first:last] or b" "
    n = (n_bytes or rng.choice((1_000, 30_000, GROWN_BYTES_AT_MOST))) // len(piece)
    return data[:last] + piece * n + data[last:]


def large(data: bytes, rng: random.Random) -> bytes:
    """``data`` grown to between 1 and 10 MB: by a piece of it, a line, or a line whose words are new each time."""
    n_bytes = rng.randint(1_000_000, 9_900_000)
    how = rng.choice(("piece", "line", "words", "words"))
    if how == "piece":
        return _grown(data, rng, n_bytes)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = lines[at] or b"x"
    if how == "line":
        return b"\n".join([*lines[: at + 1], *[line] * (n_bytes // (len(line) + 1)), *lines[at + 1 :]])
    words = [word.span() for word in _WORD.finditer(line)] or [(0, len(line))]
    _, last = rng.choice(words)
    n = n_bytes // (len(line) + 8)
    grown = [b"%b%d%b" % (line[:last], number, line[last:]) for number in range(n)]
    return b"\n".join([*lines[: at + 1], *grown, *lines[at + 1 :]])


_CHANGES = (_cut, _replaced, _replaced, _noise, _repeated, _bred, _valued, _valued, _valued, _lines, _truncated)
_FORM_KEPT = (_valued, _lines)
"""What leaves most files readable, so that what comes after reading is reached."""
