"""The inner loop of the fast reader, compiled by Numba: detections in canonical spelling, 64 bytes at a time.

It accepts or declines and never interprets: whatever is not exactly the spelling that it knows stops it, and the XML
parser reads the file instead. A mask of 64 bytes tells where the quotes of a row stand, so that its values are read
beside one another, and without a branch that depends on their lengths. Inner functions take addresses, as an array for
an argument costs more than many bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, njit, uint64

from pipeline.formats.kws.fast.kernel_cache import by_sources
from pipeline.formats.kws.fast.state import (
    CHANNELS_AT_MOST,
    CLOSE,
    DECIMALS_AT_MOST,
    DECLINED,
    FULL,
    MORE,
    NAMES_AT_MOST,
    OPEN,
    ROW,
    TAIL,
)
from pipeline.formats.kws.fast.words import LANES, alike, low_zeros, mixed_bytes, put_word, quotes, word_at

TAG_BYTES_AT_MOST = 1 << 12
"""What is longer is declined; what is shorter and odd may only be cut off by the end of the data."""
_NAME_BYTES_AT_MOST = 1 << 12
_TRIES_AT_MOST = 64
"""Other names met on the way to one. More are no accident."""
_SLOTS = 1 << 17
BYTES_AT_MOST = 1 << 23
_FIRST_SLOT, FIRST_PLACE = 2 + 256, 2 + 256 + _SLOTS
"""The 256 slots before the others are those of names of one byte."""
FIRST_BYTE = 8 * (FIRST_PLACE + NAMES_AT_MOST)
"""A table of names is count, bytes used, slots, places by code (uint64), and bytes. A place is a length and, from bit
16 on, a first byte; a slot a place, from bit 17 on, and the code plus 1."""

_ONES, _HIGH = uint64(0x0101010101010101), uint64(0x8080808080808080)
_LESS, _AND, _BLANK, _POINTS, _ZEROS = (uint64(0x0101010101010101 * byte) for byte in b"<& .0")
_AFTER_NINE = uint64(0x4646464646464646)
_ODD_BYTES = uint64(0x000000FF000000FF)
_HUNDREDS, _UNITS = uint64(100 + (1_000_000 << 32)), uint64(1 + (10_000 << 32))
_MIX = uint64(0x9E3779B97F4A7C15)
_ALL = uint64(0xFFFFFFFFFFFFFFFF)

_CHANNEL, _CHANNEL_END = uint64(int.from_bytes(b'" channe', "little")), uint64(int.from_bytes(b'hannel="', "little"))
_BEGIN, _DUR = uint64(int.from_bytes(b'" tbeg="', "little")), uint64(int.from_bytes(b'" dur="', "little"))
_SCORE, _SCORE_END = uint64(int.from_bytes(b'" score=', "little")), uint64(int.from_bytes(b' score="', "little"))
_DECISION = uint64(int.from_bytes(b'" decisi', "little"))
_DECISION_END = uint64(int.from_bytes(b'cision="', "little"))
_SEVEN_BYTES = uint64((1 << 56) - 1)
_YES, _NO = uint64(int.from_bytes(b'YES"', "little")), uint64(int.from_bytes(b'NO"', "little"))
_ROW_END = uint64(int.from_bytes(b"/>", "little"))

_POWER = np.array([10.0**k for k in range(DECIMALS_AT_MOST + 1)])
"""Powers of ten that are doubles: a whole number of 15 digits divided by one is the nearest double (Clinger 1990)."""
_WHOLE_POWER = np.array([10**k for k in range(9)], np.uint64)
_TOO_LARGE = uint64(10**15)


_HOW = {"nogil": True, "error_model": "numpy"}


def _compiled(function: Any) -> Any:
    """The function compiled, kept for other processes where there is a place that can be written."""
    try:
        return njit(cache=True, **_HOW)(by_sources(function))
    except RuntimeError:  # no such place
        return njit(**_HOW)(function)


def _compiled_in_place(function: Any) -> Any:
    """The function compiled into whatever calls it."""
    return njit(inline="always", **_HOW)(function)


@_compiled
def _has(word, byte):  # whether any byte of the word is ``byte``, given eight times
    x = word ^ byte
    return (x - _ONES) & ~x & _HIGH


@_compiled
def _matches(at, lits, k):
    literal = lits + 40 * k
    one, other = word_at(at) & word_at(literal + 8), word_at(at + 8) & word_at(literal + 24)
    return ((one ^ word_at(literal)) | (other ^ word_at(literal + 16))) == 0


@_compiled
def _is_text(at, n):  # no byte of them ends or changes an attribute's value: < & or a control character
    unlike = uint64(0)
    for k in range(0, n, 8):
        left = n - k
        mask = (uint64(1) << uint64(8 * left)) - uint64(1) if left < 8 else _ALL
        word = (word_at(at + k) & mask) | (_BLANK & ~mask)
        unlike |= _has(word, _LESS) | _has(word, _AND) | ((word - _BLANK) & ~word & _HIGH)
    return unlike == 0


@_compiled
def _add(at, n, slot, names, most):
    """The code of the new name of ``n`` bytes; -2 where it is no canonical name or there are too many."""
    count, used = int64(word_at(names)), int64(word_at(names + 8))
    if n == 0 or n >= _NAME_BYTES_AT_MOST or count >= most or used + n + LANES > BYTES_AT_MOST:
        return int64(-2)
    if not _is_text(at, n):
        return int64(-2)
    for k in range(0, n, 8):
        put_word(names + FIRST_BYTE + used + k, word_at(at + k))
    place = (uint64(used) << uint64(16)) | uint64(n)
    put_word(names + 8 * (FIRST_PLACE + count), place)
    put_word(names + 8 * (_FIRST_SLOT + slot), (place << uint64(17)) | uint64(count + 1))
    put_word(names, uint64(count + 1))
    put_word(names + 8, uint64(used + n))
    return count


@_compiled
def _is_known(at, n, names, taken):
    """Whether the name of a taken slot is this one."""
    place = taken >> uint64(17)
    known = names + FIRST_BYTE + int64(place >> uint64(16))
    same = int64(place & uint64(0xFFFF)) == n and alike(at, known, n)
    while same and n > LANES:
        at, known, n = at + LANES, known + LANES, n - LANES
        same = alike(at, known, n)
    return same


@_compiled_in_place
def _name(at, n, names, most):
    """Code of the name of ``n`` bytes; -2 for a name to decline."""
    if n == 1:
        slot = int64(word_at(at) & uint64(255)) - 256
        taken = int64(word_at(names + 8 * (_FIRST_SLOT + slot)) & uint64(0x1FFFF))
        return taken - 1 if taken != 0 else _add(at, n, slot, names, most)
    mixed, left = mixed_bytes(at, n) + uint64(n), n
    while left > LANES:
        at, left = at + LANES, left - LANES
        mixed = (mixed ^ (mixed >> uint64(32))) * _MIX + mixed_bytes(at, left)
    at -= n - left
    mixed = (mixed ^ (mixed >> uint64(32))) * _MIX
    slot = int64(mixed >> uint64(47))
    for _ in range(_TRIES_AT_MOST):
        taken = word_at(names + 8 * (_FIRST_SLOT + slot))
        if taken == 0:
            return _add(at, n, slot, names, most)
        if _is_known(at, n, names, taken):
            return int64(taken & uint64(0x1FFFF)) - 1
        slot = (slot + 1) & (_SLOTS - 1)
    return int64(-2)


@_compiled
def _eight(word):  # the number that eight digits are: neighbours become two, then four, then eight digits
    pairs = word - _ZEROS
    pairs = pairs * uint64(10) + (pairs >> uint64(8))
    return ((pairs & _ODD_BYTES) * _HUNDREDS + ((pairs >> uint64(16)) & _ODD_BYTES) * _UNITS) >> uint64(32)


@_compiled
def _digits(end, n):
    """The last ``n`` characters before ``end``, 1 to 8, as (digits without a point, which are odd, decimals or -1)."""
    mask = _ALL << uint64(64 - 8 * n)
    word = (word_at(end - 8) & mask) | (_ZEROS & ~mask)
    place = low_zeros(_has(word, _POINTS)) & int64(0x78)
    below = (uint64(1) << uint64(place & 63)) - uint64(1)
    has_point = place < 64
    moved = (word & ~((below << uint64(8)) | uint64(255))) | ((word & below) << uint64(8)) | uint64(48)
    word = moved if has_point else word
    odd = ((word + _AFTER_NINE) | (word - _ZEROS)) & _HIGH
    return word, odd, 7 - (place >> 3) if has_point else int64(-1)


@_compiled_in_place
def _number(p, end):
    """The number from ``p`` up to its quote, whether it is one to be read elsewhere, and its shape.

    The shape: decimals of a number without sign and with one digit before the point (negative where the last one is 0,
    or the first not), else 0.
    """
    negative = (word_at(p) & uint64(255)) == 45
    n = end - p - negative
    word, odd, decimals = _digits(end, min(max(n, 1), 8))
    whole = _eight(word)
    if n > 8:
        first, more_odd, places = _digits(end - 8, min(n - 8, 8))
        whole += _eight(first) * _WHOLE_POWER[uint64(8 if decimals < 0 else 7)]
        odd |= more_odd | uint64(places >= 0 and decimals >= 0)
        decimals = decimals if places < 0 else places + 8
    n_digits = n - (decimals >= 0)
    decimals = max(decimals, 0)
    is_odd = odd != 0 or n > 16 or n_digits < 1 or whole >= _TOO_LARGE
    value = float64(whole) / _POWER[uint64(decimals)]
    ends_well = int64(value < 1) & int64((word_at(end - 8) >> uint64(56)) != 48)
    shape = 0 if negative or is_odd or n_digits - decimals != 1 else decimals * (2 * ends_well - 1)
    return (-value if negative else value), is_odd, shape


@_compiled
def _quote(p, limit):
    """Where the next quote is, or a place not before the limit."""
    while p < limit:
        found = quotes(p)
        if found != 0:
            return min(p + low_zeros(found), limit)
        p += LANES
    return p


@_compiled_in_place
def _values(p, limit):
    """Where the values of a row that has its first one at ``p`` end: file, channel, begin, duration and score."""
    found = quotes(p)
    file = p + low_zeros(found) if found != 0 else _quote(p, limit)
    p = file + 11
    found = quotes(p)
    channel = p + low_zeros(found)
    found &= found - uint64(1)
    found &= found - uint64(1)
    begin = p + low_zeros(found)
    found &= found - uint64(1)
    found &= found - uint64(1)
    dur = p + low_zeros(found)
    found &= found - uint64(1)
    found &= found - uint64(1)
    score = p + low_zeros(found)
    if found == 0:
        channel = _quote(p, limit)
        begin = _quote(channel + 8, limit)
        dur = _quote(begin + 7, limit)
        score = _quote(dur + 9, limit)
    return file, channel, begin, dur, score


@_compiled
def _tag_end(p, limit):
    """Just after the tag that begins at ``p``; -1 where that is beyond the data."""
    inside = False
    while p < limit:
        c = word_at(p) & uint64(255)
        if c == 34:
            inside = not inside
        elif c == 62 and not inside:
            return p + 1
        p += 1
    return int64(-1)


@_compiled
def _blanks(p, limit):
    """Where the white space at ``p`` ends, and its line ends."""
    n_lines = 0
    c = word_at(p) & uint64(255)
    while p < limit and (c == 32 or c == 10 or c == 9 or (c == 13 and (word_at(p + 1) & uint64(255)) == 10)):
        n_lines += c == 10
        p += 1
        c = word_at(p) & uint64(255)
    return p, n_lines


@_compiled_in_place
def _spelling(file, channel, begin, dur, score):
    """The end of a row, behind its values: whether anything is amiss, whether it says YES, and where it ends."""
    wrong = (word_at(file) ^ _CHANNEL) | (word_at(file + 3) ^ _CHANNEL_END) | (word_at(channel) ^ _BEGIN)
    wrong |= ((word_at(begin) ^ _DUR) & _SEVEN_BYTES) | (word_at(dur) ^ _SCORE) | (word_at(dur + 1) ^ _SCORE_END)
    wrong |= (word_at(score) ^ _DECISION) | (word_at(score + 4) ^ _DECISION_END)
    said = word_at(score + 12)
    yes = uint64((said & uint64(0xFFFFFFFF)) == _YES)
    wrong |= (yes | uint64((said & uint64(0xFFFFFF)) == _NO)) ^ uint64(1)
    rest = said >> (uint64(24) + (yes << uint64(3)))
    blank = uint64((rest & uint64(255)) == 32)
    wrong |= ((rest >> (blank << uint64(3))) & uint64(0xFFFF)) ^ _ROW_END
    return wrong, yes, score + int64(uint64(17) + yes + blank)


@_compiled
def _note_odd(places, is_odd, n, odds, n_odd):
    """Note which numbers of row ``n`` are to be read elsewhere; returns how many there are so far."""
    for column in range(3):
        if is_odd[column]:
            odds[n_odd, 0], odds[n_odd, 1], odds[n_odd, 2] = n, column, places[column]
            n_odd += 1
    return n_odd


@_compiled
def scan(base, state, lits, files, channels, columns, odds, tags, found):
    """As ``Scanner.scan``; ``base``, ``lits``, ``files``, ``channels`` addresses, ``found`` counts tags and odds."""
    p, limit, line, inside, n, plain, fewest, most = state
    p, limit, why, n_tags, n_odd = p + base, limit + base, MORE, 0, 0
    begins, durs, scores, file_codes, channel_codes, decisions, lines = columns
    room, prefix = min(len(lines), n + (len(odds) // 3)), int64(word_at(lits + 40 * ROW + 32))
    gap, gap_mask, gap_bytes, gap_lines = uint64(0), uint64(0), 0, 0
    while True:
        if gap_mask == 0 or (word_at(p) & gap_mask) != gap or p + gap_bytes >= limit:  # not the white space as before
            after, gap_lines = _blanks(p, limit)
            gap_bytes = after - p
            gap_mask = (uint64(256) << uint64(8 * gap_bytes)) - uint64(1) if gap_bytes < 7 else uint64(0)
            gap = word_at(p) & gap_mask
        p += gap_bytes
        line += gap_lines
        if p >= limit:
            break
        if _matches(p, lits, ROW):
            start = p + prefix
            file, channel, begin, dur, score = _values(start, limit)
            wrong, yes, end = _spelling(file, channel, begin, dur, score)
            if n >= room or wrong != 0 or end > limit or not inside:
                cut_off = end > limit or limit - p < TAG_BYTES_AT_MOST
                why = FULL if n >= room else MORE if inside and cut_off else DECLINED
                break
            file_code = _name(start, file - start, files, NAMES_AT_MOST)
            channel_code = _name(file + 11, channel - file - 11, channels, CHANNELS_AT_MOST)
            if file_code < 0 or channel_code < 0:
                why = DECLINED
                break
            begins[n], odd_begin, _ = _number(channel + 8, begin)
            durs[n], odd_dur, _ = _number(begin + 7, dur)
            scores[n], odd_score, shape = _number(dur + 9, score)
            file_codes[n], channel_codes[n], decisions[n], lines[n] = file_code, channel_code, yes != 0, line
            if odd_begin or odd_dur or odd_score:
                places = channel + 8 - base, begin + 7 - base, dur + 9 - base
                n_odd = _note_odd(places, (odd_begin, odd_dur, odd_score), n, odds, n_odd)
            plain &= int64(shape > 0) & int64(shape < 16)
            fewest, most = min(fewest, abs(shape)), max(most, abs(shape))
            n += 1
        elif _matches(p, lits, OPEN) or _matches(p, lits, CLOSE):
            end, opens = _tag_end(p, limit), (word_at(p) >> uint64(8) & uint64(255)) != 47
            if n_tags >= len(tags) or end < 0 or opens == (inside != 0):
                why = FULL if n_tags >= len(tags) else MORE if end < 0 else DECLINED
                break
            tags[n_tags, 0], tags[n_tags, 1], tags[n_tags, 2], tags[n_tags, 3] = p - base, end - base, n, line
            n_tags += 1
            inside = int64(opens and (word_at(end - 2) & uint64(255)) != 47)
        else:
            why = TAIL
            break
        p = end
    state[0], state[2], state[3], state[4] = p - base, line, inside, n
    state[5], state[6], state[7] = plain, fewest, most
    found[0], found[1] = n_tags, n_odd
    return why
