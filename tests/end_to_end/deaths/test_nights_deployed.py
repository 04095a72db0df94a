"""The deployments of deploy/prefect.yaml on a real Prefect server with PostgreSQL and a process worker.

The tests build on each other: a server and a worker are started once, and every night begins where the last ended.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psutil
import pytest

from bench.servers import PrefectServer, postgres, postgres_binaries, prefect_worker
from flows.steps import finish, score_here
from flows.study import run_study
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import latest
from pipeline.grid.history import history
from pipeline.store import studies
from pipeline.store.blobs import Store
from tests.end_to_end.deaths.nights import BIN, EAGER, ROOT, WAIT_S, Nights, notices, until
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

POOL = "rescore"
SECONDS = 20
"""Of the interval on which the watch looks, for once."""
SOON_S = 5
"""How long before the first of those looks."""
WITHOUT = ("refs", "performance")
STUDY = """\
name: weekly
evaluations: {grid: {year: 2013, evaluation: evaluation.yaml}}
resampling: {replicates: 100, seed: 1}
"""

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def nights(require: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    """Servers that run, an evaluation and an empty store. Nothing is deployed yet."""
    require("postgres", postgres_binaries(), "there is no initdb")
    root = tmp_path_factory.mktemp("nights")
    store = Store(str(root / "store"))
    evaluation = cells.write(root)
    with postgres() as database, notices() as receiver:
        server = PrefectServer(root / "server", database, EAGER)
        environment = {
            "RESCORE_NAME": "grid",
            "RESCORE_EVALUATION": str(evaluation),
            "RESCORE_META": str(root / "meta.yaml"),
            "RESCORE_STORE": store.root,
            "RESCORE_WORKERS": "2",
            "RESCORE_NOTIFY_URL": receiver.url,
        }
        try:
            server.start()
            yield Nights(server, evaluation, store, receiver, environment)
        finally:
            server.kill()


@pytest.fixture(scope="module")
def deployed(nights: Nights) -> Nights:
    """Everything deployed by the commands of deploy/prefect/README.md."""
    nights.command("prefect", "--no-prompt", "work-pool", "create", "--type", "process", POOL)
    nights.command("prefect", "--no-prompt", "deploy", "--prefect-file", "deploy/prefect.yaml", "--all")
    nights.command("python", "-m", "flows.automations")
    return nights


@pytest.fixture(scope="module")
def worker(deployed: Nights) -> Iterator[None]:
    with prefect_worker(deployed.server, POOL, deployed.environment, deployed.server.home / "worker.log"):
        yield


def is_idle(nights: Nights) -> bool:
    """Whether every run has ended."""
    states = {"type": {"any_": ["SCHEDULED", "PENDING", "RUNNING"]}}
    due = nights.api("/flow_runs/filter", flow_runs={"state": states, "expected_start_time": {"before_": now()}})
    return not due


def now() -> str:
    return datetime.now(UTC).isoformat()


def corrected(nights: Nights, late_s: float) -> None:
    """Move a row of the key."""
    key = nights.evaluation.parent / "d.rttm"
    text, n = re.subn(r"LEXEME a 1 \S+ 1 alpha", f"LEXEME a 1 {10 + late_s} 1 alpha", key.read_text())
    assert n == 1
    key.write_text(text)


def test_every_deployment_is_there_with_its_limit_and_schedule(deployed: Nights) -> None:
    found = {entry["name"]: entry for entry in deployed.api("/deployments/filter")}
    assert found["meta-grid"]["schedules"][0]["schedule"]["cron"] == "0 5 * * 0"
    declared = re.findall(r"- name: (\S+)-\{\{", (ROOT / "deploy/prefect.yaml").read_text())
    assert sorted(found) == sorted(f"{name}-grid" for name in declared)
    for entry in found.values():
        assert (entry["global_concurrency_limit"]["limit"], entry["work_pool_name"]) == (1, POOL)
        assert entry["concurrency_options"]["collision_strategy"] == "ENQUEUE"
        assert len(entry["schedules"]) == 1
    assert found["nightly-grid"]["schedules"][0]["schedule"]["cron"] == "0 2 * * *"
    assert found["watch-grid"]["schedules"][0]["schedule"]["interval"] == 900
    assert found["watch-grid"]["parameters"] == {"evaluation": str(deployed.evaluation)}
    before = sorted(entry["name"] for entry in deployed.api("/automations/filter"))
    deployed.command("python", "-m", "flows.automations", "--notify", deployed.notices.url)
    assert sorted(entry["name"] for entry in deployed.api("/automations/filter")) == before
    assert len(before) == 4


def test_a_scheduled_run_starts_by_itself(deployed: Nights, worker: None) -> None:
    """By a short interval beside the deployment's own, taken away once a run began so that few others are due."""
    [watch] = deployed.api("/deployments/filter", deployments={"name": {"any_": ["watch-grid"]}})
    url = f"{deployed.server.environment['PREFECT_API_URL']}/deployments/{watch['id']}/schedules"
    soon = datetime.now(UTC) + timedelta(seconds=SOON_S)
    often = {"interval": SECONDS, "anchor_date": soon.isoformat(), "timezone": "UTC"}
    [schedule] = httpx.post(url, json=[{"active": True, "schedule": often}], timeout=30).raise_for_status().json()
    until(lambda: deployed.runs("watch-grid"), "a run that begins by itself")
    httpx.delete(f"{url}/{schedule['id']}", timeout=30).raise_for_status()
    first = deployed.ended("watch-grid", "Completed", 1)
    assert first["auto_scheduled"] is True
    until(lambda: is_idle(deployed), "the end of all that was due")
    run = latest(deployed.store, "grid")
    assert (run.n_scored, run.n_failed) == (8, 0)
    assert deployed.store.exists(run.work["performance"])


