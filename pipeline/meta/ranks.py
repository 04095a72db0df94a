"""Do rankings agree? Between measures of a board, between boards and years, between two keys, and over thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from pipeline.arrays import Floats
from pipeline.meta.comparable import comparable, note
from pipeline.meta.rows import Row
from pipeline.metrics.best import ranks, worth, worths
from pipeline.metrics.statistics.agreement import rbo, tau_ap, tau_b

Table = tuple[Mapping[str, Any], ...]


def orders(rows: Iterable[Row]) -> dict[str, float]:
    """The value that systems are ordered by, higher first: the figure, its sign turned where lower is better.

    Systems without the figure are left out. Of a system named twice the first row counts.
    """
    found: dict[str, float] = {}
    for row in rows:
        if not math.isnan(worth(row.value, row.better)):
            found.setdefault(row.system, worth(row.value, row.better))
    return found


def agreement(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """tau-b, tau-AP (the second order against the first) and RBO over the systems of both, and how many they are."""
    shared = sorted(first.keys() & second.keys())
    one, other = (np.array([order[name] for name in shared], np.float64) for order in (first, second))
    return {
        "n_systems": float(len(shared)),
        "tau_b": tau_b(one, other),
        "tau_ap": tau_ap(one, other),
        "rbo": rbo({name: first[name] for name in shared}, {name: second[name] for name in shared}),
    }


def by_board(rows: Iterable[Row]) -> dict[tuple[str, str, str, str], list[Row]]:
    """Rows of the condition that holds everything by (evaluation, query set, dataset, measure)."""
    found: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if row.condition in ("all", ""):
            found.setdefault((row.evaluation, row.query_set, row.dataset, row.measure), []).append(row)
    return found


def between_measures(rows: Sequence[Row], measures: Sequence[str]) -> Table:
    """Every two of the measures on every board that has both."""
    boards = by_board(rows)
    places = dict.fromkeys(key[:3] for key in boards)
    table = []
    for place in places:
        here = [name for name in measures if (*place, name) in boards]
        for first, second in combinations(here, 2):
            own = [orders(boards[*place, name]) for name in (first, second)]
            found = agreement(*own)
            if found["n_systems"] >= 2:
                table.append({**_place(place), "first": first, "second": second, **found})
    return tuple(table)


def between_boards(rows: Sequence[Row], measures: Sequence[str]) -> Table:
    """Every two boards, of one evaluation or of two, by each measure that both have, with what keeps them apart."""
    boards = by_board(rows)
    table = []
    for measure in measures:
        places = [key[:3] for key in boards if key[3] == measure]
        for first, second in combinations(dict.fromkeys(places), 2):
            one, other = boards[*first, measure], boards[*second, measure]
            found = agreement(orders(one), orders(other))
            if found["n_systems"] >= 2:
                table.append(
                    {"measure": measure, "first": " ".join(first), "second": " ".join(second)}
                    | found
                    | {"note": note([*one, *other]), "comparable": comparable([*one, *other])}
                )
    return tuple(table)


def moved(before: Sequence[Row], after: Sequence[Row]) -> Table:
    """Each system on two boards: figures, ranks among the systems of both, and differences."""
    own = [{row.system: row for row in reversed(rows) if not math.isnan(row.value)} for rows in (before, after)]
    shared = own[0].keys() & own[1].keys()
    placed = [ranked({name: order for name, order in orders(side.values()).items() if name in shared}) for side in own]
    return tuple(
        {
            "system": name,
            "team": own[1][name].team,
            "before": own[0][name].value,
            "after": own[1][name].value,
            "difference": own[1][name].value - own[0][name].value,
            "rank_before": placed[0].get(name, math.nan),
            "rank_after": placed[1].get(name, math.nan),
        }
        for name in sorted(shared, key=lambda name: (placed[1].get(name, math.inf), name))
    )


def ranked(order: Mapping[str, float]) -> dict[str, float]:
    """Competition ranks of systems by ``orders``, 1 first."""
    return dict(zip(order, ranks(np.array([*order.values()], np.float64)).tolist(), strict=True))


def rank_spread(values: Mapping[str, Floats], better: str, level: float) -> dict[str, tuple[float, float, float]]:
    """From replicates of systems on the same draws: the interval of each one's rank, and how often it is the best."""
    names = list(values)
    if not names:
        return {}
    table = np.stack([worths(values[name], better) for name in names])
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.shape[1]:
        return {}
    placed = ranks(table)
    ends = np.quantile(placed, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=1, method="inverted_cdf")
    best = (placed == 1.0).mean(axis=1)
    return {name: (float(ends[0, at]), float(ends[1, at]), float(best[at])) for at, name in enumerate(names)}


def _place(place: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("evaluation", "query_set", "dataset"), place, strict=True))
