"""Named parts of the trials by metadata: predicates over ClipMD, JudgementMD, EventDB and TrialIndex, not SQL.

The setting ``conditions`` holds them as text: ``short: ClipMD.DURATION < 100; near: JudgementMD.INSTANCE_TYPE ==
near_miss``. A condition is one comparison or several joined by ``and``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.arrays import Bools
from pipeline.errors import UsageError

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
TABLES = {"ClipMD": "clipmd", "JudgementMD": "judgement", "EventDB": "eventdb", "TrialIndex": "index"}
"""Tables by their names in the plan, with the roles that hold them."""

_COMPARISON = re.compile(r"(\w+)\.(\w+)\s*(<=|>=|==|!=|<|>)\s*(.+)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_GRAMMAR = "allowed: NAME: TABLE.COLUMN OPERATOR VALUE, joined by `and`, parted by `;`"


@dataclass(frozen=True)
class ColumnComparison:
    """One comparison of a column with a value; numbers are compared as numbers where both are."""

    table: str
    column: str
    operator: str
    value: str

    def holds(self, text: str) -> bool:
        """Whether a cell of the column satisfies it."""
        compare = OPERATORS[self.operator]
        try:
            return compare(float(text), float(self.value))
        except ValueError:
            return compare(text, self.value) if self.operator in ("==", "!=") else False


Condition = tuple[ColumnComparison, ...]


def parse(text: str) -> dict[str, Condition]:
    """The conditions of a setting by name. Raises ``UsageError`` that says what is wrong and what is allowed."""
    conditions: dict[str, Condition] = {}
    for part in filter(None, (part.strip() for part in re.split("[;\\n]", text))):
        name, colon, body = part.partition(":")
        name = name.strip()
        if not colon or not _NAME.fullmatch(name) or name == "all" or name in conditions:
            raise UsageError(f"conditions: {part!r} does not begin with a new name and a colon ({_GRAMMAR}).")
        conditions[name] = tuple(_comparison(one.strip()) for one in re.split(r"\s+and\s+", body.strip()))
    return conditions


def _comparison(text: str) -> ColumnComparison:
    match = _COMPARISON.fullmatch(text)
    if match is None or match[1] not in TABLES:
        raise UsageError(f"conditions: {text!r} is no comparison ({_GRAMMAR}; tables: {', '.join(TABLES)}).")
    return ColumnComparison(match[1], match[2], match[3], match[4].strip().strip("'\""))


def members(condition: Condition, tables: Mapping[str, Any], clips: Sequence[str], events: Sequence[str]) -> Bools:
    """Which trials (one clip and one event each) satisfy a condition, bool of their number.

    A trial without a row in the table does not; with several (judgements) one is enough. Raises ``UsageError`` where
    the table was not given or has no such column.
    """
    result = np.ones(len(clips), np.bool_)
    for one in condition:
        result &= _satisfied(one, tables, clips, events)
    return result


def _satisfied(one: ColumnComparison, tables: Mapping[str, Any], clips: Sequence[str], events: Sequence[str]) -> Bools:
    role = TABLES[one.table]
    if role not in tables:
        raise UsageError(f"conditions: {one.table} is not among the inputs. Give it as {role}.")
    source = tables[role]
    if one.column not in source.names:
        raise UsageError(f"conditions: {one.table} has no column {one.column} (it has {', '.join(source.names)}).")
    table = source.table
    holds = np.array([one.holds(text) for text in table.vocabularies[one.column]], np.bool_)[table[one.column]]
    rows = np.flatnonzero(holds).tolist()
    keyed = {name: table.text(name) for name in ("ClipID", "EventID") if name in source.names}
    if role == "judgement":
        known = {(keyed["ClipID"][row], keyed["EventID"][row]) for row in rows}
        anywhere = {clip for clip, event in known if event in ("", "NULL")}
        pairs = zip(clips, events, strict=True)
        return np.array([pair in known or pair[0] in anywhere for pair in pairs], np.bool_)
    name, values = ("EventID", events) if role == "eventdb" else ("ClipID", clips)
    if role == "index":
        return np.asarray(holds, np.bool_)
    kept = {keyed[name][row] for row in rows}
    return np.array([value in kept for value in values], np.bool_)
