"""Processes that a run started end with it, even where the run is killed and cannot say goodbye.

``kill -9`` leaves the processes of a run behind: Prefect's embedded server, above all, does not notice. So a run has a
companion that knows its descendants and ends those that outlive it.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

LOOK_S = 1.0
PATIENCE_S = 5.0
_DONE = b"done"


@contextmanager
def guarded() -> Iterator[None]:
    """While the context lasts, what this process starts is ended should it be killed, and its files are removed.

    Temporary files of the process, and of those that it starts, are in a folder of their own meanwhile.
    """
    with _own_folder() as folder:
        command = [sys.executable, str(Path(__file__).resolve()), str(psutil.Process().pid), folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as companion:  # noqa: S603
            try:
                yield
            finally:
                with suppress(BrokenPipeError):
                    companion.communicate(_DONE)


@contextmanager
def _own_folder() -> Iterator[str]:
    """A folder where temporary files go while the context lasts."""
    before, said = tempfile.tempdir, os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="rescore-run-", ignore_cleanup_errors=True) as folder:
        tempfile.tempdir, os.environ["TMPDIR"] = folder, folder
        try:
            yield folder
        finally:
            tempfile.tempdir = before
            if said is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = said


def leave(code: int) -> None:
    """End this process now, without waiting for what libraries would still do; the companion ends what it started."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Threads and processes that this thread starts within do not hear Ctrl-C.

    A terminal sends it to all processes of a run. The run's own hears it and ends the others, which would otherwise
    die of it first, with a traceback each.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def watch(pid: int, stream: int, folder: str) -> None:
    """Until ``stream`` ends: remember the descendants of ``pid``; then end them and remove ``folder``, unless it ended
    with a goodbye.

    The stream ends when the process does, whatever ends it.
    """
    known: dict[int, psutil.Process] = {}
    while not select.select([stream], [], [], LOOK_S)[0]:
        with suppress(psutil.Error):
            own = psutil.Process()
            found = psutil.Process(pid).children(recursive=True)
            known = {one.pid: one for one in found if one.pid != own.pid}
    with open(stream, "rb", closefd=False) as said:
        if said.read() == _DONE:
            return
    end(known.values())
    shutil.rmtree(folder, ignore_errors=True)


def end(processes: Iterable[psutil.Process]) -> None:
    """Ask them to end, and end those that do not. A number that another process has by now is left alone."""
    left = [one for one in processes if one.is_running()]
    for one in left:
        with suppress(psutil.Error):
            one.terminate()
    for one in psutil.wait_procs(left, timeout=PATIENCE_S)[1]:
        with suppress(psutil.Error):
            one.kill()


if __name__ == "__main__":
    watch(int(sys.argv[1]), sys.stdin.fileno(), sys.argv[2])
