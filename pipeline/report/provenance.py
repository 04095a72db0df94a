"""Where a run's figures come from: settings, inputs by digest, software, and the command that makes them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.engine.result import Result
from pipeline.report.board import RunBoards

_NAMES = {"rescore", "measures"}


@dataclass(frozen=True, slots=True)
class Input:
    """One input file, and the systems whose cells it went into ("" for an organiser's)."""

    role: str
    file: str
    sha256: str
    n_bytes: int
    query_set: str
    dataset: str
    system: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """``settings`` are the same in all cells, ``differing`` have one value a (query set, dataset)."""

    settings: tuple[tuple[str, str], ...]
    differing: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    versions: tuple[tuple[str, str], ...]
    inputs: tuple[Input, ...]
    verify: str
    """Computes one result of the run again from its files, and compares."""
    reproduce: str
    """Makes all results again from an archive of the run, and compares."""


def provenance(run: RunBoards, results: Iterable[Result]) -> Provenance:
    """Signatures and sources of a run's results. Inputs by (query set, dataset), organisers' first."""
    ordered = tuple(results)
    parts = {_place(result): _fields(result) for result in ordered if result.cell is not None}
    names = list(dict.fromkeys(name for fields in parts.values() for name in fields))
    same, versions = list[tuple[str, str]](), list[tuple[str, str]]()
    other = list[tuple[str, tuple[tuple[str, str], ...]]]()
    for name in names:
        values = {place: fields.get(name, "") for place, fields in parts.items()}
        distinct = dict.fromkeys(values.values())
        target = versions if name in _NAMES else same
        if len(distinct) == 1:
            target.append((name, next(iter(distinct))))
        else:
            other.append((name, tuple((f"{q} × {d}", value) for (q, d), value in values.items())))
    first = next((result.cell for result in ordered if result.cell and result.failed is None), None)
    verify = f"rescore verify {shlex.quote(str(first))} --run {run.attributes.get('run', 'RUN')}" if first else ""
    name = run.attributes.get("run", "RUN")
    reproduce = f"rescore archive {name} archive-{name} && rescore reproduce archive-{name}"
    return Provenance(tuple(same), tuple(other), tuple(versions), _inputs(ordered), verify, reproduce)


def _place(result: Result) -> tuple[str, str]:
    return (result.cell.query_set, result.cell.dataset) if result.cell is not None else ("", "")


def _fields(result: Result) -> dict[str, str]:
    """The settings and versions of a signature; inputs left out."""
    roles = {source.role for source in result.sources}
    named = (part.partition(":") for part in result.signature.split("|")[2:])
    return {name: value for name, _, value in named if name not in roles and len(value) < 4096}


def _inputs(results: Iterable[Result]) -> tuple[Input, ...]:
    """Each file once per (query set, dataset); one that all systems of a cell share is an organiser's."""
    found: dict[tuple[str, str, str, str], list[Input]] = {}
    n_systems: dict[tuple[str, str], int] = {}
    for result in results:
        if result.cell is None or not result.sources:
            continue
        place = _place(result)
        n_systems[place] = n_systems.get(place, 0) + 1
        for source in result.sources:
            one = Input(source.role, source.uri, source.sha256, source.n_bytes, *place, result.cell.system)
            found.setdefault((*place, source.role, source.sha256), []).append(one)
    inputs = []
    for (query_set, dataset, role, _), uses in found.items():
        shared = role not in ("output", "ctm", "detection", "threshold", "resources")
        shared = shared or (len(uses) > 1 and len(uses) == n_systems[query_set, dataset])
        inputs += [Input(*_head(uses[0]), "")] if shared else uses
    return tuple(sorted(inputs, key=lambda one: (one.query_set, one.dataset, one.system != "", one.system, one.role)))


def _head(one: Input) -> tuple[str, str, str, int, str, str]:
    return one.role, one.file, one.sha256, one.n_bytes, one.query_set, one.dataset
