"""One run of an evaluation at a time, whichever deployments start them. Only runs of deployments wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from prefect import runtime
from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency

LEASE_S = 60.0
"""How long a run that was killed keeps others waiting. A run that goes on renews its lease."""
_HELD: ContextVar[bool] = ContextVar("held", default=False)
"""Whether the flow that this one runs within has the turn."""


@contextmanager
def turn(evaluation: str) -> Iterator[None]:
    """Wait until no other deployed run of the evaluation goes on, and keep others waiting while the context lasts.

    Prefect's limit of a deployment knows its own runs only; this one is a global limit by the evaluation's name. A run
    whose lease is lost with the server goes on: two at once do the same work twice, and no harm.
    """
    if not runtime.deployment.id or _HELD.get():  # Prefect says that flows within a deployed one are deployed too
        yield
        return
    name = f"rescore.{evaluation}"
    with get_client(sync_client=True) as client:
        client.upsert_global_concurrency_limit_by_name(name, 1)
    with concurrency(name, lease_duration=LEASE_S, raise_on_lease_renewal_failure=False):
        held = _HELD.set(True)
        try:
            yield
        finally:
            _HELD.reset(held)
