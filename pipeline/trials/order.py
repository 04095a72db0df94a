"""The canonical order of rows: it depends on what rows say, never on the order of an input file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.table import Array
from pipeline.partials.packed import Decimals, Packed


def joint_codes(rank: Ints, file: Codes, channel: Codes, sizes: tuple[int, int]) -> Ints:
    """Query rank, file and channel of each row as one int64 that sorts like the three; ``sizes`` of the last two."""
    n_files, n_channels = sizes
    codes = rank * max(n_files, 1)
    codes += file
    codes *= max(n_channels, 1)
    codes += channel
    return codes


def canonical_order(place: Ints, begin_s: Floats, ties: Callable[[Ints], Sequence[Array]]) -> Ints:
    """Row indices sorted by ``place``, begin, then by each of ``ties`` in turn; rows equal in all keep their order.

    Rows that share place and begin are few, so only of them ``ties`` is asked for more columns.
    """
    order, same = _by_place_and_begin(place, begin_s)
    if not same.any():
        return order
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    rows = order[tied]
    order[tied] = rows[np.lexsort((*reversed(ties(rows)), begin_s[rows], place[rows]))]
    return order


def _by_place_and_begin(place: Ints, begin_s: Floats) -> tuple[Ints, Bools]:
    """The stable order by both, and whether each row but the last agrees in both with the following one."""
    decimals = Decimals.of(begin_s)
    packed = None if decimals is None else Packed.of((place, decimals.whole), rows=True)
    if packed is not None:
        del decimals
        packed.sort()
        return packed.column(2), packed.same_as_next(2)
    order: Ints = np.lexsort((begin_s, place))
    place, begin_s = place[order], begin_s[order]
    return order, (place[1:] == place[:-1]) & (begin_s[1:] == begin_s[:-1])
