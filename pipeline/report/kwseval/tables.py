"""KWSEval's ``sum`` and ``bsum`` tables from a result, with the tool's figures and formats (F4DE, DETCurveSet.pm)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.engine.result import Result
from pipeline.errors import UsageError
from pipeline.protocols.base import Conclusion
from pipeline.protocols.kws.settings import KwsSettings
from pipeline.report.kwseval.grid_text import GroupedTable, as_csv, as_text

EXTRAS = ("optimum", "supremum", "map")
"""Columns that the tool shows where asked for (-zG)."""
NA = "NA"
_NAMES = {
    "atwv": ("stwv", "atwv"),
    "mtwv": ("max_stwv", "mtwv"),
    "mtwv_threshold": ("max_stwv_threshold", "mtwv_threshold"),
    "twv_optimum": ("stwv_optimum", "twv_optimum"),
    "twv_supremum": ("stwv_supremum", "twv_supremum"),
}
_SUPREMUM_THRESHOLD = 0.5  # what the tool prints: no threshold makes a supremum


@dataclass(frozen=True)
class TablePart:
    """The whole of a cell or one condition, as the tables see it."""

    title: str
    conclusion: Conclusion | Result
    settings: KwsSettings
    segments: bool

    def figure(self, name: str, companion: str | None = None) -> float:
        """A figure by its name in occurrence scoring, or a companion of it; NaN where it is undefined."""
        segments, occurrences = _NAMES.get(name, (name, name))
        figure = self.conclusion.figures[segments if self.segments else occurrences]
        return figure.value if companion is None else float(figure.detail.get(companion, math.nan))

    def evaluated(self) -> list[Mapping[str, Any]]:
        """The blocks that count in the means."""
        return [block for block in self.conclusion.blocks if self.settings.include_no_targets or block["n_target"]]

    def total(self, *names: str) -> int:
        """Sum of count columns over the evaluated blocks."""
        return sum(int(block[name]) for block in self.evaluated() for name in names)

    def decision_threshold(self) -> float:
        """Midway between the lowest YES and the highest NO; whichever exists where one is lacking."""
        facts = self.conclusion.facts
        seen = [float(facts[name]) for name in ("score_min_yes", "score_max_no")]
        seen = [score for score in seen if not math.isnan(score)]
        return sum(seen) / len(seen) if seen else math.nan

    def parameters(self) -> dict[str, str]:
        """The lines that the tool heads its tables with."""
        settings, facts = self.settings, self.conclusion.facts
        c_fa = settings.c_fa
        seconds = {} if self.segments else {"TotDur": number(facts["t_audio_s"])}
        rate = {} if self.segments else {"TrialsPerSecond": number(settings.trials_per_s)}
        return {
            "IncludeBlocksWithNoTargets": str(int(settings.include_no_targets)),
            **seconds,
            "TotTrials": number(facts["n_trials"]),
            **rate,
            "BETA": number(facts["beta"]),
            "Cost": f"{c_fa:.4f}" if c_fa == settings.c_miss / 10 else number(c_fa),
            "Ptarg": number(settings.p_target),
            "Value": number(settings.c_miss),
        }


def parts(result: Result, settings: Any) -> tuple[TablePart, tuple[TablePart, ...]]:
    """The whole and the conditions by name. Raises ``UsageError`` for a result that is not of keyword search."""
    if not isinstance(settings, KwsSettings) or result.failed is not None:
        raise UsageError("sum and bsum tables are made of scored keyword search. Leave the options out.")
    segments = "stwv" in result.figures
    whole = TablePart("Segment" if segments else "Occurrence", result, settings, segments)
    named = sorted(result.conditions.items())
    return whole, tuple(TablePart(name, made, settings, segments) for name, made in named)


def render(text: bool, shown: Sequence[TablePart], table: GroupedTable, label: str = "") -> str:
    """A table as CSV, or as text below the tool's table of parameters."""
    return f"{as_text(_header(shown))}\n\n{as_text(table)}" if text else as_csv(table, label)


