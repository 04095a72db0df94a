"""Blocks and detections of a system output as they grow, whatever their elements are called.

Detections are the bulk of an evaluation's bytes: they are gathered as attribute lists and turned into columns once a
chunk, so that a row costs a few list operations.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator

from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.attributes import note_missing, note_unknown
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.kws.scoretexts import ScoreTexts
from pipeline.formats.table import Table
from pipeline.formats.xmlstream import attributes_of

DETECTION = ("file", "channel", "tbeg", "dur", "score", "decision")
"""The attributes of a detection; all are required."""
DECISIONS = ("YES", "NO")

_COUNT = re.compile(r"[ \t\r\n]*[0-9]{1,15}[ \t\r\n]*")
_NO_COUNT = frozenset(("", "NA", "N/A"))


class QueryBlocks:
    """The blocks read so far, and the number of the one that is open."""

    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.queries = TextColumn()
        self.search_time_s, self.oov_count, self.lines = array("d"), array("d"), array("i")
        self.block = -1

    def open(self, attributes: dict[str, str], tag: str, names: tuple[str, str, str], line: int) -> None:
        """A block begins. ``names`` are its attributes for the query's id, the search time and the OOV count."""
        id_name, time_name, oov_name = names
        note_unknown(attributes, names, tag, line, self.notices)
        note_missing(attributes, (id_name,), tag, line, self.problems)
        query = attributes.get(id_name, "")
        if query in self.queries.vocabulary:
            message = f"{id_name} {quoted(query)} has a second block; the setting duplicate_blocks says what counts"
            self.notices.add("duplicate_block", line, message)
        search_time_s = self._search_time_s(attributes.get(time_name, ""), time_name, line)
        self.add(query, search_time_s, self._oov_count(attributes.get(oov_name, ""), oov_name, line), line)

    def add(self, query: str, search_time_s: float, oov_count: float, line: int) -> None:
        """A block begins of which there is nothing to say."""
        self.queries.append(query)
        self.block += 1
        self.search_time_s.append(search_time_s)
        self.oov_count.append(oov_count)
        self.lines.append(line)

    def table(self) -> Table:
        """The blocks so far."""
        return table(
            {
                "query": self.queries,
                "search_time_s": self.search_time_s,
                "oov_count": self.oov_count,
                "line": self.lines,
            }
        )

    def _search_time_s(self, text: str, what: str, line: int) -> float:
        if not text.strip():
            return math.nan
        value = numbers.decimal(text, what, line, self.problems)
        if value >= 0 or math.isnan(value):
            return value
        self.notices.add("negative_search_time", line, f"{what} is {quoted(text)}; it is taken as not declared")
        return math.nan

    def _oov_count(self, text: str, what: str, line: int) -> float:
        if _COUNT.fullmatch(text):
            return float(text)
        if text.strip().upper() not in _NO_COUNT:
            wrong = f"{what} is {quoted(text)} (allowed: a whole number, or NA for a system without a dictionary)"
            self.problems.add("bad_count", line, wrong, "Write NA if unknown.")
        return math.nan


