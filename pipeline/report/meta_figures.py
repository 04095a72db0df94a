"""The figures of a study's page: intervals and ties, differences, ranks side by side, agreement, sensitivity, load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pipeline.meta.analysis import Board
from pipeline.meta.intervals import Comparison
from pipeline.meta.sensitivity import Band
from pipeline.report.drawing import Dot, Drawing, Line, Rect, Scale, Text, spanning, steps
from pipeline.report.words import MINUS, label, printable, short

ROW, NAME, WIDTH, RIGHT = 22.0, 190.0, 720.0, 70.0
_LONGEST = 26


def cut(text: str, longest: int = _LONGEST) -> str:
    """A name that fits beside a figure."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def interval_plot(board: Board, styles: Mapping[str, str]) -> Drawing | None:
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
    _x_axis(made, scale, height - 34, 6)
    for at, system in enumerate(ranked):
        y, found = 14 + ROW * at, own.intervals[system]
        said = f"{printable(system)}: {short(found.value)} [{short(found.low)}, {short(found.high)}]"
        made.texts.append(Text(NAME - 12, y + 4, cut(system), "end", "name"))
        if math.isfinite(found.low) and math.isfinite(found.high):
            made.lines.append(Line(scale(found.low), y, scale(found.high), y, f"whisker {styles[system]}", said))
        made.dots.append(Dot(scale(found.value), y, styles[system], said))
    place = {system: at for at, system in enumerate(ranked)}
    for column, run in enumerate(run for run in own.ties if len(run) > 1):
        x = WIDTH - RIGHT + 14 + 7 * (column % 7)
        top, bottom = 14 + ROW * place[run[0]] - 6, 14 + ROW * place[run[-1]] + 6
        made.lines.append(Line(x, top, x, bottom, "tie", f"not told apart: {', '.join(map(printable, run))}"))
    return made


def difference_plot(board: Board, styles: Mapping[str, str]) -> Drawing | None:
    """Differences to the best system with intervals by paired bootstrap; those that Holm's test keeps are filled."""
    own = board.intervals
    pairs = [one for one in own.comparisons if one.first == own.ranked[0]] if own.ranked else []
    scale = spanning([0.0, *(v for p in pairs for v in (p.difference, p.low, p.high))], NAME, WIDTH - RIGHT)
    if not pairs or scale is None:
        return None
    height = ROW * len(pairs) + 40
    best = printable(own.ranked[0])
    made = Drawing(WIDTH, height, f"Difference of {label(own.measure)} between {best} and each other system.")
    _x_axis(made, scale, height - 34, 6)
    made.lines.append(Line(scale(0.0), 4, scale(0.0), height - 34, "zero"))
    for at, pair in enumerate(pairs):
        _difference(made, scale, pair, 14 + ROW * at, styles[pair.second], 1.0 - own.resampling.level)
    return made


def _difference(made: Drawing, scale: Scale, pair: Comparison, y: float, style: str, alpha: float) -> None:
    differs = pair.p_holm < alpha
    p = short(pair.p_holm)
    ends = f"{short(pair.difference)} [{short(pair.low)}, {short(pair.high)}]"
    said = f"{printable(pair.first)} − {printable(pair.second)}: {ends}, p {p}"
    made.texts.append(Text(NAME - 12, y + 4, cut(pair.second), "end", "name"))
    if math.isfinite(pair.low) and math.isfinite(pair.high):
        made.lines.append(Line(scale(pair.low), y, scale(pair.high), y, f"whisker {style}", said))
    made.dots.append(Dot(scale(pair.difference), y, f"{style}{'' if differs else ' hollow'}", said))
    made.texts.append(Text(WIDTH - RIGHT + 10, y + 4, f"p {p}"))


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
        made.lines.append(Line(x, 22, x, height - 8, "grid"))
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
    made.paths.append((steps(points), f"curve {style}", said))
    made.dots += [Dot(x, y, style, said, 3.5) for x, y in points]


def heat_map(names: Sequence[str], values: Mapping[tuple[str, str], tuple[float, str]], what: str) -> Drawing | None:
    """Agreement of every two rankings: a number and what is said of it by (first, second) in the order of names."""
    if len(names) < 2:
        return None
    size = max(40.0, min(64.0, 520.0 / len(names)))
    left, top = 230.0, 30.0
    made = Drawing(left + size * len(names) + 10, top + size * len(names) + 10, f"{what} of {len(names)} rankings.")
    for row, one in enumerate(names):
        y = top + size * row
        made.texts.append(Text(left - 8, y + size / 2 + 4, f"{row + 1}  {cut(one, 32)}", "end", "name"))
        made.texts.append(Text(left + size * row + size / 2, top - 8, str(row + 1), "middle"))
        for column, other in enumerate(names):
            value, note = (
                (1.0, "") if row == column else values.get((one, other), values.get((other, one), (math.nan, "")))
            )
            told = f"; {printable(note)}" if note else ""
            said = f"{printable(one)} against {printable(other)}: {short(value, 3)}{told}"
            share = 0.0 if math.isnan(value) else max(0.0, value)
            x = left + size * column
            made.rects.append(Rect(x, y, size - 2, size - 2, round(share, 3), said))
            mark = "*" if note and row != column else ""
            made.texts.append(Text(x + size / 2 - 1, y + size / 2 + 4, f"{short(value, 2)}{mark}", "middle", "cell"))
    return made


