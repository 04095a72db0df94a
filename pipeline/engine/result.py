"""The result of scoring one cell, and its one JSON form (the document that scripts and the store rely on)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.engine import jsonbytes
from pipeline.engine.packed_rows import packed, packed_column
from pipeline.errors import Finding
from pipeline.protocols.base import Conclusion
from pipeline.terms import Cell, Figure, Source

Block = Mapping[str, Any]
"""One query (event, language, speaker): ``id`` and its counts and rates; NaN and infinities as floats."""


@dataclass(frozen=True)
class Result:
    """One scored or failed cell. ``findings`` are warnings of a scored cell, problems of a failed one."""

    protocol: str
    edition: int
    mode: str
    signature: str
    primary: str
    cell: Cell | None = None
    sources: tuple[Source, ...] = ()
    facts: Mapping[str, float | str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    blocks: Sequence[Block] = ()
    curve: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Columns of equal length: threshold, p_miss, p_fa, twv; a NaN threshold accepts nothing."""
    conditions: Mapping[str, Conclusion] = field(default_factory=dict)
    """Figures, blocks, curve and facts of parts of the trials by the name of their condition; the whole is "all"."""
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Further tables of the family by name; documents show each under its name, beside ``blocks``."""
    findings: tuple[Finding, ...] = ()
    n_findings: int = 0
    failed: str | None = None
    """Reason code of a cell without figures (``missing_output``, ``refused_input``, ``worker_died``, …)."""
    address: str = ""
    """Where it belongs in a store; "" for one that lies in none."""
    made_from: tuple[str, ...] = ()
    """Objects of the store that it was made from: reference, trials and labels, as far as it got."""


_PART = {"facts", "measures", "blocks", "curve"}
"""What a document says of any part of a cell; everything else in a condition is a table."""


_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def plain(value: float | str | bool | None) -> float | str | bool | None:
    """A value as JSON may carry it: NaN as null, infinities as the strings "inf" and "-inf"."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else "inf" if value > 0 else "-inf"


def unplain(value: Any) -> Any:
    """The inverse of ``plain`` for numbers: null is NaN, "inf" and "-inf" are infinities."""
    if value is None:
        return math.nan
    return _INFINITIES.get(value, value) if isinstance(value, str) else value


def figure_document(figure: Figure, unit: str) -> dict[str, Any]:
    """The JSON object of one measure: value, unit, reason, and status and companions where there are any."""
    document: dict[str, Any] = {"value": plain(figure.value), "unit": unit, "reason": figure.reason}
    if figure.status is not None:
        document["status"] = figure.status
    document.update({name: plain(value) for name, value in figure.detail.items()})
    return document


def document(result: Result, *, curve: bool = False) -> dict[str, Any]:
    """The JSON document of DESIGN section 8. Failed cells carry ``errors`` instead of figures."""
    return _document(result, _plain_rows, curve=curve)


def document_bytes(result: Result) -> bytes:
    """``document`` as the bytes of strict JSON."""
    return jsonbytes.dumps(_document(result, _finite_rows, curve=False))


_Rows = Iterable[Mapping[str, Any]]


