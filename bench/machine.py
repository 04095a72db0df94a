"""On what, when and with what a bench ran, for its results: no name of a host, no path."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "pandas", "xarray", "zarr", "dask", "prefect")


def facts() -> dict[str, str]:
    """What stands above a table of results."""
    return {
        "machine": f"{_processor()}, {_cores()} cores, {_memory()} of memory",
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}, {_distribution()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "revision": _revision(),
        "versions": ", ".join([f"Python {platform.python_version()}", *_versions()]),
    }


def head(command: str) -> str:
    """The facts as a Markdown list, with the command that makes the results again."""
    listed = "".join(f"- {name}: {value}\n" for name, value in facts().items())
    return f"- command: `{command}`\n{listed}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _versions() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return found


def _revision() -> str:
    """The commit, and whether the tree has anything beyond it."""
    root = Path(__file__).parents[1]
    try:
        commit, changed = (
            subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit} with changes that are not committed" if changed else commit
