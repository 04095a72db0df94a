"""The one table of ratios: what a subject takes beside a peer or a floor, on the same input in the same run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.measured import ADDED, CPU, MEMORY, WALL, Measured, Way

HEADS = ("subject", "peer or floor", "size", "runs", "CPU s", "wall s", "ns a row", "peak MB", "peer CPU s", "peer MB",
         "times less than the peer", "aim", "met")  # fmt: skip
_WIDTHS = (36, 32, 16, 5, 8, 8, 9, 8, 10, 8, 34, 22, 4)
_LEFT = {"subject", "peer or floor", "times less than the peer", "aim", "met"}
ALL = (CPU, WALL, MEMORY)


@dataclass(frozen=True)
class Comparison:
    """``shown`` are the quantities of which ratios stand in the table; ``aims`` are the least ratios wanted. A
    ``limit`` (by quantity) takes the place of a peer. ``alike`` says whether the subject and the peer, or the way named
    ``truth``, brought out the same. ``absent`` says why there is no peer."""

    subject: str
    peer: str
    shown: Sequence[str] = ALL
    aims: Mapping[str, float] = field(default_factory=dict)
    limit: Mapping[str, float] | None = None
    alike: Callable[[Any, Any], bool] | None = None
    truth: str = ""
    absent: str = ""


@dataclass(frozen=True)
class Group:
    """Ways on one input of ``rows`` ``unit``, and what is told of them."""

    rows: int
    unit: str
    ways: Sequence[Way] = ()
    comparisons: Sequence[Comparison] = ()


@dataclass(frozen=True)
class Line:
    """A line of the table, in words. ``wrong`` is what must not be: a subject that fails, or figures that differ."""

    cells: Mapping[str, str]
    met: bool | None = None
    wrong: bool = False


def lines_of(group: Group, measured: Mapping[str, Measured]) -> list[Line]:
    """Every comparison of a group as a line."""
    return [_compared(comparison, group, measured) for comparison in group.comparisons]


def _compared(comparison: Comparison, group: Group, measured: Mapping[str, Measured]) -> Line:
    subject = measured[comparison.subject]
    if subject.failed:
        return _line(comparison, group, verdict=f"FAILED: {subject.failed}", wrong=True)
    if comparison.absent:
        return _line(comparison, group, subject, verdict=comparison.absent)
    peer = Measured(comparison.peer, 0, comparison.limit) if comparison.limit is not None else measured[comparison.peer]
    if peer.failed:
        return _line(comparison, group, subject, verdict=f"{peer.name} {peer.failed}")
    times = ratios(comparison.shown, subject.figures, peer.figures)
    met = reached(times, comparison.aims)
    truth = measured.get(comparison.truth, peer)
    if comparison.alike and not comparison.alike(subject.found, truth.found):
        verdict = f"THE FIGURES DIFFER: {subject.found} and {truth.found}"
        return _line(comparison, group, subject, peer, verdict=verdict, wrong=True)
    verdict = ", ".join(f"{name} {_short(value)}" for name, value in times.items())
    return _line(comparison, group, subject, peer, verdict=verdict, met=met)


def ratios(shown: Sequence[str], subject: Mapping[str, float], peer: Mapping[str, float]) -> dict[str, float]:
    """How many times less the subject takes, by quantity: above 1 it takes less."""
    return {name: peer[name] / subject[name] if subject[name] > 0 else math.inf for name in shown}


def reached(times: Mapping[str, float], aims: Mapping[str, float]) -> bool | None:
    """Whether every aim is reached; None where there is none. A figure that could not be had reaches nothing."""
    return all(times[name] >= least for name, least in aims.items()) if aims else None


def _line(comparison: Comparison, group: Group, subject: Measured | None = None, peer: Measured | None = None, *,
          verdict: str, met: bool | None = None, wrong: bool = False) -> Line:  # fmt: skip
    own = subject.figures if subject else {}
    other = peer.figures if peer else {}
    each = own[CPU] / group.rows * 1e9 if own else math.nan
    runs = f"{subject.runs}/{peer.runs}" if subject and peer and peer.runs not in {0, subject.runs} else ""
    memory = ADDED if ADDED in comparison.shown else MEMORY
    words = (comparison.subject, comparison.peer, f"{group.rows:,} {group.unit}",
             runs or (str(subject.runs) if subject else ""),
             _short(own.get(CPU)), _short(own.get(WALL)), _short(each), _short(own.get(memory)),
             _short(other.get(CPU)), _short(other.get(memory)), verdict,
             ", ".join(f"{name} ≥ {least:g}" for name, least in comparison.aims.items()),
             {True: "yes", False: "no", None: ""}[met])  # fmt: skip
    return Line(dict(zip(HEADS, words, strict=True)), met, wrong)


def _short(value: float | None) -> str:
    """Three digits, without an exponent; nothing for what is not there."""
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value) or value == 0:
        return f"{value:g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def text(cells: Mapping[str, str] | None = None) -> str:
    """A line for a terminal; the heads without cells."""
    words = [cells[head] if cells else head for head in HEADS]
    return "  ".join(
        word.ljust(width) if head in _LEFT else word.rjust(width)
        for word, width, head in zip(words, _WIDTHS, HEADS, strict=True)
    ).rstrip()


def markdown(lines: Sequence[Line]) -> str:
    """The table as Markdown."""
    rows = [HEADS, [":--" if head in _LEFT else "--:" for head in HEADS]]
    rows += [[line.cells[head].replace("|", "\\|") for head in HEADS] for line in lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
