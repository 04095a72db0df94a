"""Whether outputs differ: intervals, paired differences, ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.engine.score import read_all
from pipeline.errors import UsageError
from pipeline.meta.in_memory import compared, letters
from pipeline.meta.intervals import BoardIntervals, Resampling
from pipeline.protocols import fields
from rescore.results import Result, again
from rescore.tables import Frame, of_rows

if TYPE_CHECKING:
    from pipeline.metrics.statistics.bootstrap import Method


@dataclass(frozen=True, repr=False)
class Comparison:
    """Systems on the same key, best first, and whether each pair of them differs."""

    board: BoardIntervals

    def __repr__(self) -> str:
        told = letters(self.board)
        rows = []
        for name in self.board.ranked:
            own, group = self.board.intervals[name], told[name]
            rows.append(f"{name} {own.value:.4g} [{own.low:.4g}, {own.high:.4g}]{f' ({group})' if group else ''}")
        return f"<Comparison {self.board.measure}: {', '.join(rows)}>"

    def _repr_html_(self) -> str:
        shown = [self.systems, self.pairs]
        return "".join(one.to_html(index=False) if hasattr(one, "to_html") else str(one) for one in shown)

    @property
    def systems(self) -> Frame:
        """A row for each system, best first: value, interval, units drawn, and letters; systems that share one are not
        told apart.
        """
        told = letters(self.board)
        names = dict.fromkeys([*self.board.ranked, *self.board.intervals])
        return of_rows(
            {
                "system": name,
                self.board.measure: own.value,
                "low": own.low,
                "high": own.high,
                f"n_{self.board.unit}": own.n_units,
                "letters": told[name],
                "reason": own.reason,
            }
            for name in names
            for own in (self.board.intervals[name],)
        )

    @property
    def pairs(self) -> Frame:
        """A row for each pair, the better system first: difference with its interval, p, p after Holm, and the test."""
        names = ("first", "second", "difference", "low", "high", "p", "p_holm", "test")
        return of_rows({name: getattr(one, name) for name in names} for one in self.board.comparisons)


def compare(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    measure: str = "",
    level: float = 0.95,
    method: Method = "bca",
    replicates: int = 1000,
    seed: int = 13,
) -> Comparison:
    """Whether outputs differ that were scored on the same key: paired on the units that the protocol draws.

    ``measure`` is the protocol's primary one unless given. p is that of the randomisation test where both means are
    over the same units, of MAPSSWE for speech-to-text, else of the paired bootstrap; ``p_holm`` is corrected for all
    pairs. Raises ``UsageError`` for results of other protocols, settings or keys, and for measures that are not drawn.

    ```python
    rescore.compare({"ours": ours, "baseline": baseline}, measure="atwv").pairs
    ```
    """
    named = dict(results) if isinstance(results, Mapping) else _named(results)
    if len(named) < 2:
        raise UsageError(f"{len(named)} result is nothing to compare (allowed: two or more).")
    first = next(iter(named.values()))
    for name, one in named.items():
        if (fields(one.protocol), _key(one)) != (fields(first.protocol), _key(first)):
            raise UsageError(f"{name} has another protocol, setting or key than the first. Score all in one way.")
    inputs = {name: {role: again(value) for role, value in one.inputs.items()} for name, one in named.items()}
    tables = {name: read_all(first.protocol, given)[0] for name, given in inputs.items()}
    how = Resampling(replicates, seed, level, method)
    return Comparison(compared(first.protocol, tables, measure or first.protocol.primary, how))


def _named(results: Sequence[Result]) -> dict[str, Result]:
    """Results by their names, with numbers where these are none or the same."""
    names = [one.name for one in results]
    return {
        name if name and names.count(name) == 1 else f"{name or 'system'}-{at}": one
        for at, (name, one) in enumerate(zip(names, results, strict=True), 1)
    }


def _key(result: Result) -> Any:
    """The organiser's inputs by what is in them."""
    outputs = (*result.protocol.family.outputs, "resources")
    return sorted((one.role, one.sha256) for one in result.scored.sources if one.role not in outputs)
