"""Everything that can be said of a submission's files alone, before the ledger is looked at and before a key exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.errors import StoreError
from pipeline.protocols import find
from pipeline.season import archives, checks, med_archive, naming
from pipeline.season.beside import OUTPUTS, REQUIRED, looked_at
from pipeline.season.beside import RULES as BESIDE
from pipeline.season.naming import Piece
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.season.verdict import ERROR, WARNING, Remarks, Verdict
from pipeline.store.blobs import open_input
from pipeline.store.paths import LONGEST_NAME, checked_name

_COPY = 1 << 20


@dataclass(frozen=True)
class Examined:
    """A submission as examined: remarks, the runs by their files, and where each file of a run lies now."""

    verdict: Verdict
    pieces: tuple[Piece, ...]
    paths: Mapping[str, Path]
    """By the name that a piece has."""


@contextmanager
def examined(
    rules: SeasonRules,
    phase: SeasonPhase,
    team: str,
    uploads: Sequence[Path],
    *,
    system: str | None = None,
    primary: bool = True,
) -> Iterator[Examined]:
    """A submission as it was handed in, looked at; unpacked files are there while the context lasts."""
    with TemporaryDirectory(prefix="rescore-") as scratch:
        remarks = Remarks()
        files: dict[str, Path] = {}
        pieces: tuple[Piece, ...]
        if not uploads:
            remarks.error("no_files", "", "nothing was handed in", "Name the files.")
        if rules.naming == "med":
            pieces, files = _med(rules, phase, uploads, Path(scratch), remarks)
        else:
            files = _flat(uploads, Path(scratch), remarks)
            pieces = naming.pieces(rules, phase, team, sorted(files), remarks, system=system, primary=primary)
        for name in files:
            _check_plain(Path(name.rstrip("/")).name, remarks)
        if rules.naming != "med":
            for piece in pieces:
                if piece.kind == OUTPUTS:
                    checks.check_piece(rules, phase, piece, files[piece.name], remarks)
            kept = tuple(one for one in pieces if _is_taken(rules, phase, one, files[one.name], remarks))
            if pieces and not kept:
                remarks.error(
                    "nothing_taken", "", "nothing of the submission is taken", "Mend it and hand it in again."
                )
            pieces = kept
        yield Examined(remarks.verdict(), pieces, files)


def _is_taken(rules: SeasonRules, phase: SeasonPhase, piece: Piece, path: Path, remarks: Remarks) -> bool:
    """Whether a file is kept. One beside outputs that has problems refuses the submission only where it is required;
    elsewhere it is left out."""
    if piece.kind == OUTPUTS:
        return True
    found = looked_at(piece.kind, path, piece.name, find(rules.protocol).family.name)
    remarks.take(WARNING, found.warnings)
    if found.problems and getattr(phase, BESIDE[piece.kind]) == REQUIRED:
        remarks.take(ERROR, found.problems)
    elif found.problems:
        remarks.take(WARNING, found.problems)
        remarks.warning("left_out", piece.name, f"the {piece.kind} is not taken", "The outputs are; hand it in again.")
    return not found.problems


def _flat(uploads: Sequence[Path], scratch: Path, remarks: Remarks) -> dict[str, Path]:
    """Files by their own names, those of archives unpacked."""
    files: dict[str, Path] = {}
    for at, upload in enumerate(uploads):
        members = {upload.name: upload}
        if archives.extension_of(upload.name):
            into = scratch / str(at)
            into.mkdir()
            unpacked = archives.unpack(upload, upload.name, into, remarks)
            members = {Path(name).name: path for name, path in unpacked.items() if not name.endswith("/")}
        for name, path in members.items():
            if name in files:
                remarks.error("duplicate_file", name, f"two files are named {name!r}", "Submit one of them.")
            files[name] = path
    return files


def _med(
    rules: SeasonRules, phase: SeasonPhase, uploads: Sequence[Path], scratch: Path, remarks: Remarks
) -> tuple[tuple[Piece, ...], dict[str, Path]]:
    """The one archive of a MED submission."""
    if len(uploads) > 1:
        remarks.error("several_archives", uploads[1].name, "a submission is one archive", "Pack all runs together.")
    pieces: tuple[Piece, ...] = ()
    files: dict[str, Path] = {}
    for upload in uploads[:1]:
        files = archives.unpack(upload, upload.name, scratch, remarks) if archives.extension_of(upload.name) else {}
        index = _local(phase.inputs.get("index"), scratch)
        pieces = med_archive.check_archive(rules.protocol, upload.name, files, index, remarks, phase.most_runs)
        _check_description(pieces, files, remarks)
    query_set, dataset = naming.only_cell(phase)
    return tuple(replace(piece, query_set=query_set, dataset=dataset) for piece in pieces), files


def _check_description(pieces: Sequence[Piece], files: Mapping[str, Path], remarks: Remarks) -> None:
    for piece in pieces:
        if piece.role == "description" and not files[piece.name].read_bytes().strip():
            what = "the system description is empty (plan, section B.1: hardware, processing times, training data)"
            remarks.error("empty_description", piece.name, what, "Describe the system.")


def _local(url: str | None, scratch: Path) -> Path | None:
    """A file of the organiser's as a local one."""
    if url is None:
        return None
    path = scratch / "index"
    with open_input(url) as stream, path.open("wb") as out:
        while piece := stream.read(_COPY):
            out.write(piece)
    return path


def _check_plain(name: str, remarks: Remarks) -> None:
    """Names become parts of paths in the store."""
    try:
        checked_name(name)
    except StoreError:
        what = f"the name {name[:LONGEST_NAME]!r} cannot be kept (allowed: letters, digits and _ . = + -)"
        remarks.error("bad_file_name", name[:LONGEST_NAME], what, "Rename the file.")
