"""The figures of a study's page: intervals and ties, differences, ranks side by side, agreement, sensitivity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.meta.analysis import AnalysedBoard
from pipeline.meta.intervals import Comparison
from pipeline.meta.sensitivity import Band
from pipeline.report.plots.drawing import Drawing, spanning, within
from pipeline.report.plots.linear import joined
from pipeline.report.plots.marks import Mark, Rect, Stroke, Text
from pipeline.report.plots.xy import Axis
from pipeline.report.words import MINUS, UNDEFINED, label, printable, short

ROW, NAME, WIDTH, RIGHT = 22.0, 190.0, 720.0, 84.0
LEFT, NAMES, GAP = 60.0, 150.0, 13.0
"""Room for the labels of an upright axis, for names at the ends of lines, and from one such name to the next."""
LOWEST, HIGHEST_COST = -0.25, 1.5
"""Figures beyond say no more than that a system is of no use at such costs."""
_LONGEST = 26


def cut(text: str, longest: int = _LONGEST) -> str:
    """A name that fits beside a figure."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def interval_plot(board: AnalysedBoard, styles: Mapping[str, str]) -> Drawing | None:
    """Systems in the order of their figures with intervals, and bars beside those that are not told apart."""
    own = board.intervals
    ranked = own.ranked
    ends = [v for s in ranked for v in (own.intervals[s].value, own.intervals[s].low, own.intervals[s].high)]
    scale = spanning(ends, NAME, WIDTH - RIGHT)
    if scale is None:
        return None
    height = ROW * len(ranked) + 40
    level = f"{own.resampling.level:.0%}"
    made = Drawing(WIDTH, height, f"{label(own.measure)} of {len(ranked)} systems with {level} intervals.")
    _x_axis(made, scale, height - 34)
    for at, system in enumerate(ranked):
        y, found = 14 + ROW * at, own.intervals[system]
        said = f"{printable(system)}: {short(found.value)} [{short(found.low)}, {short(found.high)}]"
        made.texts.append(Text(NAME - 12, y + 4, cut(system), "end", "name"))
        if math.isfinite(found.low) and math.isfinite(found.high):
            made.lines.append(
                Stroke(scale.on(found.low), y, scale.on(found.high), y, f"whisker {styles[system]}", said)
            )
        made.marks.append(Mark(scale.on(found.value), y, said, styles[system]))
    place = {system: at for at, system in enumerate(ranked)}
    for column, run in enumerate(run for run in own.ties if len(run) > 1):
        x = WIDTH - RIGHT + 14 + 7 * (column % 7)
        top, bottom = 14 + ROW * place[run[0]] - 6, 14 + ROW * place[run[-1]] + 6
        made.lines.append(Stroke(x, top, x, bottom, "tie", f"not told apart: {', '.join(map(printable, run))}"))
    return made


def difference_plot(board: AnalysedBoard, styles: Mapping[str, str]) -> Drawing | None:
    """Differences to the best system with intervals by paired bootstrap; those that Holm's test keeps are filled."""
    own = board.intervals
    pairs = [one for one in own.comparisons if one.first == own.ranked[0]] if own.ranked else []
    scale = spanning([0.0, *(v for p in pairs for v in (p.difference, p.low, p.high))], NAME, WIDTH - RIGHT)
    if not pairs or scale is None:
        return None
    height = ROW * len(pairs) + 40
    best = printable(own.ranked[0])
    made = Drawing(WIDTH, height, f"Difference of {label(own.measure)} between {best} and each other system.")
    _x_axis(made, scale, height - 34)
    made.lines.append(Stroke(scale.on(0.0), 4, scale.on(0.0), height - 34, "zero"))
    for at, pair in enumerate(pairs):
        _difference(made, scale, pair, 14 + ROW * at, styles[pair.second], 1.0 - own.resampling.level)
    return made


def _difference(made: Drawing, scale: Axis, pair: Comparison, y: float, style: str, alpha: float) -> None:
    differs = pair.p_holm < alpha
    p = short(pair.p_holm)
    ends = f"{short(pair.difference)} [{short(pair.low)}, {short(pair.high)}]"
    said = f"{printable(pair.first)} − {printable(pair.second)}: {ends}, p {p}"
    made.texts.append(Text(NAME - 12, y + 4, cut(pair.second), "end", "name"))
    if math.isfinite(pair.low) and math.isfinite(pair.high):
        made.lines.append(Stroke(scale.on(pair.low), y, scale.on(pair.high), y, f"whisker {style}", said))
    made.marks.append(Mark(scale.on(pair.difference), y, said, f"{style}{'' if differs else ' hollow'}"))
    made.texts.append(Text(WIDTH - RIGHT + 10, y + 4, "p < 0.001" if pair.p_holm < 0.001 else f"p {p}"))


