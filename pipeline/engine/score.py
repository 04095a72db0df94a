"""Score one cell in memory: no store, no cluster, the same functions and the same bits as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from pipeline import protocols
from pipeline.engine.counting import ROWS_AT_ONCE
from pipeline.engine.given import Read, RowOf, by_rows, read_given
from pipeline.engine.labels import relabel
from pipeline.engine.load import load_facts, unfound, with_declared
from pipeline.engine.memory import give_back_memory
from pipeline.engine.result import Result
from pipeline.errors import Finding, InputError, UsageError
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import (
    Conclusion,
    Family,
    Findings,
    Key,
    Protocol,
    Reference,
    Scope,
    Sliced,
    Survey,
    Timeline,
    Totals,
    Trials,
)
from pipeline.terms import Cell, Source
from pipeline.trials.tiles import batches


def score_files(
    protocol: Protocol,
    inputs: Mapping[str, Any],
    *,
    cell: Cell | None = None,
    measures: Sequence[str] = (),
    every_point: bool = True,
) -> Result:
    """The result of one output under ``protocol``. ``inputs`` by role are paths and URLs, bytes and open files, frames.

    With ``measures`` it has these figures alone, in the protocol's order, and no blocks, curve or tables; of detections
    nothing else is computed. Without ``every_point`` curves have the points of maxima and of a drawing, as in a run.
    Raises ``UsageError`` for missing or unknown roles and unknown measures, ``InputError`` with the problems of every
    refused file.
    """
    check_roles(protocol, inputs)
    check_measures(protocol, measures)
    read = read_inputs(protocol, inputs)
    tables, rows, odd = read.tables, read.rows, read.findings
    try:
        result = _score(protocol, tables, read.sources, cell, Scope(tuple(measures) or None, every_point))
    except InputError as error:
        raise InputError(by_rows(error.findings, rows), error.count) from error
    if not rows:
        return result
    findings = (*odd, *by_rows(result.findings, rows))
    return replace(result, findings=findings, n_findings=result.n_findings + len(odd))


def score_tables(
    protocol: Protocol,
    tables: Mapping[str, Any],
    sources: tuple[Source, ...],
    *,
    cell: Cell | None = None,
    measures: Sequence[str] = (),
    every_point: bool = True,
) -> Result:
    """The result of one output whose inputs have been read; findings name the files. Otherwise as ``score_files``."""
    check_measures(protocol, measures)
    return _score(protocol, dict(tables), sources, cell, Scope(tuple(measures) or None, every_point))


def _score(
    protocol: Protocol, tables: dict[str, Any], sources: tuple[Source, ...], cell: Cell | None, asked: Scope
) -> Result:
    """Takes the output's tables out of ``tables``: nothing else may hold them in a large cell."""
    names = {source.role: source.uri for source in sources}
    try:
        conclusion, warnings = _concluded(protocol.family, protocol, tables, cell, asked)
    except InputError as error:
        raise InputError(relabel(error.findings, names), error.count) from error
    result = scored(protocol, conclusion, sources, warnings, cell)
    return replace(result, findings=relabel(result.findings, names))


def _concluded(
    family: Family[Trials, Key, Timeline, Totals],
    protocol: Protocol,
    tables: dict[str, Any],
    cell: Cell | None,
    asked: Scope,
) -> tuple[Conclusion, Findings]:
    """The family's conclusion from tables, as far as it is asked for, and findings."""
    reference = family.refer(protocol, tables)
    trials, warnings = family.lay_out(protocol, tables, reference.timeline)
    for role in family.outputs:
        tables.pop(role, None)
    about, blocks = survey(family, trials), getattr(trials.tiles(0, 0), "blocks", {})
    load = load_facts(tables.get("resources"), tables.get("queries"), cell, reference.facts.queries)
    warnings = (*warnings, *unfound(tables.get("resources"), cell, "resources"))
    parts = partials(family, protocol, trials, reference)
    del trials
    give_back_memory()
    partial = merge_tree(parts, family.zero())
    del parts
    give_back_memory()
    conclusion = family.concluded(protocol, partial, replace(reference.facts, load=load), about, asked)
    declared = with_declared(conclusion, load, blocks)
    conclusion = declared if asked.measures is None else replace(conclusion, findings=declared.findings)
    return conclusion, (*reference.findings, *warnings)


def partials(
    family: Family[Trials, Key, Timeline, Totals],
    protocol: Protocol,
    trials: Sliced[Trials],
    reference: Reference[Key, Timeline],
) -> list[Totals]:
    """The partials of runs of buckets, that a large output's trials need not be held several times over."""
    ranges = batches(trials.offsets, reference.key.offsets, ROWS_AT_ONCE)
    keys: Sliced[Key] = reference.key
    cuts = ((trials.tiles(*ends), keys.tiles(*ends)) for ends in ranges)
    return [family.counted(protocol, rows, key, reference) for rows, key in cuts]


