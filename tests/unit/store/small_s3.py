"""As much of S3 as a store needs, on loopback: objects, listings, ranges and conditional writes, in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Bucket(ThreadingHTTPServer):
    """One bucket, ``/kept``. ``conflict`` is the answer to a conditional write that came second."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, bytes] = {}
        self.conflict = (412, "PreconditionFailed")
        self.refuse_all = False
        self.lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Bucket

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "ETag": '"1"', **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, status: int, code: str) -> None:
        self.answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/kept").removeprefix("/")

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            if self.server.refuse_all:
                self.fail(403, "AccessDenied")
            elif self.headers.get("If-None-Match") == "*" and self.key in self.server.objects:
                self.fail(*self.server.conflict)
            else:
                self.server.objects[self.key] = body
                self.answer(200)

    def do_DELETE(self) -> None:
        self.server.objects.pop(self.key, None)
        self.answer(204)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if self.server.refuse_all:
            self.fail(403, "AccessDenied")
        elif not self.key:
            self.list_bucket()
        elif self.key not in self.server.objects:
            self.fail(404, "NoSuchKey")
        elif "Range" in self.headers:
            body = self.server.objects[self.key]
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            end = min(int(last or len(body)), len(body) - 1)
            self.answer(206, body[int(first) : end + 1], {"Content-Range": f"bytes {first}-{end}/{len(body)}"})
        else:
            self.answer(200, self.server.objects[self.key], {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"})

    def list_bucket(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        keys, folders = [], set()
        for key in sorted(self.server.objects):
            if key.startswith(prefix):
                head, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
                if cut:
                    folders.add(prefix + head + cut)
                else:
                    keys.append(key)
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.server.objects[key])}</Size></Contents>" for key in keys
        )
        common = "".join(f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>" for f in sorted(folders))
        count = f"<KeyCount>{len(keys) + len(folders)}</KeyCount><IsTruncated>false</IsTruncated>"
        self.answer(200, f"<ListBucketResult><Name>kept</Name>{count}{contents}{common}</ListBucketResult>".encode())


@contextmanager
def serving() -> Iterator[Bucket]:
    with Bucket() as bucket:
        thread = threading.Thread(target=bucket.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield bucket
        finally:
            bucket.shutdown()
            thread.join()
