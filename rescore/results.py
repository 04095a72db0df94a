"""The result of scoring one output: figures first, everything they rest on as frames."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.engine.result import Result as Scored
from pipeline.engine.result import document
from pipeline.errors import UsageError
from pipeline.metrics.statistics.bootstrap import Interval
from pipeline.protocols import signature_short
from pipeline.protocols.base import Protocol
from rescore.pictures import Picture
from rescore.tables import Frame, frame, of_rows

SHOWN = 4
"""Figures that a ``repr`` shows."""


@dataclass(frozen=True, repr=False)
class Result:
    """What scoring says of one output. ``result["atwv"]`` is a figure; ``scored`` has all as the engine does."""

    scored: Scored
    protocol: Protocol
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """The inputs by role, as they were given."""
    name: str = ""
    """What pictures call the system."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """Intervals of figures, where they were asked for."""

    def __getitem__(self, measure: str) -> float:
        """A figure by its name; NaN where it is undefined. ``KeyError`` names those there are."""
        figures = self.scored.figures
        if measure not in figures:
            raise KeyError(f"{measure!r} (allowed: {', '.join(figures)})")
        return figures[measure].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scored.figures)

    def __len__(self) -> int:
        return len(self.scored.figures)

    def __repr__(self) -> str:
        led = dict.fromkeys((self.scored.primary, *self.protocol.leads, *self.scored.figures))
        known = [name for name in led if name in self.scored.figures][:SHOWN]
        told = ", ".join(f"{name} {_told(self, name)}" for name in known)
        warned = f"; {self.scored.n_findings} warnings" if self.scored.n_findings else ""
        return f"<Result {self.name or 'output'}: {told}{warned} ({self.signature_short})>"

    def _repr_html_(self) -> str:
        from pipeline.report.one_result import figures_html

        return figures_html(self.scored, self.name, self.intervals)

    @property
    def signature(self) -> str:
        """Protocol, settings, inputs by digest, version: equal ones mean equal figures."""
        return self.scored.signature

    @property
    def signature_short(self) -> str:
        """The signature as people cite it: the settings that were changed, and eight digits of the long one."""
        return signature_short(self.scored.signature)

    @property
    def measures(self) -> Frame:
        """A row for each figure: measure, value, unit, reason, status, and the interval where there are intervals."""
        rows = []
        for name, figure in self.scored.figures.items():
            row = {"measure": name, "value": figure.value, "unit": self.scored.units.get(name, "1")}
            own = self.intervals.get(name)
            if self.intervals:
                row |= {"low": own.low if own else math.nan, "high": own.high if own else math.nan}
            rows.append({**row, "reason": figure.reason, "status": figure.status})
        return of_rows(rows)

    @property
    def blocks(self) -> Frame:
        """A row for each query, event, language or speaker: ``id``, counts and rates."""
        return of_rows(self.scored.blocks)

    @property
    def curve(self) -> Frame:
        """The sweep over thresholds, all of its points: threshold, p_miss, p_fa, twv."""
        return frame(self.scored.curve)

    @property
    def facts(self) -> Frame:
        """What the figures rest on, a row each: durations, trials, targets."""
        return of_rows({"fact": name, "value": value} for name, value in self.scored.facts.items())

    @property
    def warnings(self) -> Frame:
        """A row for each warning: code, message, where."""
        listed = self.scored.findings
        return frame({name: [getattr(one, name) for one in listed] for name in ("code", "message", "where")})

    @property
    def tables(self) -> Mapping[str, Frame]:
        """Further tables of the protocol by name."""
        return {name: of_rows(rows) for name, rows in self.scored.tables.items()}

    @cached_property
    def alignment(self) -> Frame:
        """What became of every detection and target: of keyword search made when it is first asked for, of
        speech-to-text where the setting ``alignment`` is true. Raises ``UsageError`` where a protocol has none.
        """
        if "alignment" in self.scored.tables:
            return of_rows(self.scored.tables["alignment"])
        from pipeline.engine.alignments import align_tables
        from pipeline.engine.score import read_all

        tables, _ = read_all(self.protocol, {role: again(value) for role, value in self.inputs.items()})
        rows = align_tables(self.protocol, tables).rows
        texts = rows.vocabularies
        return frame({name: _names(rows.text(name)) if name in texts else rows[name] for name in rows.columns})

    def explain(self, query: str) -> Frame:
        """What became of the detections and targets of one query; of protocols without an alignment its block.

        Raises ``UsageError`` for a query that there is not.
        """
        known = [block["id"] for block in self.scored.blocks]
        if query not in known:
            raise UsageError(f"{query!r} has no block (it has {', '.join(map(str, known[:5]))}, …). Name one of these.")
        if self.protocol.family.can.explain is None:
            return of_rows(block for block in self.scored.blocks if block["id"] == query)
        every = self.alignment
        return frame({name: np.asarray(every[name])[np.asarray(every["query"]) == query] for name in _columns(every)})

    def plot_det(self) -> Picture:
        """The DET curve with the points of decisions and of the best threshold. ``UsageError`` where there is none."""
        from pipeline.report.one_result import det_svg

        return self._picture(det_svg(self.scored, self.name), "DET curve")

    def plot_twv(self) -> Picture:
        """Term-weighted value over the threshold. ``UsageError`` where there is no such curve."""
        from pipeline.report.one_result import value_svg

        return self._picture(value_svg(self.scored, self.name), "value over threshold")

    def plot_calibration(self) -> Picture:
        """Bayes error rates over priors, with the scores and with the best threshold. ``UsageError`` without any."""
        from pipeline.report.one_result import calibration_svg

        return self._picture(calibration_svg(self.scored, self.name), "calibration")

    def _picture(self, svg: str, title: str) -> Picture:
        if not svg:
            raise UsageError(f"{self.protocol.name} has no {title} of this output. Look at .measures and .warnings.")
        return Picture(svg, title)

    def to_dict(self, *, curve: bool = False) -> dict[str, Any]:
        """The JSON document that ``rescore score --json`` prints."""
        return document(self.scored, curve=curve)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``result.json`` (with the curve), ``measures.csv``, ``blocks.csv`` and, where there is one, ``det.svg``
        into a folder, which is made where it is not there; says where it is.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(curve=True), ensure_ascii=False, indent=1)
        (place / "result.json").write_text(text + "\n", encoding="utf-8")
        for name, table in (("measures", self.measures), ("blocks", self.blocks)):
            _write_csv(table, place / f"{name}.csv")
        if self.protocol.family.can.curve and self.scored.curve:
            with suppress(UsageError):  # no point of the curve has both rates
                self.plot_det().save(place / "det.svg")
        return place


def kept(value: Any) -> Any:
    """An input that can be read again: open files are read now."""
    if not hasattr(value, "read"):
        return value
    data = value.read()
    held = io.BytesIO(data.encode() if isinstance(data, str) else data)
    held.name = getattr(value, "name", None)  # messages name the file
    return held


def again(value: Any) -> Any:
    """A kept input from its beginning."""
    if isinstance(value, io.BytesIO):
        value.seek(0)
    return value


def _told(result: Result, measure: str) -> str:
    figure, own = result.scored.figures[measure], result.intervals.get(measure)
    if figure.reason:
        return figure.reason
    between = f" [{own.low:.4g}, {own.high:.4g}]" if own and not own.reason else ""
    return f"{figure.value:.4g}{between}"


def _names(values: list[str]) -> np.ndarray[Any, Any]:
    return np.array(values, object)


def _columns(table: Frame) -> list[str]:
    return list(getattr(table, "column_names", None) or table.columns)


def _write_csv(table: Frame, path: Path) -> None:
    if hasattr(table, "to_csv"):
        table.to_csv(path, index=False)
    else:
        from pyarrow import csv

        csv.write_csv(table, path)
