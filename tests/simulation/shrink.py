"""A history that ends badly, made smaller: fewer events, fewer faults, and the same bad end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.simulation.history import Played, play
from tests.simulation.spec import Spec

MOST_TRIES = 300


def shrunk(played: Played, told: Callable[[str], None] = lambda _: None) -> Played:
    """The smallest history that was found with the same bad end."""
    assert played.bad is not None
    kind, best, tries = played.bad.kind, played, 0

    def fails(spec: Spec) -> bool:
        nonlocal best, tries
        tries += 1
        found = play(spec)
        if found.bad is None or found.bad.kind != kind:
            return False
        best = found
        return True

    fixed = replace(played.spec, only=dict(played.faults))
    fails(fixed)  # the faults of the seed by number: the same history, and now each can be left out
    is_smaller = True
    while is_smaller and tries < MOST_TRIES:
        is_smaller = False
        for candidate in _smaller(best.spec):
            if tries >= MOST_TRIES:
                break
            if fails(candidate):
                is_smaller = True
                told(f"{len(best.spec.events)} events, {len(best.spec.only or ())} faults")
                break
    return best


def _smaller(spec: Spec) -> list[Spec]:
    """A little less each: half of the faults, an event, an outage, a fault."""
    faults = dict(spec.only or {})
    numbers, half = sorted(faults), len(faults) // 2
    kept = [numbers[:half], numbers[half:]] if half > 1 else []
    fewer = [replace(spec, only={number: faults[number] for number in part}) for part in kept]
    fewer += [replace(spec, events=(*spec.events[:at], *spec.events[at + 1 :])) for at in range(len(spec.events))]
    fewer += [replace(spec, outages=())] if spec.outages else []
    fewer += [replace(spec, only={n: kind for n, kind in faults.items() if n != number}) for number in numbers]
    return fewer
