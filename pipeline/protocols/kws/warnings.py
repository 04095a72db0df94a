"""Warnings to a participant about an output that was scored: never an error, never silent."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pipeline.errors import Finding
from pipeline.metrics.kws import twv
from pipeline.metrics.kws.counts import decided_rows
from pipeline.metrics.kws.means import MORE_TARGETS_THAN_TRIALS
from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.protocols.kws.places import output_findings
from pipeline.terms import Facts
from pipeline.trials.joined import Pair

WHERE = "output"


UNSCORED = "They are kept and not scored."
"""What becomes of queries that the query list lacks."""


def warnings(tally: Tally, places: tuple[Pair, ...], ties: int, decisions: twv.Decisions) -> Iterator[Finding]:
    """All warnings of a scored cell but that of unknown queries, ``ties`` being the ``decision_ties`` of its scored
    queries and ``places`` the recordings and channels of the ECF.
    """
    for code, message in _ROWS.items():
        if tally[code]:
            yield Finding(code, f"{tally[code]} {message}", WHERE)
    yield from output_findings(tally, places)
    yield from none_accepted(decisions)
    if ties:
        yield Finding(
            "decision_ties",
            f"{ties} scores of a query carry both YES and NO: no threshold parts them, and where such detections "
            "compete for one occurrence the earlier, shorter, then the YES is taken.",
            WHERE,
        )
    if not decisions.consistent:
        yield Finding(
            "inconsistent_decisions",
            f"no single threshold gives these decisions (a NO scores {decisions.max_no}, a YES {decisions.min_yes}). "
            "Scored as submitted; the actual value may exceed the maximum.",
            WHERE,
        )


def none_accepted(decisions: twv.Decisions) -> Iterator[Finding]:
    """A warning where every decision is NO."""
    if math.isnan(decisions.min_yes) and not math.isnan(decisions.max_no):
        message = (
            "no detection says YES: the actual value is that of a system that accepts nothing. Check the decisions."
        )
        yield Finding("nothing_accepted", message, WHERE)


_ROWS = {
    "outside_ecf": "detections lie outside the ECF's excerpts and are not scored.",
    "identical": "detections repeat another one's query, place, begin and duration. Each is scored: one may be a hit, "
    "the others are false alarms.",
}


def crowded(ledger: Ledger, facts: Facts) -> Iterator[Finding]:
    """Queries, of a ledger of one condition, with more occurrences than trials."""
    n_trials = min(facts.n_trials, facts.n_trials_exact)
    names = [ledger.queries[code] for code in np.flatnonzero(ledger.n_true[0] > n_trials).tolist()]
    if names:
        shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
        message = (
            f"{len(names)} queries have more occurrences than the {n_trials:.10g} trials of each ({shown}): what "
            "divides by trials that are no target is undefined. Check the audio duration, trials_per_s and repeated "
            "blocks."
        )
        yield Finding(MORE_TARGETS_THAN_TRIALS, message, "rttm")


def decision_ties(ledger: Ledger) -> int:
    """Scores of one query, in a ledger of one condition, that were both accepted and rejected."""
    return sum(int(np.count_nonzero(yes & no)) for _, yes, no in decided_rows(ledger))
