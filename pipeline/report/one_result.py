"""One result to look at outside a page: its drawings as SVG that need nothing else, its figures as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from pipeline.engine.result import Result
from pipeline.metrics.statistics.bootstrap import Interval
from pipeline.protocols import signature_short
from pipeline.report.cells import BoardCells, ScoredCell
from pipeline.report.det_file import board_of_one, det_file
from pipeline.report.environments import new_environment
from pipeline.report.plots.ape import calibrations
from pipeline.report.plots.threshold import threshold_section

_OPENED = re.compile(r"<svg ")
_USED = re.compile(r"^(?:\.det text, |\.plot text|\.axis|\.curve|\.actual-point|\.best-point|\.guide|\.below|\.least)")
_COLOUR = re.compile(r"--([a-z0-9-]+):\s*([^;]+);")
_VARIABLE = re.compile(r"var\(--([a-z0-9]+)(?:, var\(--[a-z0-9]+\))?\)")
_OWN = {"c": "k0"}
"""The colour of the one system that is drawn."""


def det_svg(result: Result, name: str) -> str:
    """The DET curve; "" where the cell has none."""
    drawn = det_file(result, (name or result.protocol,), "svg")
    return "" if drawn is None else drawn.decode()


def value_svg(result: Result, name: str) -> str:
    """Term-weighted value against the threshold; "" where the cell has no such curve."""
    section = threshold_section(*board_of_one(result, (name or result.protocol,)))
    if section is None:
        return ""
    macros = _environment().get_template("xy_plot.html.j2").module
    return _alone(str(macros.svg(section.plots[0], "value", section.title)))  # type: ignore[attr-defined]


def calibration_svg(result: Result, name: str) -> str:
    """Bayes error rates over priors, with scores as they are and with the best threshold; "" without such a table."""
    cell = ScoredCell(name or result.protocol, 0, result)
    parts = calibrations((BoardCells("", "", (cell,)),))
    if not parts or not parts[0].plots:
        return ""
    drawn = _environment().get_template("ape_file.svg.j2").render(plot=parts[0].plots[0])
    return _alone(drawn)


def figures_html(result: Result, name: str, intervals: Mapping[str, Interval]) -> str:
    """Every figure with its unit, reason or interval, and a small DET curve, as a piece of a page."""
    template, drawn = _environment().get_template("result.html.j2"), det_svg(result, name)
    return template.render(
        result=result,
        name=name,
        intervals=intervals,
        signature=signature_short(result.signature),
        drawing=Markup(drawn.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)),  # noqa: S704  # ours
    )


@cache
def _environment() -> jinja2.Environment:
    return new_environment()


def _alone(svg: str) -> str:
    """A drawing of a page with the rules of its style that it needs, and its names in the namespace."""
    return _OPENED.sub('<svg xmlns="http://www.w3.org/2000/svg" ', svg, count=1).replace(
        ">", f"><style>{_style()}</style>", 1
    )


@cache
def _style() -> str:
    """The page's own rules for plots, with its colours for paper in the place of variables, which few programs know."""
    text = resources.files("pipeline.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    colours: dict[str, str] = {}
    for name, value in _COLOUR.findall(text):
        colours.setdefault(name, value)  # those for paper come first
    rules = [line for line in text.splitlines() if _USED.match(line) and line.rstrip().endswith("}")]
    return _VARIABLE.sub(lambda found: colours[_OWN.get(found[1], found[1])], "".join(rules))
