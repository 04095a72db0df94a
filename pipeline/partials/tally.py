"""Integer counts by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tally:
    """Named int counts that add up; a name that was never counted is 0, and zeros are not kept."""

    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", {name: n for name, n in sorted(self.counts.items()) if n})

    def __getitem__(self, name: str) -> int:
        return self.counts.get(name, 0)

    def __add__(self, other: Tally) -> Tally:
        return Tally({name: self[name] + other[name] for name in {*self.counts, *other.counts}})
