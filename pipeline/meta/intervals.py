"""How sure the figures of a board are, and which systems it does not tell apart: from trials and labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from pipeline.arrays import Floats
from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.engine.sampled import Sampled
from pipeline.meta.cells import open_cell
from pipeline.metrics.best import directed, worth
from pipeline.metrics.statistics.bootstrap import Interval, Method, interval, replicates
from pipeline.metrics.statistics.draws import codes
from pipeline.metrics.statistics.paired import bootstrap_p, exchanges_for, groups, randomisation
from pipeline.metrics.statistics.resampling import INFINITE, Sample, paired
from pipeline.metrics.stt.significance import holm
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store
from pipeline.terms import Cell

SEED = 13
N_REPLICATES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Resampling:
    """How replicates are drawn; the same values give the same bits everywhere."""

    n_replicates: int = N_REPLICATES
    seed: int = SEED
    level: float = LEVEL
    method: Method = "percentile"
    strata: Mapping[str, str] = field(default_factory=dict)
    """The stratum of units by name, where they have one beyond the figure's own; others share one."""


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same units: the difference of their figures (first minus second) and whether it is chance."""

    first: str
    second: str
    difference: float
    low: float
    """Interval of the difference by paired bootstrap, NaN where there is none."""
    high: float
    p: float
    """Two-sided p by ``test``; NaN where there is none."""
    p_holm: float
    """``p`` corrected for all pairs of the board (Holm)."""
    test: str
    """``randomisation``, ``mapsswe``, or ``paired_bootstrap`` where means are over different units."""


@dataclass(frozen=True)
class BoardIntervals:
    """One (query set, dataset), condition "all". Systems without the figure have an interval with a reason only."""

    query_set: str
    dataset: str
    measure: str
    unit: str
    """What is drawn: ``query``, ``event``, ``segment`` or ``speaker``."""
    resampling: Resampling
    intervals: Mapping[str, Interval]
    """By system, in the order of the plan."""
    ranked: tuple[str, ...] = ()
    """Systems with the figure, best first."""
    comparisons: tuple[Comparison, ...] = ()
    """Every pair of ranked systems, the better one first."""
    ties: tuple[tuple[str, ...], ...] = ()
    """Runs of ranked systems in which no pair differs at the level (Holm): each as long as it can be, best first.
    Runs may overlap; a system that differs from its neighbours is a run of its own."""

    def tied_with_best(self) -> tuple[str, ...]:
        """The systems that are not shown to be worse than the best one, itself included."""
        return self.ties[0] if self.ties else ()


def intervals_of(
    store: Store,
    plan: Plan,
    measure: str | None = None,
    resampling: Resampling | None = None,
    results: Iterable[Result] = (),
    samples: Mapping[str, Sampled] | None = None,
) -> tuple[BoardIntervals, ...]:
    """The boards of a plan whose cells are scored, in its order, without canaries: they compete with nobody.
    ``measure``: the primary one unless given. ``results`` that were read already are not read again.

    Reads trials and labels of every cell but those whose ``samples`` of the primary measure were made with their
    results, by the paths of these. Raises ``DamageError`` where a result is lost; lost labels are a reason.
    """
    name = measure or plan.protocol.primary
    how = resampling or Resampling()
    boards: dict[tuple[str, str], list[Job]] = {}
    canaries = {system.name for system in plan.systems if system.canary}
    for job in (one for one in plan.jobs if one.cell.system not in canaries):
        boards.setdefault((job.cell.query_set, job.cell.dataset), []).append(job)
    known = {result.cell: result for result in results}
    made = (samples or {}) if name == plan.protocol.primary else {}

    def sampled(job: Job) -> Sampled:
        if job.path in made:
            return made[job.path]
        cell = open_cell(store, plan, job, known.get(job.cell))
        if isinstance(cell, str):
            return Sampled(cell)
        return Sampled(cell.sample(name), None if cell.protocol.family.can.compare is None else cell.partial)

    return tuple(_board(plan, {job.cell: sampled(job) for job in jobs}, name, how) for jobs in boards.values())


def _board(plan: Plan, cells: Mapping[Cell, Sampled], measure: str, how: Resampling) -> BoardIntervals:
    place, *_ = cells
    partials = {cell.system: own.partial for cell, own in cells.items() if own.partial is not None}
    better = next((m.better for m in plan.protocol.measures if m.name == measure), "none")
    return board_of(
        (place.query_set, place.dataset),
        measure,
        {cell.system: own.sample for cell, own in cells.items()},
        how,
        better=better,
        unit=unit_of(plan.protocol),
        tests=family_tests(plan.protocol, partials),
    )


def board_of(
    place: tuple[str, str],
    measure: str,
    samples: Mapping[str, Sample | str],
    how: Resampling,
    *,
    better: str = "higher",
    unit: str = "query",
    drawn: Mapping[str, Floats] | None = None,
    tests: Mapping[tuple[str, str], float] | None = None,
) -> BoardIntervals:
    """A board's intervals from samples. ``drawn``: replicates made elsewhere; ``tests``: p of a family's own test by
    pair."""
    found = {system: sample for system, sample in samples.items() if not isinstance(sample, str)}
    values = {
        system: drawn[system] if drawn is not None and system in drawn else draw(sample, how)
        for system, sample in found.items()
    }
    made = {
        system: Interval(math.nan, method=how.method, reason=sample)
        if isinstance(sample, str)
        else interval(sample, values[system], level=how.level, method=how.method)
        for system, sample in samples.items()
    }
    known = [system for system in found if not math.isnan(made[system].value) and made[system].reason != INFINITE]
    ranked = tuple(sorted(known, key=lambda system: -worth(made[system].value, better))) if directed(better) else ()
    points = {system: made[system].value for system in ranked}
    comparisons = tuple(_compared(points, found, values, how, tests or {}))
    return BoardIntervals(
        *place, measure, unit, how, made, ranked, comparisons, _ties(ranked, comparisons, 1.0 - how.level)
    )


def unit_of(protocol: Protocol) -> str:
    """The unit that intervals of a protocol's measures draw: queries unless one of them says otherwise."""
    return next((one.resample.unit for one in protocol.measures if one.resample is not None), "query")


