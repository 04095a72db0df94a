"""A real Dask scheduler among simulated workers, on a clock that jumps from event to event."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dask._expr import LLGExpr
from dask._task_spec import List, Task, TaskRef
from distributed.comm.core import CommClosedError
from distributed.protocol.core import dumps
from distributed.protocol.serialize import Serialized, serialize, to_serialize

from pipeline.engine.runner import MERGE_ARITY

METRICS: Mapping[str, Any] = {
    "bandwidth": {"total": 250e6, "workers": {}, "types": {}},
    "digests_total_since_heartbeat": {},
    "spilled_bytes": {"memory": 0, "disk": 0},
    "event_loop_interval": 0.02,
    "executing": {},
    "cpu": 0.0,
    "memory": 0,
    "managed_bytes": 0,
    "transfer": {"incoming_bytes": 0, "outgoing_bytes": 0},
}
"""What a worker tells of itself when it comes."""


@dataclass(frozen=True)
class Pass:
    """A map over the parts of a cell and the tree that adds up what it gives. Costs are of one trial."""

    name: str
    cpu_ns: float
    read_bytes: float
    """From object storage."""
    sum_bytes: int
    """Of what a task of the map gives, and of any sum of such."""
    merge_cpu_s: float = 0.002
    """To add two sums."""


@dataclass(frozen=True)
class Model:
    """What is not measured in the simulation itself."""

    passes: tuple[Pass, ...]
    store_bytes_per_s: float = 100e6
    """From object storage to one worker."""
    network_bytes_per_s: float = 250e6
    """Between two workers."""
    latency_s: float = 0.0005
    """Of a message, and before a transfer."""
    task_cpu_s: float = 0.0015
    """Of a worker, for a task of any kind."""


@dataclass
class Outcome:
    """What one simulated cell took."""

    n_tasks: int = 0
    wall_s: float = 0.0
    """Virtual."""
    scheduler_cpu_s: float = 0.0
    """Real: of the scheduler's own code."""
    scheduler_busy_until_s: float = 0.0
    worker_busy_s: float = 0.0
    moved_bytes: int = 0
    """Between workers."""
    control_bytes: int = 0
    """Messages of the scheduler to workers."""
    held_bytes: int = 0
    """The most that one worker held of results at once."""
    scheduler_peak_bytes: int = 0
    """Resident memory that the scheduler's process gained."""


@dataclass
class SimulatedWorker:
    """One thread, its queue and the results that it holds."""

    address: str
    queue: list[tuple[Any, int, dict[str, Any]]] = field(default_factory=list)
    holds: dict[Any, int] = field(default_factory=dict)
    busy: bool = False


class Wire:
    """Stands where the scheduler's connection to a worker does: keeps what is sent, and counts its bytes."""

    def __init__(self, sent: Callable[[dict[str, Any]], None], outcome: Outcome) -> None:
        self._sent, self._outcome = sent, outcome

    def send(self, *messages: dict[str, Any]) -> None:
        """Serialise as the real connection does, which is part of the scheduler's work."""
        if messages:
            self._outcome.control_bytes += sum(len(frame) for frame in dumps(list(messages)))
        for message in messages:
            self._sent(message)

    def closed(self) -> bool:
        """There is nothing to close."""
        return True

    def abort(self) -> None:
        """Nothing is open."""


class Silence:
    """A connection on which nothing is said until it is closed; the worker behind it is simulated."""

    name = peer_address = ""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self.listened = False

    async def write(self, _message: object, **_options: object) -> int:
        """Into the void."""
        return 0

    async def read(self, **_options: object) -> object:
        """Wait for the end."""
        self.listened = True
        await self._ended.wait()
        raise CommClosedError

    def closed(self) -> bool:
        """Whether the end has come."""
        return self._ended.is_set()

    async def close(self) -> None:
        """Make an end."""
        self._ended.set()

    def abort(self) -> None:
        """Make an end."""
        self._ended.set()


