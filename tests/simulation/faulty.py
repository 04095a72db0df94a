"""A store in memory whose every request may fail, be slow, come late or twice, lose its answer, lie, or end a process.

What it never does is what no real one does: an object is never half there, exclusive creation has one winner, and who
reads or lists after a write has been answered sees it (as S3 promises since 2020, and local files do).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from pipeline.store.entries import Entry
from tests.simulation.world import DiedError, Process, World

T = TypeVar("T")
KINDS = {
    "busy": "SlowDown, and nothing was done",
    "drop": "the connection breaks before the request is heard",
    "lost": "the request takes effect, and its answer is lost",
    "slow": "up to 15 s",
    "late": "a write takes effect, its answer is lost, and up to 40 s later it takes effect once more",
    "cut": "the answer ends early, and the client knows",
    "flipped": "the answer has a byte that is another",
    "short": "the answer is shorter, and nothing says so",
    "die_before": "the process ends before its request is heard",
    "die_after": "the process ends when its request has taken effect",
}
WRITES, READS = ("put", "create", "remove"), ("get", "tail", "range")
ONLY = {"late": ("put",), "cut": READS, "flipped": READS, "short": READS}
SLOWEST_S, LATEST_S = 15.0, 40.0


class RefusedError(Exception):
    """botocore's way to say what S3 answered."""

    def __init__(self, code: str, status: int) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}


class ClientPayloadError(Exception):
    """By its name one of those that pass: the answer broke off."""


def absent(path: str) -> FileNotFoundError:
    """There is no such object, as s3fs says it."""
    error = FileNotFoundError(path)
    error.__cause__ = RefusedError("NoSuchKey", 404)
    return error


@dataclass
class Objects:
    """What the store holds. ``rotten`` are objects that were spoiled where they lie, until they are written anew."""

    data: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    rotten: set[str] = field(default_factory=set)
    n_written: int = 0
    watchers: list[Callable[[str], None]] = field(default_factory=list)

    def put(self, path: str, data: bytes, now_s: float, writer: str = "") -> None:
        """Write as a whole."""
        self.data[path], self.times[path], self.writers[path] = data, now_s, writer
        self.rotten.discard(path)
        self.n_written += 1
        for watcher in self.watchers:
            watcher(path)

    def remove(self, path: str) -> None:
        """Remove what is there."""
        self.data.pop(path, None)


@dataclass
class Faults:
    """Which request meets which fault: drawn from the seed by its number, or ``only`` those that are listed."""

    seed: int
    rate: float = 0.0
    kinds: tuple[str, ...] = ()
    most_deaths: int = 0
    outages: tuple[tuple[float, float], ...] = ()
    """From when to when (s since the world began) nothing answers."""
    only: Mapping[int, str] | None = None
    done: dict[int, str] = field(default_factory=dict)
    n_requests: int = 0
    is_over: bool = False

    def draw(self, verb: str, *, may_die: bool) -> tuple[str, random.Random]:
        """The fault of the next request, "" for none, and where its details are drawn from."""
        number, self.n_requests = self.n_requests, self.n_requests + 1
        if self.is_over or (self.only is None and not self.rate):
            return "", _NO_DETAILS
        details = random.Random(f"faults {self.seed} {number}")
        if self.only is not None:
            kind = self.only.get(number, "")
        else:
            kind = details.choice(self.kinds) if details.random() < self.rate else ""
        if kind.startswith("die") and not (may_die and self.n_deaths < self.most_deaths):
            kind = ""
        if verb not in ONLY.get(kind, (verb,)):
            kind = ""
        if kind:
            self.done[number] = kind
        return kind, details

    @property
    def n_deaths(self) -> int:
        """Processes that ended so."""
        return sum(kind.startswith("die") for kind in self.done.values())


_NO_DETAILS = random.Random(0)


class Requests:
    """Requests of actors to the store, each at an instant of the clock, and each with its fault."""

    def __init__(self, world: World, objects: Objects, faults: Faults) -> None:
        self.world, self.objects, self.faults = world, objects, faults
        self._begin_s = world.now_s

    def __call__(self, verb: str, effect: Callable[[], T]) -> T:
        """What ``effect`` returns, or an error, or what a broken network makes of it."""
        world, actor = self.world, self.world.current
        if actor is None:
            return effect()
        if not actor.process.is_alive:
            raise DiedError(actor.name)
        world.pause(world.latency_s())
        kind, details = self.faults.draw(verb, may_die=True)
        actor.process.n_requests += 1
        if actor.process.n_requests == actor.process.dies_at and not self.faults.is_over:
            kind = details.choice(("die_before", "die_after"))
        elapsed_s = world.now_s - self._begin_s
        if not self.faults.is_over and any(first <= elapsed_s < last for first, last in self.faults.outages):
            world.counts["outage"] += 1
            world.pause(5.0)
            raise ConnectionError("nothing answers")
        if not kind:
            return effect()
        world.counts[kind] += 1
        return self._spoiled(kind, details, effect, actor.process)

    def _spoiled(self, kind: str, details: random.Random, effect: Callable[[], T], process: Process) -> T:
        world = self.world
        if kind == "busy":
            raise OSError("SlowDown") from RefusedError("SlowDown", 503)
        if kind == "drop":
            raise ConnectionError("reset by peer")
        if kind == "die_before":
            process.is_alive = False
            raise DiedError(process.name)
        if kind == "slow":
            world.pause(details.uniform(0.1, SLOWEST_S))
        done = effect()
        if kind == "die_after":
            process.is_alive = False
            raise DiedError(process.name)
        if kind == "late":
            again = Process("network")
            world.spawn("a request once more", again, effect, after_s=details.uniform(0.1, LATEST_S))
        if kind in ("lost", "late"):
            raise ConnectionError("no answer")
        if kind == "cut":
            raise ClientPayloadError("the answer broke off")
        if kind in ("flipped", "short") and isinstance(done, bytes) and done:
            return spoiled(done, kind, details)  # type: ignore[return-value]
        return done