def _plain_rows(rows: _Rows) -> list[Mapping[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in rows]


def _finite_rows(rows: _Rows) -> list[Mapping[str, Any]]:
    """Rows as ``jsonbytes`` takes them, which knows NaN but no infinity. Hardly any row has one."""
    return [_plain_rows([row])[0] if _is_infinite(row.values()) else row for row in rows]


def _is_infinite(values: Iterable[Any]) -> bool:
    return math.inf in values or -math.inf in values


def _document(result: Result, rows: Callable[[_Rows], list[Mapping[str, Any]]], *, curve: bool) -> dict[str, Any]:
    """A document whose tables went through ``rows``."""
    listed = [asdict(finding) for finding in result.findings]
    head: dict[str, Any] = {
        "protocol": result.protocol,
        "edition": result.edition,
        "mode": result.mode,
        "signature": result.signature,
    }
    if result.cell is not None:
        head["cell"] = asdict(result.cell)
    if result.failed is not None:
        return {**head, "failed": result.failed, "errors": listed, "n_errors": result.n_findings}
    body = _part_document(result, result.units, rows, curve=curve)
    if result.conditions:
        parts = result.conditions.items()
        body["conditions"] = {name: _part_document(part, result.units, rows, curve=curve) for name, part in parts}
    return {**head, **body, "warnings": listed, "n_warnings": result.n_findings}


def _part_document(
    part: Result | Conclusion,
    units: Mapping[str, str],
    rows: Callable[[_Rows], list[Mapping[str, Any]]],
    *,
    curve: bool,
) -> dict[str, Any]:
    """Facts, figures, blocks and, where asked for, the curve: of the whole or of one condition."""
    body: dict[str, Any] = {
        "facts": {name: plain(value) for name, value in part.facts.items()},
        "measures": {n: figure_document(f, units.get(n, "1")) for n, f in part.figures.items()},
        "blocks": rows(part.blocks),
    }
    body.update({name: rows(table) for name, table in part.tables.items()})
    if curve:
        names = list(part.curve)
        points = zip(*(part.curve[name] for name in names), strict=True)
        body["curve"] = rows(dict(zip(names, point, strict=True)) for point in points)
    return body


def to_bytes(result: Result) -> bytes:
    """Canonical bytes of a result for the store: equal results are equal bytes."""
    stored = _document(result, _finite_rows, curve=True)
    stored["sources"] = [asdict(source) for source in result.sources]
    stored["primary"] = result.primary
    stored["tables"] = sorted(result.tables)
    if result.address:
        stored |= {"address": result.address, "made_from": result.made_from}
    return jsonbytes.dumps(stored, sort_keys=True)


def from_bytes(data: bytes) -> Result:
    """The result that ``to_bytes`` wrote."""
    stored = jsonbytes.loads(data)
    units = {name: entry["unit"] for name, entry in stored.get("measures", {}).items()}
    whole = _part(stored, stored.get("tables", ()))
    failed = stored.get("failed")
    kind = "warnings" if failed is None else "errors"
    return Result(
        protocol=stored["protocol"],
        edition=stored["edition"],
        mode=stored["mode"],
        signature=stored["signature"],
        primary=stored["primary"],
        cell=Cell(**stored["cell"]) if "cell" in stored else None,
        sources=tuple(Source(**source) for source in stored["sources"]),
        facts=whole.facts,
        figures=whole.figures,
        units=units,
        blocks=whole.blocks,
        curve=whole.curve,
        conditions={
            name: _part(part, sorted(set(part) - _PART)) for name, part in stored.get("conditions", {}).items()
        },
        tables=whole.tables,
        findings=tuple(Finding(**finding) for finding in stored[kind]),
        n_findings=stored[f"n_{kind}"],
        failed=failed,
        address=stored.get("address", ""),
        made_from=tuple(stored.get("made_from", ())),
    )


def _part(stored: Mapping[str, Any], tables: Iterable[str]) -> Conclusion:
    """The inverse of ``_part_document``; empty for a failed cell."""
    rows = stored.get("curve", [])
    return Conclusion(
        figures={name: figure_of(entry) for name, entry in stored.get("measures", {}).items()},
        blocks=packed(stored.get("blocks", ())),
        curve={name: packed_column(_unplain_column([row[name] for row in rows])) for name in (rows[0] if rows else ())},
        facts={name: unplain(value) for name, value in stored.get("facts", {}).items()},
        tables={name: packed(stored[name]) for name in tables},
    )


def _unplain_column(column: list[Any]) -> list[Any]:
    """``unplain`` of every value; hardly any needs it."""
    return list(map(unplain, column)) if {str, type(None)} & set(map(type, column)) else column


def figure_of(entry: Mapping[str, Any]) -> Figure:
    """The inverse of ``figure_document``."""
    detail = {key: unplain(value) for key, value in entry.items() if key not in ("value", "unit", "reason", "status")}
    return Figure(unplain(entry["value"]), entry["reason"], entry.get("status"), detail)
