"""Word, character and syllable error rates from totals (plan 004 section 6; SCTK scores.c, spec of its reports)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.metrics.bounds import FROM_0, UP_TO_1
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Resample, Rows, Scored
from pipeline.metrics.statistics.resampling import Ratios, Sample
from pipeline.metrics.stt.nce import P_MIN, nce
from pipeline.partials.exact import ExactSum
from pipeline.partials.stt_outcomes import CONFIDENT, COUNTS, SttOutcomes
from pipeline.terms import Figure

PLAN = "OpenKWS13 evaluation plan"
SCLITE = "SCTK sclite, scores.c"
_PLACE = {name: at for at, name in enumerate(COUNTS)}


@dataclass(frozen=True)
class SttRules:
    """The settings that figures read."""

    n_ref_rule: str = "sclite"
    missing_confidence: str = "zero"
    nce_rule: str = "sclite"


@dataclass(frozen=True)
class WordCounts:
    """Counts and log sums of a speaker, a recording, a label or of everything."""

    id: str
    counts: tuple[int, ...]
    log2_p: float
    log2_1mp: float
    confident: bool
    """Whether any word of the output has a confidence, here or elsewhere: where one has, its lack is p = 0 (sclite)."""

    @classmethod
    def of(cls, name: str, total: SttOutcomes, places: list[int]) -> WordCounts:
        """The groups at ``places`` together."""
        counts = total.counts[places].sum(axis=0).tolist() if places else [0] * len(COUNTS)
        sums = [sum((values[at] for at in places), ExactSum.zero()) for values in (total.log2_p, total.log2_1mp)]
        return cls(name, tuple(counts), sums[0].value(), sums[1].value(), total.units[CONFIDENT] > 0)

    def __getitem__(self, name: str) -> int:
        return self.counts[_PLACE[name]]

    @property
    def n_ref(self) -> int:
        """Reference tokens as sclite counts them: correct, substituted and deleted, with optional words put in."""
        return self["correct"] + self["substituted"] + self["deleted"]

    @property
    def n_ref_plan(self) -> int:
        """Reference tokens alone, as the plan's footnote 10 counts them, on the path that was chosen."""
        return self.n_ref - self["forgiven_output"]

    @property
    def n_errors(self) -> int:
        """Substitutions, deletions and insertions."""
        return self["substituted"] + self["deleted"] + self["inserted"]

    def n_reference(self, rule: str) -> int:
        """The denominator of error rates."""
        return {"sclite": self.n_ref, "plan": self.n_ref_plan, "longest": self["n_longest"]}[rule]

    def nce(self, missing: str, *, plan: bool) -> Figure:
        """Normalised cross entropy: sclite counts forgiven deletions among the correct words, the plan does not.

        Words that are empty (``;``) count as correct or not, and have no confidence (sclite).
        """
        n_missing = self["n_missing_correct"] + self["n_missing_incorrect"]
        if not self["n_confidences"] and not (missing == "zero" and self.confident and n_missing):
            return Figure.undefined("no_confidences")
        correct = self["correct"] - (self["forgiven_reference"] if plan else 0)
        incorrect = self["substituted"] + self["inserted"]
        log2_p, log2_1mp = self.log2_p, self.log2_1mp
        if missing == "zero":
            log2_p += self["n_missing_correct"] * math.log2(P_MIN)
            log2_1mp += self["n_missing_incorrect"] * math.log2(1.0 - P_MIN)
        else:
            correct -= self["n_missing_correct"]
            incorrect -= self["n_missing_incorrect"]
        figure = nce(correct, incorrect, log2_p, log2_1mp)
        detail = {"n_confidences": self["n_confidences"], "sum_log2_p": log2_p, "sum_log2_1mp": log2_1mp}
        return Figure(figure.value, figure.reason, figure.status, detail)

    def rates(self, rules: SttRules) -> dict[str, float]:
        """Rates over the reference's tokens and over segments; NaN where there are none."""
        n, segments = self.n_reference(rules.n_ref_rule), self["n_segments"]
        # What the output put in is no token of the reference: correct where it makes the denominator too (sclite).
        put_in = 0 if rules.n_ref_rule == "sclite" else self["forgiven_output"]
        named = {"sub": "substituted", "del": "deleted", "ins": "inserted"}
        return {
            "wer": ratio(self.n_errors, n),
            "corr_rate": ratio(self["correct"] - put_in, n),
            **{f"{name}_rate": ratio(self[count], n) for name, count in named.items()},
            "seg_err_rate": ratio(self["n_segments_in_error"], segments),
        }


