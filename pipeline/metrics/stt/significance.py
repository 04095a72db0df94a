"""Whether two systems differ on one reference: paired tests over segments and speakers (spec of SCTK sc_stats; NIST).

Inputs are exact counts that add up over recordings; rates and probabilities are formed once, at the end. SciPy does
what it has: exact binomials and Wilcoxon's signed ranks.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.stt.wer import rows_by, speaker_of
from pipeline.partials.stt_outcomes import SttOutcomes
from pipeline.terms import Figure

CORRECT, SUBSTITUTED, DELETED, INSERTED, FORGIVEN_REFERENCE, FORGIVEN_OUTPUT = range(6)
"""Kinds of alignment steps, as alignments code them."""
GOOD = 2
"""Reference tokens in a row that both systems have right: what ends a stretch of errors."""
_Z_95 = 1.96


@dataclass(frozen=True)
class Mapsswe:
    """Sums of the matched-pair sentence-segment word error test: exact, and added up over segments of any kind."""

    n: int = 0
    sum_d: int = 0
    sum_d2: int = 0
    sum_errors_1: int = 0
    sum_errors_2: int = 0
    sum_n_ref: int = 0

    def __add__(self, other: Mapsswe) -> Mapsswe:
        return Mapsswe(
            self.n + other.n,
            self.sum_d + other.sum_d,
            self.sum_d2 + other.sum_d2,
            self.sum_errors_1 + other.sum_errors_1,
            self.sum_errors_2 + other.sum_errors_2,
            self.sum_n_ref + other.sum_n_ref,
        )

    @property
    def figure(self) -> Figure:
        """Two-sided p of equal error counts. ``detail``: n, mean, sd (n - 1) of the differences, z, error rates.

        Undefined with reason ``no_differences`` where no stretch has an error, ``constant`` where sd is 0.
        """
        if not self.n:
            return Figure.undefined("no_differences")
        mean = self.sum_d / self.n
        centred = self.n * self.sum_d2 - self.sum_d * self.sum_d
        sd = math.sqrt(centred / (self.n * (self.n - 1))) if self.n > 1 and centred else 0.0
        rates = {
            f"error_rate_{which}": errors / self.sum_n_ref if self.sum_n_ref else math.nan
            for which, errors in ((1, self.sum_errors_1), (2, self.sum_errors_2))
        }
        detail = {"n": self.n, "mean": mean, "sd": sd, **rates}
        if sd == 0.0:
            return Figure(math.nan, "constant", None, {**detail, "z": 0.0})
        z = mean / (sd / math.sqrt(self.n))
        status = "significant" if abs(z) > _Z_95 else None
        return Figure(math.erfc(abs(z) / math.sqrt(2.0)), None, status, {**detail, "z": z})


def mapsswe(steps_1: Sequence[int], steps_2: Sequence[int]) -> Mapsswe:
    """The stretches of one utterance in which two systems differ: sums of their error counts.

    ``steps_1``, ``steps_2``: kinds of alignment steps over the same reference. A stretch opens with an error or an
    insertion of either system and closes with the second reference token in a row that both have right, or with the
    utterance. It begins one token before the last one that both had right, so it may share right tokens, never
    errors, with the stretch before. Raises ``ValueError`` where the references differ in length.
    """
    first, second = _by_reference(steps_1), _by_reference(steps_2)
    if len(first) != len(second):
        raise ValueError(f"the utterances have {len(first) - 1} and {len(second) - 1} reference tokens, not the same")
    columns = list(zip(first, second, strict=True))
    total, open_at, last_good, good = Mapsswe(), -1, -1, 0
    leading = False
    for at, (one, two) in enumerate(columns):
        wrong, inserted = one.wrong or two.wrong, one.inserted or two.inserted
        if open_at < 0 and (wrong or inserted):
            open_at, leading = max(last_good - 1, 0), last_good < 0
        good = 0 if wrong else 1 if inserted else good + 1
        if not wrong and one.is_token:
            last_good = at
            if open_at >= 0 and good >= GOOD:
                total += _stretch(columns[open_at : at + 1], leading=leading)
                open_at = -1
    return total + _stretch(columns[open_at:], leading=leading) if open_at >= 0 else total


class PairedColumn(NamedTuple):
    """One reference token of an alignment, or its end: insertions before it, and whether it is wrong."""

    inserted: int
    wrong: bool
    is_token: bool


def _by_reference(steps: Sequence[int]) -> list[PairedColumn]:
    columns, inserted = list[PairedColumn](), 0
    for step in steps:
        if step == INSERTED:
            inserted += 1
        elif step != FORGIVEN_OUTPUT:
            columns.append(PairedColumn(inserted, step in (SUBSTITUTED, DELETED), is_token=True))
            inserted = 0
    return [*columns, PairedColumn(inserted, wrong=False, is_token=False)]


def _stretch(columns: Sequence[tuple[PairedColumn, PairedColumn]], *, leading: bool) -> Mapsswe:
    """Sums of one stretch. Insertions before its first token belong to it only where the utterance begins with it."""
    errors = [0, 0]
    for at, pair in enumerate(columns):
        for side, column in enumerate(pair):
            errors[side] += column.wrong + (column.inserted if at or leading else 0)
    if not any(errors):
        return Mapsswe()
    difference = errors[0] - errors[1]
    n_ref = sum(one.is_token for one, _ in columns)
    return Mapsswe(1, difference, difference * difference, errors[0], errors[1], n_ref)


def mcnemar(n_only_1: int, n_only_2: int) -> Figure:
    """Exact two-sided p that either system errs alone equally often (McNemar), from counts of utterances.

    Undefined with reason ``no_differences`` where neither ever errs alone.
    """
    from scipy.stats import binomtest

    if not n_only_1 + n_only_2:
        return Figure.undefined("no_differences")
    p = float(binomtest(n_only_1, n_only_1 + n_only_2, 0.5).pvalue)
    return Figure(p, detail={"n_only_1": n_only_1, "n_only_2": n_only_2})


def sign_test(rates_1: Floats, rates_2: Floats) -> Figure:
    """Exact two-sided p that each system is the better one for equally many speakers; ties are left out."""
    figure = mcnemar(int((rates_1 < rates_2).sum()), int((rates_2 < rates_1).sum()))
    counts = {f"n_better_{side}": figure.detail.get(f"n_only_{side}", 0.0) for side in (1, 2)}
    return Figure(figure.value, figure.reason, None, counts)


def wilcoxon(rates_1: Floats, rates_2: Floats) -> Figure:
    """Two-sided p of Wilcoxon's signed ranks over speakers, zero differences split (SciPy's ``zsplit``).

    Undefined with reason ``no_differences`` where all rates are equal, ``too_few`` for fewer than two speakers.
    """
    from scipy.stats import wilcoxon as signed_ranks

    if rates_1.size < 2:
        return Figure.undefined("too_few")
    if np.array_equal(rates_1, rates_2):
        return Figure.undefined("no_differences")
    found = signed_ranks(rates_1, rates_2, zero_method="zsplit")
    return Figure(float(found.pvalue), detail={"statistic": float(found.statistic), "n": float(rates_1.size)})


def anova_by_ranks(rates: Floats) -> Figure:
    """p that all systems are alike, by Friedman's two-way analysis of variance by ranks over speakers (sc_stats).

    ``rates``: (n_systems, n_speakers). Ranks of equal rates are shared, and the statistic is corrected for them.
    Undefined with reason ``too_few`` for fewer than two systems or speakers, ``no_differences`` where all are equal.
    """
    from scipy.stats import chi2, rankdata

    n_systems, n_speakers = rates.shape
    if min(n_systems, n_speakers) < 2:
        return Figure.undefined("too_few")
    ranks = rankdata(rates, axis=0)
    sums: list[float] = ranks.sum(axis=1).tolist()
    repeats = [np.unique(column, return_counts=True)[1].tolist() for column in rates.T]
    shared = sum(n**3 - n for counts in repeats for n in counts)
    unshared = 1.0 - shared / (n_speakers * n_systems * (n_systems**2 - 1))
    if shared == n_speakers * n_systems * (n_systems**2 - 1):
        return Figure.undefined("no_differences")
    spread = 12.0 * math.fsum(value * value for value in sums) / (n_speakers * n_systems * (n_systems + 1))
    statistic = (spread - 3.0 * n_speakers * (n_systems + 1)) / unshared
    p = float(chi2.sf(statistic, n_systems - 1))
    return Figure(p, detail={"statistic": statistic, "n": float(n_speakers), "n_systems": float(n_systems)})


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Errors and reference tokens of systems in replicates of the units drawn with repetition: sums that add up.

    ``errors``: int64 (n_systems, n_replicates); ``n_ref`` likewise. Weights are Poisson(1), from a generator keyed by
    seed and unit alone: all systems and all tasks see the same replicates, in any order.
    """

    errors: Ints
    n_ref: Ints

    @classmethod
    def of(
        cls, counts: Mapping[str, Sequence[tuple[int, int]]], *, n_systems: int, n_replicates: int, seed: int
    ) -> Self:
        """From ``(errors, n_ref)`` of every system by unit (speaker, recording or segment)."""
        sums = np.zeros((2, n_systems, n_replicates), np.int64)
        for unit, systems in counts.items():
            digest = hashlib.blake2b(f"{seed} {unit}".encode(), digest_size=16).digest()
            generator = np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
            weights = generator.poisson(1.0, n_replicates)
            sums += np.array(systems, np.int64).T[:, :, None] * weights
        return cls(sums[0], sums[1])

    def __add__(self, other: Bootstrap) -> Bootstrap:
        return Bootstrap(self.errors + other.errors, self.n_ref + other.n_ref)

    def interval(self, system: int, *, level: float = 0.95) -> tuple[float, float]:
        """The percentile interval of a system's error rate; NaN where no replicate has reference tokens."""
        return _interval(self._rates(system), level)

    def difference(self, first: int, second: int, *, level: float = 0.95) -> Figure:
        """Share of replicates in which the first system has the higher rate; ``low`` and ``high`` of the difference."""
        differences = self._rates(first) - self._rates(second)
        low, high = _interval(differences, level)
        known = differences[~np.isnan(differences)]
        if not known.size:
            return Figure.undefined("no_reference_words")
        return Figure(float((known > 0).mean()), detail={"low": low, "high": high})

    def _rates(self, system: int) -> Floats:
        n_ref = self.n_ref[system].astype(np.float64)
        rates = np.full(n_ref.shape, np.nan)
        np.divide(self.errors[system], n_ref, out=rates, where=n_ref > 0)
        return rates