def draw(sample: Sample, how: Resampling, which: range | None = None) -> Floats:
    """A sample's replicates, or those numbered ``which``."""
    strata = sample.strata
    if how.strata:
        own = [how.strata.get(unit, "") for unit in sample.units]
        strata = codes([f"{code:08d} {name}" for code, name in zip(strata.tolist(), own, strict=True)])
    return replicates(sample, how.seed, which or range(how.n_replicates), strata)


def _compared(
    points: Mapping[str, float],
    samples: Mapping[str, Sample],
    values: Mapping[str, Floats],
    how: Resampling,
    tests: Mapping[tuple[str, str], float],
) -> Iterator[Comparison]:
    exchanged = _exchanged(tuple(points), samples, how)
    rows: list[tuple[Any, ...]] = []
    for first, second in combinations(points, 2):
        difference = points[first] - points[second]
        low = high = p = math.nan
        test = "paired_bootstrap"
        if samples[first].units == samples[second].units:
            apart = values[first] - values[second]
            apart = apart[~np.isnan(apart)]
            if apart.size:
                low, high = np.quantile(apart, [(1.0 - how.level) / 2.0, (1.0 + how.level) / 2.0]).tolist()
            p = bootstrap_p(values[first], values[second])
        if (first, second) in tests:
            test, p = "mapsswe", tests[first, second]
        elif (first, second) in exchanged:
            test, p = "randomisation", exchanged[first, second]
        rows.append((first, second, difference, low, high, p, test))
    corrected = holm([row[5] for row in rows])
    for (first, second, difference, low, high, p, test), p_holm in zip(rows, corrected, strict=True):
        yield Comparison(first, second, difference, low, high, p, p_holm, test)


def _exchanged(ranked: Sequence[str], samples: Mapping[str, Sample], how: Resampling) -> dict[tuple[str, str], float]:
    """p of the randomisation test for the pairs whose means are over the same units with the same weights."""
    classes: list[list[str]] = []
    for system in ranked:
        same = next((own for own in classes if paired(samples[own[0]], samples[system])), None)
        if same is None:
            classes.append([system])
        else:
            same.append(system)
    found: dict[tuple[str, str], float] = {}
    for own in classes:
        contributions = np.stack([samples[system].contributions for system in own])
        p = randomisation(contributions, seed=how.seed, n_exchanges=exchanges_for(len(ranked), how.level))
        pairs = combinations(range(len(own)), 2)
        found |= {(own[first], own[second]): float(p[first, second]) for first, second in pairs}
    return found


def _ties(ranked: Sequence[str], comparisons: Sequence[Comparison], alpha: float) -> tuple[tuple[str, ...], ...]:
    place = {system: at for at, system in enumerate(ranked)}
    differs = np.zeros((len(ranked), len(ranked)), np.bool_)
    for one in comparisons:
        differs[place[one.first], place[one.second]] = one.p_holm < alpha
    return tuple(tuple(ranked[at] for at in run) for run in groups(len(ranked), differs))


def family_tests(protocol: Protocol, partials: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """p of MAPSSWE by pair of systems, both ways round, where the family of protocols has the test."""
    compare = protocol.family.can.compare
    if compare is None:
        return {}
    found: dict[tuple[str, str], float] = {}
    for first, second in combinations(partials, 2):
        try:
            figure = compare(partials[first], partials[second])["mapsswe"]
        except ValueError:  # other segments: no pairs
            continue
        p = 1.0 if figure.reason == "no_differences" else figure.value
        found[first, second] = found[second, first] = p
    return found