def spoiled(data: bytes, kind: str, details: random.Random) -> bytes:
    """Other bytes than ``data``."""
    at = details.randrange(len(data))
    return (
        data[:at] if kind == "short" else data[:at] + bytes((data[at] ^ (1 << details.randrange(8)),)) + data[at + 1 :]
    )


class Plain:
    """A place without patience: what goes wrong is the caller's. As local files and most file systems are."""

    def __init__(self, ask: Requests) -> None:
        self._ask, self._objects = ask, ask.objects

    def put(self, path: str, data: bytes) -> None:
        self._ask("put", lambda: self._objects.put(path, data, self._ask.world.now_s))

    def create(self, path: str, data: bytes) -> bool:
        def effect() -> bool:
            if path in self._objects.data:
                return False
            self._objects.put(path, data, self._ask.world.now_s)
            return True

        return self._ask("create", effect)

    def get(self, path: str) -> bytes:
        return self._ask("get", lambda: self._found(path))

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        return self._ask("range", lambda: self._found(path)[begin:end])

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        return self._ask("tail", lambda: self._found(path)[-n_bytes:])

    def exists(self, path: str) -> bool:
        return self._ask("exists", lambda: path in self._objects.data)

    def entries(self, prefix: str) -> list[Entry]:
        return self._ask("list", lambda: list(listed(self._objects, f"{prefix}/" if prefix else "")))

    def remove(self, path: str) -> None:
        self._ask("remove", lambda: self._objects.remove(path))

    def _found(self, path: str) -> bytes:
        if path not in self._objects.data:
            raise absent(path)
        return self._objects.data[path]


def listed(objects: Objects, prefix: str) -> Iterator[Entry]:
    """Every object whose path begins so."""
    for path in sorted(objects.data):
        if path.startswith(prefix):
            yield Entry(path, len(objects.data[path]), objects.times[path])


class FakeS3:
    """As much of s3fs as ``pipeline.store.s3.Bucket`` uses, over the same requests."""

    loop = None

    def __init__(self, ask: Requests, bucket: str) -> None:
        self._plain, self._ask, self._objects, self._bucket = Plain(ask), ask, ask.objects, f"{bucket}/"

    def pipe_file(
        self, path: str, data: bytes, mode: str = "overwrite", Metadata: Mapping[str, str] | None = None, **_: Any
    ) -> None:
        key, writer = self._key(path), next(iter((Metadata or {}).values()), "")

        def effect() -> None:
            if mode == "create" and key in self._objects.data:
                raise FileExistsError(key) from RefusedError("PreconditionFailed", 412)
            self._objects.put(key, data, self._ask.world.now_s, writer)

        self._ask("create" if mode == "create" else "put", effect)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        key = self._key(path)
        return self._plain.get(key) if start is None else self._plain.get_range(key, start, end or 0)

    def rm_file(self, path: str) -> None:
        self._plain.remove(self._key(path))

    def call_s3(self, what: str, **asked: Any) -> Mapping[str, Any]:
        if what == "head_object":
            return self._ask("exists", lambda: self._head(asked["Key"]))
        prefix = asked["Prefix"]
        entries = self._ask("list", lambda: list(listed(self._objects, prefix)))
        found = [
            {"Key": entry.path, "Size": entry.n_bytes, "LastModified": datetime.fromtimestamp(entry.written_s, UTC)}
            for entry in entries
        ]
        return {"Contents": found, "IsTruncated": False}

    async def _call_s3(self, _what: str, Key: str = "", Range: str = "", **_: Any) -> Mapping[str, Any]:
        return {"Body": _Body(self._plain.get_tail(Key, int(Range.rpartition("-")[2])))}

    def _head(self, key: str) -> Mapping[str, Any]:
        if key not in self._objects.data:
            raise absent(key)
        return {
            "Metadata": {"rescore-writer": self._objects.writers[key]},
            "ContentLength": len(self._objects.data[key]),
        }

    def _key(self, path: str) -> str:
        return path.removeprefix(self._bucket)


class _Body:
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aenter__(self) -> _Body:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def read(self) -> bytes:
        return self._data


def at_once(_loop: object, function: Callable[..., Any], *args: Any) -> Any:
    """fsspec's ``sync`` for what never really waits."""
    try:
        function(*args).send(None)
    except StopIteration as ended:
        return ended.value
    raise RuntimeError("it waits")
