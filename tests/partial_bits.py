"""A partial to the last bit, and as another process gets it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tie_order import TieOrder


def bits_of(partial: Any) -> bytes:
    """Equal for partials that are equal to the last bit, types of arrays included."""
    return b"\0".join(_parts(partial))


def sent(partial: Any) -> Any:
    """What another process gets of a partial."""
    return pickle.loads(pickle.dumps(partial))  # noqa: S301  # its own bytes


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, Outcomes):  # however many ledgers it is made of
        value = (value.ledger, value.tally)
    if isinstance(value, TieOrder):  # in whatever order its rows stand
        value = value.ranked
    if is_dataclass(value):
        yield type(value).__name__.encode()
        for entry in fields(value):
            yield from _parts(getattr(value, entry.name))
    elif isinstance(value, np.ndarray):
        yield from (value.dtype.str.encode(), repr(value.shape).encode(), value.tobytes())
    elif isinstance(value, Mapping):
        yield from _parts(tuple(value.items()))
    elif isinstance(value, tuple):
        yield b"(%d" % len(value)
        for part in value:
            yield from _parts(part)
    else:
        yield repr(value).encode()
