"""Clusters are found by address, checked before work is sent, and refused with a reason."""

from __future__ import annotations

import os

import pytest
from distributed import Client, LocalCluster

from flows import clusters
from flows.settings import ONE_THREAD, Settings
from pipeline.errors import PlatformError, UsageError


def threads() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ONE_THREAD}


@pytest.fixture(scope="module")
def scheduler():
    with clusters.open_cluster(Settings(workers=2)) as address:
        yield address


def test_a_local_cluster_has_the_workers_asked_for_with_one_thread_each(scheduler):
    with Client(scheduler, set_as_default=False) as client:
        nthreads = client.nthreads()
        environments = client.run(threads)
    assert scheduler.startswith("tcp://127.0.0.1:")
    assert list(nthreads.values()) == [1, 1]
    assert list(environments.values()) == [ONE_THREAD, ONE_THREAD]


def test_an_address_is_used_as_it_is(scheduler):
    with clusters.open_cluster(Settings(cluster=scheduler)) as address:
        assert address == scheduler


def test_an_unknown_kind_is_refused():
    unknown = clusters.open_cluster(Settings(cluster="slurmy"))
    with pytest.raises(UsageError, match=r"unknown cluster 'slurmy' \(known: local, tcp://"):
        unknown.__enter__()


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_S", 1)
    with pytest.raises(PlatformError, match="no Dask workers at tcp://127.0.0.1:9 "):
        clusters.check_workers("tcp://127.0.0.1:9")


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_S", 1)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(PlatformError, match="no Dask workers"),
    ):
        clusters.check_workers(cluster.scheduler_address)


def test_workers_of_another_version_are_refused_before_work_is_sent(scheduler, monkeypatch):
    clusters.check_workers(scheduler)
    here = os.getpid()

    def versions() -> dict[str, str]:  # pickled by value: the workers answer with this
        return {"dask": "7", "numpy": "2.0" if os.getpid() == here else "1.0"}

    monkeypatch.setattr(clusters, "_versions", versions)
    with pytest.raises(PlatformError, match=r"do not match: numpy 1\.0 \(here 2\.0\)\. Install"):
        clusters.check_workers(scheduler)


def test_workers_that_cannot_import_rescore_are_refused(scheduler, monkeypatch):
    def versions() -> dict[str, str]:
        raise ModuleNotFoundError("No module named 'flows'")

    monkeypatch.setattr(clusters, "_versions", versions)
    with pytest.raises(PlatformError, match="2 of them cannot import rescore"):
        clusters.check_workers(scheduler)
