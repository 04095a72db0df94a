"""A cluster of a run, as the run knows it: where its scheduler is, and what to do where its workers are gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nothing() -> None:
    """There is nothing to do about it from here."""


@dataclass(frozen=True)
class Cluster:
    """A cluster as flows know it, whatever its kind."""

    scheduler: str
    """The scheduler's address."""
    patience_s: float
    """How long it may be without any worker before new ones are started, or it is given up."""
    mend: str
    """What a person does about it where that is in vain."""
    tries: int = 0
    """How often new workers are started before it is given up."""
    tend: Callable[[], None] = _nothing
    """Called every second or so: replaces single workers that will not come back."""
    renew: Callable[[], None] = _nothing
    """Starts all workers again."""
    dashboard: str = ""
    """URL of Dask's pages, where there are any that we know of."""
