"""A whole study: every figure with its interval, and every question that the study asks, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from pipeline import protocols
from pipeline.meta.cells import OpenCell
from pipeline.meta.comparable import mean
from pipeline.meta.contrast import contrasts
from pipeline.meta.difficulty import Difficulty, difficulty
from pipeline.meta.evaluated import Evaluated, Place
from pipeline.meta.gathered import rows_of
from pipeline.meta.intervals import BoardIntervals, board_of, family_tests, unit_of
from pipeline.meta.ranks import Table, agreement, between_boards, between_measures, by_board, moved, orders, rank_spread
from pipeline.meta.resamples import collected, draws, paths_of
from pipeline.meta.rows import Row
from pipeline.meta.sensitivity import GRID_BETA, GRID_P_TARGET, Band, bands
from pipeline.meta.shifts import shift
from pipeline.meta.study import Study
from pipeline.meta.variants import JOINT, TOLERANCE, is_probe
from pipeline.metrics.statistics.resampling import Sample
from pipeline.metrics.statistics.variance import pareto

EVERY = "all"
"""Instead of an evaluation: all of them but variants."""


@dataclass(frozen=True)
class AnalysedBoard:
    """One measure on one board of one evaluation."""

    evaluation: str
    intervals: BoardIntervals
    spread: Mapping[str, tuple[float, float, float]]
    """By system: the interval of its rank over replicates, and the share of replicates in which it is the best."""
    difficulty: Difficulty | None
    bands: tuple[Band, ...] = ()
    replicates: tuple[str, ...] = ()
    """Where its evaluation's store has the replicates that intervals are made from, if it has them."""


@dataclass(frozen=True)
class Analysis:
    """The findings of a study."""

    study: Study
    rows: tuple[Row, ...]
    boards: tuple[AnalysedBoard, ...]
    tables: Mapping[str, Table] = field(default_factory=dict)
    """``measure_agreement``, ``board_agreement``, ``contrasts``, ``revisions``,
    ``revision_systems``, ``shifts``, ``load``, ``means``."""


def analyse(study: Study, evaluations: Sequence[Evaluated], published: Iterable[Row] = ()) -> Analysis:
    """Everything a study asks for. Replicates that the evaluations' stores hold are taken from there."""
    rows: list[Row] = []
    boards: list[AnalysedBoard] = []
    for evaluated in evaluations:
        asked_here = () if is_probe(evaluated.name) else _asked(study, evaluated)
        own = tuple(_board(study, evaluated, place, measure) for place, measure in asked_here)
        known = {(b.intervals.query_set, b.intervals.dataset, b.intervals.measure): b.intervals for b in own}
        rows += [_with_interval(row, known) for row in rows_of(evaluated, study)]
        boards += own
    aliased = [_aliased(row, study) for row in published]
    every = (*rows, *aliased)
    asked = measures_of(study, evaluations)
    compared = asked if len(asked) > 1 else tuple(dict.fromkeys((*asked, *_heads())))
    by_name = {evaluated.name: evaluated for evaluated in evaluations}
    changes = [(pair, _revision(by_name, every, asked, *pair)) for pair in study.revisions]
    tables: dict[str, Table] = {
        "measure_agreement": between_measures([row for row in every if not is_probe(row.evaluation)], compared),
        "board_agreement": between_boards([row for row in every if not is_probe(row.evaluation)], asked),
        "contrasts": _contrasts(study, by_name, every, asked),
        "revisions": tuple(row for _, (summary, _) in changes for row in summary),
        "revision_systems": tuple(row for _, (_, systems) in changes for row in systems),
        "shifts": tuple(_shifts(study, evaluations)),
        "load": tuple(_load(every, asked)),
        "means": tuple(_means(every, asked)),
    }
    by = by_board(every)
    return Analysis(study, every, tuple(_with_tolerances(study, board, by) for board in boards), tables)


def measures_of(study: Study, evaluations: Iterable[Evaluated]) -> tuple[str, ...]:
    """The measures a study asks for, or the primary ones of its evaluations' protocols."""
    return study.measures or tuple(dict.fromkeys(one.plan.protocol.primary for one in evaluations))


def _heads() -> Iterable[str]:
    """The measures that may head a board: rankings by them are compared where a study names fewer than two."""
    return (name for name, measure in protocols.measures().items() if measure.heads_board)


def asked_of(study: Study, evaluated: Evaluated) -> tuple[str, ...]:
    """The measures whose intervals are asked for in one evaluation: those of the study that its protocol has."""
    known = {measure.name for measure in evaluated.plan.protocol.measures}
    own = tuple(name for name in study.measures if name in known)
    return own or (evaluated.plan.protocol.primary,)


