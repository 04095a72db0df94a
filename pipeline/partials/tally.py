"""Integer counts by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True)
class Tally:
    """Named int counts that add up; a name that was never counted is 0, and zeros are not kept."""

    kind: ClassVar[str] = "tally/1"

    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", {name: n for name, n in sorted(self.counts.items()) if n})

    def __getitem__(self, name: str) -> int:
        return self.counts.get(name, 0)

    def __add__(self, other: Tally) -> Tally:
        return Tally({name: self[name] + other[name] for name in {*self.counts, *other.counts}})

    def to_columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Names and counts as columns."""
        return {"name": tuple(self.counts), "count": np.array(list(self.counts.values()), np.int64)}, {}

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], _meta: Mapping[str, Any]) -> Tally:
        """The inverse of ``to_columns``."""
        return cls(dict(zip(columns["name"], columns["count"].tolist(), strict=True)))
