"""Outcomes of single trials with their reasons: the parts that every family's account of them is made of.

Nothing is decided here: outcomes are the aligners' own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

RULES: Mapping[str, str] = {
    "target_yes": "the key has it and the system said YES: a hit",
    "target_no": "the key has it and the system said NO: a miss; its score counts all the same",
    "nontarget_yes": "the key does not have it and the system said YES: a false alarm",
    "nontarget_no": "the key does not have it and the system said NO",
    "no_score": "the output has no row for it: it takes the default score (setting censor) and counts as NO",
    "no_targets": "the query has no target: none of its trials enters a figure",
    "unlisted": "the list of queries does not have it: it is not scored",
    "not_submitted": "the system did not process the event: nothing of it is scored",
    "missing_refused": "the output has no row for it: such a submission is refused (missing_trials)",
    "missing_dropped": "the output has no row for it: it is left out of every figure (missing_trials=drop)",
    "missing_missed": "the output has no row for it: a target counts as a miss (missing_trials=miss)",
    "unkeyed": "the key does not name it: unkeyed_trials says what it counts as",
    "left_out": "it is not among the trials that are scored",
    "largest": "the class with the largest log-likelihood is decided (flat prior; of equal ones the first)",
    "no_class": "its label is of no class of this task: it enters no figure",
    "cheapest": "of all alignments the cheapest; where costs tie a substitution or match wins, then an insertion "
    "unless a deletion is cheaper",
    "segment_ignored": "the reference marks the segment as not to be scored: its words count nowhere",
    "segment_untimed": "the segment has no times: it is not scored",
}
"""Every rule that can decide, in words."""
OUTCOMES: Mapping[tuple[bool, bool], tuple[str, str]] = {
    (True, True): ("CORR", "target_yes"),
    (True, False): ("MISS", "target_no"),
    (False, True): ("FA", "nontarget_yes"),
    (False, False): ("CORR!DET", "nontarget_no"),
}
"""Outcome and rule by whether the trial is a target and whether the system said YES."""
UNSCORED = "not scored"


@dataclass(frozen=True)
class Decided:
    """One trial, what became of it and why."""

    trial: str
    """Its name, such as a document, a clip, a segment."""
    outcome: str
    rule: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """The grounds of the decision: scores, threshold, label, steps."""
    file: str = ""
    """Where a recording is named: that, else the trial itself."""
    begin_s: float = math.nan
    end_s: float = math.nan
    """Seconds in the recording; NaN where times play no part."""

    @property
    def why(self) -> str:
        """The rule in words."""
        return RULES[self.rule]


def _known_to_either(reference: Any, trials: Any, _key: Any) -> tuple[str, ...]:
    return (*reference.facts.queries, *trials.queries)


def _itself(_reference: Any, name: str) -> tuple[str, ...]:
    return (name,)


@dataclass(frozen=True)
class Dispute:
    """How a family explains single trials."""

    rows: Callable[..., Iterable[Any]]
    """Protocol, trials and key of a tile, reference, and what is asked for → its trials, ``Decided`` or as these."""
    asked: str = "query"
    """What is asked for, in a word."""
    known: Callable[[Any, Any, Any], tuple[str, ...]] = _known_to_either
    """Reference, trials and key of a tile → all that may be asked for there."""
    units: Callable[[Any, str], Iterable[str]] = _itself
    """Reference and what is asked for → the names whose buckets have its trials."""


def yes_or_no(decision: bool) -> str:
    """A decision in the word of the formats."""
    return "YES" if decision else "NO"