def rank_plot(columns: Sequence[tuple[str, Mapping[str, float]]], styles: Mapping[str, str]) -> Drawing | None:
    """Ranks side by side, one column a ranking, a line for each system; 1 on top."""
    known = [(name, {s: r for s, r in ranks.items() if math.isfinite(r)}) for name, ranks in columns]
    known = [(name, ranks) for name, ranks in known if ranks]
    if len(known) < 2:
        return None
    most = max(max(ranks.values()) for _, ranks in known)
    step = max(70.0, (WIDTH - 2 * NAME) / (len(known) - 1))
    height = 34 + ROW * most + 10
    made = Drawing(2 * NAME + step * (len(known) - 1), height, f"Ranks of systems in {len(known)} rankings.")
    xs = [NAME + step * at for at in range(len(known))]
    for at, (x, (name, _)) in enumerate(zip(xs, known, strict=True)):
        anchor = "start" if not at else "end" if at == len(xs) - 1 else "middle"
        made.texts.append(Text(x, 14, cut(name, max(10, int(step / 6))), anchor))
        made.lines.append(Stroke(x, 22, x, height - 8, "grid"))
    for system in dict.fromkeys(s for _, ranks in known for s in ranks):
        _rank_line(made, system, [(x, ranks.get(system)) for x, (_, ranks) in zip(xs, known, strict=True)], styles)
    for side, x, anchor in ((known[0][1], xs[0] - 12, "end"), (known[-1][1], xs[-1] + 12, "start")):
        taken: dict[float, int] = {}
        for system, rank in sorted(side.items(), key=lambda entry: (entry[1], entry[0])):
            shift = taken.setdefault(rank, 0)
            taken[rank] += 1
            made.texts.append(
                Text(x, 34 + ROW * (rank - 1 + shift) + 4, f"{rank:.0f} {cut(system, 22)}", anchor, "name")
            )
    return made


