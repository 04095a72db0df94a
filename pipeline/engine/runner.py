"""Where the tasks of a cell run: in this process, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError, PlatformError, WorkerDiedError
from pipeline.partials.merge import merge_tree

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2
MERGE_ARITY = 8

Submit = Callable[..., Any]


class Here:
    """Runs tasks at once, in this process."""

    def submit(self, task: Submit, *args: Any) -> Any:
        """The task's result."""
        return task(*args)

    one = submit

    def map(self, task: Submit, items: Sequence[Any], *args: Any) -> list[Any]:
        """The results of ``task(item, *args)``."""
        return [self.submit(task, item, *args) for item in items]


class OnCluster:
    """Runs tasks on the cluster; keys are not derived from arguments, since the store decides what is done."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, task: Submit, *args: Any) -> Any:
        """A future, which may be another task's argument."""
        return self._client.submit(task, *args, pure=False, retries=RETRIES)

    def map(self, task: Submit, items: Sequence[Any], *args: Any) -> list[Any]:
        """Futures of ``task(item, *args)``, sent to the scheduler together: one by one costs milliseconds each."""
        same = ([arg] * len(items) for arg in args)
        futures: list[Any] = self._client.map(task, list(items), *same, pure=False, retries=RETRIES)
        return futures

    def one(self, task: Submit, *args: Any) -> Any:
        """The task's result, waited for.

        Raises the ``InputError`` that it raised, at once: the same bytes are refused however often they are read.
        Raises ``WorkerDiedError`` where it, or a task it waits for, took too many workers with it; ``PlatformError``
        when the cluster lost it otherwise.
        """
        from distributed import CancelledError, KilledWorker

        try:
            done = self.submit(_or_refusal(task), *args).result()
        except KilledWorker as error:
            name, died = str(error.task).partition("-")[0], error.allowed_failures + 1
            how_many = "a worker" if died == 1 else f"{died} workers, one after the other,"
            raise WorkerDiedError(f"{how_many} died with {name}.") from error
        except (CancelledError, OSError) as error:
            raise PlatformError(
                f"the cluster lost {task.__name__}: {error}. Run again; done work is reused."
            ) from error
        if isinstance(done, InputError):
            raise done
        return done


@dataclass(frozen=True)
class _or_refusal:  # noqa: N801 - stands where a task's name does
    """The task, with an ``InputError`` as its result: Dask would try again what raises."""

    task: Submit

    @property
    def __name__(self) -> str:
        return str(self.task.__name__)

    def __call__(self, *args: Any) -> Any:
        try:
            return self.task(*args)
        except InputError as error:
            return error


def runner(client: Client | None) -> Here | OnCluster:
    """Where a cell's tasks run."""
    return Here() if client is None else OnCluster(client)


def summed(run: Here | OnCluster, level: Sequence[Any]) -> Any:
    """Results of tasks (one at least) added up, in their order."""
    return begun(run, level)()


def begun(run: Here | OnCluster, level: Sequence[Any]) -> Callable[[], Any]:
    """``summed`` without waiting: what waits."""
    while len(level) > MERGE_ARITY:
        groups = [level[start : start + MERGE_ARITY] for start in range(0, len(level), MERGE_ARITY)]
        level = run.map(merge_pass, groups)
    return partial(run.one, merge_pass, list(level))


def merge_pass(sums: Sequence[Any]) -> Any:
    """Task: sums added in a fixed order."""
    return merge_tree(sums, sums[0])
