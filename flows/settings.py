"""Where store and cluster are, and what keeps Prefect and Dask quiet. Read when a flow starts, never at import."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from pipeline.errors import UsageError

DEFAULT_STORE = "./rescore-store"
MOST_TASKS = 200
"""Prefect tasks of one flow on SQLite; its event queue holds up the next flow beyond (62 s after 1,000 tasks, 2 s on
PostgreSQL). RESCORE_MOST_TASKS says otherwise; cells beyond share tasks."""

QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_UI_ENABLED": "false",
    # The default of 20 s is at the edge on a busy machine with two cores.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # What went wrong is told once, by us, with what to do about it. Servers still receive the log.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    # Its services tell each event that a lost server does not take, in several kB.
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    # What workers log comes here outside any run of Prefect's.
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}
NONE = "none"
"""The kind of cluster that is none: everything is done in the run's own process."""
JOBS = {"slurm": ("sbatch", "scancel"), "pbs": ("qsub", "qdel"), "sge": ("qsub", "qdel"), "lsf": ("bsub", "bkill")}
"""Kinds whose workers are jobs of a scheduler, and the commands that these need."""
STARTED = ("local", *JOBS, "kubernetes")
"""Kinds of clusters that a run starts."""
LIBRARIES = {"slurm": ("dask_jobqueue", "slurm"), "kubernetes": ("dask_kubernetes", "kubernetes")}
"""What kinds need beside Dask, and the extra that brings it."""
ADDRESSES = ("tcp", "tls", "ws", "wss")
"""What the address of somebody else's scheduler begins with."""
DASK_LOGGING = {
    "distributed": "warning",
    "distributed.client": "critical",
    "distributed.worker": "critical",
    "distributed.nanny": "error",
    "distributed.sizeof": "error",
}
"""Levels by logger: a worker's traceback of what is retried or reported anyway is noise, and so are its slow goodbye,
what a client says of a scheduler that is gone, and that a performance report is too deep for its size to be told."""


THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLOSC_NTHREADS",
)
ONE_THREAD = dict.fromkeys(THREAD_VARIABLES, "1")
"""Environment of a worker: it is one process with one thread, whatever its libraries would like."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The place that a flow runs in."""

    store: str = DEFAULT_STORE
    cluster: str = "local"
    """``none``, ``local``, ``slurm``, ``pbs``, ``sge``, ``lsf``, ``kubernetes`` or a scheduler's address (``tcp://…``, ``tls://…``)."""
    workers: int | None = None
    """Worker processes of a cluster that the run starts; None is as many as there is work for, at most one a core, or
    what the manifest says."""
    most_workers: int | None = None
    """So many where there is work for them, and ``workers`` always; None is ``workers`` all the time."""
    log: str = "text"
    """``json``: what the flow and its workers do, as JSON lines on stderr; ``text``: warnings only."""
    workers_timeout_s: int | None = None
    """How long the first worker may take to come; None is what is usual for the kind of cluster."""
    no_worker_s: int = 30
    """How long a run goes on without any worker, or an answer of its scheduler, before something is done about it."""
    most_tasks: int = MOST_TASKS
    """Prefect tasks of the flow, at most."""
    brief: bool = False
    """Little is to be scored: the run goes without Dask's dashboard, and without its report."""
    is_asked_for: bool = field(default=False, compare=False)
    """Whether somebody named the cluster: then everything goes through it."""


