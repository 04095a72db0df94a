"""An archive of a run: everything its figures were made from, the figures, and the very packages that made them.

A folder that needs nothing of ours to be read: JSON, CSV, Zarr, HTML, the inputs as they were, wheels.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline import protocols
from pipeline.engine.cell import load_result
from pipeline.engine.plan import Plan, load_plan
from pipeline.engine.result import Result, plain, to_bytes
from pipeline.errors import DamageError, UsageError
from pipeline.grid import Run
from pipeline.season import ledger
from pipeline.season.gate import phase_of
from pipeline.season.wheels import closure, pack
from pipeline.store import arrays
from pipeline.store.address import digest_stream
from pipeline.store.blobs import Store, open_input, redacted
from pipeline.terms import Source

FORM = 1
"""Raised when archives are laid out otherwise."""
INDEX = "archive.json"
_PIECE = 1 << 20
_READ_ME = """Run {run} of {evaluation}, under {protocol} ({mode}).

inputs/     every input file, by the SHA-256 of its bytes
protocol/   the values of the protocol and its settings, by cell
plan.json   cells, systems, and which inputs each cell has; overlays are among settings and inputs
figures/    figures.csv, the grid as Zarr, results by cell
pages/      what was shown
season/     the ledger of the season, where there was one
wheels/     the packages that made the figures; requirements.lock lists them
archive.json  size and SHA-256 of every file here

`rescore reproduce FOLDER` makes the figures again from the inputs, in a new environment of these wheels and without a
network, and compares them bit by bit.
"""


def archive(store: Store, run: Run, folder: Path, *, wheels: bool = True) -> dict[str, Any]:
    """Write a run to ``folder``, which must be new or empty; returns the index of what is there.

    Raises ``UsageError`` for a folder with something in it, ``DamageError`` where an input has other bytes than were
    scored, ``InputError`` where one is gone.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    plan = load_plan(store, run.plan)
    places = _inputs(plan, folder)
    jobs = [
        {
            **asdict(job),
            "inputs": {role: asdict(replace(source, uri=places[source.sha256])) for role, source in job.inputs.items()},
        }
        for job in plan.jobs
    ]
    head = {
        "evaluation": plan.evaluation,
        "protocol": plan.protocol_name,
        "mode": plan.mode,
        "overrides": plan.overrides,
    }
    labels = {
        places[source.sha256]: plan.labels.get(source.uri, "") for job in plan.jobs for source in job.inputs.values()
    }
    systems = [
        {name: getattr(system, name) for name in ("name", "team", "primary", "disclosure", "canary")}
        for system in plan.systems
    ]
    _json(folder / "plan.json", {**head, "systems": systems, "jobs": jobs, "labels": labels, "overlays": plan.overlays})
    for job in plan.jobs:
        values = protocols.fields(plan.protocol_of(job))
        _json(folder / "protocol" / f"{'/'.join(cell_names(str(job.cell)))}.json", values)
    results = {str(job.cell): load_result(store, job.address) for job in plan.jobs}
    for cell, result in results.items():
        _bytes(folder / "figures" / "results" / f"{'/'.join(cell_names(cell))}.json", to_bytes(result))
    _bytes(folder / "figures" / "figures.csv", figures_csv(results))
    _copies(store, run, folder)
    _season(store, plan, folder)
    if wheels:
        _wheels(folder)
    _bytes(folder / "README.txt", _READ_ME.format(run=run.id, **head).encode())
    return _index(folder, run)


def figures_csv(results: Mapping[str, Result]) -> bytes:
    """Every figure of every cell, to its last bit: cell, measure, value (shortest decimal form), reason."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("query_set", "dataset", "system", "condition", "measure", "value", "reason"))
    for cell in sorted(results):
        result = results[cell]
        parts = {"all": result.figures, **{name: part.figures for name, part in result.conditions.items()}}
        if result.failed is not None:
            writer.writerow((*cell.split("/"), "all", "", "", result.failed))
        for condition, figures in parts.items():
            for name, figure in figures.items():
                value = "" if figure.reason else repr(plain(figure.value)).strip("'")
                writer.writerow((*cell.split("/"), condition, name, value, figure.reason or ""))
    return out.getvalue().encode()


def cell_names(cell: str) -> list[str]:
    """A cell's names as names of files, whatever script they are in."""
    return [
        name if name.isascii() and not set(name) & set('<>|?*":') else name.encode().hex() for name in cell.split("/")
    ]


def _inputs(plan: Plan, folder: Path) -> dict[str, str]:
    """Copy every input once; where each lies by its digest."""
    sources: dict[str, Source] = {one.sha256: one for job in plan.jobs for one in job.inputs.values()}
    places = {}
    for sha256, source in sorted(sources.items()):
        name = "".join(
            c if c.isascii() and (c.isalnum() or c in "._+-") else "_" for c in PurePosixPath(source.uri).name
        )
        places[sha256] = f"inputs/{sha256}/{name.lstrip('.') or 'file'}"
        path = folder / places[sha256]
        path.parent.mkdir(parents=True)
        with open_input(source.uri) as stream, path.open("wb") as out:
            shutil.copyfileobj(stream, out, _PIECE)
        with path.open("rb") as stream:
            if digest_stream(stream)[0] != sha256:
                raise DamageError(
                    f"{redacted(source.uri)}: the file has other bytes than were scored. It cannot be archived."
                )
    return places


def _copies(store: Store, run: Run, folder: Path) -> None:
    """Pages and the grid as they are in the store."""
    for name, path in run.reports.items():
        _bytes(folder / "pages" / name, store.get(path))
    _bytes(folder / "figures" / f"grid{arrays.ENDING}", store.get(run.grid))


def _season(store: Store, plan: Plan, folder: Path) -> None:
    """The ledger. Contact data is not in it."""
    found = phase_of(store, plan.evaluation)
    for entry in ledger.entries(store, found[0].season) if found is not None else ():
        _json(folder / "season" / f"{entry.number:08d}.json", asdict(entry))


def _wheels(folder: Path) -> None:
    """The packages that run here, and their list with digests."""
    (folder / "wheels").mkdir()
    lines = []
    for name, dist in closure("rescore").items():
        with pack(dist, folder / "wheels").open("rb") as stream:
            lines.append(f"{name}=={dist.version} --hash=sha256:{digest_stream(stream)[0]}\n")
    _bytes(folder / "requirements.lock", "".join(lines).encode())


def _index(folder: Path, run: Run) -> dict[str, Any]:
    files = {}
    for path in _files(folder):
        with path.open("rb") as stream:
            sha256, n_bytes = digest_stream(stream)
        files[path.relative_to(folder).as_posix()] = {"sha256": sha256, "n_bytes": n_bytes}
    index = {"form": FORM, "run": run.id, "evaluation": run.evaluation, "files": files}
    _json(folder / INDEX, index)
    return index


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / INDEX)


def damaged(folder: Path, leave_out: str = "") -> list[str]:
    """Files of an archive that are lost or not what its index says, and files that it does not name.

    ``leave_out`` is the beginning of names that are not looked at.
    """
    index = json.loads((folder / INDEX).read_bytes())
    found = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    wrong = sorted(set(found) ^ set(index["files"]))
    for name in sorted(set(found) & set(index["files"])):
        if leave_out and name.startswith(leave_out):
            continue
        digest = hashlib.sha256()
        with found[name].open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
        if digest.hexdigest() != index["files"][name]["sha256"]:
            wrong.append(name)
    return wrong


def _json(path: Path, value: Any) -> None:
    _bytes(path, json.dumps(value, sort_keys=True, indent=1).encode())


def _bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
