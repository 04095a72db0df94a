"""Editions: by which rules and in which form an object was made. They are part of its name, so that a raised one
makes everything again that was made by it and after it.

Beside these there is one more: ``Protocol.edition``, raised when a figure of the protocol changes for whatever reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from pipeline import protocols
from pipeline.protocols.base import Protocol
from pipeline.store.address import Canonical, address

Stage = Literal["reading", "aligning", "figures"]
EDITIONS: dict[Stage, int] = {"reading": 4, "aligning": 2, "figures": 2}
"""The stages in their order, each with its edition: raised when the stage makes something else of the same, or when
that is stored in another form. *Reading* makes tables, references and trials; *aligning* labels; *figures* counts
them, and makes results and what is drawn from them."""


def named(stage: Stage, kind: str, protocol: Protocol, /, **parts: Any) -> str:
    """The address of what a stage makes of ``parts`` for a protocol.

    It holds the editions of the stage and of all before it, and those of all protocols that share trials.
    """
    return naming(stage, kind, protocol)(**parts)


def naming(stage: Stage, kind: str, protocol: Protocol, /, **shared: Any) -> Callable[..., str]:
    """``named`` of parts of which some are ``shared`` by many addresses: of the others, the address."""
    stages = list(EDITIONS)
    made_by = {name: EDITIONS[name] for name in stages[: stages.index(stage) + 1]}
    shared["editions"] = {**made_by, "protocols": protocols.editions(protocol)}
    return partial(address, kind, **{name: Canonical.of(part) for name, part in shared.items()})
