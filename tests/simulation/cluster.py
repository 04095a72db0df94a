"""A cluster of the simulated world: what `engine.runner.OnCluster` asks of Dask, with workers that die."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import KilledWorker

from tests.simulation.world import DiedError, Process, World

MOST_DEATHS = 3


class Future:
    """What a task will come to."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.is_done = False
        self.value: Any = None
        self.error: BaseException | None = None

    def result(self) -> Any:
        """Wait for it."""
        self._world.wait(lambda: self.is_done)
        if self.error is not None:
            raise self.error
        return self.value


class Cluster:
    """Workers of one thread each; one that died is followed by another."""

    def __init__(self, world: World, n_workers: int) -> None:
        self._world = world
        self._workers = [Process(f"worker {number}") for number in range(n_workers)]
        self._busy: set[int] = set()

    def submit(self, task: Callable[..., Any], *args: Any, retries: int = 0, **_: Any) -> Future:
        """As Dask's client does."""
        future = Future(self._world)
        self._start(future, task, args, retries, deaths=0)
        return future

    def map(self, task: Callable[..., Any], items: list[Any], *args: Any, **how: Any) -> list[Future]:
        """As Dask's client does."""
        return [self.submit(task, *each, **how) for each in zip(items, *args, strict=True)]

    def _start(
        self, future: Future, task: Callable[..., Any], args: tuple[Any, ...], retries: int, deaths: int
    ) -> None:
        scheduler = Process("scheduler")
        self._world.spawn(f"{_name(task)}", scheduler, lambda: self._place(future, task, args, retries, deaths))

    def _place(
        self, future: Future, task: Callable[..., Any], args: tuple[Any, ...], retries: int, deaths: int
    ) -> None:
        """Wait for what the task waits for and for a worker, and give it that."""
        self._world.wait(lambda: all(one.is_done for one in _futures(args)))
        failed = next((one.error for one in _futures(args) if one.error is not None), None)
        if failed is not None:
            future.error, future.is_done = failed, True
            return
        self._world.wait(lambda: len(self._busy) < len(self._workers))
        slot = next(number for number in range(len(self._workers)) if number not in self._busy)
        self._busy.add(slot)
        if not self._workers[slot].is_alive:
            self._workers[slot] = Process(f"worker {slot} again")
        work = self._work(future, task, args, retries, deaths, slot)
        self._world.spawn(f"worker {slot}", self._workers[slot], work)

    def _work(
        self, future: Future, task: Callable[..., Any], args: tuple[Any, ...], retries: int, deaths: int, slot: int
    ) -> Callable[[], None]:
        def work() -> None:
            try:
                future.value = task(*_resolved(args))
            except DiedError:
                self._busy.discard(slot)
                if deaths + 1 < MOST_DEATHS:
                    self._start(future, task, args, retries, deaths + 1)
                    raise
                future.error = KilledWorker(f"{_name(task)}-1", None, deaths)
                future.is_done = True
                raise
            except Exception as error:  # noqa: BLE001 - the caller has it
                self._busy.discard(slot)
                if retries:
                    self._start(future, task, args, retries - 1, deaths)
                    return
                future.error = error
            self._busy.discard(slot)
            future.is_done = True

        return work


def _name(task: Callable[..., Any]) -> str:
    return str(getattr(task, "__name__", "task"))


def _futures(value: Any) -> list[Future]:
    if isinstance(value, Future):
        return [value]
    return [one for part in value for one in _futures(part)] if isinstance(value, list | tuple) else []


def _resolved(value: Any) -> Any:
    if isinstance(value, Future):
        return value.value
    if type(value) in (list, tuple):
        return type(value)(_resolved(part) for part in value)
    return value
