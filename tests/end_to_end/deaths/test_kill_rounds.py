"""Kill rounds: two of worker, starting worker, scheduler, Prefect's server, main and S3's server die in each.

Every round ends by itself, leaves neither processes nor files, and the next run gives the bytes of an undisturbed one.
Twelve rounds here, every combination many times in ``make soak`` (RESCORE_KILL_ROUNDS); the table of what became of
them is printed. RESCORE_KILL_SEED begins elsewhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flows.steps import finish, score_here
from pipeline.cli.output import columns
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import faults, latest
from pipeline.store.blobs import Store
from tests.conftest import clients_of
from tests.end_to_end.deaths.killing import (
    BIN,
    MAIN,
    PREFECT,
    S3,
    SCHEDULER,
    VICTIMS,
    WAIT_S,
    Ordeal,
    left_in,
    scheduler,
    until,
)
from tests.s3_server import serving
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

N_ROUNDS = int(os.environ.get("RESCORE_KILL_ROUNDS", "12"))
FIRST = int(os.environ.get("RESCORE_KILL_SEED", "0"))
PAIRS = list(combinations(VICTIMS, 2))
N_SYSTEMS = 6
N_CELLS = 4 * N_SYSTEMS
ENDS_S = 60.0
"""How soon a run that loses something for good is to end, on a machine that is not busy: no test measures that."""
PATIENCE = {
    "PYTHONFAULTHANDLER": "1",
    "RESCORE_NO_WORKER_S": "10",
    "RESCORE_S3_PATIENCE_S": "10",
    "RESCORE_S3_TIMEOUT_S": "5",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
}

pytestmark = pytest.mark.timeout(1200)


@dataclass
class Table:
    """What became of the rounds."""

    rows: list[tuple[str, ...]] = field(default_factory=lambda: [("seed", "killed", "exit", "after", "reused", "said")])


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    made = Table()
    yield made
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        sys.stdout.write(f"\n{columns(made.rows)}\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation of 24 small cells."""
    root = tmp_path_factory.mktemp("rounds")
    cells.write(root)
    for number in range(N_SYSTEMS - len(cells.SYSTEMS)):
        cells.submit(root, f"late{number}", 0.5 + 0.02 * number)
    return root


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> tuple[str, dict[str, bytes]]:
    """The run that nobody disturbed, and what the store then holds but for what says how a run went."""
    store = Store(str(folder / "undisturbed"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    run = finish(store, planned, score_here(store, planned, planned.jobs))
    return run.id, whole_store.contents(store, "refs", "performance", "leases")


@pytest.mark.parametrize("seed", range(FIRST, FIRST + N_ROUNDS))
def test_a_run_in_which_two_things_die_ends_and_the_next_gives_the_same_bytes(
    folder: Path,
    tmp_path: Path,
    undisturbed: tuple[str, dict[str, bytes]],
    table: Table,
    prefect_server: None,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    require: Any,
) -> None:
    random = Random(seed)
    pairs = PAIRS[:]
    Random(seed // len(PAIRS)).shuffle(pairs)
    pair = list(pairs[seed % len(PAIRS)])
    random.shuffle(pair)
    with ExitStack() as stack:
        ordeal, environment, temporary = begun(stack, folder, tmp_path, pair, random, monkeypatch)
        try:
            for victim in pair:
                ordeal.kill(victim)
            _, said = ordeal.run.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            ordeal.run.send_signal(signal.SIGABRT)  # Python tells where every thread is
            pytest.fail(f"{pair}: no end after {WAIT_S:.0f} s\n{ordeal.run.communicate(timeout=WAIT_S)[1]}")
        finally:
            ordeal.run.kill()
        after_s = time.monotonic() - ordeal.killed_s
        code = ordeal.run.returncode
        assert code in ({-9, 0, 3} if MAIN in ordeal.killed else {0, 3}), said
        assert len(said) < 5000, said
        if ordeal.s3 is not None and S3 in ordeal.killed:
            ordeal.s3.start()
        until(lambda: not left_in(temporary), f"no processes left: {left_in(temporary)}", limit_s=60)
        until(lambda: not list(temporary.iterdir()), f"no files left: {list(temporary.iterdir())}", limit_s=60)
        store = ordeal.store
        published = latest(store, "grid")
        assert published is None or faults(store, published.id) == []
        assert store.listing("scratch") == {}
        n_results = len(store.listing("results"))
        command = [
            BIN / "rescore",
            "run",
            folder / "evaluation.yaml",
            "--store",
            store.root,
            "--cluster",
            "none",
            "--quiet",
        ]
        again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert again.returncode == 0, again.stderr
        same_bytes(store, undisturbed, first=published is None or published.id == undisturbed[0])
        last = said.strip().splitlines()[-1][:110] if said.strip() else ""
        table.rows.append(
            (str(seed), " + ".join(ordeal.killed) or "nothing", str(code), f"{after_s:.0f} s", str(n_results), last)
        )


def begun(
    stack: ExitStack, folder: Path, place: Path, pair: list[str], random: Random, monkeypatch: pytest.MonkeyPatch
) -> tuple[Ordeal, dict[str, str], Path]:
    """The run with all that may die in it, its environment, and where its temporary files go."""
    from prefect.settings import PREFECT_API_URL

    temporary = place / "tmp"
    temporary.mkdir()
    s3, root = None, str(place / "store")
    if S3 in pair:
        s3 = stack.enter_context(serving(place))
        stack.enter_context(clients_of(s3.endpoint, monkeypatch))
        root = f"s3://{s3.bucket()}/store"
    environment = {**os.environ, **PATIENCE}
    others = stack.enter_context(scheduler(place / "dask", environment)) if SCHEDULER in pair else None
    environment |= {"TMPDIR": str(temporary), "PREFECT_HOME": str(folder / "prefect")}
    if PREFECT not in pair:
        environment["PREFECT_API_URL"] = PREFECT_API_URL.value()
    command = [BIN / "rescore", "run", folder / "evaluation.yaml", "--store", root, "--quiet"]
    where = ["--cluster", "local", "--workers", "2"] if others is None else ["--cluster", others.address]
    run = subprocess.Popen(
        [*map(str, command), *where], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    return Ordeal(run, Store(root), random, others, s3, N_CELLS), environment, temporary


def same_bytes(store: Store, undisturbed: tuple[str, dict[str, bytes]], *, first: bool) -> None:
    """The store holds what an undisturbed run leaves; where a run with failed cells came first, reports speak of it."""
    run, expected = undisturbed
    whole_store.check(store)
    found = latest(store, "grid")
    assert found is not None
    assert found.id == run
    kept = whole_store.contents(store, "refs", "performance", "leases")
    if not first:
        expected = {path: data for path, data in expected.items() if path.partition("/")[0] not in ("reports", "runs")}
        kept = {path: data for path, data in kept.items() if path in expected}
    assert kept == expected
