"""Benches that print tables of their own, run as commands; what they print is kept for the results."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.measured import THREADS


@dataclass(frozen=True)
class Printed:
    """What a command printed, and whether it ended as it should."""

    command: str
    text: str
    failed: bool


def printed(*words: str) -> Printed:
    """Run ``python -m WORDS`` to its end; its lines are printed as they come."""
    command = " ".join(["python", "-m", *words])
    print(f"\n{command}", flush=True)
    lines = []
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **THREADS},
    ) as child:
        for line in child.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if child.returncode:
        lines.append(f"ended with {child.returncode}\n")
        print(lines[-1], end="", flush=True)
    return Printed(command, "".join(lines), child.returncode != 0)


def markdown(shown: Printed) -> str:
    """The command, and what it printed."""
    return f"\n`{shown.command}`\n\n```\n{shown.text.strip()}\n```\n"
