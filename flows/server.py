"""Prefect's embedded server, started where Ctrl-C does not reach it."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

import httpx
from prefect.settings import get_current_settings

from flows.guard import deaf_to_interrupts


def start_server() -> None:
    """Start the server that Prefect would start once it needs one; nothing happens where another one is named.

    A terminal sends Ctrl-C to all processes of a run. A server that ended at once would leave the run to tell it of
    the end, with half a minute of attempts. It ends when the run's process does, as one that Prefect started. One
    that does not start is left to Prefect, which tries again and says why.
    """
    settings = get_current_settings()
    if settings.api.url or not settings.server.ephemeral.enabled:
        return
    thread = Thread(target=_start, name="rescore-server", daemon=True)
    thread.start()
    thread.join()  # unlike the thread, who waits can be interrupted


def _start() -> None:
    from prefect.server.api.server import SubprocessASGIServer

    with deaf_to_interrupts(), suppress(RuntimeError, OSError, httpx.HTTPError):
        SubprocessASGIServer().start()
