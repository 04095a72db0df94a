"""The Dask cluster of a run: one function for each kind, each a context that yields a scheduler's address.

Flows know clusters only by address, so that a new kind is one function and one line in ``KINDS``. What a kind may be
told (queue, memory, certificates, …) comes from the environment or Dask's configuration, never from an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from distributed import Client

from flows.clusters.cluster import Cluster
from flows.clusters.kubernetes import PODS_S, kubernetes
from flows.clusters.local import local
from flows.clusters.slurm import QUEUE_S, jobs
from flows.clusters.versions import differences, forget_guard, guard
from flows.settings import ADDRESSES, JOBS, Settings, check_cluster, check_flow
from pipeline.errors import PlatformError

CONNECT_TIMEOUT_S = 30
"""How long a scheduler may take to answer, and its workers to be there where nobody has to start them first."""
QUEUE_TIMEOUT_S = {**dict.fromkeys(JOBS, QUEUE_S), "kubernetes": PODS_S}
"""How long workers that are started for the run may take: a job waits for its turn. RESCORE_WORKERS_TIMEOUT_S wins."""


@contextmanager
def address(settings: Settings) -> Iterator[Cluster]:
    """A cluster that somebody else started and keeps."""
    mend = f"Start workers of {settings.cluster} and run again."
    yield Cluster(settings.cluster, patience_s=2 * settings.no_worker_s, mend=mend)


KINDS: dict[str, Callable[[Settings], AbstractContextManager[Cluster]]] = {
    "local": local,
    **dict.fromkeys(JOBS, jobs),
    "kubernetes": kubernetes,
    **dict.fromkeys(ADDRESSES, address),
}
"""What ``--cluster`` may begin with: a name, or the protocol of a scheduler's address."""


@contextmanager
def open_cluster(settings: Settings) -> Iterator[Cluster]:
    """A cluster that is ready: reachable, with workers, all of our versions.

    Raises ``UsageError`` for a kind that does not exist or cannot be had here, ``PlatformError`` when nothing usable
    answers.
    """
    check_cluster(settings)
    check_flow(settings)
    kind = settings.cluster.split("://", 1)[0]
    timeout_s = settings.workers_timeout_s or QUEUE_TIMEOUT_S.get(kind, CONNECT_TIMEOUT_S)
    with KINDS[kind](settings) as cluster, ready(cluster.scheduler, timeout_s):
        yield cluster


@contextmanager
def ready(scheduler: str, timeout_s: float | None = None) -> Iterator[None]:
    """Workers answer and run the versions that stand here, and whoever joins while the context lasts does too.

    Raises ``PlatformError`` where they do not.
    """
    timeout_s = timeout_s or CONNECT_TIMEOUT_S
    try:
        client = Client(scheduler, set_as_default=False, timeout=CONNECT_TIMEOUT_S)
    except (OSError, TimeoutError, TypeError) as error:  # TypeError: TLS without certificates
        raise _nobody(scheduler, CONNECT_TIMEOUT_S, error) from error
    with client:
        try:
            forget_guard(client)
            client.wait_for_workers(1, timeout=timeout_s)
            found = differences(client)
        except (OSError, TimeoutError) as error:
            raise _nobody(scheduler, timeout_s, error) from error
        if found:
            message = f"the workers at {scheduler} do not match: {'; '.join(found)}."
            raise PlatformError(f"{message} Install the same lock file there.")
        guard(client)
        yield


def _nobody(scheduler: str, timeout_s: float, error: BaseException) -> PlatformError:
    message = f"no Dask workers at {scheduler} within {timeout_s:g} s ({error})."
    return PlatformError(f"{message} Start the cluster, or say --cluster local.")
