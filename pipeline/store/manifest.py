"""Commits: numbered references, each created exclusively, that make finished work visible.

``refs/<evaluation>/<n>.json``, n = 1, 2, … The highest number is current. A reference is never changed.
"""

from __future__ import annotations

from typing import Any

from pipeline.errors import DamageError
from pipeline.store import numbered
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name


def commit(store: Store, evaluation: str, payload: dict[str, Any]) -> int:
    """Make ``payload`` the current state of ``evaluation``; returns its number.

    Of writers racing for a number one gets it, the others take the next. ``payload`` must be JSON without NaN.
    """
    return numbered.append(store, _folder(evaluation), payload)


def latest(store: Store, evaluation: str) -> dict[str, Any] | None:
    """The payload last committed, None before the first; ``StoreError`` if it is damaged."""
    numbers = _numbers(store, evaluation)
    return _payload(store, evaluation, max(numbers)) if numbers else None


def history(store: Store, evaluation: str) -> dict[int, dict[str, Any]]:
    """Every payload committed by its number, oldest first; ``StoreError`` if one is damaged."""
    return {number: _payload(store, evaluation, number) for number in sorted(_numbers(store, evaluation))}


def sound_history(store: Store, evaluation: str) -> dict[int, dict[str, Any]]:
    """``history`` without the commits that are damaged: for looking, never for deciding what may be removed."""
    payloads = {}
    for number in sorted(_numbers(store, evaluation)):
        try:
            payloads[number] = _payload(store, evaluation, number)
        except DamageError:
            continue
    return payloads


def evaluations(store: Store) -> tuple[str, ...]:
    """The names of all evaluations with a commit, sorted."""
    return tuple(sorted({path.split("/")[1] for path in store.listing("refs")}))


def path_of(evaluation: str, number: int) -> str:
    """Where a commit lies."""
    return numbered.path_of(_folder(evaluation), number)


def _folder(evaluation: str) -> str:
    return f"refs/{checked_name(evaluation)}"


def _numbers(store: Store, evaluation: str) -> list[int]:
    return numbered.numbers(store, _folder(evaluation))


def _payload(store: Store, evaluation: str, number: int) -> dict[str, Any]:
    return numbered.read(store, _folder(evaluation), number)
