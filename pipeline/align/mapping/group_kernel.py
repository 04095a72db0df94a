"""Detections mapped within the groups of a tile, compiled by Numba: what it settles is as it is without Numba.

Groups are those of a query, file and channel. Settled is what ``small`` settles, where a group is not too large.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from pipeline.align.mapping.congruence import SCORE_WEIGHT, SHORTEST_REFERENCE_S, TIME_WEIGHT, WEIGHT_STEP, Range
from pipeline.align.mapping.covering import EXACT_BITS
from pipeline.align.mapping.small import CELLS
from pipeline.arrays import Bools, Ints
from pipeline.compiled import by_sources
from pipeline.trials.schema import Trials

LEFT = -2
"""Stands for a reference that is not settled."""
_ROWS, _PAIRS = 1 << 12, 1 << 14
"""Detections of a group, and references by detections, that are looked at."""
_WIDE = CELLS // 2
_SETS = 1 << _WIDE
_WEIGHT = 0
_TOTAL = CELLS
_WAYS = _TOTAL + 2 * _SETS
_CHOSEN = _WAYS + 2 * _SETS
"""Where weights, sums, numbers of ways and choices lie in the memory of a component."""
_MOST = 1 << EXACT_BITS
_NO_PAIR = -(1 << 63)


@njit(cache=True)
@by_sources
def _group(query, file, channel, n_files, n_channels):
    return (np.int64(query) * n_files + file) * n_channels + channel


@njit(cache=True)
@by_sources
def _ascend(query, file, channel, n_files, n_channels):
    """Whether rows ascend by group."""
    n_wrong, before = 0, np.int64(-1)
    for row in range(query.size):
        group = _group(query[row], file[row], channel[row], n_files, n_channels)
        n_wrong += group < before
        before = group
    return n_wrong == 0


@njit(cache=True)
@by_sources
def _first_of(query, file, channel, n_files, n_channels, group):
    """The first row whose group is not before ``group``."""
    low, high = 0, query.size
    while low < high:
        middle = (low + high) >> 1
        if _group(query[middle], file[middle], channel[middle], n_files, n_channels) < group:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
@by_sources
def _congruence(score, lowest, highest, floor):
    """``congruence.score_congruence`` of one score."""
    if score == np.inf:
        return 1.0
    if not (np.isfinite(score) and np.isfinite(lowest) and np.isfinite(highest)):
        return 0.0
    above, width = score - lowest, max(highest - lowest, floor)
    if above == np.inf and width == np.inf:
        return 1.0
    return above / width if width > 0 else 0.0


@njit(cache=True)
@by_sources
def _join(root, owner, first, last, m, reference_begin_s, reference_end_s, middle_s, tolerance_s):
    """Give each reference the first one of its component, and each detection a reference that reaches it, or -1."""
    for k in range(m):
        owner[k] = -1
    for reference in range(first, last):
        root[reference] = reference
        earliest, latest = reference_begin_s[reference] - tolerance_s, reference_end_s[reference] + tolerance_s
        for k in range(m):
            if earliest <= middle_s[k] <= latest:
                if owner[k] < 0:
                    owner[k] = reference
                one, other = owner[k], reference
                while root[one] != one:
                    one = root[one]
                while root[other] != other:
                    other = root[other]
                root[max(one, other)] = min(one, other)
    for reference in range(first, last):
        root[reference] = root[root[reference]]


@njit(cache=True)
@by_sources
def _weight(reference_begin_s, reference_end_s, begin_s, end_s, congruence):
    """``congruence.weight`` of one pair; ``_NO_PAIR`` for what is no number."""
    overlap = min(end_s, reference_end_s) - max(begin_s, reference_begin_s)
    time = overlap / max(reference_end_s - reference_begin_s, SHORTEST_REFERENCE_S)
    worth = min(max(TIME_WEIGHT * time, -1.0), 1.0) + min(max(SCORE_WEIGHT * congruence, -1.0), 1.0)
    return _NO_PAIR if np.isnan(time) else np.int64(np.rint(worth / WEIGHT_STEP))


@njit(cache=True)
@by_sources
def _n_bits(used):
    n = 0
    while used:
        used &= used - 1
        n += 1
    return n


@njit(cache=True)
@by_sources
def _best_set(memory, n_references, n_detections):
    """The detections, each a bit, of the only mapping with most pairs and the largest sum; -1 where there are more.

    ``memory`` then holds what each reference takes where it and those before it use a set of detections.
    """
    for used in range(1 << n_detections):
        memory[_WAYS + _SETS + used] = 0
    memory[_TOTAL + _SETS], memory[_WAYS + _SETS] = 0, 1
    now, before = 0, _SETS
    for i in range(n_references):
        for used in range(1 << n_detections):
            memory[_WAYS + now + used] = 0
        for used in range(1 << n_detections):
            for j in range(-1, n_detections if memory[_WAYS + before + used] else -1):
                more, then = memory[_TOTAL + before + used], used
                if j >= 0:
                    weight, then = memory[_WEIGHT + i * n_detections + j], used | (1 << j)
                    if weight == _NO_PAIR or then == used:
                        continue
                    more += weight
                if memory[_WAYS + now + then] == 0 or more > memory[_TOTAL + now + then]:
                    memory[_TOTAL + now + then] = more
                    memory[_WAYS + now + then] = memory[_WAYS + before + used]
                    memory[_CHOSEN + i * _SETS + then] = j
                elif more == memory[_TOTAL + now + then]:
                    memory[_WAYS + now + then] = 2
        now, before = before, now
    best, size, n_best = 0, 0, 1
    for used in range(1, 1 << n_detections):
        if memory[_WAYS + before + used]:
            n, total = _n_bits(used), memory[_TOTAL + before + used]
            if n > size or (n == size and total > memory[_TOTAL + before + best]):
                best, size, n_best = used, n, memory[_WAYS + before + used]
            elif n == size and total == memory[_TOTAL + before + best]:
                n_best = 2
    return best if n_best == 1 else -1


@njit(cache=True)
@by_sources
def _settle_component(
    mapping, root, owner, of, last, m, rows, references, detections, reference_begin_s,
    reference_end_s, begin_s, end_s, middle_s, congruence, tolerance_s, memory,
):  # fmt: skip
    """Map the references of the component ``of``, or leave all of them."""
    n_references, n_detections = np.int64(0), np.int64(0)  # whose type is known at once: helpers compile once
    for reference in range(of, last):
        if root[reference] == of:
            references[n_references], n_references = reference, n_references + 1
    for k in range(m):
        if owner[k] >= 0 and root[owner[k]] == of:
            detections[n_detections], n_detections = k, n_detections + 1
    if n_detections == 0:
        return
    star = min(n_references, n_detections) == 1
    low, high, n_pairs, best, at, clear = _MOST, -_MOST, 0, _NO_PAIR, 0, True
    for cell in range(n_references * n_detections if star or n_references * n_detections <= CELLS else 0):
        reference, k = references[cell // n_detections], detections[cell % n_detections]
        begin, end, weight = reference_begin_s[reference], reference_end_s[reference], _NO_PAIR
        if begin - tolerance_s <= middle_s[k] <= end + tolerance_s:
            weight = _weight(begin, end, begin_s[k], end_s[k], congruence[k])
            low, high, n_pairs = min(low, weight), max(high, weight), n_pairs + 1
            clear = weight > best or (clear and (weight < best or n_detections == 1))
            if weight > best:
                best, at = weight, cell
        if not star:
            memory[_WEIGHT + cell] = weight
    if n_pairs == 0 or low == _NO_PAIR:
        clear = False
    elif star and clear:
        mapping[references[at // n_detections]] = rows[detections[at % n_detections]]
    elif not star:
        sure = low > -_MOST and high < _MOST and (high - low + 1) * n_pairs <= _MOST
        used = _best_set(memory, n_references, n_detections) if sure else -1
        clear = used >= 0
        for i in range(n_references - 1, -1 if clear else n_references - 1, -1):
            j = memory[_CHOSEN + i * _SETS + used]
            if j >= 0:
                mapping[references[i]] = rows[detections[j]]
                used ^= 1 << j
    for i in range(0 if clear else n_references):
        mapping[references[i]] = LEFT


_INTS, _CODES, _FLOATS, _FLAGS = (
    types.Array(kind, 1, "C", readonly=True) for kind in (types.int64, types.int32, types.float64, types.boolean)
)
_SIZES, _RULES = (types.int64,) * 2, (types.float64, types.float64, types.boolean)
_SIGNATURE = types.int64[::1](*(_CODES,) * 3, *_SIZES, *(_FLOATS,) * 3, _FLAGS, _INTS, *(_FLOATS,) * 4, *_RULES)


@njit(_SIGNATURE, cache=True)
@by_sources
def _settle(
    query, file, channel, n_files, n_channels, begin_s, dur_s, score, kept,
    wanted, reference_begin_s, reference_end_s, lowest, highest, tolerance_s, floor, by_group,
):  # fmt: skip
    n, last = wanted.size, np.int64(0)
    mapping, root, references = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    rows, owner, detections = np.empty(_ROWS, np.int64), np.empty(_ROWS, np.int64), np.empty(_ROWS, np.int64)
    begin, end, middle, congruence = np.empty(_ROWS), np.empty(_ROWS), np.empty(_ROWS), np.empty(_ROWS)
    memory = np.empty(_CHOSEN + _WIDE * _SETS, np.int64)
    ascending = _ascend(query, file, channel, n_files, n_channels)
    while last < n:
        first, group = last, wanted[last]
        while last < n and wanted[last] == group:
            last += 1
        m, low, high = np.int64(0), np.inf, -np.inf
        at = _first_of(query, file, channel, n_files, n_channels, group) if ascending else query.size
        while at < query.size and _group(query[at], file[at], channel[at], n_files, n_channels) == group:
            if kept[at] and m < _ROWS:
                rows[m], m = at, m + 1
                if np.isfinite(score[at]):
                    low, high = min(low, score[at]), max(high, score[at])
            at += 1
        if not by_group:
            low, high = lowest[first], highest[first]
        if not ascending or m == _ROWS or m * (last - first) > _PAIRS:
            for reference in range(first, last):
                mapping[reference] = LEFT
        elif m:
            for k in range(m):
                begin[k], end[k] = begin_s[rows[k]], begin_s[rows[k]] + dur_s[rows[k]]
                middle[k] = begin_s[rows[k]] + dur_s[rows[k]] / 2.0
                congruence[k] = _congruence(score[rows[k]], low, high, floor)
            _join(root, owner, first, last, m, reference_begin_s, reference_end_s, middle, tolerance_s)
            for of in range(first, last):
                if root[of] == of:
                    _settle_component(
                        mapping, root, owner, of, last, m, rows, references, detections, reference_begin_s,
                        reference_end_s, begin, end, middle, congruence, tolerance_s, memory,
                    )  # fmt: skip
    return mapping


def settle(
    trials: Trials,
    kept: Bools,
    wanted: Ints,
    times_s: Range,
    bounds: Range | None,
    tolerance_s: float,
    floor: float,
) -> Ints:
    """Per reference the kept row of ``trials`` that is mapped to it, -1 for none, or ``LEFT``.

    References ascend by group, ``wanted``; all are left where trials do not. ``times_s`` are their begins and ends.
    Scores are measured against the lowest and highest that ``bounds`` say for each reference, else those of its group.
    """
    codes = (np.ascontiguousarray(column, np.int32) for column in (trials.query, trials.file, trials.channel))
    numbers = (np.ascontiguousarray(column, np.float64) for column in (trials.begin_s, trials.dur_s, trials.score))
    sizes, ranges = (len(trials.files), len(trials.channels)), times_s if bounds is None else bounds
    return _settle(*codes, *sizes, *numbers, kept, wanted, *times_s, *ranges, tolerance_s, floor, bounds is None)
