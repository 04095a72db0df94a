"""The order of excerpts: sorted, but as the ECF has them where the organisers' tools go by its order."""

from __future__ import annotations

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.trials.spans import latest_so_far


def excerpt_order(
    file: Codes, channel: Codes, begin_s: Floats, end_s: Floats, dur_s: Floats, source_type: Codes
) -> Ints:
    """Rows sorted by file, then by channel, begin, end, duration and source type, so that their order in the ECF shows
    nowhere; but those of a file where it counts, as the ECF has them.

    It counts where excerpts of one channel overlap, touch or repeat, and where a file has several source types: of
    equal spans in a file KWSEval adds up the last (KWSecf.pm 127-139), what several excerpts hold is the first one's
    (KWSAlignment.pm ``_ecfOfRecord``, KWSSegAlign.pm ``_seg_of_sys_occ``), and a file and channel has the type of
    its first excerpt (KWSSegAlign.pm) or its last (STDAlignment.pm 477).
    """
    by_place = np.lexsort((source_type, dur_s, end_s, begin_s, channel, file))
    place = np.empty(by_place.size, np.int64)
    place[by_place] = np.arange(by_place.size)
    counts = _several(file, source_type) | _touching(file, channel, begin_s, end_s)
    place = np.where(counts[file], np.arange(by_place.size), place)
    order: Ints = np.lexsort((place, file))
    return order


def _several(file: Codes, source_type: Codes) -> Bools:
    """For each file whether its excerpts have several source types."""
    pairs = np.unique(np.stack([file, source_type]), axis=1)
    several: Bools = np.bincount(pairs[0], minlength=int(file.max(initial=-1)) + 1) > 1
    return several


def _touching(file: Codes, channel: Codes, begin_s: Floats, end_s: Floats) -> Bools:
    """For each file whether two excerpts of one of its channels share a moment."""
    place = file.astype(np.int64) * (int(channel.max(initial=0)) + 1) + channel
    order = np.lexsort((begin_s, place))
    place, begin_s, latest_s = place[order], begin_s[order], latest_so_far(place[order], end_s[order])
    later = np.flatnonzero((place[1:] == place[:-1]) & (begin_s[1:] <= latest_s[:-1])) + 1
    touching = np.zeros(int(file.max(initial=-1)) + 1, np.bool_)
    touching[file[order[later]]] = True
    return touching
