"""A killed run leaves no process behind; a run that ends by itself ends nothing but itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

WAIT_S = 60.0
RUN = """
import subprocess, sys, time
from flows.guard import guarded
with guarded():
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(sleep, start_new_session=True, stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
    {then}
"""


def started(then: str) -> tuple[subprocess.Popen[str], psutil.Process]:
    run = subprocess.Popen([sys.executable, "-c", RUN.format(then=then)], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    return run, psutil.Process(int(run.stdout.readline()))


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_run_started_ends_with_it(way: signal.Signals) -> None:
    run, child = started("time.sleep(600)")
    time.sleep(2.5)  # the companion looks every second
    os.kill(run.pid, way)
    run.communicate(timeout=WAIT_S)
    child.wait(timeout=WAIT_S)
    assert not child.is_running()


def test_a_run_that_ends_by_itself_says_goodbye() -> None:
    run, child = started("time.sleep(2.5)")
    run.communicate(timeout=WAIT_S)
    assert run.returncode == 0
    time.sleep(1.5)
    assert child.is_running()
    child.kill()


def test_the_companion_needs_nothing_of_the_project() -> None:
    source = Path("flows/guard.py").read_text()
    assert "from pipeline" not in source
    assert "from flows" not in source