def band_plot(band: Band, styles: Mapping[str, str]) -> Drawing | None:
    """Figures along a parameter, the board's own point marked, and tau-b against it as a strip below."""
    x = spanning(band.at.tolist(), 60.0, WIDTH - 150.0, log=band.parameter != "tolerance_s")
    ceiling = 1.5 if band.better == "lower" else 1.0
    shown = [min(max(v, -0.25), ceiling) for v in band.values.ravel().tolist() if not math.isnan(v)]
    y = spanning(shown, 230.0, 14.0)
    if x is None or y is None:
        return None
    said = f"{label(band.measure)} of {len(band.systems)} systems over {band.parameter}, with agreement of rankings."
    made = Drawing(WIDTH, 320.0, said)
    _x_axis(made, x, 286, 8, top=14)
    for tick in y.ticks(5):
        made.lines.append(Line(60, y(tick), WIDTH - 150, y(tick), "grid"))
        made.texts.append(Text(54, y(tick) + 4, f"{tick:g}".replace("-", MINUS), "end"))
    if math.isfinite(band.own) and x.low <= band.own <= x.high:
        made.lines.append(Line(x(band.own), 10, x(band.own), 286, "zero", f"own point: {short(band.own)}"))
    ends = []
    for at, system in enumerate(band.systems):
        points = [
            (x(p), y(v))
            for p, v in zip(band.at.tolist(), band.values[:, at].tolist(), strict=True)
            if not math.isnan(v)
        ]
        made.paths.append((steps(points), f"curve {styles[system]}", printable(system)))
        ends += [(points[-1][1], system)] if points else []
    for place, (wanted, system) in zip(_apart([e[0] for e in sorted(ends)]), sorted(ends), strict=True):
        del wanted
        made.texts.append(Text(WIDTH - 144, place + 4, cut(system, 20), "start", f"name {styles[system]}"))
    _tau_strip(made, band, x)
    return made


def _tau_strip(made: Drawing, band: Band, x: Scale) -> None:
    """tau-b of each grid point as boxes below the curves."""
    at = [x(p) for p in band.at.tolist()]
    width = max(6.0, min((b - a for a, b in pairwise(at)), default=20.0) - 2)
    made.texts.append(Text(54, 262, "τ-b", "end"))
    for place, parameter, tau in zip(at, band.at.tolist(), band.tau.tolist(), strict=True):
        share = 0.0 if math.isnan(tau) else max(0.0, tau)
        said = f"at {short(parameter)}: τ-b {short(tau, 3)}"
        made.rects.append(Rect(place - width / 2, 248, width, 22, round(share, 3), said))


def load_plot(rows: Sequence[Mapping[str, Any]], styles: Mapping[str, str]) -> Drawing | None:
    """Accuracy against load on one board; systems on the Pareto front are filled and joined."""
    x = spanning([row["load"] for row in rows], 60.0, WIDTH - 40.0, log=True)
    y = spanning([row["value"] for row in rows], 250.0, 14.0)
    if x is None or y is None:
        return None
    first = rows[0]
    said = f"{label(first['measure'])} against {label(first['load_measure'])} of {len(rows)} systems."
    made = Drawing(WIDTH, 300.0, said)
    _x_axis(made, x, 264, 8, top=14)
    for tick in y.ticks(5):
        made.lines.append(Line(60, y(tick), WIDTH - 40, y(tick), "grid"))
        made.texts.append(Text(54, y(tick) + 4, f"{tick:g}".replace("-", MINUS), "end"))
    front = sorted((x(row["load"]), y(row["value"])) for row in rows if row["front"] == "yes" and row["load"] > 0)
    made.paths.append((steps(front), "curve front", "Pareto front"))
    for row in rows:
        if row["load"] > 0:
            kind = f"{styles[row['system']]}{'' if row['front'] == 'yes' else ' hollow'}"
            text = f"{printable(row['system'])}: {short(row['value'])} at {short(row['load'])}"
            made.dots.append(Dot(x(row["load"]), y(row["value"]), kind, text, 5.0))
            made.texts.append(Text(x(row["load"]) + 8, y(row["value"]) - 6, cut(row["system"], 20), "start", "name"))
    return made


def _apart(places: Sequence[float], gap: float = 13.0) -> list[float]:
    """Ascending places moved down until none is nearer than ``gap`` to the one before."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    return moved


def _x_axis(made: Drawing, scale: Scale, y: float, most: int, *, top: float = 4.0) -> None:
    made.lines.append(Line(scale.start, y, scale.end, y, "frame"))
    for tick in scale.ticks(most):
        made.lines.append(Line(scale(tick), top, scale(tick), y, "grid"))
        made.texts.append(Text(scale(tick), y + 18, f"{tick:g}".replace("-", MINUS), "middle"))
