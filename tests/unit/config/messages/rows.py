"""A row of the tables: a file of settings called ``f.yaml`` in a small world, and every line that is told of it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pytest

from pipeline.config import load_evaluation
from pipeline.config.meta_file import load_study
from pipeline.config.season import load_roster, load_season
from pipeline.errors import InputError, UsageError
from pipeline.meta.published import read_published
from pipeline.meta.study import PublishedTable

WORLD = ("e.xml", "r.rttm", "k.xml", "q.csv", "t.csv", "out/a/q_d.xml")


_PREFIX = "rescore-messages-"
_FOLDER = re.compile(rf"[^ '(]*{_PREFIX}[a-z0-9_]*")


class Row(NamedTuple):
    """One file of settings and what is told of it."""

    kind: str
    text: str
    told: tuple[str, ...]
    files: Mapping[str, str]
    """What lies beside it, beyond ``WORLD``: texts, and for names that begin with ``@`` what a link leads to."""
    name: str
    """What the file is called."""
    given: Mapping[str, Any]
    """Values of the program by their dotted names."""


def row(
    kind: str,
    text: str,
    *told: str,
    files: Mapping[str, str] | None = None,
    name: str = "f.yaml",
    given: Mapping[str, Any] | None = None,
) -> Row:
    """A file of settings, and the lines that come of it."""
    return Row(kind, text, told, files or {}, name, given or {})


def _published(name: str) -> Any:
    with Path(name).open("rb") as stream:
        return read_published(stream, name, PublishedTable(name))


LOADED: Mapping[str, Callable[[str], Any]] = {
    "evaluation": load_evaluation,
    "study": load_study,
    "season": load_season,
    "roster": load_roster,
    "published": _published,
}


def played(one: Row) -> list[str]:
    """The lines that a person sees: those of the refusal, or what is told of outputs that are left out."""
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX) as folder,
        chdir(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in one.given.items():
            patch.setattr(name, value)
        for name, text in {**dict.fromkeys(WORLD, ""), **one.files, one.name: one.text}.items():
            if name.startswith("@"):
                Path(name[1:]).parent.mkdir(parents=True, exist_ok=True)
                Path(name[1:]).symlink_to(text)
            else:
                with fsspec.open(name, "w", encoding="utf-8", auto_mkdir=True) as stream:
                    stream.write(text)
        try:
            made = LOADED[one.kind](one.name)
            lines = [str(finding) for finding in getattr(made, "findings", ())]
        except (InputError, UsageError) as error:
            lines = str(error).split("\n")
    return [plain(line) for line in lines]


def plain(text: str) -> str:
    """A text without the folder that a row was played in."""
    return _FOLDER.sub("", text)
