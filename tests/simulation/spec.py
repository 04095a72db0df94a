"""What happens in a history: drawn from its seed, and made smaller where it ends badly."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.simulation.faulty import KINDS

DAY_S, HOUR_S, MINUTE_S = 86_400.0, 3_600.0, 60.0
PASSING = ("busy", "drop", "lost", "slow", "late", "cut")
DEADLY = ("die_before", "die_after")
LYING = ("flipped", "short")


@dataclass(frozen=True)
class Event:
    """Something begins at a time: what, and how."""

    at_s: float
    what: str
    how: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        how = "".join(f" {name}={value}" for name, value in self.how.items())
        return f"{self.at_s:9.1f} s  {self.what}{how}"


@dataclass(frozen=True)
class Spec:
    """A history before it is played."""

    seed: int
    bucket: bool
    """Whether the store is reached as S3 is, with its patience; else every fault is the caller's."""
    parts: bool
    """Whether cells are many tasks, else one each."""
    rate: float
    kinds: tuple[str, ...]
    most_deaths: int
    outages: tuple[tuple[float, float], ...]
    events: tuple[Event, ...]
    only: Mapping[int, str] | None = None
    """The faults by number of request, where the history was made smaller."""


def drawn(seed: int) -> Spec:
    """The history of a seed."""
    chance = random.Random(f"history {seed}")
    kinds = [*chance.sample(PASSING, chance.randint(1, len(PASSING)))]
    if chance.random() < 0.5:
        kinds += DEADLY
    if chance.random() < 0.3:
        kinds += chance.sample(LYING, chance.randint(1, 2))
    theme = THEMES[chance.choice(tuple(THEMES))]
    if theme.is_lying and chance.random() < 0.7:
        kinds = [*LYING, *LYING, *DEADLY, *kinds[:1]]
    events, at_s = list[Event](), 0.0
    drawn_after = [None] * chance.randint(2, 8)
    for what in (*theme.first, *drawn_after):
        events.append(_event(chance, at_s, theme, what))
        at_s += chance.choice(theme.gaps_s) * chance.random()
    if not any(event.what in ("run", "watch") for event in events):
        events.append(Event(0.0, "run", {"here": False}))
    outages = ()
    if chance.random() < 0.15:
        first = at_s * chance.random()
        outages = ((first, first + chance.choice((30.0, 100.0, 400.0, 1200.0))),)
    return Spec(
        seed=seed,
        bucket=chance.random() < 0.6,
        parts=chance.random() < 0.2,
        rate=chance.choice((0.0, 0.003, 0.01, 0.03, 0.1)),
        kinds=tuple(kinds),
        most_deaths=chance.randint(1, 4),
        outages=outages,
        events=tuple(events),
    )


@dataclass(frozen=True)
class Theme:
    """What a history is mostly about: how often each event comes, and how far apart they are."""

    weights: Mapping[str, int]
    gaps_s: tuple[float, ...]
    is_lying: bool = False
    dying: float = 0.2
    """How many of its runs and collections end in the middle."""
    first: tuple[str, ...] = ()
    """What happens before anything else, and does not end in the middle by itself."""
    keeps: tuple[int | None, ...] = (None, None, 1, 2)
    """How many commits its collections keep."""


THEMES = {
    "anything": Theme(
        {"run": 6, "watch": 3, "gc": 5, "key": 3, "output": 2, "system": 2, "cost": 1, "rot": 1, "promote": 1},
        (0.0, 0.5, 5.0, 60.0, 900.0, HOUR_S, DAY_S + HOUR_S),
    ),
    "collections beside runs": Theme(
        {"run": 6, "watch": 1, "gc": 6, "key": 2, "cost": 1}, (0.0, 1.0, 3.0, 10.0, 900.0)
    ),
    "runs at once": Theme({"run": 5, "watch": 2, "key": 3, "system": 2, "promote": 1}, (0.0, 0.1, 1.0, 3.0)),
    "years": Theme({"run": 5, "watch": 2, "gc": 4, "key": 4, "cost": 2, "system": 1}, (60.0, 900.0, DAY_S + HOUR_S)),
    "collections cut off": Theme(
        {"run": 3, "gc": 6, "key": 1, "cost": 1},
        (60.0, 900.0, DAY_S + HOUR_S),
        dying=0.4,
        first=("run", "cost", "run", "key", "run"),
        keeps=(1, 1, 2),
    ),
    "damage": Theme({"run": 5, "watch": 1, "rot": 4, "key": 2, "gc": 1, "cost": 1}, (0.0, 1.0, 10.0, 900.0), True),
    "files that change": Theme({"run": 4, "watch": 2, "output": 4, "key": 3, "system": 2}, (0.0, 0.5, 2.0, 5.0)),
}


def _event(chance: random.Random, at_s: float, theme: Theme, first: str | None) -> Event:
    what = first or chance.choices(tuple(theme.weights), tuple(theme.weights.values()))[0]
    how: dict[str, object] = {}
    if what in ("run", "watch", "gc") and first is None and chance.random() < theme.dying:
        how["dies_at"] = chance.randint(1, 80)
    if what in ("run", "watch"):
        how["here"] = chance.random() < 0.4
    if what == "watch":
        how["publication"] = chance.choice(("open", "open", "staged"))
        how["rounds"] = chance.choice((1, 2, 3))
    if what == "gc":
        how["older_than_s"] = chance.choice((0.0, 0.0, 600.0, DAY_S))
        how["keep"] = chance.choice(theme.keeps)
    if what in ("key", "output", "system", "cost"):
        how["to"] = chance.randrange(3)
    return Event(at_s, what, how)


assert set(PASSING) | set(DEADLY) | set(LYING) == set(KINDS)