def sum_table(shown: Sequence[TablePart], extras: Collection[str] = ()) -> GroupedTable:
    """One row a part: inputs, figures at the decisions and at the best threshold, and the ``extras``."""
    several = any(len(part.evaluated()) > 1 for part in shown)
    varying = _varying(shown)
    rows = [
        {(" ", "Title"): part.title}
        | {("Parameters", name): part.parameters()[name] for name in varying}
        | _inputs(part, several=several)
        | _actual(part)
        | _maximum(part)
        | _extra_columns(part, extras)
        for part in shown
    ]
    return GroupedTable(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))


def _varying(shown: Sequence[TablePart]) -> list[str]:
    """The parameters in which parts differ."""
    first, *others = [part.parameters() for part in shown]
    return [name for name in first if any(other[name] != first[name] for other in others)]


def _header(shown: Sequence[TablePart]) -> GroupedTable:
    title = "Performance Summary Over and Ensemble of Subsets"
    varying = _varying(shown)
    first = shown[0].parameters()
    listed = {"System Title": NA, "Decision ID": "Segment" if shown[0].segments else "Occurrence"}
    listed |= {name: value for name, value in first.items() if name not in varying}
    return GroupedTable(((title, "Key"), (title, "Value")), tuple(listed.items()))


Cells = dict[tuple[str, str], str]


def _inputs(part: TablePart, *, several: bool) -> Cells:
    n_queries = len(part.evaluated())
    keyword = {("Inputs", "#Keyword"): str(n_queries) if n_queries > 1 else ""} if several else {}
    n_nontarget = part.total("n_fa", "n_correct_rejection")
    n_system = n_nontarget + part.total("n_target") - part.total("n_omitted")
    counts = {"#Targ": part.total("n_target"), "#NTarg": n_nontarget, "#Sys": n_system}
    return keyword | {("Inputs", name): str(count) for name, count in counts.items()}


def _actual(part: TablePart) -> Cells:
    counts = {"#CorDet": "n_hit", "#Cor!Det": "n_correct_rejection", "#FA": "n_fa", "#Miss": "n_miss"}
    group = "Actual Decision TWV Analysis"
    return {(group, name): str(part.total(column)) for name, column in counts.items()} | {
        (group, "PFA"): p_fa(part.figure("p_fa")),
        (group, "PMiss"): p_miss(part.figure("p_miss")),
        (group, "TWV"): twv(part.figure("atwv")),
        (group, "Dec. Tresh"): twv(part.decision_threshold()),
    }


def _maximum(part: TablePart) -> Cells:
    group = "Maximum TWV Analysis"
    return _rates(group, part, "mtwv") | {(group, "Dec. Thresh"): score(part.figure("mtwv_threshold"))}


def _rates(group: str, part: TablePart, name: str) -> Cells:
    return {
        (group, "PFA"): p_fa(part.figure(name, "p_fa")),
        (group, "PMiss"): p_miss(part.figure(name, "p_miss")),
        (group, "TWV"): twv(part.figure(name)),
    }


def _extra_columns(part: TablePart, extras: Collection[str]) -> Cells:
    cells: Cells = {}
    for extra, group in (("optimum", "Optimum TWV Analysis"), ("supremum", "Supremum TWV Analysis")):
        if extra in extras:
            cells |= _rates(group, part, f"twv_{extra}") | {(group, "Dec. Thresh"): NA}
    if "map" in extras:
        cells[("Global Measures", "MAP")] = precision(part.figure("map"))
    return cells


def bsum_table(shown: Sequence[TablePart], extras: Collection[str] = ()) -> GroupedTable:
    """One row a query, then totals, means and TWV. Queries that are not evaluated have empty cells."""
    blocks: dict[str, str] = {}
    for part in shown:
        blocks |= {block["id"]: block["text"] for block in sorted(part.conclusion.blocks, key=_id)}
    columns: list[tuple[str, str]] = [("MetaData", "Text")]
    rows = {("Keyword", name): [text] for name, text in blocks.items()}
    rows |= {("Summary", name): [""] for name in ("Totals", "Means", "TWV")}
    for part in shown:
        own = {block["id"]: _block_cells(part, block, extras) for block in part.evaluated()}
        summaries = _summaries(part, extras)
        heads = tuple(summaries["Means"])
        columns += heads
        for (kind, name), cells in rows.items():
            found = (own if kind == "Keyword" else summaries).get(name, {})
            cells += [found.get(head, "") for head in heads]
    return GroupedTable(tuple(columns), tuple(map(tuple, rows.values())), tuple(rows))


