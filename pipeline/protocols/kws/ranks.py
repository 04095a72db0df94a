"""Scores ranked as text, as KWSEval ranks them for average precision: ledgers of ranks beside those of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.partials.ledger import Ledger
from pipeline.protocols.base import Protocol
from pipeline.protocols.kws.conditions import selected
from pipeline.terms import Selection
from pipeline.trials.schema import Trials

WHOLE = Selection("all", "all", np.nan, np.nan, np.nan)


def reader(protocol: Protocol, role: str) -> str | None:
    """The format that keeps the texts of scores, where the settings rank by them."""
    return "kwslist_texts" if role == "output" and protocol.settings.map_order == "text" else None


def by_text(trials: Trials) -> Trials | None:
    """The trials with the rank of each score's text for a score; None where numbers rank the same."""
    if trials.score_order is None:
        return None
    return replace(trials, score=trials.score_order.astype(np.float64))


def text_condition(condition: str) -> str:
    """The name in a ledger of a condition whose scores are ranks of texts."""
    return f"text:{condition}"


def ranked(ledger: Ledger, selection: Selection, queries: Sequence[str]) -> Ledger | None:
    """The trials of a selection under ranks of texts; None where numbers rank the same."""
    name = text_condition(selection.ledger)
    return selected(ledger, replace(selection, ledger=name), queries) if name in ledger.conditions else None
