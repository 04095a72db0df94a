"""Prefect's server: an embedded one started where Ctrl-C does not reach it, and any one watched while a run needs it.

A server that is gone would keep a run's process for many minutes: Prefect's client tries each call again and again, and
so do the senders of its events, even when Python ends.
"""

from __future__ import annotations

import logging
import os
import signal
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import httpx
from prefect import runtime
from prefect.settings import get_current_settings

from flows.guard import deaf_to_interrupts
from pipeline.errors import PlatformError

LOOK_S = 3.0
"""How often a server is asked whether it is there."""
ANSWER_S = 5.0
END_S = 20.0
"""How long a run whose server is gone, or that is told to end, may take for it."""
START_LOOK_S = 0.2
START_TRIES = 3
UNSTARTED = 3
"""Exit code of a server that cannot begin to serve, of which Prefect starts another, without end."""
TERMINATED = 128 + signal.SIGTERM


@dataclass
class _ServerState:
    """The state of this process's server."""

    lost: Event = field(default_factory=Event)
    answered: Event = field(default_factory=Event)
    """It was there once: until then it may be starting."""
    is_watched: bool = False
    code: int = 3
    """With what the process ends that does not end by itself."""
    leave: Callable[[int], object] | None = None
    """Ends the process, where nothing but a run lives in it."""
    clients: list[Any] = field(default_factory=list)
    """Settings of Prefect's clients that are to stop trying."""


_SERVER = _ServerState()


def start_server() -> None:
    """Start the server that Prefect would start once it needs one; nothing happens where another one is named.

    A terminal sends Ctrl-C to all processes of a run. A server that ended at once would leave the run to tell it of
    the end, with half a minute of attempts. It ends when the run's process does, as one that Prefect started. One
    that does not answer in time is left to Prefect, which tries again and says why. Raises ``PlatformError`` where its
    process ends while it starts: Prefect would wait for it all the same, for minutes, and then once more.
    """
    settings = get_current_settings()
    if settings.api.url or not settings.server.ephemeral.enabled:
        return
    from prefect.server.api.server import SubprocessASGIServer

    server, pids = SubprocessASGIServer(), set[int]()
    thread = Thread(target=_start, args=(server,), name="rescore-server", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(START_LOOK_S)  # unlike the thread, who waits can be interrupted
        if (process := server.server_process) is None:
            continue
        pids.add(process.pid)
        if thread.is_alive() and (process.poll() not in (None, UNSTARTED) or len(pids) > START_TRIES):
            raise PlatformError(
                f"Prefect's server ended while it started (exit {process.poll()}; what it wrote is above). "
                "Mend that, or set PREFECT_API_URL to a server that runs, and run again; what is done is reused."
            )


def _start(server: Any) -> None:
    with deaf_to_interrupts(), suppress(RuntimeError, OSError, httpx.HTTPError):
        server.start()


def is_lost() -> bool:
    """Whether the server that this process used is gone, and has not come back for a while."""
    return _SERVER.lost.is_set()


def succeeded() -> None:
    """The run is published: a process that does not end by itself ends well."""
    _SERVER.code = 0


@contextmanager
def attended(patience_s: float, leave: Callable[[int], object] | None) -> Iterator[None]:
    """While the context lasts, look whether the server answers; one that has not for ``patience_s`` is lost.

    Then no call is tried again, and ``leave``, where it is given, ends the process with its exit code, should it not
    have ended by itself soon. Within another such context nothing happens, but that calls made here are known, and
    that a server that has begun a flow run was there: it may be gone before it is first asked.
    """
    if not _SERVER.is_watched:
        _SERVER.answered.clear()
    if runtime.flow_run.id:
        _SERVER.answered.set()
    _SERVER.clients.append(get_current_settings().client)
    if _SERVER.is_watched:
        yield
        return
    for name in ("EventsWorker", "APILogWorker"):  # each event that is not taken would be told in full
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _SERVER.lost.clear()
    _SERVER.is_watched, _SERVER.code, _SERVER.leave, over = True, 3, leave, Event()
    Thread(target=_watch, args=(_url(), patience_s, leave, over), name="rescore-watch", daemon=True).start()
    retries = _SERVER.clients[0].max_retries
    try:
        yield
    finally:
        over.set()
        _SERVER.is_watched, _SERVER.leave = False, None
        for client in _SERVER.clients:
            client.max_retries = retries
        _SERVER.clients.clear()


@contextmanager
def ending() -> Iterator[None]:
    """While the context lasts, SIGTERM ends a run's own process within ``END_S``, whatever Prefect makes of it."""
    leave = _SERVER.leave
    if leave is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: Any) -> None:
        Thread(target=_leave_later, args=(leave, lambda: TERMINATED), name="rescore-end", daemon=True).start()
        signal.signal(number, before)
        if callable(before):
            before(number, frame)
        else:
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, before)


def _url() -> str:
    """Where the server is."""
    if url := get_current_settings().api.url:
        return str(url)
    from prefect.server.api.server import SubprocessASGIServer

    return str(SubprocessASGIServer().api_url)


def _watch(url: str, patience_s: float, leave: Callable[[int], object] | None, over: Event) -> None:
    """Ask until the context is over or the server lost: refused for so long, or silent for twice as long."""
    since_s = time.monotonic()
    with httpx.Client(verify=_verified(), timeout=ANSWER_S) as client:
        while not over.wait(LOOK_S):
            is_refused = False
            try:
                client.get(f"{url}/health")
            except httpx.ConnectError:
                is_refused = True
            except httpx.HTTPError:
                pass
            else:
                since_s = time.monotonic()
                _SERVER.answered.set()
            if _SERVER.answered.is_set() and time.monotonic() - since_s >= (
                patience_s if is_refused else 2 * patience_s
            ):
                break
        else:
            return
    for known in _SERVER.clients:
        known.max_retries = 0
    _SERVER.lost.set()
    if leave is not None:
        _leave_later(leave, lambda: _SERVER.code)


def _leave_later(leave: Callable[[int], object], code: Callable[[], int]) -> None:
    time.sleep(END_S)
    if code() == 3:
        sys.stderr.write("rescore: Prefect's server is gone. Start it and run again; what is done is reused.\n")
    leave(code())


def _verified() -> ssl.SSLContext | bool:
    """How the server's certificate is verified, as Prefect's client does."""
    api = get_current_settings().api
    if api.tls_insecure_skip_verify:
        return False
    return ssl.create_default_context(cafile=api.ssl_cert_file) if api.ssl_cert_file else True