def test_a_changed_key_is_scored_when_somebody_says_so(deployed: Nights, worker: None) -> None:
    before = latest(deployed.store, "grid")
    corrected(deployed, 20.0)
    elsewhere = deployed.evaluation.with_name("said.yaml")
    shutil.copyfile(deployed.evaluation, elsewhere)
    said = json.dumps({"evaluation": str(elsewhere)})
    emit = ["event", "emit", "rescore.keys.changed", "--resource-id", "rescore.keys.grid", "--payload", said]
    deployed.command("prefect", *emit)
    run = until(lambda: (found := latest(deployed.store, "grid")).id != before.id and found, "a run of the changed key")
    assert run.work["references"]["made"] == 2
    started = until(
        lambda: [one for one in deployed.runs("watch-grid") if one["parameters"]["evaluation"] == str(elsewhere)],
        "a run for the event",
    )
    assert started[0]["created_by"]["type"] == "AUTOMATION"
    notice = until(lambda: deployed.notices.about("cells moved"), "a notice that figures moved")[0]
    assert notice["subject"].startswith("rescore: grid: ")
    assert f"Run {run.id} after {before.id}: input rttm" in notice["body"]


def test_the_weekly_study_is_of_the_last_night(deployed: Nights, worker: None) -> None:
    file = deployed.evaluation.with_name("meta.yaml")
    file.write_text(STUDY)
    deployed.start("meta-grid")
    assert deployed.ended("meta-grid", "Completed", 1)["parameters"] == {"file": str(file)}
    [commit] = studies.history(deployed.store, "weekly").values()
    again = run_study(str(file), store=deployed.store.root, quiet=True)
    assert again.paths["manifest.json"] == deployed.store.url(commit["manifest"])
    [_] = studies.history(deployed.store, "weekly")


def test_a_night_that_fails_is_told(deployed: Nights, worker: None) -> None:
    missing = str(deployed.evaluation.with_name("nowhere.yaml"))
    deployed.start("nightly-grid", evaluation=missing)
    notice = until(lambda: deployed.notices.about("is Failed"), "a notice of the failure")[0]
    assert "nowhere.yaml" in notice["body"]