def _asked(study: Study, evaluated: Evaluated) -> list[tuple[Place, str]]:
    return [(place, measure) for place in evaluated.boards for measure in asked_of(study, evaluated)]


def _board(study: Study, evaluated: Evaluated, place: Place, measure: str) -> AnalysedBoard:
    cells = evaluated.cells(place)
    samples = {system: cell if isinstance(cell, str) else cell.sample(measure) for system, cell in cells.items()}
    found = {system: sample for system, sample in samples.items() if not isinstance(sample, str)}
    opened = {system: cell for system, cell in cells.items() if isinstance(cell, OpenCell)}
    wanted = [one for one in draws(evaluated.plan, (measure,), study.resampling) if _at(one.cell) == place]
    by_system = {system: [one for one in wanted if one.cell.system == system] for system in found}
    drawn = {
        system: collected(evaluated.store, opened[system], sample, by_system[system], study.resampling)
        for system, sample in found.items()
    }
    better = evaluated.better(measure)
    made = board_of(
        place,
        measure,
        samples,
        study.resampling,
        better=better,
        unit=unit_of(evaluated.plan.protocol),
        drawn=drawn,
        tests=family_tests(evaluated.plan.protocol, {system: cell.partial for system, cell in opened.items()}),
    )
    first = measure == asked_of(study, evaluated)[0]
    grids = study.sensitivity
    return AnalysedBoard(
        evaluated.name,
        made,
        rank_spread(_same_units(found, drawn), better, study.resampling.level),
        difficulty(found, evaluated.texts(place), _targets(evaluated, place), better),
        bands(cells, grids.beta or GRID_BETA, grids.p_target or GRID_P_TARGET) if first else (),
        tuple(path for system in found for path in paths_of(opened[system], by_system[system], study.resampling)),
    )


def _at(cell: object) -> Place:
    return getattr(cell, "query_set", ""), getattr(cell, "dataset", "")


