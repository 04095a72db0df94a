"""Boards as others take them: a LaTeX table for a paper, and the scores.json of a Codabench leaderboard."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from pipeline.metrics.label import Label
from pipeline.report.board import ALL, Board, BoardEntry, RunBoards
from pipeline.report.headline import best_of, headline, is_best
from pipeline.report.uncertainty import Place, Uncertainty
from pipeline.report.words import label, printable

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "η": r"$\eta$", "θ": r"$\theta$", "′": r"$'$", "×": r"$\times$",
}  # fmt: skip


def board_tex(run: RunBoards, known: Mapping[Place, Uncertainty] | None = None) -> str:
    """One ``table`` per board of all trials, for the package booktabs; the best figure of a column is bold.

    Names are escaped. ``known``: intervals of the primary measure, added where they are given.
    """
    tables = [_table(run, board, known or {}) for board in run.boards_of(ALL)]
    signature = f"% {printable(run.attributes.get('evaluation', ''))}, run {printable(run.attributes.get('run', ''))}"
    return "\n\n".join([f"{signature}; needs \\usepackage{{booktabs,textcomp}}", *tables]) + "\n"


def escaped(text: str) -> str:
    """Untrusted text as LaTeX that prints it."""
    return "".join(_LATEX.get(char, char) for char in printable(text))


def _table(run: RunBoards, board: Board, known: Mapping[Place, Uncertainty]) -> str:
    measures = headline(run)
    heads = [_head(label(measure.name)) for measure in measures]
    best = best_of(board, measures)
    rows = []
    for entry in board.entries:
        name = escaped(entry.system)
        if entry.failed:
            rows.append(rf"-- & {name} & \multicolumn{{{len(measures)}}}{{l}}{{{escaped(entry.failed)}}} \\")
            continue
        figures = [_figure(entry, measure.name, best=is_best(entry, measure.name, best)) for measure in measures]
        one = known.get((board.query_set, board.dataset, entry.system))
        if one is not None and one.is_known:
            figures[0] += rf" {{\scriptsize [{one.low:.4f}, {one.high:.4f}]}}"
        rows.append(" & ".join([str(entry.rank or "--"), name, *figures]) + r" \\")
    title = f"Query set {escaped(board.query_set)} on dataset {escaped(board.dataset)}."
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{title}}}", rf"\begin{{tabular}}{{rl{'r' * len(measures)}}}"]
    lines += [r"\toprule", " & ".join(["Rank", "System", *heads]) + r" \\", r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}"])


def _head(name: Label) -> str:
    base = escaped(name.base) + (rf"$_{{\mathrm{{{escaped(name.subscript)}}}}}$" if name.subscript else "")
    return f"{base} ({escaped(name.note)})" if name.note else base


def _figure(entry: BoardEntry, measure: str, *, best: bool) -> str:
    value = entry.figures[measure].value
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        text = r"\infty" if value > 0 else r"-\infty"
        return rf"$\boldsymbol{{{text}}}$" if best else f"${text}$"
    small = value != 0 and abs(value) < 1e-3
    text = f"{value:.2e}" if small else f"{value:.4f}".removesuffix(".0000")
    return rf"\textbf{{{text}}}" if best else text.replace("-", "$-$", 1) if value < 0 else text


def scores_json(run: RunBoards, system: str) -> bytes:
    """One system's figures as a Codabench scoring program writes them: strict JSON, key → number.

    Keys are measures, with query set and dataset before them where there are several cells; what is undefined or
    infinite is left out, because a leaderboard takes numbers only.
    """
    boards = run.boards_of(ALL)
    found = {}
    for board in boards:
        prefix = f"{_key(board.query_set)}_{_key(board.dataset)}_" if len(boards) > 1 else ""
        for entry in board.entries:
            if entry.system == system:
                finite = {name: figure.value for name, figure in entry.figures.items() if math.isfinite(figure.value)}
                found.update({f"{prefix}{name}": value for name, value in finite.items()})
    return json.dumps(found, allow_nan=False, indent=1).encode()


def _key(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
