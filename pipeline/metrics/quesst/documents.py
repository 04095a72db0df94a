"""Figures of complete trial sets, one trial a query and document (MediaEval QUESST 2014-2015)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics import load
from pipeline.metrics.bounds import SHARE
from pipeline.metrics.entropy import calibration, cxe, isotonic
from pipeline.metrics.entropy.crossentropy import cnxe, prior_entropy
from pipeline.metrics.entropy.trial_set import NO_SCORES, trials_of
from pipeline.metrics.fixed_point import in_blocks
from pipeline.metrics.kws import ranking, samples, twv
from pipeline.metrics.kws.shared import curve_of
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Resample, Scored
from pipeline.metrics.quesst.complete import default_scores, unscored
from pipeline.partials.ledger import Ledger
from pipeline.partials.tie_order import TieOrder
from pipeline.terms import Figure


@dataclass(frozen=True)
class DocumentTotals:
    """A cell's totals: ``ledger`` is complete, ``submitted`` only holds what was scored; the rest orders ties."""

    ledger: Ledger
    submitted: Ledger
    order: TieOrder
    """The scored trials of queries with targets, keyed by their place in the output."""
    missing: TieOrder
    """Targets without a score, keyed by their place among the unscored documents of their query."""


DocumentScored = Scored[DocumentTotals]
LATE = 1 << 32
"""Added to the places of trials that come after all of the output."""


def ledger_cell(scored: DocumentScored) -> Scored[Ledger]:
    """The cell of the complete ledger, for all measures that need no more."""
    return Scored(scored.total.ledger, scored.facts, scored.point, scored.rules, every_point=scored.every_point)


def over_queries(resample: Resample[Ledger]) -> Resample[DocumentTotals]:
    """How a measure of ledgers is drawn, for the complete ledger."""
    return Resample(resample.unit, lambda scored, rows: resample.sample(scored.once(ledger_cell), rows))


def of_ledger(measure: Measure[Ledger]) -> Measure[DocumentTotals]:
    """A measure of ledgers as a measure of documents."""

    def of(scored: DocumentScored) -> Figure:
        return measure.of(scored.once(ledger_cell))

    return Measure(
        measure.name,
        measure.unit,
        measure.better,
        SHARE if measure.name == "p_fa" else measure.bounds,  # a document is one trial
        measure.source,
        of,
        label=measure.label,
        aggregation=measure.aggregation,
        resample=None if measure.resample is None else over_queries(measure.resample),
        heads_board=measure.heads_board,
        best=measure.best,
        threshold=measure.threshold,
        load=measure.load,
        later=measure.later,
    )


def mtwv_threshold(scored: DocumentScored) -> Figure:
    """The lowest accepted score at the maximum; ``detail`` has the tool's: the largest rejected one (NaN: none is)."""
    cell = scored.once(ledger_cell)
    figure, curve = twv.mtwv_threshold(cell), cell.once(curve_of)
    return replace(figure, detail={"jar_threshold": curve.below_best})


def ub_twv(scored: DocumentScored) -> Figure:
    """TWV with the best threshold for each query, from the scores as submitted."""
    return twv.twv_optimum(scored.once(ledger_cell))


def lb_cnxe(scored: DocumentScored) -> Figure:
    """Cnxe after the best non-decreasing recalibration of each query by itself, from the scores as submitted.

    Posteriors of each query's PAV become log-likelihood ratios through the one empirical prior of all trials, and are
    then pooled as Cnxe pools them. No recalibration by query that keeps orders is better.
    """
    cell = scored.once(ledger_cell)
    trials, ledger = cell.once(trials_of), cell.total
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    if trials.status == NO_SCORES:
        return Figure(1.0, status=trials.status)
    prior = scored.point.effective_prior
    target_weight, nontarget_weight = prior / trials.target_mass, (1.0 - prior) / trials.nontarget_mass
    losses = []
    for query in np.flatnonzero(ledger.n_true[0]).tolist():
        n_target, n_nontarget, _, _ = ledger.counts[:, ledger.first[query] : ledger.first[query + 1]].astype(np.float64)
        losses += isotonic.losses(*isotonic.blocks(n_target, n_nontarget), target_weight, nontarget_weight)
    return Figure(min(math.fsum(losses) / prior_entropy(prior), cnxe(cell).value, 1.0), status=trials.status)


def min_cnxe_pav_input_order(scored: DocumentScored) -> Figure:
    """Minimum of Cnxe over non-decreasing maps of the ranks, where equal scores keep the order of the output.

    As the organisers' tool has it: trials in the order of the output, then those without a score in the order of query
    list and ECF, sorted stably by score; ties are not pooled. Luck in the order of ties lowers it, by up to all of it.
    """
    trials = scored.once(ledger_cell).once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    if trials.status == NO_SCORES:
        return Figure(1.0, status=trials.status)
    prior = scored.point.effective_prior
    found = _in_order(scored)
    return Figure(found.minimum(prior) / prior_entropy(prior), status=trials.status)


