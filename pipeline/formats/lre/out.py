"""Outputs of language recognisers (``.out``): task, set, segment and a log-likelihood for each class, a line each.

Source: Albayzin 2012 LRE plan, sections 4.1 and 6.1.3.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.lre.names import CLOSED, LANGUAGES, OPEN, TRACKS, base_name, columns_of, read_name, track_of
from pipeline.formats.table import Table
from pipeline.formats.textlines import Lines, line_groups

_SETS = (CLOSED, OPEN)
_CODES = 3
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)


@dataclass(frozen=True)
class LreOutput:
    """One output: its codes, and a score of every class for every segment, in file order."""

    where: str
    task: str
    chosen_set: str
    segments: Table
    """Columns segment*, line; every segment once."""
    scores: NDArray[np.float64]
    """Log-likelihoods (n, m), up to a constant of each row, in the order of the columns."""
    n_lines: int
    findings: tuple[Finding, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the columns, ``OOS`` last."""
        return columns_of(self.task)


def read_lre_out(stream: BinaryIO, where: str) -> LreOutput:
    """An output from a binary stream; ``where`` names it in messages.

    Fields stand between blanks: ``Plenty|Empty``, ``Closed|Open``, the segment, then the scores of the task's
    languages and of OOS. A file whose name follows the rule of submissions must have the codes of its track. Raises
    ``InputError`` with every problem: other codes or several in one file, a wrong number of fields, scores that are no
    finite decimals, segments given twice, blank lines, an empty file.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _LreReading(where, problems)
    for group in line_groups(stream, problems, notices):
        reading.take(group)
    reading.finish()
    problems.raise_if_any()
    task, chosen_set = reading.codes or (next(iter(LANGUAGES)), CLOSED)  # no codes is a problem, raised above
    scores = np.asarray(reading.scores).reshape(len(reading.lines), len(columns_of(task)))
    segments = table({"segment": reading.segment, "line": reading.lines})
    return LreOutput(where, task, chosen_set, segments, scores, reading.n_lines, notices.findings())


class _LreReading:
    def __init__(self, where: str, problems: Problems) -> None:
        self.problems = problems
        self.name = read_name(base_name(where))
        self.codes: tuple[str, str] | None = None
        """Task and set of the file, from its first line that has some."""
        self.segment, self.lines, self.scores = TextColumn(), array("q"), array("d")
        self.n_lines = 0

    def take(self, group: Lines) -> None:
        """Read the lines of a group."""
        texts: list[str] = []
        lines = [number for number, line in group if self._row(number, line.decode().split(), texts)]
        width = len(texts) // len(lines) if lines else 0
        trial = Problems("")
        repeated = [number for number in lines for _ in range(width)]
        values = numbers.decimals(texts, "the score", repeated, trial)
        if trial.count:
            names = columns_of(self.codes[0]) if self.codes else ()
            for at, (text, number) in enumerate(zip(texts, repeated, strict=True)):
                self._check(text, names[at % width], number)
        self.lines.extend(lines)
        self.scores.extend(values)
        self.n_lines = group[-1][0] if group else self.n_lines

    def finish(self) -> None:
        """Note what only the whole file shows."""
        if not self.lines and not self.problems.count:
            what = "the file has no line (allowed: a line for every segment of the test)"
            self.problems.add("empty_file", 1, what, "Check that the file is whole.")
        if self.codes is not None and self.name is not None and TRACKS[self.name.track] != self.codes:
            named = " ".join(TRACKS[self.name.track])
            what = f"the codes are {' '.join(self.codes)}, of track {track_of(*self.codes)}, and the file's name says "
            what += f"{self.name.track} (allowed there: {named})"
            self.problems.add("name_mismatch", 1, what, "Correct the name or the codes.")

    def _row(self, number: int, fields: list[str], texts: list[str]) -> bool:
        """Whether the line is taken; its scores are then appended to ``texts``."""
        if not fields:
            what = "the line is blank (allowed: task, set, segment and scores on every line)"
            self.problems.add("blank_line", number, what, "Remove it.")
            return False
        if not self._codes(number, fields):
            return False
        wanted = _CODES + len(columns_of(fields[0]))
        if len(fields) != wanted:
            what = (
                f"the line has {len(fields)} fields (allowed: {wanted} for {fields[0]}: task, set, segment, and scores "
            )
            what += f"of {', '.join(columns_of(fields[0]))})"
            self.problems.add("field_count", number, what, "Write the missing scores, or remove what is too much.")
            return False
        if fields[2] in self.segment.vocabulary:
            what = f"segment {quoted(fields[2])} is given again (allowed: once, even where the lines are the same)"
            self.problems.add("duplicate_segment", number, what, "Remove one of the lines.")
            return False
        self.segment.append(fields[2])
        texts += fields[_CODES:]
        return True

    def _codes(self, number: int, fields: list[str]) -> bool:
        """Whether the line begins with the codes of the file."""
        count = self.problems.count
        if fields[0] not in LANGUAGES:
            what = f"the task is {quoted(fields[0])} (allowed: {', '.join(LANGUAGES)})"
            self.problems.add("bad_task", number, what, "Write the code as it stands here.")
        if len(fields) > 1 and fields[1] not in _SETS:
            what = f"the set is {quoted(fields[1])} (allowed: {', '.join(_SETS)})"
            self.problems.add("bad_set", number, what, "Write the code as it stands here.")
        if len(fields) == 1 and self.problems.count == count:
            what = "the line has 1 field (allowed: task, set, segment, scores)"
            self.problems.add("field_count", number, what, "Write the whole line.")
        if self.problems.count > count:
            return False
        codes = fields[0], fields[1]
        if self.codes is None:
            self.codes = codes
        if codes != self.codes:
            what = (
                f"the codes are {' '.join(codes)} where earlier lines have {' '.join(self.codes)} (allowed: the same)"
            )
            self.problems.add("mixed_codes", number, what, "Put every track into a file of its own.")
        return codes == self.codes

    def _check(self, text: str, name: str, number: int) -> None:
        """Note what is wrong with one score."""
        if _NOT_FINITE.fullmatch(text):
            what = f"the score of {name} is {quoted(text)} (allowed: finite decimal numbers)"
            self.problems.add("not_finite", number, what, "Write a large number of the right sign, such as -1e6.")
        else:
            numbers.decimal(text, f"the score of {name}", number, self.problems)
