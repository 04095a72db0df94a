"""The inner loop of the fast reader, compiled by Numba: detections in canonical spelling, eight bytes at a time.

It accepts or declines and never interprets: whatever is not exactly the spelling that it knows stops it, and the XML
parser reads the file instead. Inner functions take addresses, as an array for an argument costs more than many bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types, uint64
from numba.extending import intrinsic

from pipeline.formats.fast_state import (
    BEGIN,
    CHANNEL,
    CLOSE,
    DECIMALS_AT_MOST,
    DECISION,
    DECLINED,
    DIGITS_AT_MOST,
    DUR,
    FULL,
    MORE,
    NO,
    OPEN,
    ROW,
    ROW_END,
    SCORE,
    TAIL,
    YES,
    Scanned,
    literals,
)
from pipeline.formats.table import Array

NAMES_AT_MOST = 1 << 16
_SLOTS = 1 << 18
_WORDS_AT_MOST = 1 << 20
_FIRST_SLOT, _FIRST_START, _FIRST_WORD = 2, 2 + _SLOTS, 2 + _SLOTS + 2 * NAMES_AT_MOST

_ONES, _HIGH = uint64(0x0101010101010101), uint64(0x8080808080808080)
_QUOTE, _LESS, _AND, _BLANK = (uint64(0x0101010101010101 * byte) for byte in b'"<& ')
_MIX = uint64(0x9E3779B97F4A7C15)
_POWER = np.array([10.0**k for k in range(DECIMALS_AT_MOST + 1)])
"""Powers of ten that are doubles: a whole number of 15 digits divided by one is the nearest double (Clinger 1990)."""

_TAGS, _ODDS = 1 << 12, 1 << 16


class Compiled:
    """The scanner that Numba compiles."""

    buffer_bytes = 1 << 20

    def __init__(self, detection: bytes, block: bytes) -> None:
        self._literals = literals(detection, block)
        self._files, self._channels = _new_names(), _new_names()
        self._tags, self._odds = np.empty((_TAGS, 4), np.int64), np.empty((_ODDS, 3), np.int64)

    def scan(self, data: bytearray, state: Array, columns: tuple[Array, ...]) -> Scanned:
        """See ``Scanner``."""
        tables = [table.ctypes.data for table in (self._literals, self._files, self._channels)]
        found = np.zeros(2, np.int64)
        base = np.frombuffer(data, np.uint8).ctypes.data
        why = _scan(base, state, *tables, columns, self._odds, self._tags, found)
        return Scanned(why, self._tags[: found[0]].tolist(), self._odds[: found[1]].tolist())

    def names(self) -> tuple[list[bytes], list[bytes]]:
        """See ``Scanner``."""
        return _names_of(self._files), _names_of(self._channels)


def _new_names() -> Array:
    """An empty table of names uint64: count, words used, hash slots, (start, length) by code, words."""
    return np.zeros(_FIRST_WORD + _WORDS_AT_MOST, np.uint64)


def _names_of(table: Array) -> list[bytes]:
    """The names by code."""
    words = table[_FIRST_WORD:].view(np.uint8)
    bounds = table[_FIRST_START : _FIRST_START + 2 * int(table[0])].astype(np.int64).reshape(-1, 2)
    return [words[8 * start : 8 * start + length].tobytes() for start, length in bounds.tolist()]


@intrinsic  # type: ignore[misc]  # Numba is not typed
def _word(typing: Any, address: Any) -> Any:  # the eight bytes at an address, aligned or not
    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(types.int64), code


@intrinsic  # type: ignore[misc]
def _put(typing: Any, address: Any, word: Any) -> Any:  # eight bytes to an address
    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[1], pointer, align=1)
        return _context.get_dummy_value()

    return types.void(types.int64, types.uint64), code


@njit(cache=True, nogil=True)
def _has(word, byte):  # whether any byte of the word is ``byte``, given eight times
    x = word ^ byte
    return (x - _ONES) & ~x & _HIGH


@njit(cache=True, nogil=True)
def _matches(at, lits, k):
    literal = lits + 40 * k
    return (_word(at) & _word(literal + 8)) == _word(literal) and (_word(at + 8) & _word(literal + 24)) == _word(
        literal + 16
    )


@njit(cache=True, nogil=True)
def _unlike_text(word):  # a byte that ends or changes an attribute's value: < & or a control character
    return _has(word, _LESS) | _has(word, _AND) | ((word - _BLANK) & ~word & _HIGH)


@njit(cache=True, nogil=True)
def _below(n):  # a mask of the lower n bytes, n < 8
    return (uint64(1) << uint64(8 * n)) - uint64(1)


@njit(cache=True, nogil=True)
def _add(at, n, slot, names):
    """The code of the new name of ``n`` bytes; -2 where it is no canonical name or there are too many."""
    count, start = np.int64(_word(names)), np.int64(_word(names + 8))
    n_words = (n + 7) // 8
    if n == 0 or count >= NAMES_AT_MOST or start + n_words > _WORDS_AT_MOST:
        return np.int64(-2)
    for k in range(n_words):
        word, left = _word(at + 8 * k), n - 8 * k
        mask = _below(left) if left < 8 else ~uint64(0)
        if _unlike_text((word & mask) | (_BLANK & ~mask)):
            return np.int64(-2)
        _put(names + 8 * (_FIRST_WORD + start + k), word & mask)
    place = names + 8 * (_FIRST_START + 2 * count)
    _put(place, uint64(start))
    _put(place + 8, uint64(n))
    _put(names, uint64(count + 1))
    _put(names + 8, uint64(start + n_words))
    _put(names + 8 * (_FIRST_SLOT + slot), uint64(count + 1))
    return count


@njit(cache=True, nogil=True)
def _same(at, n, names, code):
    place = names + 8 * (_FIRST_START + 2 * code)
    if _word(place + 8) != uint64(n):
        return False
    known, end = names + 8 * (_FIRST_WORD + np.int64(_word(place))), at + n - 7
    while at < end:
        if _word(at) != _word(known):
            return False
        at += 8
        known += 8
    return (_word(at) & _below(n & 7)) == (_word(known) & _below(n & 7))


@njit(cache=True, nogil=True)
def _name(at, limit, names):
    """Code of the name and where its quote is; code -1 for too few bytes, -2 for a name to decline."""
    q, mixed, found, word = at, uint64(0), uint64(0), uint64(0)
    while q < limit:
        word = _word(q)
        found = _has(word, _QUOTE)
        if found:
            break
        mixed = (mixed ^ word) * _MIX
        mixed ^= mixed >> uint64(32)
        q += 8
    low = found & (~found + uint64(1))
    mixed = (mixed ^ (word & ((low >> uint64(7)) - uint64(1)))) * _MIX
    while low > uint64(0x80):
        low >>= uint64(8)
        q += 1
    if q >= limit:
        return np.int64(-1), q
    slot = np.int64((mixed ^ (mixed >> uint64(32))) & uint64(_SLOTS - 1))
    while True:
        taken = np.int64(_word(names + 8 * (_FIRST_SLOT + slot)))
        if taken == 0:
            return _add(at, q - at, slot, names), q
        if _same(at, q - at, names, taken - 1):
            return taken - 1, q
        slot = (slot + 1) & (_SLOTS - 1)


@njit(cache=True, nogil=True)
def _number(p, limit):
    """The number at ``p``, where its quote is, and 1; else 0 for too few bytes, 2 for one to be read elsewhere.

    And the decimals of a number without sign and with one digit before the point (negative where the last one is 0, or
    the first not), else 0.
    """
    negative = (_word(p) & uint64(255)) == 45
    if negative:
        p += 1
    whole, digits, point, plain = np.int64(0), 0, np.int64(0), True
    first = p
    while p < limit:
        c = np.int64(_word(p) & uint64(255))
        if 48 <= c <= 57:
            whole = whole * 10 + (c - 48)
            digits += whole != 0
        elif c == 34:
            break
        elif c == 46 and point == 0:
            point = p
        else:
            plain = False
        p += 1
    if p >= limit:
        return 0.0, p, 0, 0
    decimals = p - point - 1 if point else 0
    n = p - first - (point != 0)
    if not plain or n < 1 or digits > DIGITS_AT_MOST or decimals > DECIMALS_AT_MOST:
        return 0.0, p, 2, 0
    value = np.float64(whole) / _POWER[decimals]
    shape = 0 if negative or n - decimals != 1 else decimals if value < 1 and whole % 10 else -decimals
    return (-value if negative else value), p, 1, shape


@njit(cache=True, nogil=True)
def _tag_end(p, limit):
    """Just after the tag that begins at ``p``; -1 where that is beyond the data."""
    inside = False
    while p < limit:
        c = _word(p) & uint64(255)
        if c == 34:
            inside = not inside
        elif c == 62 and not inside:
            return p + 1
        p += 1
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _row(p, limit, lits, files, channels):
    """The detection at ``p``: its end (-1 for too few bytes, -2 to decline), codes, numbers, and how each was read."""
    file, p = _name(p + np.int64(_word(lits + 40 * ROW + 32)), limit, files)
    good = file >= 0 and _matches(p, lits, CHANNEL)
    channel, p = _name(p + 11, limit, channels) if good else (file, p)
    good = good and channel >= 0 and _matches(p, lits, BEGIN)
    begin, a, how_a, _ = _number(p + 8, limit) if good else (0.0, p, 3, 0)
    good = good and how_a != 0 and _matches(a, lits, DUR)
    dur, b, how_b, _ = _number(a + 7, limit) if good else (0.0, a, 3, 0)
    good = good and how_b != 0 and _matches(b, lits, SCORE)
    score, c, how_c, shape = _number(b + 9, limit) if good else (0.0, b, 3, 0)
    good = good and how_c != 0 and _matches(c, lits, DECISION)
    yes = good and _matches(c + 12, lits, YES)
    good = good and (yes or _matches(c + 12, lits, NO))
    end = c + (16 if yes else 15)
    end += np.int64((_word(end) & uint64(255)) == 32)
    good = good and _matches(end, lits, ROW_END) and end + 2 <= limit
    if not good:
        short = file == -1 or channel == -1 or how_a == 0 or how_b == 0 or how_c == 0 or c + 40 > limit
        end = np.int64(-1 if short and file != -2 and channel != -2 else -2)
    else:
        end += 2
    return end, file, channel, np.int64(yes), begin, dur, score, how_a, how_b, how_c, p, a, b, shape


@njit(cache=True, nogil=True)
def _scan(base, state, lits, files, channels, columns, odds, tags, found):
    """As ``Scanner.scan``; ``base``, ``lits``, ``files``, ``channels`` addresses, ``found`` counts tags and odds."""
    p, limit, line, inside, n, plain, fewest, most = state
    n_tags, n_odd = 0, 0
    p, limit, why = p + base, limit + base, MORE
    begins, durs, scores, file_codes, channel_codes, decisions, lines = columns
    while True:
        c = _word(p) & uint64(255)
        while p < limit and (c == 32 or c == 10 or c == 9 or (c == 13 and (_word(p + 1) & uint64(255)) == 10)):
            line += c == 10
            p += 1
            c = _word(p) & uint64(255)
        if p >= limit:
            break
        if _matches(p, lits, ROW):
            if n >= len(lines) or n_odd + 3 > len(odds):
                why = FULL
                break
            end, file, channel, yes, begin, dur, score, how_a, how_b, how_c, a, b, c_, shape = _row(
                p, limit, lits, files, channels
            )
            if end < 0 or not inside:
                why = MORE if end == -1 and inside else DECLINED
                break
            begins[n], durs[n], scores[n] = begin, dur, score
            file_codes[n], channel_codes[n], decisions[n], lines[n] = file, channel, yes, line
            if how_a + how_b + how_c > 3:
                for column, how, at in ((0, how_a, a + 8), (1, how_b, b + 7), (2, how_c, c_ + 9)):
                    if how == 2:
                        odds[n_odd, 0], odds[n_odd, 1], odds[n_odd, 2] = n, column, at - base
                        n_odd += 1
            plain &= np.int64(0 < shape < 16)
            fewest, most = min(fewest, abs(shape)), max(most, abs(shape))
            n += 1
        elif _matches(p, lits, OPEN) or _matches(p, lits, CLOSE):
            end, opens = _tag_end(p, limit), (_word(p) >> uint64(8) & uint64(255)) != 47
            if n_tags >= len(tags) or end < 0 or opens == (inside != 0):
                why = FULL if n_tags >= len(tags) else MORE if end < 0 else DECLINED
                break
            tags[n_tags, 0], tags[n_tags, 1], tags[n_tags, 2], tags[n_tags, 3] = p - base, end - base, n, line
            n_tags += 1
            inside = np.int64(opens and (_word(end - 2) & uint64(255)) != 47)
        else:
            why = TAIL
            break
        p = end
    state[0], state[2], state[3], state[4] = p - base, line, inside, n
    state[5], state[6], state[7] = plain, fewest, most
    found[0], found[1] = n_tags, n_odd
    return why