class Simulation:
    """One scheduler, its simulated workers, and a clock that jumps from event to event."""

    def __init__(self, scheduler: Any, model: Model, n_trials: int, trials_per_task: int) -> None:
        self.scheduler, self.model, self.outcome = scheduler, model, Outcome()
        self.parts = [min(trials_per_task, n_trials - start) for start in range(0, n_trials, trials_per_task)]
        self.workers: dict[str, SimulatedWorker] = {}
        self.silences: list[Silence] = []
        self.adding: list[asyncio.Future[None]] = []
        self.outbox: list[tuple[SimulatedWorker, dict[str, Any]]] = []
        self.specs: dict[Any, tuple[float, int]] = {}
        """Key → seconds of work (reading from the store included) and bytes of the result."""
        self.now = 0.0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.order = itertools.count()

    async def add_workers(self, n_workers: int) -> None:
        """Register ``n_workers`` of one thread each. Their connections are silent."""
        for number in range(n_workers):
            address = f"tcp://10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}:9000"
            about = {"status": "running", "server_id": address, "nthreads": 1, "name": address}
            place = {"services": {}, "local_directory": "/", "versions": {}, "nanny": "", "extra": {}}
            told = {"now": time.time(), "resources": {}, "memory_limit": 8 << 30, "metrics": METRICS}
            self.silences.append(silence := Silence())
            adding = self.scheduler.add_worker(
                silence, address=address, resolve_address=False, stimulus_id="simulated", **about, **place, **told
            )
            self.adding.append(asyncio.ensure_future(adding))
            while not silence.listened:
                await asyncio.sleep(0)
            self.workers[address] = worker = SimulatedWorker(address)
            self.scheduler.stream_comms[address] = Wire(self._receiver(worker), self.outcome)

    async def end(self) -> None:
        """Let the workers go."""
        for silence in self.silences:
            silence.abort()
        await asyncio.gather(*self.adding)

    def _receiver(self, worker: SimulatedWorker) -> Callable[[dict[str, Any]], None]:
        return lambda message: self.outbox.append((worker, message))

    def spend(self, cpu_s: float) -> None:
        """The scheduler has worked that long; then what it has written leaves."""
        outcome = self.outcome
        outcome.scheduler_cpu_s += cpu_s
        outcome.scheduler_busy_until_s = max(self.now, outcome.scheduler_busy_until_s) + cpu_s
        for worker, message in self.outbox:
            arrives = outcome.scheduler_busy_until_s + self.model.latency_s
            self.at(arrives, partial(self.received, worker, message))
        self.outbox.clear()

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Have ``what`` happen then."""
        heapq.heappush(self.events, (when, next(self.order), what))

    def received(self, worker: SimulatedWorker, message: dict[str, Any]) -> None:
        """A message of the scheduler arrives at a worker."""
        if message["op"] == "compute-task":
            heapq.heappush(worker.queue, (message["priority"], next(self.order), message))
            self.start_next(worker)
        elif message["op"] == "free-keys":
            for key in message["keys"]:
                worker.holds.pop(key, None)

    def start_next(self, worker: SimulatedWorker) -> None:
        """Fetch what the next task needs from other workers, read from the store, work."""
        if worker.busy or not worker.queue:
            return
        message = heapq.heappop(worker.queue)[-1]
        key, worker.busy = message["key"], True
        missing = {name: size for name, size in message["nbytes"].items() if name not in worker.holds}
        moved = sum(missing.values())
        self.outcome.moved_bytes += moved
        fetch_s = self.model.latency_s * len(missing) + moved / self.model.network_bytes_per_s
        work_s, size = self.specs[key]
        worker.holds.update(missing)
        self.outcome.held_bytes = max(self.outcome.held_bytes, sum(worker.holds.values()) + size)
        self.outcome.worker_busy_s += fetch_s + work_s
        self.at(self.now + fetch_s + work_s, lambda: self.finished(worker, message, list(missing), work_s, size))

    def finished(
        self, worker: SimulatedWorker, message: dict[str, Any], fetched: list[Any], work_s: float, size: int
    ) -> None:
        """A task is done: the worker goes on, the scheduler hears of it."""
        key, worker.busy = message["key"], False
        worker.holds[key] = size
        span = {"action": "compute", "start": self.now - work_s, "stop": self.now}
        about = {"type": b"", "typename": "Sums", "metadata": {}, "thread": 1, "startstops": (span,)}
        run = {"key": key, "run_id": message["run_id"], "nbytes": size, "stimulus_id": "simulated"}

        def heard() -> None:
            if fetched:
                self.scheduler.add_keys(worker=worker.address, keys=fetched, stimulus_id="simulated")
            self.scheduler.handle_task_finished(worker=worker.address, **run, **about)

        self.at(self.now + self.model.latency_s, lambda: self.schedule(heard))
        self.start_next(worker)

    def schedule(self, what: Callable[[], None]) -> None:
        """Let the scheduler act. It does one thing at a time: while it is busy, the world waits for its answers."""
        before = time.process_time()
        what()
        self.spend(time.process_time() - before)

    async def run(self) -> Outcome:
        """Every pass in turn."""
        for number, spec in enumerate(self.model.passes):
            await self.submit(number, spec)
            while self.events:
                self.now, _, what = heapq.heappop(self.events)
                what()
            self.now = max(self.now, self.outcome.scheduler_busy_until_s)
        self.outcome.wall_s = self.now
        return self.outcome

    async def submit(self, number: int, spec: Pass) -> None:
        """A client hands in the graph of a pass, and lets go of the last one's result."""
        graph, root = self.graph(number, spec)
        self.outcome.n_tasks += len(graph)
        header, frames = serialize(to_serialize(LLGExpr(graph)))
        before = time.process_time()
        await self.scheduler.update_graph(
            client="simulated",
            expr_ser=Serialized(header, frames),
            keys={root},
            span_metadata={"collections": []},
            internal_priority=None,
            submitting_task=None,
            stimulus_id="simulated",
        )
        self.spend(time.process_time() - before)

    def graph(self, number: int, spec: Pass) -> tuple[dict[Any, Task], Any]:
        """The tasks of a pass, and the key of its total."""
        model, graph = self.model, {}
        level = []
        for at, n_trials in enumerate(self.parts):
            key = f"{spec.name}-{number}-{at}"
            read_s = n_trials * spec.read_bytes / model.store_bytes_per_s
            self.specs[key] = model.task_cpu_s + read_s + n_trials * spec.cpu_ns * 1e-9, spec.sum_bytes
            graph[key] = Task(key, nothing, at)
            level.append(key)
        depth = 0
        while len(level) > 1:
            groups = [level[start : start + MERGE_ARITY] for start in range(0, len(level), MERGE_ARITY)]
            level = [f"merge_{spec.name}-{number}-{depth}-{at}" for at in range(len(groups))]
            for key, group in zip(level, groups, strict=True):
                graph[key] = Task(key, nothing, List(*map(TaskRef, group)))
                self.specs[key] = model.task_cpu_s + (len(group) - 1) * spec.merge_cpu_s, spec.sum_bytes
            depth += 1
        return graph, level[0]


def nothing(*_parts: object) -> None:
    """What a simulated task would run."""
