"""Where the tasks of a cell run: in this process, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pipeline.errors import DamageError, InputError, PlatformError, StoreError, WorkerDiedError
from pipeline.terms import Cell

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2
LOOK_S = 2.0
"""How often who waits for a task looks whether the cluster is lost."""

Submit = Callable[..., Any]


class Here:
    """Runs tasks at once, in this process."""

    def submit(self, task: Submit, *args: Any) -> Any:
        """The task's result."""
        return task(*args)

    one = submit

    def of(self, _cell: Cell) -> Here:
        """A runner of the tasks of one cell."""
        return self


class OnCluster:
    """Runs tasks on the cluster; keys are not derived from arguments, since the store decides what is done.

    Keys and annotations say which task of which cell it is. What a cell asks for later goes before what others ask
    for first, so that cells that are nearly done leave the cluster.
    """

    def __init__(
        self, client: Client, lost: Callable[[], PlatformError | None] = lambda: None, cell: Cell | None = None
    ) -> None:
        self._client, self._lost = client, lost
        self._cell = "" if cell is None else str(cell)
        self._n_waits = 0

    def of(self, cell: Cell) -> OnCluster:
        """A runner of the tasks of one cell."""
        return OnCluster(self._client, self._lost, cell)

    def submit(self, task: Submit, *args: Any) -> Any:
        """A future, which may be another task's argument."""
        from dask.base import annotate

        stage = _name(task)
        with annotate(**self._annotations(stage)):
            return self._client.submit(task, *args, key=self._key(stage), **self._how)

    @property
    def _how(self) -> dict[str, Any]:
        return {"pure": False, "retries": RETRIES, "priority": self._n_waits}

    def _annotations(self, stage: str) -> dict[str, str]:
        return {"stage": stage, **({"cell": self._cell} if self._cell else {})}

    def _key(self, stage: str) -> str:
        """The stage, the cell and what makes it unique: Dask's pages sum up by what is before the first number."""
        return "-".join(filter(None, (stage, self._cell, uuid4().hex)))

    def one(self, task: Submit, *args: Any) -> Any:
        """The task's result, waited for.

        Raises the ``InputError`` that it raised, at once: the same bytes are refused however often they are read; so
        is the ``StoreError`` of a store that has been given all the time there is for it.
        Raises ``WorkerDiedError`` where it, or a task it waits for, took too many workers with it; ``PlatformError``
        when the cluster lost it otherwise, or is lost itself.
        """
        return self._come_to(task, self.submit(_or_refusal(task), *args))

    def each(self, task: Submit, asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Results of the task for several lists of arguments, side by side, in their order; raises as ``one`` does."""
        futures = [self.submit(_or_refusal(task), *args) for args in asked]
        return [self._come_to(task, future) for future in futures]

    def _come_to(self, task: Submit, future: Any) -> Any:
        """What a future comes to; raises as ``one`` does."""
        from distributed import CancelledError, KilledWorker

        try:
            done = self._awaited(future)
        except KilledWorker as error:
            name, died = str(error.task).partition("-")[0], error.allowed_failures + 1
            how_many = "a worker" if died == 1 else f"{died} workers, one after the other,"
            raise WorkerDiedError(f"{how_many} died with {name}.") from error
        except (CancelledError, OSError, RuntimeError) as error:
            if (lost := self._lost()) is not None:
                raise lost from error
            if isinstance(error, RuntimeError) and self._client.status == "running":
                raise  # else it is Dask's word for a client that is closed
            raise PlatformError(f"the cluster lost {_name(task)}: {error}. Run again; done work is reused.") from error
        self._n_waits += 1
        if isinstance(done, (InputError, StoreError)):
            raise done
        return done

    def _awaited(self, future: Any) -> Any:
        """The result of a future; ``lost`` ends the wait."""
        done = Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(LOOK_S):
            if (lost := self._lost()) is not None:
                raise lost
        return future.result()


def _name(task: Submit) -> str:
    """The name of a task."""
    return str(getattr(task, "__name__", type(task).__name__))


@dataclass(frozen=True)
class _or_refusal:  # noqa: N801 - stands where a task's name does
    """The task, with an ``InputError`` as its result, or a ``StoreError`` that had its tries: Dask would try again."""

    task: Submit

    @property
    def __name__(self) -> str:
        return _name(self.task)

    def __call__(self, *args: Any) -> Any:
        try:
            return self.task(*args)
        except InputError as error:
            return error
        except StoreError as error:
            if isinstance(error, DamageError):
                raise  # another try may find it mended
            return error


def runner(client: Client | OnCluster | None) -> Here | OnCluster:
    """Where a cell's tasks run."""
    if client is None:
        return Here()
    return client if isinstance(client, OnCluster) else OnCluster(client)