def ratio(part: float, whole: float) -> float:
    """``part / whole``, NaN for an empty whole."""
    return part / whole if whole else math.nan


Total = tuple[SttOutcomes, SttRules]
"""What measures read: merged outcomes and the settings that bear on them."""


def overall(scored: Scored[Total]) -> WordCounts:
    """Everything as one row."""
    total = scored.total[0]
    return WordCounts.of("", total, list(range(len(total.groups))))


def rows_by(
    total: SttOutcomes, names_of: Callable[[str], Iterator[str]], listed: tuple[str, ...] = ()
) -> list[WordCounts]:
    """One row for each name that ``names_of`` gives a group, and for each of ``listed``; sorted."""
    places: dict[str, list[int]] = {name: [] for name in listed}
    for at, group in enumerate(total.groups):
        for name in names_of(group):
            places.setdefault(name, []).append(at)
    return [WordCounts.of(name, total, places[name]) for name in sorted(places)]


def speaker_of(group: str) -> Iterator[str]:
    """The speaker of a group ``file channel speaker label``."""
    yield group.split(" ")[2]


def recording_of(group: str) -> Iterator[str]:
    """File and channel of a group."""
    yield " ".join(group.split(" ")[:2])


def labels_of(group: str) -> Iterator[str]:
    """The labels of a group: ``<o,f0>`` names two; none where the segment has no label."""
    label = group.split(" ")[3]
    yield from dict.fromkeys(filter(None, label.strip("<>").split(",")))


def block(row: WordCounts, rules: SttRules) -> dict[str, Any]:
    """One row as result documents show it."""
    plan = row.nce(rules.missing_confidence, plan=True)
    measures = {"nce": row.nce(rules.missing_confidence, plan=rules.nce_rule == "plan"), "nce_plan": plan}
    return {
        "id": row.id,
        "n_segments": row["n_segments"],
        "n_ref": row.n_ref,
        "n_ref_plan": row.n_ref_plan,
        "corr": row["correct"],
        "sub": row["substituted"],
        "del": row["deleted"],
        "ins": row["inserted"],
        "err": row.n_errors,
        "seg_err": row["n_segments_in_error"],
        **row.rates(rules),
        **{name: figure.value for name, figure in measures.items()},
        "forgiven_ref": row["forgiven_reference"],
        "forgiven_hyp": row["forgiven_output"],
        "n_ref_max": row["n_longest"],
        "n_confidences": row["n_confidences"],
    }


REPORTED = ("n_segments", "n_ref", "corr", "sub", "del", "ins", "err", "seg_err")
_RATES = {"corr": "corr_rate", "sub": "sub_rate", "del": "del_rate", "ins": "ins_rate", "err": "wer"}


def report(total: WordCounts, rows: list[WordCounts], rules: SttRules, *, percent: bool) -> list[dict[str, Any]]:
    """sclite's ``raw`` table (counts) or ``sys`` table (percentages): speakers, then Sum, Mean, S.D. and Median.

    Speakers without reference tokens are left out of the mean rates, not of counts of segments, tokens and segments
    in error. S.D. has n - 1 in its denominator and is 0 for one speaker.
    """
    lines = [_reported(row, rules, percent=percent) for row in rows if row["n_segments"]]
    summary = [{**_reported(total, rules, percent=percent), "id": "Sum"}]
    for name, statistic in (("Mean", _mean), ("S.D.", _deviation), ("Median", _median)):
        entry: dict[str, Any] = {"id": name}
        for column in (*REPORTED, "nce"):
            values = np.array([line[column] for line in lines], np.float64)
            values = values[~np.isnan(values)]
            entry[column] = float(statistic(values)) if values.size else math.nan
        summary.append(entry)
    return [*lines, *summary]


def _mean(values: Any) -> float:
    return math.fsum(values) / len(values)


def _median(values: Any) -> float:
    """As ``numpy.median`` has it, which imports masked arrays."""
    ordered: list[float] = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _deviation(values: Any) -> float:
    return math.sqrt(math.fsum((values - _mean(values)) ** 2) / (values.size - 1)) if values.size > 1 else 0.0


def _reported(row: WordCounts, rules: SttRules, *, percent: bool) -> dict[str, Any]:
    shown = block(row, rules)
    line = {name: shown[name] for name in ("id", *REPORTED, "nce")}
    if percent:
        line |= {name: 100.0 * shown[rate] for name, rate in _RATES.items()}
        line["seg_err"] = 100.0 * shown["seg_err_rate"]
    return line


