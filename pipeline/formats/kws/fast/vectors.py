"""The scanner of the fast reader in NumPy alone: a buffer at a time, as vectors over its tags.

For what is too small to be worth Numba's start, and too large for the parser: without it whole runs of 100,000 to
300,000 detections take 1.3 times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.formats.kws.fast.state import (
    BEGIN,
    CHANNEL,
    CHANNELS_AT_MOST,
    CLOSE,
    DECIMALS_AT_MOST,
    DECISION,
    DECLINED,
    DIGITS_AT_MOST,
    DUR,
    FEWEST,
    INSIDE,
    LIMIT,
    LINE,
    MORE,
    MOST,
    NAMES_AT_MOST,
    NO,
    OPEN,
    PLAIN,
    POSITION,
    ROW,
    ROW_END,
    ROWS,
    SCORE,
    TAIL,
    YES,
    Scanned,
    literals,
)
from pipeline.formats.table import Array

QUOTES_OF_A_ROW = 12
GAP_AT_MOST = 64
"""Bytes of white space between two tags."""
NAME_WORDS_AT_MOST = 32
_POWER = np.array([10.0**k for k in range(DECIMALS_AT_MOST + 1)])
_WHOLE_POWER = np.array([10**k for k in range(9)], np.uint64)
_BUCKET_BITS = 18
_BYTE = np.uint64(8)
_ONES, _HIGH, _POINTS, _ZEROS, _AFTER_NINE = (
    np.uint64(0x0101010101010101 * byte) for byte in (1, 0x80, ord("."), ord("0"), 0x80 - ord("9") - 1)
)
_EVERY_FOURTH = np.uint64(0x000000FF000000FF)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BELOW = np.array([(1 << 8 * n) - 1 for n in range(8)] + [2**64 - 1], np.uint64)
"""Masks of the lower 0 to 8 bytes of a word."""
_DECLINED = Scanned(DECLINED, [], [])


class _NotCanonicalError(Exception):
    """Something is spelled otherwise."""


def _insist(holds: object) -> None:
    if not holds:
        raise _NotCanonicalError


class Vectors:
    """The scanner that needs nothing installed."""

    buffer_bytes = 1 << 20

    def __init__(self, detection: bytes, block: bytes) -> None:
        self._literals = literals(detection, block)
        self._files, self._channels = _Names(NAMES_AT_MOST), _Names(CHANNELS_AT_MOST)

    def names(self) -> tuple[list[bytes], list[bytes]]:
        """See ``Scanner``."""
        return list(self._files.codes), list(self._channels.codes)

    def scan(self, data: bytearray, state: Array, columns: tuple[Array, ...]) -> Scanned:
        """See ``Scanner``."""
        if state[LIMIT] <= state[POSITION]:
            return Scanned(MORE, [], [])
        try:
            return self._scan(data, state, columns)
        except _NotCanonicalError:
            return _DECLINED

    def _scan(self, data: bytearray, state: Array, columns: tuple[Array, ...]) -> Scanned:
        text, first = _Text(data), int(state[POSITION])
        starts = text.places(b"<", first, int(state[LIMIT]))
        kinds = np.full(len(starts), -1)
        for kind in (ROW, OPEN, CLOSE):
            kinds[text.matches(starts, self._literals[kind])] = kind
        known = kinds >= 0
        n = len(starts) if known.all() else int(np.argmin(known))
        last = int(starts[n]) if n < len(starts) else int(state[LIMIT])
        starts, kinds = starts[:n], kinds[:n]
        quotes = text.places(b'"', first, last)
        bounds = np.append(np.searchsorted(quotes, starts), len(quotes))
        is_row = kinds == ROW
        _insist((np.diff(bounds)[is_row] == QUOTES_OF_A_ROW).all())
        rows = quotes[bounds[:-1][is_row][:, None] + np.arange(QUOTES_OF_A_ROW)]
        ends = np.empty(n, np.int64)
        ends[is_row] = self._row_ends(text, rows)
        for tag in np.flatnonzero(~is_row).tolist():
            after = quotes[bounds[tag + 1] - 1] if bounds[tag + 1] > bounds[tag] else starts[tag]
            ends[tag] = data.find(b">", int(after), last) + 1
        text.insist_on_blanks(np.append(first, ends), np.append(starts, last))
        inside = self._nested(text, kinds, ends, int(state[INSIDE]))
        breaks = text.places(b"\n", first, last)
        lines = int(state[LINE]) + np.searchsorted(breaks, starts)
        before = int(state[ROWS]) + np.cumsum(is_row) - is_row
        odds = self._take_rows(text, rows, lines[is_row], state, columns)
        tags = np.column_stack((starts, ends, before, lines))[~is_row].tolist()
        state[POSITION], state[INSIDE] = last, inside
        state[LINE] += len(breaks)
        state[ROWS] += len(rows)
        return Scanned(TAIL if n < len(known) else MORE, tags, odds)

    def _row_ends(self, text: _Text, rows: Array) -> Array:
        """Where rows end, after a look at all that stands between their values."""
        for kind, place in ((CHANNEL, 1), (BEGIN, 3), (DUR, 5), (SCORE, 7), (DECISION, 9)):
            _insist(text.matches(rows[:, place], self._literals[kind]).all())
        decision = rows[:, 10] + 1
        _insist((text.matches(decision, self._literals[YES]) | text.matches(decision, self._literals[NO])).all())
        ends = rows[:, 11] + 1
        ends += text.bytes[ends] == ord(" ")
        _insist(text.matches(ends, self._literals[ROW_END]).all())
        return ends + 2

    @staticmethod
    def _nested(text: _Text, kinds: Array, ends: Array, inside: int) -> int:
        """Whether a block is open at the end, after a look at whether rows stand in blocks and blocks in none."""
        moves = np.where(kinds == OPEN, 1, np.where(kinds == CLOSE, -1, 0))
        moves[(kinds == OPEN) & (text.bytes[ends - 2] == ord("/"))] = 0
        after = inside + np.cumsum(moves)
        _insist((after - moves == (kinds != OPEN)).all())
        return int(after[-1]) if len(after) else inside

    def _take_rows(
        self, text: _Text, rows: Array, lines: Array, state: Array, columns: tuple[Array, ...]
    ) -> list[list[int]]:
        """Put values into the columns; returns the numbers that are to be read elsewhere."""
        here = slice(int(state[ROWS]), int(state[ROWS]) + len(rows))
        odds: list[list[int]] = []
        for column in range(3):
            starts = rows[:, 4 + 2 * column] + 1
            values, shapes, odd = text.numbers(starts, rows[:, 5 + 2 * column] - starts)
            columns[column][here] = values
            odds += [[here.start + row, column, int(starts[row])] for row in np.flatnonzero(odd).tolist()]
        if len(rows):
            state[PLAIN] &= int(((shapes > 0) & (shapes <= DIGITS_AT_MOST)).all())
            state[FEWEST] = min(int(state[FEWEST]), int(np.abs(shapes).min()))
            state[MOST] = max(int(state[MOST]), int(np.abs(shapes).max()))
        for column, (names, place) in enumerate(((self._files, 0), (self._channels, 2))):
            starts = rows[:, place] + 1
            columns[3 + column][here] = names.of(text, starts, rows[:, place + 1] - starts)
        columns[5][here] = rows[:, 11] - rows[:, 10] == len('YES"')
        columns[6][here] = lines
        return odds


class _Text:
    """A buffer as bytes and as words that begin at any of them."""

    def __init__(self, data: bytearray) -> None:
        self.data, self.bytes = data, np.frombuffer(data, np.uint8)
        self.words: Array = np.ndarray(len(data) - 7, "<u8", data, 0, (1,))

    def places(self, byte: bytes, first: int, last: int) -> Array:
        """Where a byte stands."""
        return np.flatnonzero(self.bytes[first:last] == ord(byte)) + first

    def matches(self, places: Array, literal: Array) -> Array:
        """Whether a literal stands at places: its first 16 bytes."""
        word, mask, second, second_mask, _ = literal
        found: Array = self.words[places] & mask == word
        if second_mask:
            found &= self.words[places + 8] & second_mask == second
        return found

    def insist_on_blanks(self, ends: Array, starts: Array) -> None:
        """From each end of a tag to the next start there are only blanks, and no control character elsewhere."""
        gaps, control = starts - ends, 0
        _insist((gaps >= 0).all() and gaps.max() <= GAP_AT_MOST)
        for k in range(int(gaps.max())):
            places = ends[gaps > k] + k
            found = self.bytes[places]
            is_return = found == ord("\r")
            _insist((self.bytes[places[is_return] + 1] == ord("\n")).all())
            _insist((is_return | (found == ord(" ")) | (found == ord("\n")) | (found == ord("\t"))).all())
            control += int(np.count_nonzero(found < ord(" ")))
        all_of_it = self.bytes[ends[0] : starts[-1]]
        _insist(np.count_nonzero(all_of_it < ord(" ")) == control)
        _insist(self.data.find(b"&", int(ends[0]), int(starts[-1])) < 0)

    def numbers(self, starts: Array, lengths: Array) -> tuple[Array, Array, Array]:
        """Numbers, their shapes as the compiled scanner tells them, and which are to be read elsewhere."""
        negative = self.bytes[starts] == ord("-")
        starts, lengths = starts + negative, lengths - negative
        last = np.clip(lengths, 0, 8)
        words = self.words[starts + lengths - last] & _BELOW[last]
        whole, n_digits, decimals, odd = _digits(words, last)
        long = np.flatnonzero((lengths > 8) & (lengths <= 16))
        if len(long):
            first = lengths[long] - 8
            more, n_more, places, bad = _digits(self.words[starts[long]] & _BELOW[first], first)
            whole[long] += more * _WHOLE_POWER[n_digits[long]]
            odd[long] |= bad | ((places >= 0) & (decimals[long] >= 0))
            decimals[long] = np.where(places >= 0, places + n_digits[long], decimals[long])
            n_digits[long] += n_more
        decimals = np.maximum(decimals, 0)
        odd |= (n_digits < 1) | (n_digits > DIGITS_AT_MOST) | (lengths > 16)
        values = whole / _POWER[decimals]
        shaped = ~(odd | negative) & (n_digits - decimals == 1)
        shapes = np.where(shaped, np.where((values < 1) & (whole % np.uint64(10) != 0), decimals, -decimals), 0)
        return np.where(negative, -values, values), shapes, odd


def _digits(word: Array, length: Array) -> tuple[Array, Array, Array, Array]:
    """Up to eight characters as a number without its point: value, digits, decimals (-1 for no point), what is odd."""
    point = word ^ _POINTS
    point = (point - _ONES) & ~point & _HIGH
    place = np.minimum(np.bitwise_count((point & -point) - np.uint64(1)) // 8, length)  # the length, where none is
    has_point = place < length
    n_digits = length - has_point
    word = word & _BELOW[place] | word >> _BYTE & ~_BELOW[place]
    word = word << (_BYTE * (8 - n_digits).astype(np.uint64)) | _ZEROS & _BELOW[8 - n_digits]
    word[n_digits == 0] = _ZEROS
    odd = ((word + _AFTER_NINE) | (word - _ZEROS)) & _HIGH != 0
    return _eight_digits(word), n_digits, np.where(has_point, n_digits - place, -1), odd


def _eight_digits(word: Array) -> Array:
    """The number that eight digits are: neighbours become two, then four, then eight digits in three steps."""
    pairs = word - _ZEROS
    pairs = pairs * np.uint64(10) + (pairs >> _BYTE)
    upper = (pairs & _EVERY_FOURTH) * np.uint64(100 + (1_000_000 << 32))
    lower = (pairs >> np.uint64(16) & _EVERY_FOURTH) * np.uint64(1 + (10_000 << 32))
    return upper + lower >> np.uint64(32)


class _Names:
    """Names by code, in order of first appearance."""

    def __init__(self, at_most: int) -> None:
        self.codes: dict[bytes, int] = {}
        self._at_most = at_most
        self._row_of = np.empty(1 << _BUCKET_BITS, np.int32)
        self._code_of = np.zeros(1 << _BUCKET_BITS, np.int32)
        self._words = np.zeros((1 + NAME_WORDS_AT_MOST, 0), np.uint64)
        """Length and words of each code, for as many as were met."""

    def of(self, text: _Text, starts: Array, lengths: Array) -> Array:
        """The codes of the names at places."""
        if not len(starts):
            return starts
        n_words = (int(lengths.max()) + 7) // 8
        _insist(lengths.min() > 0 and n_words <= NAME_WORDS_AT_MOST)
        words = [
            text.words[np.minimum(starts + 8 * k, len(text.words) - 1)] & _BELOW[np.clip(lengths - 8 * k, 0, 8)]
            for k in range(n_words)
        ]
        words.insert(0, lengths.astype(np.uint64))
        mixed = _mixed(words)
        codes = self._known(mixed, words)
        new = np.flatnonzero(codes < 0)
        if len(new):
            like = new[self._first_alike(mixed[new], [word[new] for word in words])]
            for row in np.unique(like).tolist():
                name = bytes(text.data[int(starts[row]) : int(starts[row] + lengths[row])])
                codes[row] = self.codes.setdefault(name, len(self.codes))
                self._keep(int(codes[row]), int(mixed[row] >> np.uint64(64 - _BUCKET_BITS)), [w[row] for w in words])
            codes[new] = codes[like]
        _insist(len(self.codes) <= self._at_most)
        return codes

    def _known(self, mixed: Array, words: list[Array]) -> Array:
        """The codes of names that were met before, -1 for others and for those whose bucket another one has."""
        codes = self._code_of[(mixed >> np.uint64(64 - _BUCKET_BITS)).astype(np.int64)]
        if not self._words.shape[1]:
            return np.full(len(mixed), -1, np.int32)
        same = np.logical_and.reduce([self._words[k][codes] == word for k, word in enumerate(words)])
        return np.where(same, codes, -1).astype(np.int32)

    def _keep(self, code: int, bucket: int, words: list[Any]) -> None:
        have = self._words.shape[1]
        if code >= have:
            wider = np.zeros((1 + NAME_WORDS_AT_MOST, max(64, 2 * have, code + 1)), np.uint64)
            wider[:, :have] = self._words
            self._words = wider
        self._words[: len(words), code] = words
        self._code_of[bucket] = code

    def _first_alike(self, mixed: Array, words: list[Array]) -> Array:
        """For each row the first row with the same words, of which ``mixed`` is made."""
        like, rows = np.empty(len(mixed), np.int64), np.arange(len(mixed))
        for shift in range(64 - _BUCKET_BITS, 0, -_BUCKET_BITS // 2):  # other bits where two names share a bucket
            bucket = (mixed[rows] >> np.uint64(shift) & np.uint64((1 << _BUCKET_BITS) - 1)).astype(np.int64)
            self._row_of[bucket[::-1]] = rows[::-1]
            first = self._row_of[bucket]
            same = np.logical_and.reduce([word[first] == word[rows] for word in words])
            like[rows[same]] = first[same]
            rows = rows[~same]
            if not len(rows):
                return like
        raise _NotCanonicalError


def _mixed(words: list[Array]) -> Array:
    """A number for each row, made of all its words."""
    mixed = words[0] * _MIX
    for word in words[1:]:
        mixed = (mixed ^ word) * _MIX
        mixed ^= mixed >> np.uint64(32)
    return mixed
