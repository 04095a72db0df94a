"""A real S3 server (SeaweedFS) on loopback: started once for the session, killed and restarted where a test says so."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import fsspec

KEY, SECRET = "rescore-test-key", "rescore-test-secret-9f2c"
WAIT_S = 60.0
_SERVICES = ("s3", "master", "volume", "filer", "admin")
_GRPC = 10_000
"""Every service takes this port above its own too."""
_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it stays over exec
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
"""Becomes a program that ends when the thread that started it does."""
_STARTER = ThreadPoolExecutor(1)
"""A thread that lasts as long as the process: the one that calls for a restart may not."""


def weed() -> Path:
    """Where the server's program is, or would be."""
    return Path(sys.executable).with_name("weed")


@dataclass
class S3Server:
    """The server and its data. ``environment`` is what a client needs to know."""

    folder: Path
    options: tuple[str, ...] = ()
    ports: Mapping[str, int] = field(default_factory=lambda: dict(zip(_SERVICES, _free_ports(), strict=True)))
    _process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.ports['s3']}"

    @property
    def environment(self) -> dict[str, str]:
        """Endpoint, region and credentials, as botocore reads them."""
        return environment(self.endpoint)

    @property
    def pid(self) -> int:
        """Of the running server."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What the server says."""
        return (self.folder / "weed.log").read_text(errors="replace")

    def start(self) -> None:
        """Start, or start again on the same data and ports; returns when buckets can be asked for."""
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        switches = {f"{name}.port": str(port) for name, port in self.ports.items()} | {
            "dir": str(data),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "s3.port.iceberg": "0",
            "s3.port.lance": "0",
            "s3.autoCreateBucket": "false",
            "admin.ui": "false",
            "webdav": "false",
            "master.telemetry": "false",
        }
        command = [str(weed()), "-logtostderr=true", "mini", *(f"-{name}={value}" for name, value in switches.items())]
        keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        with (self.folder / "weed.log").open("ab") as log:
            self._process = _STARTER.submit(
                subprocess.Popen,
                [sys.executable, "-c", _WITH_PARENT, str(os.getpid()), *command, *self.options],
                env={**os.environ, **keys},
                stdout=log,
                stderr=log,
                start_new_session=True,
            ).result()
        limit = time.monotonic() + WAIT_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"weed did not start: {self.log[-2000:]}")
            time.sleep(0.1)

    def stop(self, sign: int = signal.SIGTERM) -> None:
        """End the server; nothing happens where it does not run."""
        if self._process is not None:
            os.killpg(self._process.pid, sign)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End the server as a power cut would."""
        self.stop(signal.SIGKILL)

    def restart(self) -> None:
        """Kill it, and start it on what is on its disk."""
        self.kill()
        self.start()

    def bucket(self) -> str:
        """A new bucket's name."""
        name = f"test-{uuid4().hex[:12]}"
        self.client().call_s3("create_bucket", Bucket=name)
        return name

    def client(self) -> fsspec.AbstractFileSystem:
        """A client that goes straight to the server, whatever the environment says."""
        return fsspec.filesystem("s3", **self._options(), use_listings_cache=False)

    def _options(self) -> dict[str, object]:
        return {"key": KEY, "secret": SECRET, "endpoint_url": self.endpoint}

    def _answers(self) -> bool:
        """A bucket can be made: the last of its services to be ready."""
        config = {"retries": {"max_attempts": 0}, "connect_timeout": 1, "read_timeout": 2}
        probe = fsspec.filesystem("s3", **self._options(), config_kwargs=config, use_listings_cache=False)
        try:
            probe.call_s3("create_bucket", Bucket="ready")
        except FileExistsError:
            return True
        except Exception:  # noqa: BLE001 - while it starts it answers whatever it likes, or not at all
            return False
        return True


def environment(endpoint: str) -> dict[str, str]:
    """What a client of the test server at ``endpoint`` finds in its environment."""
    return {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[S3Server]:
    """A server for a while; ``options`` are further switches of ``weed mini``."""
    server = S3Server(folder, options)
    try:
        server.start()
        yield server
    finally:
        server.kill()  # nobody needs its data any more


def _free_ports() -> list[int]:
    """A port for each service, free together with the one that it takes above."""
    first = 11_000 + os.getpid() % 400 * 20
    for start in [*range(first, 21_000, 20), *range(11_000, first, 20)]:
        ports = range(start, start + len(_SERVICES))
        if all(_is_free(port) and _is_free(port + _GRPC) for port in ports):
            return list(ports)
    raise RuntimeError("no ports are free between 11000 and 21000")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
