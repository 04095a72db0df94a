"""Workers as jobs of Slurm, PBS, SGE or LSF, through dask-jobqueue; a job that is cancelled or ends is replaced.

Everything a site decides (queue, account, walltime, memory, interface, …) is Dask configuration below
``jobqueue.slurm`` (``….pbs``, …), in a file or as ``DASK_JOBQUEUE__SLURM__…``. What is set here are defaults for
the rest.
"""

from __future__ import annotations

import copy
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import dask
from distributed import Security

from flows.clusters.cluster import Cluster
from flows.clusters.security import secured
from flows.settings import ONE_THREAD, Settings
from pipeline.errors import UsageError

CLUSTERS = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
"""Names in dask-jobqueue."""
MEMORY = "4 GB"
"""Of a job with one core, where the site says nothing."""
QUEUE_S = 12 * 3600
"""How long jobs may wait for their turn."""
LOOPBACK_DASHBOARD = "127.0.0.1:0"


@contextmanager
def jobs(settings: Settings) -> Iterator[Cluster]:
    """Jobs of one or more one-thread workers; the scheduler runs in this process, with TLS unless that is turned off.

    Raises ``UsageError`` without dask-jobqueue, or where Slurm refuses the job.
    """
    kind = settings.cluster
    try:
        module = import_module(f"dask_jobqueue.{kind}")
    except ImportError as error:
        raise UsageError(f"--cluster {kind} needs dask-jobqueue. Install rescore[slurm].") from error
    with (
        secured(by_default=True) as security,
        readable_by_jobs(security, kind) as shared,
        getattr(module, CLUSTERS[kind])(**(asked := options(shared, kind))) as cluster,
    ):
        if kind == "slurm":  # the others have no such question
            check_job(cluster.job_script())
        least = math.ceil((settings.workers or 1) / asked["processes"])
        most = math.ceil((settings.most_workers or settings.workers or 1) / asked["processes"])
        cluster.adapt(minimum_jobs=least, maximum_jobs=most)  # `scale` would not replace a job that is gone
        patience_s = settings.workers_timeout_s or QUEUE_S
        yield Cluster(str(cluster.scheduler_address), patience_s, "See what became of its jobs, and run again.")


def options(security: Security | None, kind: str = "slurm") -> dict[str, Any]:
    """Arguments of dask-jobqueue's cluster: the site's; one thread, no open dashboards, private folders."""
    site: Mapping[str, Any] = dask.config.get(f"jobqueue.{kind}", {})
    cores = int(site.get("cores") or 1)
    return {
        "cores": cores,
        "processes": cores,  # one thread each
        "memory": site.get("memory") or MEMORY,
        "security": security,
        "protocol": "tls://" if security else "tcp://",
        "scheduler_options": {"dashboard_address": LOOPBACK_DASHBOARD, **(site.get("scheduler-options") or {})},
        "worker_extra_args": ["--no-dashboard", *(site.get("worker-extra-args") or [])],
        "job_script_prologue": [
            *(f"export {name}={value}" for name, value in ONE_THREAD.items()),
            *(site.get("job-script-prologue") or []),
        ],
        "log_directory": site.get("log-directory") or str(_private_folder() / "logs"),
    }


@contextmanager
def readable_by_jobs(security: Security | None, kind: str = "slurm") -> Iterator[Security | None]:
    """A security with the workers' certificates in files that only their owner can read, removed afterwards."""
    fields = ("tls_ca_file", "tls_worker_cert", "tls_worker_key")
    if security is None or not any("\n" in (getattr(security, field) or "") for field in fields):
        yield security
        return
    shared = dask.config.get(f"jobqueue.{kind}.shared-temp-directory", None) or str(_private_folder())
    with tempfile.TemporaryDirectory(prefix="rescore-tls-", dir=os.path.expandvars(shared)) as folder:
        written = copy.copy(security)
        for field in fields:
            path = Path(folder, field)
            path.write_text(getattr(security, field), encoding="ascii")
            setattr(written, field, str(path))
        yield written


def check_job(script: str) -> None:
    """Raise ``UsageError`` with Slurm's own words where it would refuse the job: otherwise nobody would hear them."""
    done = subprocess.run(
        ["sbatch", "--test-only"],  # noqa: S607 - wherever the site has it
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise UsageError(f"Slurm refuses the workers' job ({said}). Mend jobqueue.slurm in Dask's configuration.")


def _private_folder() -> Path:
    """A folder that the nodes share, as homes are, for logs and certificates of a run; nobody else may look in."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "rescore" / "slurm"
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder
