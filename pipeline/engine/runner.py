"""Where the tasks of a cell run: in this process, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipeline.errors import PlatformError

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2

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
        """The task's result, waited for. Raises ``PlatformError`` when the cluster lost it."""
        from distributed import CancelledError, KilledWorker

        try:
            return self.submit(task, *args).result()
        except (KilledWorker, CancelledError, OSError) as error:
            raise PlatformError(
                f"the cluster lost {task.__name__}: {error}. Run again; done work is reused."
            ) from error


def runner(client: Client | None) -> Here | OnCluster:
    """Where a cell's tasks run."""
    return Here() if client is None else OnCluster(client)
