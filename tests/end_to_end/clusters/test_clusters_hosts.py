"""A cluster of three hosts with addresses of their own, in the clear and with TLS, while cables are pulled."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
from tests.conftest import ROOT
from tests.end_to_end.clusters.hosts import Host, hosts_work, network
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

BIN = Path(sys.executable).parent
N_SYSTEMS = 6
CUT_S = 30.0
WAIT_S = 240.0
ON_EXECUTION = ("refs", "performance")
"""What says how a run went, not what it found."""
SUPERVISED = ["sh", "-c", 'while :; do "$@"; sleep 1; done', "sh"]
"""What `restart: always` does."""


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 small cells."""
    root = tmp_path_factory.mktemp("hosts")
    path = cells.write(root)
    for number in range(N_SYSTEMS - len(cells.SYSTEMS)):
        cells.submit(root, f"late{number}", 0.15 + 0.01 * number)
    return path


@pytest.fixture(scope="module")
def undisturbed(evaluation: Path) -> dict[str, bytes]:
    """What a run in one process leaves."""
    store = Store(str(evaluation.parent / "undisturbed"))
    planned = plan(load_evaluation(str(evaluation)), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    return whole_store.contents(store, *ON_EXECUTION)


@pytest.fixture
def hosts(require: Callable[[str, object, str], None]) -> Iterator[list[Host]]:
    """For a scheduler and two workers."""
    require("netns", hosts_work(), "this machine does not permit network namespaces (root and iproute2 are needed)")
    with network("hosts", 3) as made:
        yield made


def certificates(folder: Path, hosts: list[Host]) -> dict[str, str]:
    """Certificates of an authority of our own, and the environment that makes Dask use and demand them."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    environment = {"CA_FILE": str(folder / "ca.pem")}
    for role in ("scheduler", "worker", "client"):
        issued = authority.issue_cert("rescore", *(host.address for host in hosts))
        issued.private_key_and_cert_chain_pem.write_to_path(str(folder / f"{role}.pem"))
        environment |= {f"{role.upper()}__{what}": str(folder / f"{role}.pem") for what in ("CERT", "KEY")}
    named = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": value for name, value in environment.items()}
    return {**named, "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}


class Cluster:
    """A scheduler on the first host and a supervised worker on each other, and one run on it from this machine."""

    def __init__(self, protocol: str, hosts: list[Host], folder: Path, environment: dict[str, str]) -> None:
        folder.mkdir()
        port = {"tcp": "8786", "tls": "8785"}[protocol]
        self.address = f"{protocol}://{hosts[0].address}:{port}"
        self.store = Store(str(folder / "store"))
        self._folder, self._environment = folder, environment
        scheduler = ["scheduler", "--protocol", protocol, "--host", hosts[0].address, "--port", port, "--no-dashboard"]
        self.scheduler = hosts[0].start([BIN / "dask", *scheduler], folder / "scheduler.log", env=environment)
        for host in hosts[1:]:
            options = ["--nthreads", "1", "--host", host.address, "--protocol", protocol, "--no-dashboard"]
            command = [*SUPERVISED, BIN / "dask", "worker", self.address, *options, "--local-directory", folder]
            host.start(command, folder / f"{host.name}.log", env=environment)

    def begin(self, evaluation: Path) -> subprocess.Popen[str]:
        """Start the run."""
        command = [BIN / "rescore", "run", evaluation, "--store", self.store.root, "--cluster", self.address, "--json"]
        self.run = subprocess.Popen(
            [*map(str, command)], env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        return self.run

    def n_results(self) -> int:
        """Cells done so far."""
        return len(self.store.listing("results"))

    def said(self) -> str:
        """The logs, for a failure's sake."""
        return "\n".join(f"== {path.name}\n{path.read_text()[-1500:]}" for path in sorted(self._folder.glob("*.log")))


@pytest.mark.timeout(600)
def test_one_host_is_cut_off_for_a_while_and_another_for_good(
    hosts: list[Host], evaluation: Path, undisturbed: dict[str, bytes], tmp_path: Path, prefect_server: None
) -> None:
    from prefect.settings import PREFECT_API_URL

    common = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DASK_")},
        "DASK_CONFIG": str(ROOT / "deploy" / "dask.yaml"),
        "PREFECT_API_URL": PREFECT_API_URL.value(),
    }
    secret = common | certificates(tmp_path, hosts)
    clusters = [Cluster("tcp", hosts, tmp_path / "tcp", common), Cluster("tls", hosts, tmp_path / "tls", secret)]
    runs = [cluster.begin(evaluation) for cluster in clusters]
    limit = time.monotonic() + WAIT_S
    try:
        while not all(cluster.n_results() for cluster in clusters):
            ended = [run.communicate()[1] for run in runs if run.poll() is not None]
            assert not ended, ended + [cluster.said() for cluster in clusters]
            assert time.monotonic() < limit, [cluster.said() for cluster in clusters]
            time.sleep(0.02)
        for host in hosts[1:]:
            host.pull_the_cable()
        cut = time.monotonic()
        done = [cluster.n_results() for cluster in clusters]
        assert all(run.poll() is None for run in runs), "a run ended before the cables were pulled"
        time.sleep(CUT_S)
        hosts[1].put_the_cable_back()
        for cluster, run, before in zip(clusters, runs, done, strict=True):
            _, said = run.communicate(timeout=WAIT_S)
            assert run.returncode == 0, said + cluster.said()
            after_s = time.monotonic() - cut
            whole_store.check(cluster.store)
            assert whole_store.contents(cluster.store, *ON_EXECUTION) == undisturbed
            where = f"{before} of {len(cells.RECORDINGS) * len(cells.LISTED) * N_SYSTEMS} cells"
            sys.stdout.write(f"{cluster.address}: cut at {where}, over {after_s:.0f} s later\n")
    finally:
        for run in runs:
            run.kill()
            run.wait()
