"""A bucket through s3fs: few requests, patience with a bound, and creation that knows its own.

Endpoint, region and credentials come from the environment (``AWS_…``) or from fsspec's configuration and are never
part of a URL. One file system serves the process; it keeps no listings, which would hide what others write.
"""

from __future__ import annotations

import io
import logging
import os
import random
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO, TypeVar, cast
from uuid import uuid4

import fsspec
from fsspec.asyn import sync

from pipeline.errors import StoreError, UsageError
from pipeline.store import faults
from pipeline.store.entries import Entry

T = TypeVar("T")

SCHEMES = ("s3", "s3a")
PATIENCE_S = 120.0
"""How long an operation is tried again (``RESCORE_S3_PATIENCE_S``); the try that is under way then is the last."""
TIMEOUT_S = 20.0
"""How long a connection may be silent (``RESCORE_S3_TIMEOUT_S``)."""
CONNECT_S = 5.0
UNKNOWN_PATIENCE_S = 10.0
"""Patience with a place that never answered this process: more likely a wrong address than an outage."""
PART_BYTES = 16 << 20
"""Objects of twice this size and more go in parts of it, and appear when the last has come."""

_READ_BYTES = 8 << 20
_WORTH_A_PAGE = 8
"""Questions for one object each that a page of a listing is worth, which takes a server longer."""
_ASKED_AT_ONCE = 16
_LONGEST_WAIT_S = 8.0
_TELL_AFTER_S = 5.0
_WRITER = "rescore-writer"
_CONNECTIONS = 32
_LOST_RACE = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})
"""S3's answers to a conditional write that came second."""
_MISSING = frozenset({"NoSuchKey", "404"})
_BEYOND = frozenset({"InvalidRange", "416"})
"""S3's answers where an object ends before a range begins."""
_LOG = logging.getLogger("rescore")
_ANSWERED: set[int] = set()
"""Processes in which S3 has answered."""


def is_s3(url: str) -> bool:
    """Whether ``url`` names a bucket or something in one: no chain of file systems, no version of an object."""
    return url.partition("://")[0] in SCHEMES and "::" not in url and "?" not in url


def file_system() -> Any:
    """The process's one S3 file system (fsspec starts anew after a fork). Raises ``UsageError`` for bad settings."""
    patience_s()
    timeout_s = _seconds("RESCORE_S3_TIMEOUT_S", TIMEOUT_S)
    own = {
        "connect_timeout": min(CONNECT_S, timeout_s),
        "read_timeout": timeout_s,
        "max_pool_connections": _CONNECTIONS,
        "retries": {"total_max_attempts": 1, "mode": "standard"},
    }
    # `patiently` tries again, and nobody else: three layers of tries would multiply.
    configured = fsspec.config.conf.get("s3", {}).get("config_kwargs", {})
    fs = fsspec.filesystem("s3", use_listings_cache=False, config_kwargs={**own, **configured})
    fs.retries = 1
    return fs


def patience_s() -> float:
    """How long an operation is tried again."""
    return _seconds("RESCORE_S3_PATIENCE_S", PATIENCE_S)


def patiently(call: Callable[[], T]) -> T:
    """The value of ``call``, tried again with growing pauses while its failure may pass; raises its last failure."""
    began, tries = time.monotonic(), 0
    limit_s, told = patience_s(), False
    while True:
        try:
            found = call()
        except Exception as error:
            if faults.code_of(error):
                _ANSWERED.add(os.getpid())
            elapsed_s = time.monotonic() - began
            unknown = faults.is_unreached(error) and os.getpid() not in _ANSWERED
            if not faults.is_passing(error) or elapsed_s >= (min(limit_s, UNKNOWN_PATIENCE_S) if unknown else limit_s):
                raise
            if elapsed_s >= _TELL_AFTER_S and not told:
                told = True
                _LOG.warning(
                    "The store does not answer: %s; trying again for %.0f s in all", faults.told(error), limit_s
                )
        else:
            _ANSWERED.add(os.getpid())
            return found
        # Clients that were thrown out together should not come back together. No figure depends on it.
        pause_s = min(_LONGEST_WAIT_S, 0.1 * 2.0**tries) * random.uniform(0.5, 1.0)  # noqa: S311
        time.sleep(min(pause_s, max(limit_s - elapsed_s, 0.0)))
        tries += 1