def _wer(scored: Scored[Total]) -> Figure:
    row, rules = scored.once(overall), scored.total[1]
    n = row.n_reference(rules.n_ref_rule)
    detail = {"n_errors": row.n_errors, "n_reference": n}
    if not n:
        return Figure(math.nan, "no_reference_words", None, detail)
    return Figure(row.n_errors / n, detail=detail)


def _count(name: str) -> Callable[[Scored[Total]], Figure]:
    def of(scored: Scored[Total]) -> Figure:
        shown = block(scored.once(overall), scored.total[1])
        rate = shown.get(f"{name}_rate")
        return Figure(float(shown[name]), detail={} if rate is None else {"rate": rate})

    return of


def _n_ref_plan(scored: Scored[Total]) -> Figure:
    row = scored.once(overall)
    return Figure(float(row.n_ref_plan), detail={"n_ref_max": row["n_longest"]})


def _nce(scored: Scored[Total]) -> Figure:
    rules = scored.total[1]
    return scored.once(overall).nce(rules.missing_confidence, plan=rules.nce_rule == "plan")


def _nce_plan(scored: Scored[Total]) -> Figure:
    return scored.once(overall).nce(scored.total[1].missing_confidence, plan=True)


def _error_rate_by_speaker(scored: Scored[Total], _rows: Rows) -> Sample | str:
    """The error rate over speakers with segments: errors over reference tokens, both summed."""
    total, rules = scored.total
    rows = [row for row in rows_by(total, speaker_of, scored.facts.queries) if row["n_segments"]]
    n_ref = np.array([[row.n_reference(rules.n_ref_rule) for row in rows]], np.float64)
    if not n_ref.any():
        return "no_reference_words"
    errors = np.array([[row.n_errors for row in rows]], np.float64)
    return Ratios(tuple(row.id for row in rows), 0.0, np.ones(1), errors, n_ref)


SUMMED = "summed over segments"

MEASURES: tuple[Measure[Total], ...] = (
    Measure(
        "wer",
        "1",
        "lower",
        FROM_0,
        f"{PLAN} 6.3",
        _wer,
        label=Label("WER"),
        aggregation=SUMMED,
        resample=Resample("speaker", _error_rate_by_speaker),
        heads_board=True,
    ),
    Measure(
        "n_ref",
        "tokens",
        "none",
        FROM_0,
        f"{SCLITE}: # Wrd",
        _count("n_ref"),
        label=Label("N", "ref"),
        aggregation=SUMMED,
    ),
    Measure(
        "n_ref_plan",
        "tokens",
        "none",
        FROM_0,
        f"{PLAN} 6.3, footnote 10",
        _n_ref_plan,
        label=Label("N", "ref", "plan"),
        aggregation=SUMMED,
    ),
    Measure(
        "corr",
        "tokens",
        "higher",
        FROM_0,
        f"{SCLITE}: Corr",
        _count("corr"),
        label=Label("correct"),
        aggregation=SUMMED,
    ),
    Measure(
        "sub",
        "tokens",
        "lower",
        FROM_0,
        f"{PLAN} 6.3 N_Subst",
        _count("sub"),
        label=Label("substituted"),
        aggregation=SUMMED,
    ),
    Measure(
        "del",
        "tokens",
        "lower",
        FROM_0,
        f"{PLAN} 6.3 N_Del",
        _count("del"),
        label=Label("deleted"),
        aggregation=SUMMED,
    ),
    Measure(
        "ins",
        "tokens",
        "lower",
        FROM_0,
        f"{PLAN} 6.3 N_Ins",
        _count("ins"),
        label=Label("inserted"),
        aggregation=SUMMED,
    ),
    Measure(
        "seg_err",
        "segments",
        "lower",
        FROM_0,
        f"{SCLITE}: S.Err",
        _count("seg_err"),
        label=Label("in error"),
        aggregation=SUMMED,
    ),
    Measure(
        "nce",
        "1",
        "higher",
        UP_TO_1,
        f"{SCLITE}: NCE",
        _nce,
        label=Label("NCE"),
        aggregation="pooled over output tokens",
    ),
    Measure(
        "nce_plan",
        "1",
        "higher",
        UP_TO_1,
        f"{PLAN} 6.4.1",
        _nce_plan,
        label=Label("NCE", note="plan"),
        aggregation="pooled over output tokens",
    ),
)
