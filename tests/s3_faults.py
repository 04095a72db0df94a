"""A proxy between client and S3 server that spoils what a test says, and remembers what was asked."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Fault = Callable[[str, str], str | None]
"""(method, path with query) → what happens: a key of ``ANSWERS``, or one of ``BREAKS``; None lets it through."""

ANSWERS = {
    "SlowDown": 503,
    "InternalError": 500,
    "AccessDenied": 403,
    "XMinioStorageFull": 507,
    "RequestTimeTooSkewed": 403,
    "NoSuchKey": 404,
}
BREAKS = ("drop", "lose", "cut", "stall")
"""The connection closes before the server hears; after it did; amid its answer; after a silence."""
STALL_S = 30.0
KINDS = ("get", "range get", "head", "put", "list", "post", "delete")
"""Kinds of requests, as ``kind_of`` names them."""
_NOT_FORWARDED = frozenset({"connection", "expect", "keep-alive", "transfer-encoding"})


class FaultProxy(ThreadingHTTPServer):
    """``fault`` may be set at any time. ``seen`` is every request that came, as (method, path); ``kinds`` counts them.

    With ``delay_s`` every request is forwarded so much later, as a network far away would.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream)
        self.fault: Fault | None = None
        self.delay_s = 0.0
        self.seen: list[tuple[str, str]] = []
        self.kinds: Counter[str] = Counter()
        self.spoiled: Counter[str] = Counter()
        self.closing = threading.Event()

    @property
    def endpoint(self) -> str:
        """The URL that clients are given."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_args: object) -> None:
        """A connection broke, which is what this is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultProxy

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path))
        self.server.kinds[kind_of(self.command, self.path, ranged="Range" in self.headers)] += 1
        time.sleep(self.server.delay_s)
        fault = self.server.fault(self.command, self.path) if self.server.fault is not None else None
        if fault is not None:
            self.server.spoiled[fault] += 1
        if fault in ANSWERS:
            text = f"<Error><Code>{fault}</Code><Message>injected</Message></Error>".encode()
            self._answer(ANSWERS[fault], {"Content-Type": "application/xml", "Content-Length": str(len(text))}, text)
        elif fault in ("drop", "stall"):
            if fault == "stall":
                self.server.closing.wait(STALL_S)
            self.close_connection = True
        else:
            self._forward(body, fault)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _any  # noqa: N815 - http.server's names

    def _forward(self, body: bytes, fault: str | None) -> None:
        connection = http.client.HTTPConnection(self.server.upstream.netloc, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in _NOT_FORWARDED:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # the server is gone: so is the client's connection
            return
        finally:
            connection.close()
        if fault == "lose":
            self.close_connection = True
            return
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _NOT_FORWARDED}
        if self.command != "HEAD":
            headers["Content-Length"] = str(len(data))
        if fault == "cut" and data:
            data, self.close_connection = data[: len(data) // 2], True
        self._answer(answer.status, headers, data)

    def _answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        with suppress(OSError):
            self.wfile.flush()


@contextmanager
def spoiling(upstream: str) -> Iterator[FaultProxy]:
    """A proxy for a while."""
    with FaultProxy(upstream) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.closing.set()
            proxy.shutdown()
            thread.join()


def kind_of(method: str, path: str, *, ranged: bool) -> str:
    """What a request is for, one of ``KINDS``: a GET is of an object, of a part of one, or lists a folder."""
    if method == "GET":
        return "list" if "list-type=" in path else "range get" if ranged else "get"
    return method.lower()


def storm(seed: int, seconds: float, share: float, kinds: tuple[str, ...]) -> Fault:
    """A share of all requests is spoiled, each in one of some ways, from the first request on for so long."""
    chance, lock, began = random.Random(seed), threading.Lock(), list[float]()

    def fault(_method: str, _path: str) -> str | None:
        with lock:
            began.append(time.monotonic())
            if began[-1] - began[0] > seconds or chance.random() >= share:
                return None
            return chance.choice(kinds)

    return fault


def after(n_requests: int, kind: str, method: str = "", path: str = "") -> Fault:
    """Everything is spoiled once so many requests (of a method, with a text in their path) have come."""
    lock, seen = threading.Lock(), [0]

    def fault(asked: str, where: str) -> str | None:
        with lock:
            seen[0] += method in ("", asked) and path in where
            return kind if seen[0] > n_requests else None

    return fault


def first(n_requests: int, kind: str, method: str = "", path: str = "") -> Fault:
    """The first requests (of a method, with a text in their path) are spoiled."""
    lock, seen = threading.Lock(), [0]

    def fault(asked: str, where: str) -> str | None:
        if method not in ("", asked) or path not in where:
            return None
        with lock:
            seen[0] += 1
            return kind if seen[0] <= n_requests else None

    return fault
