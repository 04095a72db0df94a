"""Findings of readers beside tables: values quoted for people, warnings counted, refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from pipeline.errors import Finding, InputError, Problems

QUOTED_AT_MOST = 60


def quoted(value: str) -> str:
    """``value`` between quotes, cut to ``QUOTED_AT_MOST`` characters, control characters escaped."""
    return repr(value) if len(value) <= QUOTED_AT_MOST else f"{value[:QUOTED_AT_MOST]!r} and so on"


def refuse(problems: Problems, code: str, line: int | None, what: str, mend: str = "") -> NoReturn:
    """Note a problem after which reading on makes no sense, and raise ``InputError`` with all that was noted."""
    problems.add(code, line, what, mend)
    raise InputError(problems.findings, problems.count)


@dataclass(slots=True)
class Notices:
    """Warnings about one file: each code once, at its first place, with the number of times it was met."""

    file: str
    _first: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, line: int | None, message: str, count: int = 1) -> None:
        """Note a warning met ``count`` times, first at ``line``. Later messages of the same code are only counted."""
        if count <= 0:
            return
        self._first.setdefault(code, (line, message))
        self._counts[code] = self._counts.get(code, 0) + count

    def findings(self) -> tuple[Finding, ...]:
        """One finding a code, in order of first appearance."""
        return tuple(self._finding(code) for code in self._first)

    def _finding(self, code: str) -> Finding:
        line, message = self._first[code]
        count = self._counts[code]
        times = f" ({count} times, first here)" if count > 1 else ""
        return Finding(code, f"{message.rstrip('.')}{times}.", self.file if line is None else f"{self.file}:{line}")
