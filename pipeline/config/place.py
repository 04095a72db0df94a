"""Where faults of one evaluation file are noted, and what its paths are relative to."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.config import discover
from pipeline.config.document import Document, Path, dotted
from pipeline.config.urls import masked, resolved, shown
from pipeline.errors import Finding, Problems


@dataclass(frozen=True)
class OpenDocument:
    """One evaluation file while it is read: its lines, its folder, and what is found wrong."""

    document: Document
    folder: str
    problems: Problems
    told: list[Finding] = field(default_factory=list)
    """What spoils single systems and no more: the evaluation is not refused for it."""

    refused: set[Path] = field(default_factory=set)
    """The fields whose URLs are none: nothing is looked for there."""

    def tell(self, path: Path, code: str, what: str, mend: str = "") -> None:
        """Note what a participant's file is not taken for."""
        where = f"{self.problems.file}:{self.document.line(path)}"
        self.told.append(Finding(code, f"`{dotted(path)}` {what.rstrip('.')}. {mend}".strip(), where))

    def refuse_told(self) -> None:
        """Make problems of what was told, where the evaluation is refused."""
        for finding in self.told:
            self.problems.add(finding.code, int(finding.where.rpartition(":")[2]), finding.message)

    def note(self, path: Path, code: str, what: str, mend: str = "") -> None:
        """Note a problem at the field ``path``."""
        self.problems.add(code, self.document.line(path), f"`{dotted(path) or 'the file'}` {what}", mend)

    def resolve(self, path: Path, url: str) -> str:
        """The absolute form of the URL that stands in field ``path``; "" where it has none, which is noted once."""
        try:
            return resolved(self.folder, url)
        except ValueError as error:
            if path not in self.refused:
                self.note(path, "bad_url", str(error))
            self.refused.add(path)
            return ""

    def shown(self, url: str) -> str:
        """A file that was found, as seen from the evaluation file."""
        return shown(url.removeprefix(f"{self.folder}/"))

    def check_file(self, path: Path, url: str) -> None:
        """Note a file of the organiser's that is not there: every cell would fail for it."""
        if url and not discover.exists(url):
            self.note(path, "no_such_file", f"names no file ({masked(url)})", "Check the path.")
