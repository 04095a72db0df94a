"""Clusters are found by address, checked before work is sent, and refused with a reason."""

from __future__ import annotations

import os
import sys

import dask
import pytest
from distributed import Client, LocalCluster, Security

from flows.clusters import kinds as clusters
from flows.clusters import versions as cluster_versions
from flows.settings import ONE_THREAD, Settings
from pipeline.errors import PlatformError, UsageError

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def threads() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ONE_THREAD}


def opened(scheduler: str) -> None:
    """Open the cluster and leave it again."""
    with clusters.ready(scheduler):
        pass


@pytest.fixture(scope="module")
def scheduler():
    with clusters.open_cluster(Settings(workers=2)) as cluster:
        yield cluster.scheduler


def test_a_local_cluster_has_the_workers_asked_for_with_one_thread_each(scheduler):
    with Client(scheduler, set_as_default=False) as client:
        nthreads = client.nthreads()
        environments = client.run(threads)
    assert scheduler.startswith("tcp://127.0.0.1:")
    assert list(nthreads.values()) == [1, 1]
    assert list(environments.values()) == [ONE_THREAD, ONE_THREAD]


def test_an_address_is_used_as_it_is(scheduler):
    with clusters.open_cluster(Settings(cluster=scheduler)) as cluster:
        assert cluster.scheduler == scheduler


def test_an_unknown_kind_is_refused():
    unknown = clusters.open_cluster(Settings(cluster="slurmy"))
    with pytest.raises(
        UsageError, match=r"unknown cluster 'slurmy' \(known: none, local, slurm, pbs, sge, lsf, kubernetes, tcp://"
    ):
        unknown.__enter__()


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_S", 1)
    with pytest.raises(PlatformError, match="no Dask workers at tcp://127.0.0.1:9 "):
        opened("tcp://127.0.0.1:9")


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_S", 1)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(PlatformError, match="no Dask workers"),
    ):
        opened(cluster.scheduler_address)


def test_workers_of_another_version_are_refused_before_work_is_sent(scheduler, monkeypatch):
    opened(scheduler)
    here = os.getpid()

    def versions() -> dict[str, str]:  # sent as code: the workers answer with this
        return {"python": PYTHON, "dask": "7", "numpy": "2.0" if os.getpid() == here else "1.0"}

    monkeypatch.setattr(cluster_versions, "versions_here", versions)
    with pytest.raises(PlatformError, match=r"do not match: numpy 1\.0 \(here 2\.0\)\. Install"):
        opened(scheduler)


def test_another_python_is_refused_before_code_is_sent_to_it(scheduler, monkeypatch):
    versions = {**cluster_versions.versions_here(), "python": "3.99"}
    monkeypatch.setattr(cluster_versions, "versions_here", lambda: versions)
    with pytest.raises(PlatformError, match=rf"do not match: python {PYTHON} \(here 3\.99\)\. Install"):
        opened(scheduler)


def test_workers_that_cannot_say_their_versions_are_refused(scheduler, monkeypatch):
    here = os.getpid()

    def versions() -> dict[str, str]:
        if os.getpid() == here:
            return {"python": PYTHON}
        raise ModuleNotFoundError("No module named 'importlib'")

    monkeypatch.setattr(cluster_versions, "versions_here", versions)
    with pytest.raises(PlatformError, match="2 of them cannot say theirs"):
        opened(scheduler)


@pytest.mark.parametrize("name", ["tls", "slurm://host", "local://"])
def test_a_name_is_no_address_and_an_address_no_name(name):
    with pytest.raises(UsageError, match="unknown cluster"):
        clusters.open_cluster(Settings(cluster=name)).__enter__()


def test_a_local_cluster_speaks_tls_where_encryption_is_required():
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        clusters.open_cluster(Settings(workers=1)) as cluster,
    ):
        address = cluster.scheduler
        assert address.startswith("tls://127.0.0.1:")
        with Client(address, set_as_default=False) as client:  # opened by address alone, as tasks do
            assert client.submit(os.getpid).result() != os.getpid()
        with (
            dask.config.set({"distributed.comm.tls.ca-file": None}),
            pytest.raises((TypeError, OSError), match="TLS|ssl|SSL"),
        ):
            Client(address, set_as_default=False, timeout=2)
        strangers = Security.temporary()
        with pytest.raises(OSError, match="Timed out|certificate|closed"):
            Client(address, security=strangers, set_as_default=False, timeout=2)
    assert dask.config.get("distributed.comm.tls.ca-file") is None