def ordered(order: TieOrder, queries: Sequence[str]) -> TieOrder:
    """The scored trials of some queries."""
    listed = set(queries)
    wanted = np.array([query in listed for query in order.queries], np.bool_)
    if wanted.all():
        return order
    rows = np.flatnonzero(wanted[order.query]) if len(order) else np.zeros(0, np.int64)
    return replace(
        order, query=order.query[rows], score=order.score[rows], key=order.key[rows], target=order.target[rows]
    )


def _between(chosen: TieOrder, score: Floats, place: Ints) -> Ints:
    """How many scored non-targets come before the first of others, between neighbours, and after the last one.

    The others are sorted by score and then by distinct places.
    """
    n = np.zeros(score.size + 1, np.int64)
    # Scores are as good as the number of lower ones, and fit into a word with a place.
    others = np.searchsorted(score, score, side="left") * (2 * LATE) + place
    for block in in_blocks(len(chosen)):
        rows = block.start + np.flatnonzero(~chosen.target[block])
        of_rows = chosen.score[rows]
        at = np.searchsorted(score, of_rows, side="left")
        tied = np.flatnonzero(np.searchsorted(score, of_rows, side="right") > at)
        at[tied] = np.searchsorted(others, at[tied] * (2 * LATE) + chosen.key[rows[tied]], side="left")
        n += np.bincount(at, minlength=n.size)
    return n


def _in_order(scored: DocumentScored) -> isotonic.Pav:
    """Trials one by one, sorted by score, then the order of the output, and pooled; unscored ones come last."""
    chosen = ordered(scored.total.order, scored.total.submitted.queries)
    targets = np.flatnonzero(chosen.target)
    late, *weights = _unscored_runs(scored)
    score = np.append(chosen.score[targets], late)
    place = np.append(chosen.key[targets].astype(np.int64), LATE + np.arange(late.size))
    n_target = np.append(np.ones(targets.size), weights[0])
    n_nontarget = np.append(np.zeros(targets.size), weights[1])
    order = np.lexsort((place, score))
    rows = np.zeros((2, 2 * order.size + 1))
    rows[:, 1::2] = n_target[order], n_nontarget[order]
    rows[1, ::2] = _between(chosen, score[order], place[order])
    n_target, n_nontarget = rows[:, rows.any(axis=0)]
    return isotonic.pav([(np.arange(n_target.size, dtype=np.float64), n_target, n_nontarget)])


def _unscored_runs(scored: DocumentScored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score, targets and non-targets of runs of unscored trials, in the order of query list and ECF."""
    ledger, missing = scored.total.submitted, scored.total.missing
    n_target, n_nontarget = unscored(ledger, round(scored.facts.n_trials_exact))
    scores = default_scores(ledger, scored.rules.censor)
    places: dict[str, list[int]] = {}
    for code, key in zip(missing.query.tolist(), missing.key.tolist(), strict=True):
        places.setdefault(missing.queries[code], []).append(key)
    position = {query: code for code, query in enumerate(ledger.queries)}
    runs: list[tuple[float, int, int]] = []
    for query in scored.facts.queries:
        code = position[query]
        score, seen = 0.0 if scores is None else float(scores[code]), 0
        for count, place in enumerate(sorted(places.get(query, []))):
            runs += [(score, 0, place - count - seen), (score, 1, 0)]
            seen = place - count
        runs.append((score, 0, int(n_target[code] + n_nontarget[code]) - len(places.get(query, [])) - seen))
    used = [run for run in runs if run[1] or run[2]]
    columns = np.array(used, np.float64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


_TOOL = "MediaEval QUESST 2014-2015"

MEASURES: tuple[Measure[DocumentTotals], ...] = (
    *(
        replace(of_ledger(m), of=mtwv_threshold) if m.name == "mtwv_threshold" else of_ledger(m)
        for m in (*twv.MEASURES, *ranking.MEASURES, *cxe.MEASURES)
    ),
    *(of_ledger(measure) for measure in calibration.MEASURES if measure.name != "calibration_loss"),
    of_ledger(calibration.CALIBRATION_LOSS_PAV),
    Measure(
        "min_cnxe_pav_input_order",
        "1",
        "lower",
        SHARE,
        f"{_TOOL}, the tool's min Cnxe: PAV, ties in the order of the output",
        min_cnxe_pav_input_order,
        label=Label("min C", "nxe", "PAV, input order"),
        aggregation="pooled over trials",
    ),
    Measure(
        "ub_twv",
        "1",
        "higher",
        twv.best_twv,
        f"{_TOOL}, model-dependent upper bound of TWV, original scores",
        ub_twv,
        label=Label("UB-TWV"),
        aggregation="mean over queries with occurrences",
        resample=over_queries(samples.VALUE_AT_OPTIMA),
    ),
    Measure(
        "lb_cnxe",
        "1",
        "lower",
        SHARE,
        f"{_TOOL}, model-dependent lower bound of Cnxe, original scores",
        lb_cnxe,
        label=Label("LB C", "nxe"),
        aggregation="pooled over trials",
    ),
    *(of_ledger(measure) for measure in load.MEASURES),
)