class Bucket:
    """A folder of a bucket. Paths are checked by the caller."""

    def __init__(self, url: str) -> None:
        self._fs = file_system()
        bucket, _, prefix = url.partition("://")[2].partition("/")
        self._bucket, self._prefix = bucket, f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""

    def put(self, path: str, data: bytes) -> None:
        """Write an object as a whole."""
        patiently(lambda: self._fs.pipe_file(self._at(path), data, chunksize=PART_BYTES))

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one.

        Every call signs what it writes: a try whose answer was lost on the way finds its own signature later.
        """
        writer = uuid4().hex

        def attempt() -> bool:
            try:
                self._fs.pipe_file(
                    self._at(path), data, chunksize=PART_BYTES, mode="create", Metadata={_WRITER: writer}
                )
            except OSError as error:
                if faults.code_of(error) not in _LOST_RACE:
                    raise
                return self._writer(path) == writer
            return True

        return patiently(attempt)

    def get(self, path: str) -> bytes:
        """The bytes of an object, with one request."""
        return cast(bytes, patiently(lambda: self._fs.cat_file(self._at(path), max_concurrency=1)))

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        """Bytes ``begin`` up to ``end`` (exclusive) of an object, with one request."""
        try:
            found = patiently(lambda: self._fs.cat_file(self._at(path), start=begin, end=end, max_concurrency=1))
        except OSError as error:
            if faults.code_of(error) in _BEYOND:
                return b""
            raise
        return cast(bytes, found)

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        """The last ``n_bytes`` of an object, all of one that has fewer, with one request."""
        return cast(bytes, patiently(lambda: sync(self._fs.loop, self._tail, path, n_bytes)))

    async def _tail(self, path: str, n_bytes: int) -> bytes:
        key = f"{self._prefix}{path}"
        found = await self._fs._call_s3("get_object", Bucket=self._bucket, Key=key, Range=f"bytes=-{n_bytes}")
        async with found["Body"] as body:
            return cast(bytes, await body.read())

    def exists(self, path: str) -> bool:
        """Whether there is an object, with one request."""
        try:
            patiently(lambda: self._head(path))
        except OSError as error:
            if faults.code_of(error) in _MISSING:
                return False
            raise
        return True

    def present(self, paths: Collection[str]) -> set[str]:
        """Those paths at which there is an object: by listing as far as that takes fewer requests, else one by one."""
        found, rest, folders = set[str](), list[str](), dict[str, list[str]]()
        for path in paths:
            folders.setdefault(path.rpartition("/")[0], []).append(path)
        for folder, own in folders.items():
            listed, is_whole = self._listed(folder, len(own) // _WORTH_A_PAGE)
            found.update(listed)
            rest += [path for path in own if not is_whole and path > max(listed, default="")]
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            found.update(path for path, there in zip(rest, pool.map(self.exists, rest), strict=True) if there)
        return found.intersection(paths)

    def _listed(self, folder: str, n_pages: int) -> tuple[list[str], bool]:
        """Paths below a folder in their order, of so many pages, and whether these are all."""
        listed, is_whole = list[str](), False
        for page, is_whole in islice(self._pages(folder), n_pages):  # noqa: B007 - of the last page
            listed += [entry.path for entry in page]
        return listed, is_whole

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Every object below the folder ``prefix``, a thousand a request."""
        for page, _ in self._pages(prefix):
            yield from page

    def _pages(self, prefix: str) -> Iterator[tuple[list[Entry], bool]]:
        """Entries below a folder, and whether no more follow."""
        asked: dict[str, Any] = {
            "Bucket": self._bucket,
            "Prefix": f"{self._prefix}{prefix}/" if prefix else self._prefix,
        }
        while True:
            page = patiently(lambda: self._fs.call_s3("list_objects_v2", **asked))
            yield [self._entry(found) for found in page.get("Contents", ())], not page.get("IsTruncated")
            if not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def _entry(self, found: dict[str, Any]) -> Entry:
        when: datetime = found["LastModified"]
        return Entry(found["Key"].removeprefix(self._prefix), int(found["Size"]), when.timestamp())

    def remove(self, path: str) -> None:
        """Remove an object; nothing happens if there is none."""
        patiently(lambda: self._fs.rm_file(self._at(path)))

    def _at(self, path: str) -> str:
        return f"{self._bucket}/{self._prefix}{path}"

    def _head(self, path: str) -> Any:
        return self._fs.call_s3("head_object", Bucket=self._bucket, Key=f"{self._prefix}{path}")

    def _writer(self, path: str) -> str:
        try:
            return str(self._head(path)["Metadata"].get(_WRITER, ""))
        except OSError as error:
            if faults.code_of(error) in _MISSING:  # taken away since, or refused for a race that nobody won
                raise faults.TryAgainError(f"{path}: refused as being there, and is not") from error
            raise


def open_file(url: str) -> BinaryIO:
    """An object as a binary stream that reads ahead. Raises ``FileNotFoundError`` where there is none."""
    fs = file_system()
    path = url.partition("://")[2]
    bucket, _, key = path.partition("/")
    if not bucket or not key:
        raise FileNotFoundError(url)
    try:
        size = patiently(lambda: fs.call_s3("head_object", Bucket=bucket, Key=key))["ContentLength"]
    except OSError as error:
        if faults.code_of(error) in _MISSING:
            # An answer to HEAD does not say which of the two is missing.
            patiently(lambda: fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1))
        raise
    return io.BufferedReader(_Object(fs, f"{bucket}/{key}", int(size)), _READ_BYTES)


class _Object(io.RawIOBase):
    """An object read in ranges, each with the patience of an operation."""

    def __init__(self, fs: Any, path: str, n_bytes: int) -> None:
        self._fs, self._path, self._n_bytes, self._at = fs, path, n_bytes, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._n_bytes}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Raises ``StoreError`` where the range cannot be had: readers would take an ``OSError`` for their own."""
        end = min(self._at + len(buffer), self._n_bytes)
        if self._at >= end:
            return 0
        try:
            data = patiently(lambda: self._fs.cat_file(self._path, start=self._at, end=end))
        except Exception as error:
            raise StoreError(f"s3://{self._path}: cannot read the object ({faults.told(error)}).") from error
        if len(data) != end - self._at:
            raise StoreError(f"s3://{self._path}: the object changed while it was read. Run again.")
        buffer[: len(data)] = data
        self._at = end
        return len(data)


def _seconds(name: str, default: float) -> float:
    said = os.environ.get(name, "")
    try:
        value = float(said) if said else default
    except ValueError:
        value = -1.0
    if not 0.0 < value < float("inf"):
        raise UsageError(f"{name} must be a number of seconds above 0 ({said!r}). Unset it for {default:g}.")
    return value
