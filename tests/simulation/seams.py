"""Where the simulated world takes the place of the real one: the store's place, clocks, threads, Prefect."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from importlib import import_module
from itertools import count
from types import SimpleNamespace
from typing import Any

import flows.rescore
import flows.steps
import flows.tasks
import flows.watch
import pipeline.engine.cell
import pipeline.engine.costed
import pipeline.engine.inputs
import pipeline.engine.plan
import pipeline.engine.runner
import pipeline.engine.stored.pieces
import pipeline.engine.stored.references
import pipeline.engine.stored.trialstore
import pipeline.engine.tasks
import pipeline.grid.integrity
import pipeline.grid.sweep
import pipeline.report.cell_tables
import pipeline.report.uncertainty
import pipeline.report.write
import pipeline.store.arrays
import pipeline.store.blobs
import pipeline.store.leases
import pipeline.store.s3
from flows.settings import Settings
from pipeline.errors import Finding, InputError
from pipeline.store.arrays import LazyGroup
from pipeline.store.meter import Cost
from tests.simulation.faulty import at_once
from tests.simulation.memory import Memory

PUBLISH = import_module("pipeline.grid.publish")  # the package has a function of this name
ROOT, POOL = "s3://store", "ThreadPoolExecutor"
REMEMBERED = ("ingest", "score_batch", "align_batch", "merge", "write_labels", "conclude", "score_whole", "read_piece")
"""Tasks, by their names in ``pipeline.engine.cell``."""
MEMORY = Memory()

MEMORY.salt = lambda: (pipeline.engine.cell.BYTES_PER_TASK, pipeline.engine.tasks.ROWS_PER_TASK)


class Asked:
    """A place of a store that asks the world. It knows no path, no process and no history."""

    def put(self, path: str, data: bytes) -> None:
        MEMORY.ask("put", path, bytes(data))

    def create(self, path: str, data: bytes) -> Any:
        return MEMORY.ask("create", path, data)

    def get(self, path: str) -> Any:
        return MEMORY.ask("get", path)

    def get_range(self, path: str, begin: int, end: int) -> Any:
        return MEMORY.ask("get_range", path, begin, end)

    def get_tail(self, path: str, n_bytes: int) -> Any:
        return MEMORY.ask("get_tail", path, n_bytes)

    def exists(self, path: str) -> Any:
        return MEMORY.ask("exists", path)

    def present(self, paths: Collection[str]) -> set[str]:
        return set(MEMORY.ask("present", tuple(sorted(paths))))

    def entries(self, prefix: str) -> Any:
        return MEMORY.ask("entries", prefix)

    def remove(self, path: str) -> None:
        MEMORY.ask("remove", path)


class Serial:
    """A pool of threads that has none: what it maps happens in its order."""

    def __init__(self, *_: object) -> None:
        """Any number of threads is none."""

    def __enter__(self) -> Serial:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:  # noqa: BLE001 - who asks for the result has it
            future.set_exception(error)
        return future

    def map(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        return [function(item) for item in items]


def kept(name: str, size: int, function: Callable[..., Any]) -> Any:
    """A cache of a process, as ``lru_cache`` is one: whether it holds a value is asked of the process.

    What it holds is named by its content, so that all histories share the values.
    """

    def call(store: Any, *rest: Any) -> Any:
        key = (name, *(str(part) if part.__hash__ is None else part for part in rest))
        if MEMORY.ask("cached", key) and key in MEMORY.values:
            return MEMORY.values[key]
        MEMORY.values[key] = found = function(store, *rest)
        MEMORY.ask("cache", key, size)
        return found

    call.cache_clear = lambda: MEMORY.ask("uncache", name)  # type: ignore[attr-defined]
    return call


def open_input(uri: str) -> io.BytesIO:
    """A file as it is at the instant."""
    data = MEMORY.ask("input", uri)
    if data is None:
        raise InputError([Finding("missing_input", "there is no such file.", uri)])
    return io.BytesIO(data)


@contextmanager
def unmetered() -> Iterator[Any]:
    """What it costs is nobody's matter here, and would be another each time."""
    yield SimpleNamespace(cost=Cost(), end=lambda: None)


def opened_whole(opened: Callable[..., LazyGroup]) -> Callable[..., LazyGroup]:
    """Groups as they are opened, with values that are decoded once."""

    def call(store: Any, path: str, group: str = "") -> LazyGroup:
        found = opened(store, path, group)
        return LazyGroup(found.dataset.load(), found._source, found._group)

    return MEMORY.remembered(call)


_FIXED: list[Callable[[], Any]] = []


