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


class OnCluster:
    """Runs tasks on the cluster; keys are not derived from arguments, since the store decides what is done."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, task: Submit, *args: Any) -> Any:
        """A future, which may be another task's argument."""
        return self._client.submit(task, *args, pure=False, retries=RETRIES)

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
    while len(level) > 1:
        groups = [level[start : start + MERGE_ARITY] for start in range(0, len(level), MERGE_ARITY)]
        level = [run.submit(merge_pass, group) for group in groups]
    return partial(run.one, itself, level[0])


def merge_pass(sums: Sequence[Any]) -> Any:
    """Task: sums added in a fixed order."""
    return merge_tree(sums, sums[0])


def itself(value: Any) -> Any:
    """Task: what is to be returned."""
    return value
