"""A real Slurm of one node: its jobs as workers, cancelled and replaced."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Security

from flows import cluster_slurm, clusters
from flows.settings import ONE_THREAD, Settings
from pipeline.errors import UsageError
from tests.conftest import ROOT

DAEMONS = ("slurmctld", "slurmd", "munged")
SELFTEST = ROOT / "deploy" / "slurm" / "selftest"


def test_cancelled_jobs_are_replaced_and_the_run_ends_with_the_same_bytes(tmp_path, prefect_server, require):
    path = f"{os.environ['PATH']}:/usr/sbin"
    lacking = [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=path) is None]
    require("slurm", not lacking, f"{', '.join(lacking)} is not installed (deploy/ci-system.sh)")
    from prefect.settings import PREFECT_API_URL

    environment = {
        **os.environ,
        "PREFECT_API_URL": PREFECT_API_URL.value(),
        "TMPDIR": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "BIN": str(Path(sys.executable).parent),
    }
    done = subprocess.run([SELFTEST], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "selftest: run on this machine: 24 results" in done.stdout
    assert "22 cells scored, 2 failed, 0 reused" in done.stdout
    assert "every object has the bytes of the run on this machine" in done.stdout
    left = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert [line for line in left if str(tmp_path) in " ".join(line or [])] == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp")] == []


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site's configuration, and a home of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said = {
        "queue": "long",
        "account": "eval-2026",
        "walltime": "04:00:00",
        "cores": 3,
        "memory": "12 GB",
        "interface": "lo",
        "local-directory": "/scratch/x",
        "job-script-prologue": ["module load python/3.11"],
        "job-extra-directives": ["--constraint=avx2"],
        "worker-extra-args": ["--lifetime", "3h"],
    }
    import dask_jobqueue  # noqa: F401 - brings the defaults of the configuration

    with dask.config.set({"jobqueue.slurm": {**dask.config.get("jobqueue.slurm"), **said}}):
        yield tmp_path


def job_script(security: Security | None) -> str:
    """What the workers' job would be."""
    from dask_jobqueue.slurm import SLURMCluster

    with SLURMCluster(**cluster_slurm.options(security)) as cluster:
        listening = [place.laddr.ip for place in psutil.Process().net_connections("tcp") if place.status == "LISTEN"]
        assert len(listening) >= 2  # the scheduler, and its dashboard
        assert set(listening) == {"127.0.0.1"}
        assert cluster.scheduler_address.startswith("tls://" if security else "tcp://")
        return str(cluster.job_script())


def test_what_the_site_says_is_in_the_job(site):
    script = job_script(None)
    directives = [line for line in script.splitlines() if line.startswith("#SBATCH")]
    for directive in ("-p long", "-A eval-2026", "-t 04:00:00", "--cpus-per-task=3", "--mem=12G", "--constraint=avx2"):
        assert f"#SBATCH {directive}" in directives, script
    assert "module load python/3.11" in script
    assert all(f"export {name}=1" in script for name in ONE_THREAD)
    worker = script.splitlines()[-1]
    assert worker.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://127.0.0.1:")
    for option in ("--nthreads 1", "--nworkers 3", "--no-dashboard", "--lifetime 3h", "--local-directory /scratch/x"):
        assert option in worker
    assert f"{site}/rescore/slurm/logs/" in script


def test_certificates_of_a_run_are_for_its_owner_only(site):
    with cluster_slurm.secured(by_default=True) as security, cluster_slurm.readable_by_jobs(security) as shared:
        script = job_script(shared)
        folder = next(site.rglob("rescore-tls-*"))
        assert folder.stat().st_mode & 0o777 == 0o700
        for option, file in (("ca-file", "ca_file"), ("cert", "worker_cert"), ("key", "worker_key")):
            assert f"--tls-{option} {folder}/tls_{file}" in script
    assert "PRIVATE KEY" not in script
    assert (site / "rescore" / "slurm").stat().st_mode & 0o777 == 0o700
    assert list(site.rglob("rescore-tls-*")) == []


def test_slurm_is_encrypted_unless_the_site_says_otherwise():
    with cluster_slurm.secured(by_default=True) as security:
        assert security is not None
    with (
        dask.config.set({"distributed.comm.require-encryption": False}),
        cluster_slurm.secured(by_default=True) as security,
    ):
        assert security is None


def test_a_machine_without_slurm_says_what_is_lacking(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError, match="needs sbatch and scancel on the PATH"):
        clusters.open_cluster(Settings(cluster="slurm", workers=2)).__enter__()


def test_without_dask_jobqueue_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue.slurm", None)
    with pytest.raises(UsageError, match=r"Install rescore\[slurm\]"):
        clusters.open_cluster(Settings(cluster="slurm", workers=2)).__enter__()
