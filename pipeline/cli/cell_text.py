"""One result as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.cli.output import columns, number, shown
from pipeline.engine.result import Result
from pipeline.terms import Figure

_FIGURES_SHOWN = 7


def text_of(result: Result, *, curve: bool = False, per_query: bool = False) -> str:
    """Facts, measures and warnings of a scored cell; the tables of queries and of the curve where asked for."""
    parts = [
        f"{result.protocol} edition {result.edition}, {result.mode}",
        _section("facts", ((name, number(value)) for name, value in result.facts.items())),
        _section("measures", _figures(result)),
    ]
    if result.conditions:
        parts.append(_conditions(result))
    if per_query:
        parts.append(_table("queries", result.blocks))
    if curve:
        rows = zip(*result.curve.values(), strict=True)
        parts.append(_table("curve", [dict(zip(result.curve, row, strict=True)) for row in rows]))
    if result.findings:
        lines = [f"  {shown(str(finding))}" for finding in result.findings]
        if result.n_findings > len(lines):
            lines.append(f"  … and {result.n_findings - len(lines)} more")
        parts.append("\n".join([f"warnings ({result.n_findings})", *lines]))
    return "\n\n".join([*parts, f"signature\n  {result.signature}"])


def _section(title: str, rows: Iterator[tuple[str, ...]]) -> str:
    return f"{title}\n{columns(rows, right=frozenset({1}))}"


def _figures(result: Result) -> Iterator[tuple[str, ...]]:
    for name, figure in result.figures.items():
        unit = result.units.get(name, "1")
        yield name, number(figure.value), "" if unit == "1" else unit, _remark(figure)


def _conditions(result: Result) -> str:
    """A row for each condition with the first figures of the protocol; JSON has them all."""
    shown_figures = list(result.figures)[:_FIGURES_SHOWN]
    parts = {"all": result.figures, **{name: part.figures for name, part in result.conditions.items()}}
    rows = [
        {"condition": name, **{figure: figures[figure].value for figure in shown_figures}}
        for name, figures in parts.items()
    ]
    return _table("conditions", rows)


def _remark(figure: Figure) -> str:
    """Why a figure is undefined, or what qualifies it. Companions stand beside a status only: JSON has them all."""
    if figure.reason:
        return f"undefined: {figure.reason}"
    if figure.status is None:
        return ""
    return ", ".join([figure.status, *(f"{name} {number(value)}" for name, value in figure.detail.items())])


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return f"{title}\n  none"
    names = list(dict.fromkeys(name for row in rows for name in row))
    numeric = {i for i, name in enumerate(names) if not any(isinstance(row.get(name), str) for row in rows)}
    cells = [names, *([number(row.get(name)) for name in names] for row in rows)]
    return f"{title} ({len(rows)})\n{columns(cells, right=frozenset(numeric))}"
