"""A place for nights: PostgreSQL, Prefect's server and worker upon it, our deployments, and somebody to notify."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import httpx

from bench.servers import PrefectServer
from pipeline.store.blobs import Store

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
WAIT_S = 300.0
EAGER = {
    "PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_FLUSH_INTERVAL": "0.5",
    "PREFECT_SERVER_SERVICES_SCHEDULER_RECENT_DEPLOYMENTS_LOOP_SECONDS": "1",
}
"""Settings of a server that looks more often than once in five seconds whether there is anything to do."""
T = TypeVar("T")


def until(found: Callable[[], T], what: str) -> T:
    """Ask again and again until something is found."""
    limit = time.monotonic() + WAIT_S
    while not (value := found()):
        assert time.monotonic() < limit, f"in vain: {what}"
        time.sleep(0.3)
    return value


def database() -> Path:
    """The SQLite file of the server that the tests share."""
    from prefect.settings import get_current_settings

    url = get_current_settings().server.database.connection_url
    assert url is not None
    return Path(url.get_secret_value().removeprefix("sqlite+aiosqlite:///"))


@dataclass
class Notices:
    """A receiver of notifications on loopback."""

    got: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def about(self, text: str) -> list[dict[str, Any]]:
        """Notices whose subject holds a text."""
        return [notice for notice in self.got if text in notice["subject"]]


@contextmanager
def notices() -> Iterator[Notices]:
    """A receiver that keeps every notice it gets."""
    kept = Notices()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        kept.url = f"http://127.0.0.1:{server.server_port}/notice"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


@dataclass(frozen=True)
class Nights:
    """What the tests of deployments share."""

    server: PrefectServer
    evaluation: Path
    store: Store
    notices: Notices
    environment: Mapping[str, str]
    """Of the worker and of every command."""

    def command(self, *arguments: str) -> str:
        """A command of the project's environment, run in the repository; what it printed."""
        done = subprocess.run(
            [BIN / arguments[0], *arguments[1:]],
            cwd=ROOT,
            env={**os.environ, **self.server.environment, **self.environment},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def api(self, path: str, **asked: Any) -> Any:
        """What the server answers to a POST."""
        answer = httpx.post(f"{self.server.environment['PREFECT_API_URL']}{path}", json=asked, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def start(self, deployment: str, **parameters: Any) -> None:
        """Have a deployment run now."""
        [found] = self.api("/deployments/filter", deployments={"name": {"any_": [deployment]}})
        self.api(f"/deployments/{found['id']}/create_flow_run", parameters=parameters, state={"type": "SCHEDULED"})

    def automate(self, *arguments: str) -> None:
        """``python -m flows.automations``, in this process."""
        from prefect.settings import PREFECT_API_URL, temporary_settings

        from flows import automations

        with temporary_settings({PREFECT_API_URL: self.server.environment["PREFECT_API_URL"]}):
            assert automations.main(arguments) == 0

    def runs(self, deployment: str) -> list[dict[str, Any]]:
        """Flow runs of a deployment that began, the first first."""
        asked = {"deployments": {"name": {"any_": [deployment]}}, "sort": "START_TIME_ASC"}
        return [run for run in self.api("/flow_runs/filter", **asked) if run["start_time"] is not None]

    def ended(self, deployment: str, state: str, number: int) -> dict[str, Any]:
        """The ``number``th of those runs of a deployment that ended so, once there is one."""

        def found() -> dict[str, Any] | None:
            matching = [run for run in self.runs(deployment) if run["state"]["name"] == state]
            return matching[number - 1] if len(matching) >= number else None

        return until(found, f"run {number} of {deployment} that is {state}")
