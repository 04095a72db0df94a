"""Scoring, checking and running from scripts and notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline import protocols as known
from pipeline.engine.checks import Checked, checked
from pipeline.engine.given import Read, by_rows, read_given
from pipeline.engine.score import read_all, score_files
from pipeline.errors import Finding, InputError, UsageError
from pipeline.frames import described
from pipeline.meta.intervals import Resampling
from pipeline.metrics.statistics.bootstrap import Interval
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store
from rescore.results import Result, again, kept

if TYPE_CHECKING:
    from flows.rescore import RunSummary


def score(
    protocol: str | Protocol,
    *,
    mode: str = "official",
    measures: Sequence[str] = (),
    name: str = "",
    ci: float | None = None,
    **given: Any,
) -> Result:
    """The figures of one output against its key, with everything that they rest on.

    ``given`` are the inputs by the protocol's roles (``ecf``, ``rttm``, ``kwlist``, ``output``, …) and its settings
    (``tolerance_s=0.5``); ``rescore.protocols(NAME)`` lists both, with the columns of frames. ``output`` and ``key``
    stand for the roles of the system's output and of the key, whatever the protocol calls them. An input is a path or
    URL, bytes, an open file, a frame (pandas, Polars, Arrow, xarray), or a mapping of arrays: the figures are the same
    to the last bit. ``measures`` are all that is computed where they are given; ``name`` is what pictures call the
    system. ``ci=0.95`` adds intervals of that level, by BCa bootstrap over queries, events, segments or speakers.

    Raises ``UsageError`` for unknown protocols, roles, settings and measures, ``InputError`` with every problem of
    refused inputs, by line or, in frames, by row from 0.

    ```python
    result = rescore.score("quesst", ecf="dev.ecf.xml", rttm="dev.rttm", kwlist="dev.xml", output=frame, censor=-10)
    result["cnxe"], result.blocks
    ```
    """
    own, inputs = _told(protocol, mode, given)
    if ci is not None and not 0.0 < ci < 1.0:
        raise UsageError(f"ci is {ci} (allowed: a level between 0 and 1, such as 0.95).")
    made = score_files(own, inputs, measures=tuple(measures))
    drawn: dict[str, Interval] = {}
    if ci is not None and made.failed is None:
        from pipeline.meta.in_memory import intervals

        tables, _ = read_all(own, {role: again(value) for role, value in inputs.items()})
        drawn = intervals(own, tables, Resampling(level=ci, method="bca"), measures)
    return Result(made, own, inputs, name or _name(inputs.get(own.family.outputs[0])), drawn)


def validate(protocol: str | Protocol, *, mode: str = "official", **given: Any) -> Checked:
    """What scoring would say of inputs, as far as they are given: a participant has no key.

    Arguments as of ``score``. Its ``problems`` are why the output would be refused, its ``warnings`` what would be
    told beside its figures.

    ```python
    rescore.validate("sws2013", ecf="eval.ecf.xml", kwlist="eval.xml", output=frame).problems
    ```
    """
    own, inputs = _told(protocol, mode, given)
    read, problems, count = dict[str, Read](), list[Finding](), 0
    for role, value in inputs.items():
        try:
            read[role] = read_given(own, role, value)
        except InputError as error:
            problems += error.findings
            count += error.count
    if problems:
        return Checked(tuple(problems), count, tuple(one for each in read.values() for one in each.findings))
    rows = {role: one.row_of for role, one in read.items() if one.row_of is not None}
    names = {role: one.source.uri for role, one in read.items()}
    found = checked(own, {role: one.table for role, one in read.items()}, names)
    odd = (one for each in read.values() for one in each.findings)
    warnings = (*odd, *by_rows(found.warnings, rows))
    return Checked(by_rows(found.problems, rows), found.n_problems, warnings)


def run(
    evaluation: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] = "rescore-store",
    cluster: str | None = None,
    workers: int | str | None = None,
    quiet: bool = True,
) -> RunSummary:
    """Score an evaluation file into a store, as ``rescore run`` does: what the store has is not scored again.

    ``cluster`` is an address or kind, ``none`` for this process. Raises as the command says: ``ConfigError`` for the
    file, ``PlatformError`` for store and cluster.

    ```python
    summary = rescore.run("evaluation.yaml", store="rescore-store")
    grid = rescore.open_grid(rescore.open_store("rescore-store"), summary.run_id)
    ```
    """
    from flows.rescore import run_evaluation

    return run_evaluation(os.fspath(evaluation), store=os.fspath(store), cluster=cluster, workers=workers, quiet=quiet)


def open_store(url: str | os.PathLike[str] = "rescore-store") -> Store:
    """The store at a path or URL: what ``open_grid``, ``open_trials`` and ``open_reference`` take."""
    return Store(os.fspath(url))


def protocols(name: str = "", *, mode: str = "official") -> Any:
    """The names of all protocols; of one its roles with the columns of their frames, settings, measures and sources.

    Raises ``UsageError`` for a protocol that there is not.
    """
    if not name:
        return known.names()
    told = known.describe(known.find(name, mode=mode))
    return {**told, "roles": [{**role, "columns": described(role["format"])} for role in told["roles"]]}


def _told(protocol: str | Protocol, mode: str, given: Mapping[str, Any]) -> tuple[Protocol, dict[str, Any]]:
    """The protocol with the settings among what is given, and the inputs by role."""
    own = known.find(protocol, mode=mode) if isinstance(protocol, str) else protocol
    roles = {role.name for role in own.roles}
    stands_for = {role.option: role.name for role in own.roles if role.option}
    named = {"output": own.family.outputs[0], "key": stands_for.get("-r", "key")}
    inputs, settings = dict[str, Any](), dict[str, Any]()
    for name, value in given.items():
        role = name if name in roles else named.get(name, name)
        if role not in roles:
            settings[name] = value
        elif role in inputs:
            raise UsageError(f"the input {role} is given twice, as {name} too. Give it once.")
        elif value is not None:
            inputs[role] = kept(value)
    return (known.overridden(own, settings) if settings else own), inputs


def _name(output: Any) -> str:
    """What an output is called: by its file."""
    path = output if isinstance(output, str | os.PathLike) else getattr(output, "name", "")
    return os.fspath(path).rpartition("/")[2].partition(".")[0] if isinstance(path, str | os.PathLike) else ""
