"""A tile of detections under another query list: only queries whose occurrences differ are looked at again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.protocols.base import Amended, Earlier, Protocol, Reference
from pipeline.protocols.kws_tiles import tile
from pipeline.trials.blocks import MARK, query_of
from pipeline.trials.schema import Occurrences, Trials

Rows = TypeVar("Rows", Trials, Occurrences)


def amend(
    protocol: Protocol, earlier: Earlier, key: Occurrences, trials: Callable[[], Trials], reference: Reference
) -> Amended | None:
    """See ``Family.amend``.

    A query without occurrences needs no aligning: all of its trials are non-targets. Everything but the alignment of
    the queries that differ is as it was, since no query plays a part in another one's. With ``namefile`` the trials
    that take part depend on the occurrences; then nothing is amended.
    """
    if protocol.settings.namefile:
        return None
    before, after = _by_query(earlier.key), _by_query(key)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    gone = changed - after.keys()
    ledger: Ledger = earlier.partial.ledger
    same = ledger.only(name for name in ledger.queries if query_of(name) not in changed)
    ledger = same + _unlisted(ledger, gone, trials)
    found = changed - gone
    if found:
        own, occurrences = _of_queries(trials(), found), _of_queries(key, found)
        ledger = ledger + tile(protocol, own, occurrences, reference).ledger
    return Amended(Outcomes.of(ledger, earlier.partial.tally), aligned=bool(found))


def _unlisted(ledger: Ledger, gone: Collection[str], trials: Callable[[], Trials]) -> Ledger:
    """The part of queries that have lost their occurrences; a query is named only where it has trials."""
    names = [name for name in ledger.queries if query_of(name) in gone]
    scored = {ledger.queries[code] for code in np.unique(ledger.query).tolist()}
    doubtful = [name for name in names if name not in scored and MARK not in name]
    if doubtful:  # not on the list any more, or detected outside of what is scored only: its trials say which
        rows = trials()
        used = {rows.queries[code] for code in np.unique(rows.query).tolist()}
        names = [name for name in names if name not in doubtful or name in used]
    return ledger.only(names).without_targets()


def _by_query(occurrences: Occurrences) -> dict[str, list[tuple[Any, ...]]]:
    """What counts of the occurrences of each query that has any, in their order."""
    columns = ("begin_s", "end_s", "last_begin_s", "first_end_s")
    places = zip(
        occurrences.query.tolist(),
        [occurrences.files[code] for code in occurrences.file.tolist()],
        [occurrences.channels[code] for code in occurrences.channel.tolist()],
        *(getattr(occurrences, name).tolist() for name in columns),
        strict=True,
    )
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for query, *place in places:
        rows.setdefault(occurrences.queries[query], []).append(tuple(place))
    return rows


def _of_queries(rows: Rows, queries: Collection[str]) -> Rows:
    """The rows of some queries and of their later blocks."""
    wanted = np.array([query_of(name) in queries for name in rows.queries] + [False], np.bool_)
    kept = np.flatnonzero(wanted[rows.query])
    names = [name for name in rows.__dataclass_fields__ if isinstance(getattr(rows, name), np.ndarray)]
    taken = {name: getattr(rows, name)[kept] for name in names if name != "offsets"}
    offsets = np.searchsorted(kept, rows.offsets).astype(np.int64)
    return replace(rows, offsets=offsets, **taken)
