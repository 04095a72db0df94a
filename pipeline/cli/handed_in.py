"""The files of outputs as they were handed in: files, folders and archives, as sets of one output each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.errors import Finding
from pipeline.season import archives
from pipeline.season.verdict import ERROR, Remarks
from pipeline.store.regular import UnreadableError, leads_out, open_regular


@dataclass(frozen=True)
class HandedIn:
    """Files by the names that people know them by, where they lie, and what is wrong with their packing."""

    files: dict[str, Path] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)


@contextmanager
def handed_in(paths: Sequence[Path]) -> Iterator[HandedIn]:
    """Every file of some files, folders and archives; what archives hold is unpacked while the context lasts."""
    found = HandedIn()
    with TemporaryDirectory(prefix="rescore-") as scratch:
        for at, path in enumerate(paths):
            if path.is_dir():
                inside = folder_files(path)
                found.files.update(inside.files)
                found.problems.extend(inside.problems)
            elif archives.extension_of(path.name) and path.is_file():
                into = Path(scratch) / str(at)
                into.mkdir()
                _of_archive(path, into, found)
            else:
                found.files[str(path)] = path
        yield found


def folder_files(folder: Path) -> HandedIn:
    """The regular files of a folder and of those in it; what else is there is told, and links that lead out are."""
    found = HandedIn()
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink() and leads_out(str(path), str(folder)):
            why = "a link leads out of the folder. Put the file itself there"
            found.problems.append(Finding("unreadable_input", f"{why}.", str(path)))
        elif not path.is_dir():
            try:
                open_regular(path).close()
            except (UnreadableError, OSError) as error:
                message = f"the file cannot be read: {error}. Supply the file itself, or remove it."
                found.problems.append(Finding("unreadable_input", message, str(path)))
            else:
                found.files[str(path)] = path
    return found


def _of_archive(path: Path, into: Path, found: HandedIn) -> None:
    remarks = Remarks()
    members = archives.unpack(path, path.name, into, remarks)
    found.problems.extend(remarks.verdict().of(ERROR))
    found.files.update({f"{path}::{name}": at for name, at in members.items() if not name.endswith("/")})


def outputs_of(names: Sequence[str], roles: Sequence[str]) -> list[dict[str, str]]:
    """Names of files as outputs, each by role. Of outputs of several files, each bears the name of its role, and those
    that differ in nothing else belong together; a file that bears none is the main one.
    """
    if len(roles) == 1:
        return [{roles[0]: name} for name in names]
    together: dict[str, dict[str, str]] = {}
    for name in names:
        last = name.rpartition("/")[2]
        role = next((role for role in roles if role in last), roles[0])
        together.setdefault(name.replace(role, ""), {})[role] = name
    return list(together.values())
