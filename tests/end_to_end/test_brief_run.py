"""A run of one small cell: what it leaves out to be over soon, and what Prefect shows of it all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.client.schemas.objects import FlowRun

from flows.rescore import run_evaluation
from pipeline.grid import latest
from pipeline.store.blobs import Store

EVALUATION = """name: brief
protocol: sws2013
datasets: {{eval: {{ecf: {0}/datasets/eval.ecf.xml, rttm: {0}/datasets/eval.rttm}}}}
query_sets: {{eval-q: {{kwlist: {0}/queries/eval-q.tlist.xml}}}}
systems: {{aurora: {{outputs: {{eval-q/eval: {0}/systems/aurora/eval-q_eval.stdlist.xml}}}}}}
"""
WAIT_S = 60.0


def test_prefect_shows_the_flow_and_a_task_for_the_cell(
    demo_evaluation: Path, tmp_path: Path, prefect_server: None
) -> None:
    path = tmp_path / "brief.yaml"
    path.write_text(EVALUATION.format(demo_evaluation.parent))
    store = Store(str(tmp_path / "store"))
    summary = run_evaluation(str(path), store=store.root, cluster="local", quiet=True)
    assert (summary.n_scored, summary.n_failed) == (1, 0)
    work = latest(store, "brief").work
    assert work["performance"] is None
    assert store.listing("performance") == {}
    assert {"ingest", "batches", "conclude", "publish"} <= set(work["costs"])
    assert shown() == {"eval-q/eval/aurora": "Completed", "publish": "Completed"}


def shown() -> dict[str, str]:
    """States of the task runs of the evaluation's only flow run, by name; the server files them a moment later."""
    wanted = FlowRunFilter(name=FlowRunFilterName(like_="brief 20"))
    limit, states = time.monotonic() + WAIT_S, dict[str, str]()
    with get_client(sync_client=True) as client:
        [run] = client.read_flow_runs(flow_run_filter=wanted)
        assert isinstance(run, FlowRun)
        assert run.state_name == "Completed"
        while list(states.values()) != ["Completed"] * 2 and time.monotonic() < limit:
            tasks = client.read_task_runs(flow_run_filter=wanted)
            states = {task.name: str(task.state_name) for task in tasks}
            time.sleep(0.2)
    return states


def test_an_interrupt_is_for_the_run_alone_and_ends_it_soon(demo_evaluation: Path, tmp_path: Path) -> None:
    path = tmp_path / "brief.yaml"
    path.write_text(EVALUATION.format(demo_evaluation.parent))
    command = [sys.executable, "-m", "pipeline.cli", "run", str(path), "--cluster", "local"]
    command += ["--store", str(tmp_path / "store")]
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    environment["PREFECT_HOME"] = str(tmp_path / "prefect")
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as run:
        server = waited_for(run.pid, "uvicorn")
        started = {one.pid: one for one in psutil.Process(run.pid).children(recursive=True)}
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        with suppress(psutil.NoSuchProcess):
            assert signal.SIGINT in blocked(server)
        said, _ = run.communicate(timeout=WAIT_S)
    assert run.returncode == 130
    assert "Traceback" not in said
    assert not psutil.wait_procs(started.values(), timeout=WAIT_S)[1]


def waited_for(pid: int, word: str) -> psutil.Process:
    """The process below another one whose command has a word."""
    limit = time.monotonic() + WAIT_S
    while time.monotonic() < limit:
        for one in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                if word in one.cmdline():
                    return one
        time.sleep(0.05)
    raise TimeoutError(word)


def blocked(process: psutil.Process) -> set[int]:
    """The signals that a process does not hear now."""
    with suppress(FileNotFoundError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigBlk:"):
                mask = int(line.split()[1], 16)
                return {number for number in range(1, 65) if mask >> (number - 1) & 1}
    raise psutil.NoSuchProcess(process.pid)