def test_runs_of_one_evaluation_take_turns_and_a_silent_one_has_crashed(deployed: Nights, worker: None) -> None:
    """A run that may not begin yet is killed with its worker, as when a machine fails; the next night is whole."""
    deployed.automate("--silent", "10")
    before = latest(deployed.store, "grid")
    corrected(deployed, 0.25)
    limit = next(entry for entry in limits(deployed) if entry["name"] == "rescore.grid")
    slot = deployed.api(
        "/v2/concurrency_limits/increment-with-lease", slots=1, names=[limit["name"]], mode="concurrency"
    )
    deployed.start("nightly-grid")
    waiting = until(lambda: [one for one in deployed.runs("nightly-grid") if is_running(one)], "a run that waits")
    until(lambda: has_beaten(deployed, waiting[0]["id"]), "its heartbeat")
    assert latest(deployed.store, "grid").id == before.id
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may end meanwhile
            if "worker" in (line := process.cmdline()) or "prefect.engine" in " ".join(line):
                process.kill()
    crashed = deployed.ended("nightly-grid", "Crashed", 1)
    assert (crashed["id"], crashed["state"]["message"][:10]) == (waiting[0]["id"], "No sign of")
    assert until(lambda: deployed.notices.about("is Crashed"), "a notice of the crash")
    deployed.automate()
    with prefect_worker(deployed.server, POOL, deployed.environment, deployed.server.home / "worker.log"):
        deployed.start("nightly-grid")
        deployed.start("watch-grid")
        for name in ("nightly-grid", "watch-grid"):
            until(lambda name=name: [one for one in deployed.runs(name) if is_running(one)], f"a waiting run of {name}")
        assert latest(deployed.store, "grid").id == before.id
        release(deployed, slot["lease_id"])
        until(lambda: is_idle(deployed), "the end of both")
    run = latest(deployed.store, "grid")
    assert (run.id != before.id, run.n_scored, len(history(deployed.store, "grid"))) == (True, 8, 3)
    assert deployed.runs("nightly-grid")[-1]["state"]["name"] == "Completed"


def test_a_server_that_dies_and_comes_back_costs_no_result(nights: Nights, tmp_path: Path) -> None:
    evaluation = cells.write(tmp_path)
    for number in range(4):
        cells.submit(tmp_path, f"late{number}", 0.5 + 0.02 * number)
    store, whole = Store(str(tmp_path / "store")), Store(str(tmp_path / "undisturbed"))
    planned = plan(load_evaluation(str(evaluation)), whole)
    finish(whole, planned, score_here(whole, planned, planned.jobs))
    environment = {**os.environ, **nights.server.environment, "RESCORE_WORKERS": "2"}
    command = [BIN / "rescore", "run", evaluation, "--store", store.root, "--json"]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: store.listing("results") or run.poll() is not None, "a result")
    nights.server.kill()
    nights.server.start()
    _, said = run.communicate(timeout=WAIT_S)
    assert run.returncode in (0, 3), said
    before = store.times("results")
    assert before
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert again.returncode == 0, again.stderr
    summary = json.loads(again.stdout)
    assert (summary["n_scored"], summary["n_reused"]) == (24, len(before))
    assert {path: written for path, written in store.times("results").items() if path in before} == before
    assert whole_store.contents(store, *WITHOUT) == whole_store.contents(whole, *WITHOUT)
    sys.stdout.write(f"server killed: exit {run.returncode}, {len(before)} of 24 cells reused\n")


def limits(nights: Nights) -> list[dict]:
    return nights.api("/v2/concurrency_limits/filter")


def release(nights: Nights, lease: str) -> None:
    """Give a turn back."""
    url = f"{nights.server.environment['PREFECT_API_URL']}/v2/concurrency_limits/decrement-with-lease"
    httpx.post(url, json={"lease_id": lease}, timeout=30).raise_for_status()


def is_running(run: dict) -> bool:
    return run["state"]["name"] == "Running"


def has_beaten(nights: Nights, run: str) -> bool:
    resource = {"id": [f"prefect.flow-run.{run}"]}
    asked = {"event": {"name": ["prefect.flow-run.heartbeat"]}, "resource": resource}
    return nights.api("/events/filter", filter=asked)["total"] > 0