def _rank_line(
    made: Drawing, system: str, ranks: Sequence[tuple[float, float | None]], styles: Mapping[str, str]
) -> None:
    points = [(x, 34 + ROW * (rank - 1)) for x, rank in ranks if rank is not None]
    said = f"{printable(system)}: " + ", ".join("—" if rank is None else f"{rank:.0f}" for _, rank in ranks)
    style = styles.get(system, "k7 d0")
    made.paths.append((joined(points), f"curve {style}", said))
    made.marks += [Mark(x, y, said, style, 3.5) for x, y in points]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two rankings agree, what differs between them, and whether their figures are of one scale."""

    tau: float
    note: str = ""
    is_alike: bool = True


def heat_map(names: Sequence[str], values: Mapping[tuple[str, str], Agreement], what: str) -> Drawing | None:
    """Agreement of every two rankings by (first, second) in the order of names."""
    if len(names) < 2:
        return None
    size = max(34.0, min(64.0, 520.0 / len(names)))
    left, top = 36.0 + 6.8 * max(len(cut(name, 32)) for name in names), 30.0
    made = Drawing(left + size * len(names) + 10, top + size * len(names) + 10, f"{what} of {len(names)} rankings.")
    for row, one in enumerate(names):
        y = top + size * row
        made.texts.append(Text(left - 8, y + size / 2 + 4, f"{row + 1}  {cut(one, 32)}", "end", "name"))
        made.texts.append(Text(left + size * row + size / 2, top - 8, str(row + 1), "middle"))
        for column, other in enumerate(names):
            itself = Agreement(1.0)
            found = itself if row == column else values.get((one, other), values.get((other, one), Agreement(math.nan)))
            told = f"; {printable(found.note)}" if found.note else ""
            said = f"{printable(one)} against {printable(other)}: {short(found.tau, 3)}{told}"
            x = left + size * column
            made.rects.append(_shade(x, y, size - 2, size - 2, found.tau, said))
            mark = "" if found.is_alike else "*"
            made.texts.append(Text(x + size / 2 - 1, y + size / 2 + 4, f"{_brief(found.tau)}{mark}", "middle", "cell"))
    return made


def _brief(tau: float) -> str:
    """Two decimals without the zero before them."""
    if math.isnan(tau):
        return UNDEFINED
    text = f"{abs(tau):.2f}".replace("0.", ".").replace("1.00", "1")
    return f"{MINUS if tau < 0 and text != '.00' else ''}{'0' if text == '.00' else text}"


def band_plot(band: Band, styles: Mapping[str, str]) -> Drawing | None:
    """Figures along a parameter, the board's own point marked, and tau-b against it as a strip below.

    Where costs are far from the board's own, figures may be anything: lines leave the plot there.
    """
    bottom = max(230.0, 14.0 + GAP * len(band.systems))
    x = spanning(band.at.tolist(), LEFT, WIDTH - NAMES, log=band.parameter != "tolerance_s")
    y = spanning(_shown(band), bottom, 14.0)
    if x is None or y is None:
        return None
    said = f"{label(band.measure)} of {len(band.systems)} systems over {band.parameter}, with agreement of rankings."
    made = Drawing(WIDTH, bottom + 90, said)
    _x_axis(made, x, bottom + 56, top=14, to=bottom)
    for tick in y.ticks:
        made.lines.append(Stroke(LEFT, tick.at, WIDTH - NAMES, tick.at, "grid"))
        made.texts.append(Text(LEFT - 6, tick.at + 4, tick.text, "end"))
    if math.isfinite(band.own) and x.low <= band.own <= x.high:
        own = x.on(band.own)
        made.lines.append(Stroke(own, 10, own, bottom + 56, "zero", f"own point: {short(band.own)}"))
    ends = []
    for at, system in enumerate(band.systems):
        path = within(zip(band.at.tolist(), band.values[:, at].tolist(), strict=True), x, y)
        made.paths.append((joined(path), f"curve {styles[system]}", printable(system)))
        ends += [(*point, system) for point in [p for p in path if p is not None][-1:]]
    ends.sort(key=lambda end: end[1])
    for place, (end_x, end_y, system) in zip(_apart([end[1] for end in ends], bottom), ends, strict=True):
        made.lines.append(Stroke(end_x + 2, end_y, WIDTH - NAMES + 12, place, "lead"))
        made.texts.append(Text(WIDTH - NAMES + 16, place + 4, cut(system, 20), "start", f"name {styles[system]}"))
    _tau_strip(made, band, x, bottom + 18)
    return made


def _shown(band: Band) -> list[float]:
    """The values that a plot has to hold: those at the board's own point, and others as far as they say something."""
    known = [v for v in band.values.ravel().tolist() if math.isfinite(v)]
    if band.parameter == "tolerance_s" or not known:
        return known
    own = [v for v in band.values[band.nearest].tolist() if math.isfinite(v)]
    low, high = min([LOWEST, *own]), max([HIGHEST_COST if band.better == "lower" else 1.0, *own])
    return [min(max(v, low), high) for v in known]


def _tau_strip(made: Drawing, band: Band, x: Axis, top: float) -> None:
    """tau-b of each grid point as a box below the curves, from half way to the point before to half way to the next."""
    at = [x.on(p) for p in band.at.tolist()]
    borders = [x.start, *((a + b) / 2 for a, b in pairwise(at)), x.end]
    made.texts.append(Text(LEFT - 6, top + 15, "τ-b", "end"))
    for (left, right), parameter, tau in zip(pairwise(borders), band.at.tolist(), band.tau.tolist(), strict=True):
        said = f"at {short(parameter)}: τ-b {short(tau, 3)}"
        made.rects.append(_shade(left + 1, top, max(right - left - 2, 1.0), 22, tau, said))


def _shade(x: float, y: float, width: float, height: float, tau: float, said: str) -> Rect:
    """A box as strong as two rankings agree, of another colour where they contradict each other."""
    kind = "shade against" if tau < 0 else "shade"
    return Rect(x, y, width, height, 0.0 if math.isnan(tau) else round(abs(tau), 3), said, kind)


def _apart(places: Sequence[float], bottom: float) -> list[float]:
    """Ascending places moved until none is nearer than a line to the one before, and none is below ``bottom``."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + GAP) if moved else place)
    for at in range(len(moved) - 1, -1, -1):
        moved[at] = min(moved[at], bottom if at == len(moved) - 1 else moved[at + 1] - GAP)
    return moved


def _x_axis(made: Drawing, axis: Axis, y: float, *, top: float = 4.0, to: float | None = None) -> None:
    """The axis at ``y``, with lines at its ticks from ``top`` to ``to`` (the axis itself unless given)."""
    made.lines.append(Stroke(axis.start, y, axis.end, y, "frame"))
    for tick in axis.ticks:
        made.lines.append(Stroke(tick.at, top, tick.at, y if to is None else to, "grid"))
        made.texts.append(Text(tick.at, y + 18, tick.text, "middle"))
