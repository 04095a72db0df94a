"""How sure the figures of outputs are that lie in no store, and which of them differ: in memory, as boards of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.engine.sampled import sample_of
from pipeline.engine.score import partials, survey
from pipeline.errors import UsageError
from pipeline.meta.intervals import BoardIntervals, Resampling, board_of, draw, family_tests, unit_of
from pipeline.metrics.measure import Scored
from pipeline.metrics.statistics.bootstrap import Interval, interval
from pipeline.metrics.statistics.resampling import Sample
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Protocol


@dataclass(frozen=True)
class OutputInMemory:
    """One output as its measures see it."""

    protocol: Protocol
    scored: Scored[Any]
    partial: Any
    trials: Any
    key: Any

    def sample(self, measure: str) -> Sample | str:
        """A measure as a function of how often each unit counts, or the reason why there is none."""
        return sample_of(self.protocol, self.scored, measure, lambda: (self.trials, self.key))


def opened(protocol: Protocol, tables: Mapping[str, Any]) -> OutputInMemory:
    """An output from tables by role. Raises ``UsageError`` where nothing of a protocol is drawn, ``InputError``."""
    family = protocol.family
    if family.can.whole is None:
        raise UsageError(f"{protocol.name} has no units to draw: its figures have no intervals.")
    reference = family.refer(protocol, tables)
    trials, _ = family.lay_out(protocol, tables, reference.timeline)
    about = survey(family, trials)
    partial = merge_tree(partials(family, protocol, trials, reference), family.zero())
    scored = family.can.whole(protocol, partial, reference.facts, about)
    return OutputInMemory(protocol, scored, partial, trials.whole(), reference.key)


def intervals(
    protocol: Protocol, tables: Mapping[str, Any], how: Resampling, measures: Sequence[str] = ()
) -> dict[str, Interval]:
    """The intervals of every figure that is drawn, or of ``measures``; ``reason`` says why one has none."""
    output, found = opened(protocol, tables), dict[str, Interval]()
    for measure in protocol.measures:
        if measure.resample is None or (measures and measure.name not in measures):
            continue
        sample = output.sample(measure.name)
        if isinstance(sample, str):
            found[measure.name] = Interval(float("nan"), method=how.method, reason=sample)
        else:
            found[measure.name] = interval(sample, draw(sample, how), level=how.level, method=how.method)
    return found


def compared(
    protocol: Protocol, outputs: Mapping[str, Mapping[str, Any]], measure: str, how: Resampling
) -> BoardIntervals:
    """The board of outputs by name, each with its tables by role: intervals, differences of pairs, ties.

    Raises ``UsageError`` for a measure that the protocol has not, or that is not drawn.
    """
    return board(protocol, {name: opened(protocol, tables) for name, tables in outputs.items()}, measure, how)


def board(protocol: Protocol, outputs: Mapping[str, OutputInMemory], measure: str, how: Resampling) -> BoardIntervals:
    """The board of outputs that were opened before; raises as ``compared``."""
    own = next((one for one in protocol.measures if one.name == measure), None)
    drawn = [one.name for one in protocol.measures if one.resample is not None]
    if own is None or own.resample is None:
        raise UsageError(f"{protocol.name} draws no {measure} (allowed: {', '.join(drawn)}).")
    has_tests = protocol.family.can.compare is not None and measure == protocol.primary
    parts = {name: one.partial for name, one in outputs.items()} if has_tests else {}
    return board_of(
        ("", ""),
        measure,
        {name: one.sample(measure) for name, one in outputs.items()},
        how,
        better=own.better,
        unit=unit_of(protocol),
        tests=family_tests(protocol, parts),
    )


def letters(board: BoardIntervals) -> dict[str, str]:
    """Letters by system: those that share one are not told apart."""
    runs = [run for run in board.ties if len(run) > 1]
    named = "abcdefghijklmnopqrstuvwxyz"
    return {
        system: " ".join(named[at % 26] * (1 + at // 26) for at, run in enumerate(runs) if system in run)
        for system in board.intervals
    }