@contextmanager
def simulated(
    clock: Any, flow: Callable[..., Any], evaluation: Callable[[], Any], seams: Mapping[str, Any]
) -> Iterator[None]:
    """While the context lasts, the product works in the simulated world."""
    numbers = count()
    time = SimpleNamespace(time=clock.time, monotonic=clock.time, sleep=clock.sleep)
    small = [
        (pipeline.store.s3, "time", time),
        (pipeline.store.s3, "uuid4", lambda: SimpleNamespace(hex=f"{next(numbers):032x}")),
        (pipeline.store.s3, "sync", at_once),
        (pipeline.store.s3, "file_system", None),
        (pipeline.engine.cell, "BYTES_PER_TASK", 0),
        (pipeline.engine.tasks, "ROWS_PER_TASK", 0),
        (pipeline.store.s3, "random", SimpleNamespace(uniform=lambda low, high: (low + high) / 2)),
        (pipeline.store.leases, "time", time),
        (pipeline.store.leases, "uuid4", lambda: SimpleNamespace(hex=f"{next(numbers):032x}")),
        (pipeline.store.leases, "_HELD", seams["held"]),
        (pipeline.store.leases, "_renewing", seams["renewing"]),
        (pipeline.grid.sweep, "time", time),
        (pipeline.engine.runner, "Event", seams["event"]),
        (flows.rescore, "load_evaluation", lambda _: evaluation()),
        (flows.watch, "load_evaluation", lambda _: evaluation()),
        (flows.rescore, "_start_flow", flow),
        (flows.watch, "rescore", seams["watch_flow"]),
        (flows.rescore, "is_small", seams["is_small"]),
        (flows.watch, "is_small", seams["is_small"]),
    ]
    with patched([*small, *_fixed()]):
        yield


def _fixed() -> list[tuple[Any, str, Any]]:
    """What is the same for all histories: made once, so that what is remembered stays."""
    if not _FIXED:
        made = _made()
        _FIXED.append(lambda: made)
    found: list[tuple[Any, str, Any]] = _FIXED[0]()
    return found


def _made() -> list[tuple[Any, str, Any]]:
    place, remembered = Asked(), MEMORY.remembered
    steps, cell, tasks, stored = flows.steps, pipeline.engine.cell, pipeline.engine.tasks, pipeline.engine.stored
    plan, finish = remembered(pipeline.engine.plan.plan), remembered(steps.finish)
    held = pipeline.store.leases.ensure_held
    opened = opened_whole(pipeline.store.arrays.opened)
    ours = [module for name, module in sys.modules.items() if name.startswith(("pipeline.", "flows."))]
    threaded = [module for module in ours if hasattr(module, POOL)]
    return [
        (pipeline.store.blobs, "_place", lambda _root: place),
        (pipeline.store.leases, "ensure_held", lambda store: MEMORY.ask("held", held, store)),
        (pipeline.store.arrays, "opened", opened),
        *((module, POOL, Serial) for module in threaded),
        (pipeline.engine.inputs, "open_input", open_input),
        (pipeline.engine.stored.pieces, "open_input", open_input),
        *((module, "metered", unmetered) for module in ours if hasattr(module, "metered")),
        (flows.rescore, "plan", plan),
        (flows.watch, "make_plan", plan),
        *((module, "finish", finish) for module in (flows.rescore, flows.watch, flows.tasks)),
        *((cell, name, remembered(getattr(cell, name))) for name in REMEMBERED if hasattr(cell, name)),
        (tasks, "_plan", kept("plan", 4, tasks._plan.__wrapped__)),
        (stored.references, "load", kept("reference", 32, stored.references.load.__wrapped__)),
        (stored.trialstore, "_opened", kept("trials", 2, stored.trialstore._opened.__wrapped__)),
        (PUBLISH, "gather", remembered(PUBLISH.gather)),
        (flows.watch, "tell", lambda *_: ""),
        (flows.watch, "moved", lambda *_: ""),
        (flows.watch, "turn", lambda _: nullcontext()),
        (flows.watch, "settings_for", lambda store, cluster, workers: Settings(store, cluster or "local", workers)),
    ]


@contextmanager
def patched(seams: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Names of modules that mean something else for a while; nothing is logged, for each fault would be."""
    before = [(module, name, getattr(module, name)) for module, name, _ in seams]
    logger = logging.getLogger("rescore")
    was_disabled = logger.disabled
    try:
        for module, name, value in seams:
            setattr(module, name, value)
        logger.disabled = True
        yield
    finally:
        logger.disabled = was_disabled
        for module, name, value in reversed(before):
            setattr(module, name, value)


def s3_is(fs: Any) -> None:
    """What `Bucket` finds as the process's file system of S3."""
    pipeline.store.s3.file_system = lambda: fs  # restored with all other names


def many_tasks(parts: bool) -> None:
    """Whether a cell is as many tasks as it has buckets with rows, or one."""
    pipeline.engine.cell.BYTES_PER_TASK = 0 if parts else 32_000_000
    pipeline.engine.tasks.ROWS_PER_TASK = 1 if parts else 1_000_000


def start_anew() -> None:
    """Forget what the product did: it is another now."""
    MEMORY.forget()
    MEMORY.frames.clear()
    _FIXED.clear()
    for forget in ON_CHANGE:
        forget()


ON_CHANGE: list[Callable[[], None]] = []
"""What else remembers what the product did."""