def _interval(values: Floats, level: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


N_REPLICATES = 1000
SEED = 13


def compare(first: SttOutcomes, second: SttOutcomes) -> dict[str, Figure]:
    """Every paired test of two outputs on one reference: p by the name of the test.

    Segments pair by recording and place, speakers by name; speakers without reference tokens are left out. Raises
    ``ValueError`` where the segments are not the same. Segments whose chosen reference paths differ in length (they
    have alternatives) take no part in MAPSSWE and are counted in ``n_unpaired``.
    """
    if first.groups != second.groups or not np.array_equal(first.segments.ordinal, second.segments.ordinal):
        raise ValueError("the two outputs are not scored on the same segments of one reference")
    stretches, unpaired = Mapsswe(), 0
    wrong = [0, 0]
    for steps_1, steps_2 in zip(_utterances(first), _utterances(second), strict=True):
        errors = [not set(steps).isdisjoint(_ERRORS) for steps in (steps_1, steps_2)]
        wrong[0] += errors[0] and not errors[1]
        wrong[1] += errors[1] and not errors[0]
        if len(_by_reference(steps_1)) == len(_by_reference(steps_2)):
            stretches += mapsswe(steps_1, steps_2)
        else:
            unpaired += 1
    by_speaker = _speakers(first, second)
    rates = _rates(by_speaker, 2)
    bootstrap = Bootstrap.of(by_speaker, n_systems=2, n_replicates=N_REPLICATES, seed=SEED)
    test = stretches.figure
    return {
        "mapsswe": Figure(test.value, test.reason, test.status, {**test.detail, "n_unpaired": unpaired}),
        "mcnemar": mcnemar(*wrong),
        "sign": sign_test(*rates),
        "wilcoxon": wilcoxon(*rates),
        "bootstrap": bootstrap.difference(0, 1),
    }


_ERRORS = frozenset({SUBSTITUTED, DELETED, INSERTED})


def _utterances(total: SttOutcomes) -> Iterator[list[int]]:
    offsets, steps = total.segments.offsets.tolist(), total.segments.step.tolist()
    return (steps[begin:end] for begin, end in pairwise(offsets))


def among(totals: Sequence[SttOutcomes]) -> dict[str, Figure]:
    """Every test of several outputs on one reference at once: p by the name of the test."""
    return {"anova": anova_by_ranks(_rates(_speakers(*totals), len(totals)))}


SpeakerCounts = dict[str, tuple[tuple[int, int], ...]]


def _speakers(*totals: SttOutcomes) -> SpeakerCounts:
    """(errors, reference tokens) of each system by speaker, of those for whom all have reference tokens."""
    rows = [{row.id: row for row in rows_by(total, speaker_of)} for total in totals]
    every = {name: tuple((side[name].n_errors, side[name].n_ref) for side in rows) for name in rows[0]}
    return {name: counts for name, counts in every.items() if all(n for _, n in counts)}


def _rates(by_speaker: SpeakerCounts, n_systems: int) -> Floats:
    """Error rates, (n_systems, n_speakers)."""
    rows = [[errors / n for errors, n in counts] for counts in by_speaker.values()]
    return np.array(rows, np.float64).reshape(-1, n_systems).T


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p of several tests, in their order; NaN stays NaN and takes no part."""
    known = sorted((value, at) for at, value in enumerate(p) if not math.isnan(value))
    adjusted, highest = [math.nan] * len(p), 0.0
    for rank, (value, at) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        adjusted[at] = highest
    return adjusted