class Detections:
    """The detections read so far; rows of the chunk that is being read wait as attribute lists."""

    def __init__(
        self, blocks: QueryBlocks, problems: Problems, notices: Notices, texts: ScoreTexts | None = None
    ) -> None:
        self.blocks, self.problems, self.notices, self.texts = blocks, problems, notices, texts
        self.attributes: dict[str, str] = {}
        self.tag = "kw"
        self.declared: tuple[float, float] | None = None
        self.queries = TextColumn(blocks.queries.vocabulary)
        self.files, self.channels = TextColumn(), TextColumn()
        self.begin_s, self.dur_s, self.score = array("d"), array("d"), array("d")
        self.decision, self.lines, self.block = bytearray(), array("i"), array("i")
        self._rows: list[list[str]] = []
        self._blocks: list[int] = []
        self._row_lines: list[int] = []

    def root(self, attributes: dict[str, str], tag: str, line: int) -> None:
        """The output begins; its detections are elements named ``tag``."""
        self.attributes, self.tag = attributes, tag
        given = [name for name in ("min_score", "max_score") if name in attributes]
        if len(given) == 1:
            what = f"the header declares {given[0]} alone (allowed: min_score and max_score, or neither)"
            self.problems.add("half_score_range", line, what, "Add the other one, or remove it.")
        if len(given) == 2:
            low, high = (numbers.score(attributes[name], name, line, self.problems) for name in given)
            if low > high:
                self.problems.add("empty_score_range", line, f"min_score {low} is above max_score {high}", "Swap them.")
            self.declared = (low, high)

    def collect(self, flat: list[str], line: int) -> None:
        """One detection: kept as it came until the chunk ends."""
        self._rows.append(flat)
        self._blocks.append(self.blocks.block)
        self._row_lines.append(line)

    def flush(self) -> None:
        """Turn the waiting rows into columns."""
        if self._rows:
            self._take(self._rows, self._blocks, self._row_lines)
            self._rows.clear()
            self._blocks.clear()
            self._row_lines.clear()

    def taken(self) -> Table:
        """The detections so far, which go on without them."""
        made = self.table()
        for column in (self.queries, self.files, self.channels):
            column.codes = array("i")
        self.begin_s, self.dur_s, self.score = array("d"), array("d"), array("d")
        self.decision, self.lines, self.block = bytearray(), array("i"), array("i")
        return made

    def table(self) -> Table:
        """The detections so far."""
        return table(
            {
                "query": self.queries,
                "file": self.files,
                "channel": self.channels,
                "begin_s": self.begin_s,
                "dur_s": self.dur_s,
                "score": self.score,
                "decision": self.decision,
                "line": self.lines,
                "block": self.block,
                **({"score_text": texts} if (texts := self.texts and self.texts.column) else {}),
            }
        )

    def _take(self, rows: list[list[str]], blocks: list[int], lines: list[int]) -> None:
        columns = _columns(rows)
        if columns is None:
            for first, last in _alike(rows):
                self._take(rows[first:last], blocks[first:last], lines[first:last])
        elif not columns.keys() >= set(DETECTION):
            for row, line in zip(rows, lines, strict=True):
                note_missing(attributes_of(row), DETECTION, self.tag, line, self.problems)
        else:
            note_unknown(columns, DETECTION, self.tag, lines[0], self.notices)
            self._extend(columns, blocks, lines)

    def _extend(self, columns: dict[str, tuple[str, ...]], blocks: list[int], lines: list[int]) -> None:
        self._check_names(columns, lines)
        self._check_decisions(columns["decision"], lines)
        dur_s = numbers.decimals(columns["dur"], "dur", lines, self.problems)
        score = numbers.scores(columns["score"], "score", lines, self.problems)
        self._check_durations(dur_s, lines)
        self._check_range(score, lines)
        self.queries.codes.extend(map(self.blocks.queries.codes.__getitem__, blocks))
        self.block.extend(blocks)
        self.files.extend(columns["file"])
        self.channels.extend(columns["channel"])
        self.begin_s.extend(numbers.decimals(columns["tbeg"], "tbeg", lines, self.problems))
        self.dur_s.extend(dur_s)
        if self.texts is not None:
            self.texts.extend(columns["score"], self.score)
        self.score.extend(score)
        self.decision.extend(map("YES".__eq__, columns["decision"]))
        self.lines.extend(lines)

    def _check_names(self, columns: dict[str, tuple[str, ...]], lines: list[int]) -> None:
        if "" in columns["file"] or "" in columns["channel"]:
            for file, channel, line in zip(columns["file"], columns["channel"], lines, strict=True):
                note_missing({"file": file, "channel": channel}, ("file", "channel"), self.tag, line, self.problems)

    def _check_decisions(self, decisions: tuple[str, ...], lines: list[int]) -> None:
        if sum(map(decisions.count, DECISIONS)) == len(decisions):
            return
        for decision, line in zip(decisions, lines, strict=True):
            if decision not in DECISIONS:
                what = f"decision is {quoted(decision)} (allowed: YES or NO, in capitals, without blanks)"
                self.problems.add("bad_decision", line, what, "Write YES or NO.")

    def _check_durations(self, dur_s: array[float], lines: list[int]) -> None:
        if min(dur_s) < 0:
            below = [line for value, line in zip(dur_s, lines, strict=True) if value < 0]
            message = "the detection ends before it begins; it is kept"
            self.notices.add("negative_duration", below[0], message, len(below))

    def _check_range(self, score: array[float], lines: list[int]) -> None:
        if self.declared is None:
            return
        low, high = self.declared
        for value, line in zip(score, lines, strict=True):
            if value < low or value > high:
                what = f"score {value} lies outside the range that the header declares (allowed: {low} to {high})"
                self.problems.add("score_outside_range", line, what, "Correct min_score and max_score, or remove both.")


def _columns(rows: list[list[str]]) -> dict[str, tuple[str, ...]] | None:
    """Values by attribute name, if every row has the same attributes in the same order; else ``None``."""
    try:
        flat = list(zip(*rows, strict=True))
    except ValueError:
        return None
    names = rows[0][::2]
    if any(column.count(name) != len(rows) for name, column in zip(names, flat[::2], strict=True)):
        return None
    return dict(zip(names, flat[1::2], strict=True))


def _alike(rows: list[list[str]]) -> Iterator[tuple[int, int]]:
    """Ranges of consecutive rows that have the same attributes in the same order."""
    first = 0
    for row in range(1, len(rows) + 1):
        if row == len(rows) or rows[row][::2] != rows[first][::2]:
            yield first, row
            first = row
