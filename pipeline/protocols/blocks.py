"""Units of the rows beside figures, family by family: queries, events, speakers, languages."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.metrics.best import Better
from pipeline.metrics.label import Label


@dataclass(frozen=True)
class Blocks:
    """The unit of the rows beside a cell's figures, and which of their columns people look for."""

    one: str
    several: str
    mapped: str
    """The column that the map of systems × units shows."""
    better: Better
    label: Label
    """Its name as typeset."""
    size: str
    """The column that says how much of a unit there is in the key."""
    usual: tuple[str, ...]
    """Columns that are told of every unit however many there are."""


QUERY_BLOCKS = Blocks(
    "query",
    "queries",
    mapped="twv",
    better="higher",
    label=Label("TWV"),
    size="n_target",
    usual=("n_target", "n_hit", "n_miss", "n_fa", "p_miss", "p_fa", "twv"),
)
EVENT_BLOCKS = Blocks(
    "event",
    "events",
    mapped="ndc",
    better="lower",
    label=Label("NDC", note="diagnostic"),
    size="n_target",
    usual=("n_target", "n_hit", "n_miss", "n_fa", "p_md", "p_fa", "ndc", "ap"),
)
SPEAKER_BLOCKS = Blocks(
    "speaker",
    "speakers",
    mapped="wer",
    better="lower",
    label=Label("WER"),
    size="n_ref",
    usual=("n_ref", "n_corr", "n_sub", "n_del", "n_ins", "wer"),
)
LANGUAGE_BLOCKS = Blocks(
    "language",
    "languages",
    mapped="c_log",
    better="lower",
    label=Label("C", "log"),
    size="n_segments",
    usual=("p_miss", "p_fa", "c_log"),
)