def settings_for(
    store: str | None = None,
    cluster: str | None = None,
    workers: int | str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings as given; where not, from ``RESCORE_STORE``, ``RESCORE_CLUSTER``, ``RESCORE_WORKERS``; else defaults.

    Raises ``UsageError`` for a number that is none, or a ``RESCORE_LOG`` that does not exist.
    """
    values = os.environ if environment is None else environment
    log = values.get("RESCORE_LOG") or "text"
    if log not in ("text", "json"):
        raise UsageError(f"RESCORE_LOG must be text or json ({log!r}). Unset it for text.")
    least, most = _span(workers if workers is not None else values.get("RESCORE_WORKERS", ""))
    return Settings(
        store=store or values.get("RESCORE_STORE") or DEFAULT_STORE,
        cluster=cluster or values.get("RESCORE_CLUSTER") or "local",
        is_asked_for=bool(cluster or values.get("RESCORE_CLUSTER")),
        workers=least,
        most_workers=most,
        log=log,
        workers_timeout_s=_count(values, "RESCORE_WORKERS_TIMEOUT_S"),
        no_worker_s=_count(values, "RESCORE_NO_WORKER_S") or 30,
        most_tasks=_count(values, "RESCORE_MOST_TASKS") or MOST_TASKS,
    )


def workers_said(settings: Settings) -> int | str | None:
    """The number of workers as flows take it."""
    return settings.workers if settings.most_workers is None else f"{settings.workers}:{settings.most_workers}"


def check_cluster(settings: Settings) -> None:
    """Raise ``UsageError`` for a kind of cluster that does not exist or cannot be had here: before anything starts."""
    kind, is_address = settings.cluster.split("://", 1)[0], "://" in settings.cluster
    if settings.cluster == NONE:
        return
    if kind not in (ADDRESSES if is_address else STARTED):
        known = ", ".join((NONE, *STARTED, *(f"{name}://HOST:PORT" for name in ADDRESSES)))
        raise UsageError(f"unknown cluster {settings.cluster!r} (known: {known}).")
    library, extra = LIBRARIES["slurm" if kind in JOBS else kind] if kind in (*JOBS, "kubernetes") else ("dask", "")
    if find_spec(library) is None:
        raise UsageError(f"--cluster {kind} needs {library.replace('_', '-')}. Install rescore[{extra}].")
    lacking = [command for command in JOBS.get(kind, ()) if shutil.which(command) is None]
    if lacking:
        needed = " and ".join(JOBS[kind])
        raise UsageError(f"--cluster {kind} needs {needed} on the PATH. Run it on a login node.")
    if settings.most_workers is not None and kind not in (*JOBS, "kubernetes"):
        raise UsageError(f"--cluster {kind} does not grow and shrink. Say one number of workers.")
    if kind in JOBS and settings.workers is None:
        raise UsageError(f"--cluster {kind} needs the number of workers. Say --workers N, or set RESCORE_WORKERS.")


def check_flow(settings: Settings) -> None:
    """Raise ``UsageError`` where a flow, which has a cluster always, is to have none: before it starts."""
    if settings.cluster == NONE:
        raise UsageError("flows have a cluster always. Name one, or say `rescore run --cluster none`.")


def _span(said: int | str) -> tuple[int | None, int | None]:
    """At least and at most so many workers: ``4:64``, or ``4`` for a number that stays; None where nothing is said."""
    least, _, most = str(said).partition(":")
    named = {"RESCORE_WORKERS": least, "the number of workers after ':'": most}
    if ":" in str(said) and not (least and most):
        raise UsageError(f"the number of workers must be N or LEAST:MOST ({said!r}). Say 4, or 4:64.")
    low, high = (_count(named, name) for name in named)
    if low and high and low > high:
        raise UsageError(f"the number of workers must be N or LEAST:MOST ({said!r}). Say {high}:{low}.")
    return low, high


def _count(values: Mapping[str, str], name: str) -> int | None:
    """A whole number of 1 or more, None where the variable is not set. Raises ``UsageError`` for anything else."""
    said = values.get(name, "")
    if said and not (said.isascii() and said.isdecimal() and int(said) > 0):
        raise UsageError(f"{name} must be a whole number of 1 or more ({said!r}). Unset it for the usual.")
    return int(said) if said else None


def prepare_environment(environment: MutableMapping[str, str] | None = None) -> None:
    """Set what Prefect and Dask read when they are imported. What the caller has set stays as it is.

    With a server of one's own (``PREFECT_API_URL``) nothing is kept here; without, the embedded server gets a home of
    its own, so that a person's profiles and databases in ``~/.prefect`` are neither read nor written.
    """
    values = os.environ if environment is None else environment
    for name, value in QUIET.items():
        values.setdefault(name, value)
    if not any(name.startswith("DASK_LOGGING") for name in values):
        values["DASK_LOGGING"] = repr(DASK_LOGGING)
    if "PREFECT_API_URL" not in values and "PREFECT_HOME" not in values:
        values["PREFECT_HOME"] = str(_private_home(values))


def _private_home(environment: Mapping[str, str]) -> Path:
    """A folder for the embedded server's database, kept between runs: a new database costs ten more seconds."""
    base = environment.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    home = Path(base) / "rescore" / "prefect"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="rescore-prefect-"))
    return home
