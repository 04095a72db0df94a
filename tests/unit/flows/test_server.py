"""Prefect's server as a run sees it: there, starting, gone before it was ever asked."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Iterator

import pytest
from prefect._internal.concurrency.services import QueueService
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_LOGGING_INTERNAL_LEVEL,
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
    temporary_settings,
)

from flows import server
from flows.settings import QUIET
from pipeline.errors import PlatformError

SOON_S = 20.0


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server's place is one where nobody answers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}/api"
    monkeypatch.setattr(server, "LOOK_S", 0.05)
    with temporary_settings({PREFECT_API_URL: url}):
        yield


def is_lost_within(limit_s: float) -> bool:
    limit = time.monotonic() + limit_s
    while not server.is_lost() and time.monotonic() < limit:
        time.sleep(0.02)
    return server.is_lost()


@pytest.mark.usefixtures("nobody")
def test_a_server_that_began_a_flow_run_and_is_gone_before_it_is_first_asked_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server.attended(0.2, None):
        monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", "a-run")
        with server.attended(0.2, None):
            assert is_lost_within(SOON_S)


@pytest.mark.usefixtures("nobody")
def test_a_server_that_starts_is_not_lost() -> None:
    with server.attended(0.2, None):
        assert not is_lost_within(1.0)


class Ending:
    """An embedded server whose process ends while it starts; who started it waits on. Each look sees the next one."""

    def __init__(self, code: int) -> None:
        self.code, self.pids = code, itertools.count(1)

    def __call__(self) -> Ending:
        return self

    @property
    def server_process(self) -> Ending:
        return self

    @property
    def pid(self) -> int:
        return next(self.pids)

    def poll(self) -> int:
        return self.code

    def start(self) -> None:
        time.sleep(SOON_S)


@pytest.mark.parametrize("code", [1, -9, server.UNSTARTED])
def test_a_server_that_ends_while_it_starts_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr("prefect.server.api.server.SubprocessASGIServer", Ending(code))
    monkeypatch.setattr(server, "START_LOOK_S", 0.01)
    with (
        temporary_settings({PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: True}, restore_defaults={PREFECT_API_URL}),
        pytest.raises(PlatformError, match=f"ended while it started .exit {code};"),
    ):
        server.start_server()


class Refused(QueueService[str]):
    """A service of Prefect's whose server takes nothing."""

    async def _handle(self, item: str) -> None:
        raise ConnectionError(item)


@pytest.mark.usefixtures("nobody")
def test_events_that_a_lost_server_does_not_take_are_not_told_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    level = {PREFECT_LOGGING_INTERNAL_LEVEL: QUIET["PREFECT_LOGGING_INTERNAL_LEVEL"]}
    with temporary_settings(level), server.attended(60.0, None):
        service = Refused.instance()
        service.send("several kB of an event")
        service.drain()
    assert not any("several kB" in record.getMessage() for record in caplog.records)
