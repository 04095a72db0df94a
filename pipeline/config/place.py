"""Where faults of one evaluation file are noted, and what its paths are relative to."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.config import discover
from pipeline.config.document import Document, Path, dotted
from pipeline.config.urls import masked, resolved
from pipeline.errors import Problems


@dataclass(frozen=True)
class OpenDocument:
    """One evaluation file while it is read: its lines, its folder, and the problems found so far."""

    document: Document
    folder: str
    problems: Problems

    def note(self, path: Path, code: str, what: str, mend: str = "") -> None:
        """Note a problem at the field ``path``."""
        self.problems.add(code, self.document.line(path), f"`{dotted(path)}` {what}", mend)

    def resolve(self, path: Path, url: str) -> str:
        """The absolute form of the URL that stands in field ``path``."""
        try:
            return resolved(self.folder, url)
        except ValueError as error:
            self.note(path, "bad_url", str(error))
            return url

    def check_file(self, path: Path, url: str) -> None:
        """Note a file of the organiser's that is not there: every cell would fail for it."""
        if not discover.exists(url):
            self.note(path, "no_such_file", f"names no file ({masked(url)})", "Check the path.")