def _id(block: Mapping[str, Any]) -> str:
    name: str = block["id"]
    return name


def _counted(part: TablePart) -> dict[str, str]:
    rejected = {"#Corr!Det": "n_correct_rejection"} if part.segments else {}
    return {"#Targ": "n_target", "#Corr": "n_hit", **rejected, "#FA": "n_fa", "#Miss": "n_miss"}


def _block_cells(part: TablePart, block: Mapping[str, Any], extras: Collection[str]) -> Cells:
    rates = {"TWV": twv(block["twv"]), "PFA": p_fa(block["p_fa"]), "PMISS": p_miss(block["p_miss"])}
    counts = {name: str(int(block[column])) for name, column in _counted(part).items()}
    cells = {(part.title, name): text for name, text in (counts | rates).items()}
    if "optimum" in extras:
        columns = (block["p_fa_optimum"], block["p_miss_optimum"], block["twv_optimum"])
        cells |= _bound("Optimum TWV", columns, block["twv_optimum_threshold"])
    if "supremum" in extras:
        bound = (0.0, 1.0 - block["twv_supremum"], block["twv_supremum"])
        cells |= _bound("Supremum TWV", bound, _SUPREMUM_THRESHOLD)
    if "map" in extras:
        cells[("Global Measures", "AP")] = precision(block["average_precision"])
    return cells


def _bound(group: str, rates: tuple[float, float, float], threshold: float) -> Cells:
    texts = (p_fa(rates[0]), p_miss(rates[1]), twv(rates[2]), score(threshold))
    return {(group, name): text for name, text in zip(("PFA", "PMiss", "TWV", "Dec. Thresh"), texts, strict=True)}


def _summaries(part: TablePart, extras: Collection[str]) -> dict[str, Cells]:
    """Totals, means and TWV of a part by their names."""
    totals = {(part.title, name): part.total(column) for name, column in _counted(part).items()}
    n_queries = len(part.evaluated())
    means: Cells = {head: f"{count / n_queries:.0f}" if n_queries else NA for head, count in totals.items()}
    means |= {
        (part.title, "TWV"): "",
        (part.title, "PFA"): p_fa(part.figure("p_fa")),
        (part.title, "PMISS"): p_miss(part.figure("p_miss")),
    }
    for extra, group in (("optimum", "Optimum TWV"), ("supremum", "Supremum TWV")):
        if extra in extras:
            means |= _rates(group, part, f"twv_{extra}") | {(group, "Dec. Thresh"): ""}
    if "map" in extras:
        means[("Global Measures", "AP")] = precision(part.figure("map"))
    return {
        "Totals": {head: str(count) for head, count in totals.items()},
        "Means": means,
        "TWV": {(part.title, "TWV"): twv(part.figure("atwv"))},
    }


def _formatted(value: float | None, form: str) -> str:
    return NA if value is None or math.isnan(value) else format(value, form)


def p_fa(value: float | None) -> str:
    """A false-alarm rate as the tool prints it (%6.5f)."""
    return _formatted(value, "6.5f")


def p_miss(value: float | None) -> str:
    """A miss rate (%6.3f)."""
    return _formatted(value, "6.3f")


def twv(value: float | None) -> str:
    """A TWV or a decision threshold (%6.4f)."""
    return _formatted(value, "6.4f")


def score(value: float | None) -> str:
    """A threshold (%6.3f)."""
    return _formatted(value, "6.3f")


def precision(value: float | None) -> str:
    """An average precision (%.2f)."""
    return _formatted(value, ".2f")


def number(value: float | str) -> str:
    """A number as Perl prints it (%.15g)."""
    return value if isinstance(value, str) else f"{value:.15g}"


def tables(
    result: Result, settings: Any, *, by_query: bool, text: bool, extras: Iterable[str] = ()
) -> tuple[str, str | None]:
    """The whole's ``sum`` (or ``bsum``, ``by_query``) table, and that of the conditions where there are any."""
    whole, conditions = parts(result, settings)
    wanted = frozenset(extras)
    made = bsum_table if by_query else sum_table
    label = "MasterKey" if by_query else ""
    main = render(text, (whole,), made((whole,), wanted), label)
    return main, render(text, conditions, made(conditions), label) if conditions else None