def check_roles(protocol: Protocol, inputs: Mapping[str, Any]) -> None:
    """Refuse unknown roles and name the missing ones."""
    known = {role.name for role in protocol.roles}
    missing = [role.name for role in protocol.roles if role.required and role.name not in inputs]
    unknown = sorted(set(inputs) - known)
    if unknown:
        raise UsageError(f"{protocol.name} has no input {', '.join(unknown)} (allowed: {', '.join(sorted(known))}).")
    if missing:
        raise UsageError(f"{protocol.name} needs the inputs {', '.join(missing)}. Give each as --input ROLE=URL.")


def check_measures(protocol: Protocol, measures: Sequence[str]) -> None:
    """Refuse measures that the protocol has not."""
    known = [measure.name for measure in protocol.measures]
    unknown = [name for name in measures if name not in known]
    if unknown:
        raise UsageError(f"{protocol.name} has no measure {', '.join(unknown)} (allowed: {', '.join(known)}).")


def read_all(protocol: Protocol, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Source, ...]]:
    """Every input by role; the problems of all refused files are raised together."""
    read = read_inputs(protocol, inputs)
    return read.tables, read.sources


@dataclass
class ReadInputs:
    """Inputs by role: their tables, sources, what is odd of frames, and how lines of frames become rows."""

    tables: dict[str, Any]
    sources: tuple[Source, ...]
    rows: dict[str, RowOf]
    findings: Findings


def read_inputs(protocol: Protocol, inputs: Mapping[str, Any]) -> ReadInputs:
    """Every input of any kind, by role; the problems of all refused ones are raised together."""
    read, problems, count = dict[str, Read](), list[Finding](), 0
    for role, value in inputs.items():
        try:
            read[role] = read_given(protocol, role, value)
        except InputError as error:
            problems += error.findings
            count += error.count
    if problems:
        raise InputError(problems, count)
    return ReadInputs(
        {role: one.table for role, one in read.items()},
        tuple(one.source for one in read.values()),
        {role: one.row_of for role, one in read.items() if one.row_of is not None},
        tuple(finding for one in read.values() for finding in one.findings),
    )


def survey(family: Family[Trials, Key, Timeline, Totals], trials: Sliced[Trials]) -> Survey:
    """The survey of trials: the values the family takes of them as a whole, and their number."""
    return {**family.kind.survey(trials.tiles(0, 0)), "n_rows": len(trials)}


def scored(
    protocol: Protocol,
    conclusion: Conclusion,
    sources: tuple[Source, ...],
    warnings: tuple[Finding, ...],
    cell: Cell | None,
) -> Result:
    """A scored cell's result."""
    findings = (*warnings, *conclusion.findings, *protocols.idle(protocol), *_name_slips(protocol, sources, cell))
    return replace(
        _unscored(protocol, sources, cell),
        facts=conclusion.facts,
        figures=conclusion.figures,
        blocks=conclusion.blocks,
        curve=_listed(conclusion.curve),
        conditions={name: replace(part, curve=_listed(part.curve)) for name, part in conclusion.conditions.items()},
        tables=conclusion.tables,
        findings=findings,
        n_findings=len(findings),
    )


def _listed(curve: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The columns of a curve as lists, where they are none."""
    return {name: column.tolist() if hasattr(column, "tolist") else column for name, column in curve.items()}


def _name_slips(protocol: Protocol, sources: tuple[Source, ...], cell: Cell | None) -> tuple[Finding, ...]:
    """Slips in the system's name; without a cell, in the name of the output's file."""
    outputs = [source.uri for source in sources if source.role == protocol.family.outputs[0]]
    names = outputs if cell is None else [cell.system]
    return tuple(slip for name in names for slip in protocol.family.boards.name_slips(PurePosixPath(name).name))


def failed(
    protocol: Protocol, reason: str, error: InputError, sources: tuple[Source, ...], cell: Cell | None
) -> Result:
    """A cell that could not be scored: a row with a reason, never an exception and never a silent success."""
    unscored = _unscored(protocol, sources, cell)
    return replace(unscored, findings=error.findings, n_findings=error.count, failed=reason)


def _unscored(protocol: Protocol, sources: tuple[Source, ...], cell: Cell | None) -> Result:
    """A result without figures: protocol, signature and cell, as they are whatever comes of it."""
    return Result(
        protocol=protocol.name,
        edition=protocol.edition,
        mode=protocol.mode,
        signature=protocols.signature(protocol, sources),
        primary=protocol.primary,
        cell=cell,
        sources=tuple(sorted(sources, key=lambda source: source.role)),
        units={measure.name: measure.unit for measure in protocol.measures},
    )
