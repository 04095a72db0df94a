"""Real servers on loopback, for tests and benches: PostgreSQL, and Prefect's server and worker upon it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

START_S = 180.0
"""How long a server may take on a busy machine."""
QUIET_SERVER = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_ENABLED": "false",
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
}


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def postgres_binaries() -> Path | None:
    """The folder of ``initdb`` and ``postgres``: of the highest version installed, or where PATH has them; or None."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: int(path.parent.name))
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


def _not_root() -> dict[str, str | int]:
    """Arguments of a process that PostgreSQL accepts: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    return {"user": next(name for name in ("postgres", "nobody") if name in names)}


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL with an empty database ``prefect``; yields its URL. What it kept is removed at the end."""
    binaries = postgres_binaries()
    if binaries is None:
        raise FileNotFoundError("PostgreSQL is not installed (apt-get install postgresql).")
    as_user, port = _not_root(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="rescore-postgres-"))
    if as_user:
        shutil.chown(folder, user=as_user["user"])
    data, log = folder / "data", folder / "log"
    options = {"cwd": folder, "stdin": subprocess.DEVNULL, **as_user}
    try:
        create = [binaries / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL, **options)
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200 -k {folder}"
        control = [binaries / "pg_ctl", "-D", data, "-l", log, "-w"]
        subprocess.run([*control, "-o", settings, "start"], check=True, stdout=subprocess.DEVNULL, **options)
        try:
            make = [binaries / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "prefect"]
            subprocess.run(make, check=True, **options)
            yield f"postgresql+asyncpg://postgres@127.0.0.1:{port}/prefect"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=False, stdout=subprocess.DEVNULL, **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class PrefectServer:
    """Prefect's server as a process of its own. ``environment`` is what clients and workers need to reach it."""

    home: Path
    database: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of the server, beside those that keep it quiet."""
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {"PREFECT_API_URL": f"http://127.0.0.1:{self.port}/api", "PREFECT_HOME": str(self.home)}

    @property
    def pid(self) -> int:
        """Of the server's process. Raises ``RuntimeError`` where it does not run."""
        if self._process is None:
            raise RuntimeError("the Prefect server does not run")
        return self._process.pid

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.home.mkdir(parents=True, exist_ok=True)
        own = {
            **QUIET_SERVER,
            **self.settings,
            "PREFECT_HOME": str(self.home),
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": self.database,
        }
        command = ["-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = _start(command, own, self.log)
        deadline = time.monotonic() + START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the Prefect server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.2)

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        if self._process is not None:
            _kill(self._process, signal.SIGKILL)
            self._process = None

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.environment['PREFECT_API_URL']}/health", timeout=2).is_success
        except httpx.HTTPError:
            return False


@contextmanager
def prefect_worker(server: PrefectServer, pool: str, environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """A process worker of a pool, which looks every second."""
    own = {**server.environment, **environment, "PREFECT_WORKER_QUERY_SECONDS": "1"}
    worker = _start(["-m", "prefect", "worker", "start", "--pool", pool, "--type", "process"], own, log)
    try:
        yield
    finally:
        _kill(worker, signal.SIGTERM)


def _start(arguments: list[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """A Python process in a session of its own, so that its children can be ended with it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    with log.open("ab") as stream:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _kill(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """End a process and its children: gently where asked, with force after half a minute."""
    if process.poll() is None and how is signal.SIGTERM:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
