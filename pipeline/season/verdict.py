"""Faults of a submission, in three degrees; all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.errors import Finding

ERROR, WARNING, NOTE = ("error", "warning", "note")


@dataclass(frozen=True)
class Remark:
    """One finding and how much it matters: an error refuses the submission."""

    level: str
    finding: Finding

    def __str__(self) -> str:
        return f"{self.level}: {self.finding}"


@dataclass(frozen=True)
class Verdict:
    """All remarks on one submission, in the order in which they were made."""

    remarks: tuple[Remark, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether nothing refuses it."""
        return not any(remark.level == ERROR for remark in self.remarks)

    def of(self, level: str) -> tuple[Finding, ...]:
        """The findings of one degree."""
        return tuple(remark.finding for remark in self.remarks if remark.level == level)

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict((*self.remarks, *other.remarks))

    def document(self) -> list[dict[str, Any]]:
        """The remarks as JSON may carry them."""
        return [{"level": remark.level, **asdict(remark.finding)} for remark in self.remarks]


def verdict_of(stored: Iterable[Mapping[str, str]]) -> Verdict:
    """The inverse of ``Verdict.document``."""
    return Verdict(
        tuple(Remark(entry["level"], Finding(entry["code"], entry["message"], entry["where"])) for entry in stored)
    )


@dataclass
class Remarks:
    """Gathers remarks while a submission is looked at."""

    found: list[Remark] = field(default_factory=list)

    def error(self, code: str, where: str, what: str, mend: str = "") -> None:
        """Note what refuses the submission; ``mend`` says what to do."""
        self._add(ERROR, code, where, what, mend)

    def warning(self, code: str, where: str, what: str, mend: str = "") -> None:
        """Note what may be a mistake."""
        self._add(WARNING, code, where, what, mend)

    def note(self, code: str, where: str, what: str, mend: str = "") -> None:
        """Note what is worth knowing."""
        self._add(NOTE, code, where, what, mend)

    def take(self, level: str, findings: Iterable[Finding]) -> None:
        """Note findings of a reader or a check."""
        self.found += [Remark(level, finding) for finding in findings]

    def _add(self, level: str, code: str, where: str, what: str, mend: str) -> None:
        self.found.append(Remark(level, Finding(code, f"{what.rstrip('.')}. {mend}".strip(), where)))

    def verdict(self) -> Verdict:
        """Everything that was noted."""
        return Verdict(tuple(self.found))