def _same_units(samples: Mapping[str, Sample], drawn: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Replicates of the systems that saw the same draws."""
    first = next((sample.units for sample in samples.values()), ())
    return {system: drawn[system] for system, sample in samples.items() if sample.units == first}


def _targets(evaluated: Evaluated, place: Place) -> dict[str, float]:
    """Targets of each unit, from the blocks of the first scored system."""
    for _, result in evaluated.results(place):
        if result.failed is None and result.blocks:
            blocks = evaluated.plan.protocol.family.can.blocks
            if blocks is None or blocks.size not in result.blocks[0]:
                return {}
            return {str(b["id"]): float(b[blocks.size] or math.nan) for b in result.blocks}
    return {}


def _with_interval(row: Row, known: Mapping[tuple[str, str, str], BoardIntervals]) -> Row:
    board = known.get((row.query_set, row.dataset, row.measure))
    if board is None or row.condition != "all":
        return row
    found = board.intervals.get(row.system_as_given)
    if found is None:
        return row
    how = board.resampling
    told = f"{found.method} bootstrap by {board.unit}, {how.n_replicates} replicates, seed {how.seed}, {how.level:g}"
    return replace(row, low=found.low, high=found.high, n=float(found.n_units), interval=found.reason or told)


def _aliased(row: Row, study: Study) -> Row:
    return replace(
        row,
        team=study.teams.get(row.team, row.team),
        team_as_given=row.team,
        system=study.systems.get(row.system, row.system),
        system_as_given=row.system,
    )


def _contrasts(
    study: Study, evaluations: Mapping[str, Evaluated], rows: Sequence[Row], measures: Sequence[str]
) -> Table:
    names = [name for name in evaluations if JOINT not in name]
    pairs = study.contrasts or tuple(pairwise(names))
    table: list[Mapping[str, object]] = []
    for one, other in pairs:
        table += contrasts(evaluations[one], evaluations[other], rows, measures)
    return tuple(table)


def _revision(
    evaluations: Mapping[str, Evaluated], rows: Sequence[Row], measures: Sequence[str], one: str, other: str
) -> tuple[Table, Table]:
    """Rankings under the old key and the new one, and every system's move."""
    boards = by_board(rows)
    summary: list[Mapping[str, object]] = []
    systems: list[Mapping[str, object]] = []
    for place in evaluations[one].boards:
        for measure in measures:
            before, after = boards.get((one, *place, measure)), boards.get((other, *place, measure))
            if before is None or after is None:
                continue
            head = {"before": one, "after": other, "query_set": place[0], "dataset": place[1], "measure": measure}
            changes = moved(before, after)
            keys = {"key_before": before[0].key, "key_after": after[0].key}
            n_moved = sum(change["rank_before"] != change["rank_after"] for change in changes)
            summary.append({**head, **keys, **agreement(orders(before), orders(after)), "n_moved": n_moved})
            systems += [{"revision": f"{one} → {other}", "board": " × ".join(place), "measure": measure, **change}
                        for change in changes]  # fmt: skip
    return tuple(summary), tuple(systems)


def _shifts(study: Study, evaluations: Iterable[Evaluated]) -> Iterable[Mapping[str, object]]:
    for evaluated in evaluations:
        for dev, evaluation in () if is_probe(evaluated.name) else study.dev_eval:
            here, there = (tuple(text.split("/", 1)) for text in (dev, evaluation))
            if here not in evaluated.boards or there not in evaluated.boards:
                continue
            tuned = {job.cell.system: result for job, result in evaluated.results((here[0], here[1]))}
            cells = evaluated.cells((there[0], there[1]))
            for job, result in evaluated.results((there[0], there[1])):
                before = tuned.get(job.cell.system)
                if before is not None and before.failed is None and result.failed is None:
                    head = {"evaluation": evaluated.name, "dev": dev, "eval": evaluation}
                    yield {**head, **shift(job.cell.system, before, result, cells[job.cell.system])}


def _load(rows: Sequence[Row], measures: Sequence[str]) -> Iterable[Mapping[str, object]]:
    """Accuracy against load: every system of a board that has both, and whether it is on the Pareto front."""
    boards = by_board(rows)
    loads_of = [name for name, one in protocols.measures().items() if one.load == "whole"]
    for (evaluation, query_set, dataset, measure), own in boards.items():
        if measure not in measures or is_probe(evaluation):
            continue
        load = next((name for name in loads_of if (evaluation, query_set, dataset, name) in boards), None)
        if load is None:
            continue
        loads = {row.system: row for row in boards[evaluation, query_set, dataset, load]}
        values = orders(own)
        names = [row.system for row in own if row.system in values and not math.isnan(loads[row.system].value)]
        front = pareto(np.array([values[name] for name in names]), np.array([loads[name].value for name in names]))
        figures = {row.system: row.value for row in own}
        for name, best in zip(names, front.tolist(), strict=True):
            yield {"evaluation": evaluation, "query_set": query_set, "dataset": dataset, "system": name,
                   "measure": measure, "value": figures[name], "better": own[0].better,
                   "load_measure": load, "load": loads[name].value,
                   "load_unit": loads[name].unit, "front": "yes" if best else "no"}  # fmt: skip


def _means(rows: Sequence[Row], measures: Sequence[str]) -> Iterable[Mapping[str, object]]:
    """The mean of each system over the boards of an evaluation, and over all; why there is none where scales differ."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.condition == "all" and row.measure in measures and not is_probe(row.evaluation):
            found.setdefault((row.evaluation, row.measure, row.system), []).append(row)
            if JOINT not in row.evaluation:
                found.setdefault((EVERY, row.measure, row.system), []).append(row)
    for (evaluation, measure, system), own in found.items():
        several = len({row.evaluation for row in own}) > 1
        if len(own) > 1 and (several or evaluation != EVERY):
            made = mean(own)
            yield {"evaluation": evaluation, "measure": measure, "system": system, "mean": made.value,
                   "n_boards": made.n, "reason": made.reason, "note": made.note}  # fmt: skip


def _with_tolerances(
    study: Study, board: AnalysedBoard, by: Mapping[tuple[str, str, str, str], Sequence[Row]]
) -> AnalysedBoard:
    """The board with a band over the tolerances that its evaluation was scored with, where it was."""
    own = board.intervals
    key = (own.query_set, own.dataset, own.measure)
    found: list[tuple[float, dict[str, float]]] = []
    for tolerance in sorted(study.sensitivity.tolerance_s, key=float):
        rows = by.get((f"{board.evaluation}{JOINT}{TOLERANCE}{tolerance}", *key))
        if rows:
            found.append((float(tolerance), {row.system_as_given: row.value for row in rows}))
    if not found:
        return board
    systems = tuple(own.intervals)
    values = np.array([[side.get(system, math.nan) for system in systems] for _, side in found])
    base = by[board.evaluation, *key][0]
    at = np.array([tolerance for tolerance, _ in found])
    band = Band("tolerance_s", own.measure, base.better, at, base.tolerance_s, systems, values)
    return replace(board, bands=(*board.bands, band))
