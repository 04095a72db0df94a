"""Making the figures of an archive again: here, or in a new environment made of its own wheels, without a network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.engine.cell import do_cell, load_result
from pipeline.engine.plan import Job, Plan
from pipeline.engine.recompute import with_references
from pipeline.engine.result import to_bytes
from pipeline.errors import DamageError, PlatformError, UsageError
from pipeline.season.archive import FORM, INDEX, cell_names, damaged, figures_csv
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Source, System


@dataclass(frozen=True)
class Reproduced:
    """The outcome: cells whose results have other bytes, and whether the table of figures has the same."""

    run: str
    n_cells: int
    differing: tuple[str, ...]
    same_figures: bool

    @property
    def equal(self) -> bool:
        """Whether every bit is the same."""
        return not self.differing and self.same_figures


def reproduce_here(folder: Path) -> Reproduced:
    """Score every cell of an archive anew with the packages that run now, and compare the bytes of results.

    Raises ``UsageError`` for what is no archive, ``DamageError`` where its files are not what its index says.
    """
    index = _index(folder, leave_out="wheels/")
    with TemporaryDirectory(prefix="rescore-reproduce-") as scratch:
        store = Store(scratch)
        plan = with_references(_plan(folder), store)
        results, differing = {}, []
        for job in plan.jobs:
            do_cell(store, plan, job.cell)
            results[str(job.cell)] = result = load_result(store, job.address)
            kept = folder / "figures" / "results" / f"{'/'.join(cell_names(str(job.cell)))}.json"
            if kept.read_bytes() != to_bytes(result):
                differing.append(str(job.cell))
    same = figures_csv(results) == (folder / "figures" / "figures.csv").read_bytes()
    return Reproduced(index["run"], len(results), tuple(differing), same)


def reproduce(folder: Path) -> Reproduced:
    """``reproduce_here`` in a new environment, with the archive's wheels alone. Raises ``PlatformError`` where that
    cannot be made.
    """
    _index(folder)
    with TemporaryDirectory(prefix="rescore-reproduce-") as scratch:
        python = _environment(folder, Path(scratch) / "venv")
        call = [str(python), "-m", "pipeline.cli", "reproduce", str(folder.absolute()), "--here", "--json"]
        done = subprocess.run(  # noqa: S603 - the interpreter that was made just now
            call, cwd=scratch, env=_clean(scratch), capture_output=True, text=True, check=False
        )
    try:
        found = json.loads(done.stdout)
        return Reproduced(found["run"], found["n_cells"], tuple(found["differing"]), found["same_figures"])
    except (ValueError, KeyError) as error:
        raise PlatformError(f"the archive's own packages did not run: {done.stderr.strip()[-2000:]}") from error


def _environment(folder: Path, place: Path) -> Path:
    """A new environment with the archive's wheels; returns its interpreter."""
    if not (folder / "wheels").is_dir():
        raise UsageError(f"{folder} has no wheels. Reproduce it with the packages that run now: --here.")
    python = place / "bin" / "python"
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    base = [sys.executable, "-m", "venv", str(place)]
    offline = ["--no-index", "--find-links", str((folder / "wheels").absolute())]
    install = [str(python), "-m", "pip", "install", "-q", *offline, "rescore"]
    if uv is not None:
        base = [*base, "--without-pip"]
        install = [uv, "pip", "install", "-q", "--offline", "--no-cache", *offline, "--python", str(python), "rescore"]
    for call in (base, install):
        done = subprocess.run(  # noqa: S603 - our own interpreter and installer
            call, env=_clean(str(place.parent)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PlatformError(f"an environment of the archive's wheels cannot be made: {done.stderr.strip()[-2000:]}")
    return python


def _clean(home: str) -> dict[str, str]:
    """An environment in which nothing of this machine's settings counts."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")}
    return {**kept, "HOME": home, "PIP_NO_INDEX": "1", "PYTHONNOUSERSITE": "1"}


def _index(folder: Path, leave_out: str = "") -> Mapping[str, Any]:
    """The archive's index, after a look at every file but those of a folder that is not used."""
    if not (folder / INDEX).is_file():
        raise UsageError(f"{folder} is no archive (there is no {INDEX}).")
    index: Mapping[str, Any] = json.loads((folder / INDEX).read_bytes())
    if index.get("form") != FORM:
        raise UsageError(f"{folder} is an archive of form {index.get('form')} (allowed: {FORM}).")
    wrong = damaged(folder, leave_out)
    if wrong:
        raise DamageError(
            f"{folder}: {', '.join(wrong[:5])} {'is' if len(wrong) == 1 else 'are'} not what was archived."
        )
    return index


def _plan(folder: Path) -> Plan:
    """The archived plan, its inputs where the archive has them."""
    stored = json.loads((folder / "plan.json").read_bytes())
    jobs = []
    for entry in stored["jobs"]:
        sources = {}
        for role, one in entry["inputs"].items():
            path = (folder / one["uri"]).resolve()
            if folder.resolve() not in path.parents:
                raise UsageError(f"{folder}: the plan names {one['uri']!r}, which is not in the archive.")
            sources[role] = Source(**{**one, "uri": str(path)})
        overrides = tuple((name, value) for name, value in entry["overrides"])
        jobs.append(Job(**{**entry, "cell": Cell(**entry["cell"]), "inputs": sources, "overrides": overrides}))
    overrides = tuple((name, value) for name, value in stored["overrides"])
    systems = tuple(System(**entry) for entry in stored["systems"])
    return Plan(stored["evaluation"], stored["protocol"], stored["mode"], overrides, systems, tuple(jobs), {})
