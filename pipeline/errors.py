"""Every deliberate error of the project: one small tree, sorted by what a handler would do about it.

A message reads ``file:line: what is wrong (the value seen, what is allowed). How to mend it.``
Exit codes of the command line follow the tree: refused input 1, usage 2, platform fault 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SHOWN_AT_MOST = 20
PROBLEMS_AT_MOST = 10_000
"""After so many problems a file is read no further."""


def escaped(text: str, *, but: str = "") -> str:
    """``text`` without what steers a terminal or turns its direction: such characters are written as Python does."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in but else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or warning: a stable code for programs, a message for people, and its place (``file:line``).

    Both are escaped: names in them come from files that anybody may have written.
    """

    code: str
    message: str
    where: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", escaped(self.message))
        object.__setattr__(self, "where", escaped(self.where))

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def told_lines(findings: Sequence[Finding], at_most: int = SHOWN_AT_MOST) -> list[str]:
    """The first findings, a line each, and how many more there are."""
    lines = [str(finding) for finding in findings[:at_most]]
    hidden = len(findings) - len(lines)
    return [*lines, f"… and {hidden} more."] if hidden > 0 else lines


class RescoreError(Exception):
    """The root of all errors raised on purpose."""

    exit_code = 3


class UsageError(RescoreError):
    """The call itself is wrong: an unknown protocol, setting, role or option."""

    exit_code = 2


class InputError(RescoreError):
    """An input file is refused. Carries the first problems found and the count of all."""

    exit_code = 1

    def __init__(self, findings: Iterable[Finding], count: int | None = None) -> None:
        self.findings = tuple(findings)[:SHOWN_AT_MOST]
        self.count = len(self.findings) if count is None else count
        super().__init__(self.findings, self.count)

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings]
        hidden = self.count - len(self.findings)
        if hidden > 0:
            lines.append(f"… and {hidden} more problems of this kind of file.")
        return "\n".join(lines)


class ConfigError(InputError):
    """The evaluation file is refused."""


class PlatformError(RescoreError):
    """Store, cluster or orchestration failed: the inputs may be fine and a rerun may succeed."""


class WorkerDiedError(PlatformError):
    """A task was given to worker after worker and every one died: it is at fault, or all of them are too small."""


class StoreError(PlatformError):
    """An object is missing, damaged or cannot be written."""


class DamageError(StoreError):
    """An object is lost, or not what was written: it can be discarded and made again. The store itself answers."""


@dataclass(slots=True)
class Problems:
    """Collects everything wrong with one file, so that a person mends it in one go.

    Keeps the first ``SHOWN_AT_MOST`` findings and counts the rest, and ends with ``InputError`` at
    ``PROBLEMS_AT_MOST``: memory and time stay bounded on hostile input.
    """

    file: str
    findings: list[Finding] = field(default_factory=list)
    count: int = 0

    def add(self, code: str, line: int | None, what: str, mend: str = "") -> None:
        """Note one problem. ``what`` states the value seen and what is allowed, ``mend`` what to do."""
        self.count += 1
        if len(self.findings) < SHOWN_AT_MOST:
            where = self.file if line is None else f"{self.file}:{line}"
            message = f"{what.rstrip('.')}. {mend}".strip()
            self.findings.append(Finding(code, message, where))
        if self.count >= PROBLEMS_AT_MOST:
            stopped = f"the file has {PROBLEMS_AT_MOST} problems or more, and is read no further. Mend these first."
            raise InputError(
                [*self.findings[: SHOWN_AT_MOST - 1], Finding("too_many_problems", stopped, self.file)], self.count
            )

    def raise_if_any(self) -> None:
        """Raise ``InputError`` with all that was noted, if anything was."""
        if self.count:
            raise InputError(self.findings, self.count)
