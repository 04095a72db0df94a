"""A real Slurm of one node: its jobs as workers, cancelled and replaced."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client, Security

from flows.clusters import kinds as clusters
from flows.clusters import slurm as cluster_slurm
from flows.settings import ONE_THREAD, Settings
from pipeline.errors import UsageError
from tests.conftest import ROOT
from tests.end_to_end.deaths.killing import until

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


SAYS = {
    "pbs": ("#PBS -q long", "#PBS -l select=1:ncpus=3:mem=12GB", "#PBS -l walltime=04:00:00"),
    "sge": ("#$ -q long", "#$ -l h_rt=04:00:00"),
    "lsf": ("#BSUB -q long", "#BSUB -n 3", "#BSUB -W 04:00:00"),
}


@pytest.mark.parametrize("kind", SAYS)
def test_other_schedulers_get_the_same_workers(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    import dask_jobqueue

    said = {"queue": "long", "walltime": "04:00:00", "cores": 3, "memory": "12 GB", "interface": "lo"}
    name = f"jobqueue.{kind}"
    with dask.config.set({name: {**dask.config.get(name), **said, "job-script-prologue": ["module load python/3.11"]}}):
        made = getattr(dask_jobqueue, cluster_slurm.CLUSTERS[kind])
        with made(**cluster_slurm.options(None, kind)) as cluster:
            script = str(cluster.job_script())
    lines = script.splitlines()
    for directive in SAYS[kind]:
        assert directive in lines, script
    assert "module load python/3.11" in lines
    assert all(f"export {name}=1" in lines for name in ONE_THREAD)
    for option in ("--nthreads 1", "--nworkers 3", "--no-dashboard"):
        assert option in lines[-1]
    assert clusters.KINDS[kind] is cluster_slurm.jobs


@pytest.mark.timeout(600)
def test_jobs_come_with_the_work_and_leave_with_it(tmp_path, monkeypatch, require):
    path = f"{os.environ['PATH']}:/usr/sbin"
    lacking = [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=path) is None]
    require("slurm", not lacking, f"{', '.join(lacking)} is not installed (deploy/ci-system.sh)")
    one_node = ROOT / "deploy" / "slurm" / "one-node"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CPUS", "4")
    for name, value in {"QUEUE": "main", "MEMORY": "1 GB", "INTERFACE": "lo"}.items():
        monkeypatch.setenv(f"DASK_JOBQUEUE__SLURM__{name}", value)
    import dask_jobqueue  # noqa: F401 - brings the defaults of the configuration

    dask.config.refresh()
    subprocess.run([one_node, "up", tmp_path / "slurm"], check=True, capture_output=True)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm" / "slurm.conf"))
    try:
        asked = Settings(cluster="slurm", workers=1, most_workers=3)
        with clusters.open_cluster(asked) as cluster, Client(cluster.scheduler, set_as_default=False) as client:
            assert len(client.nthreads()) == 1
            futures = client.map(time.sleep, [8.0] * 24, pure=False)
            until(lambda: len(client.nthreads()) == 3, "jobs come with the work")
            client.gather(futures)
            until(lambda: len(client.nthreads()) == 1, "jobs leave with it")
    finally:
        subprocess.run([one_node, "down", tmp_path / "slurm"], check=True, capture_output=True)


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
