"""Every input of an evaluation by its bytes, before anything is scored: what it is, or why it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipeline.engine.inputs import COMPRESSED, INFLATED, digest
from pipeline.engine.stored import cuts, pieces
from pipeline.errors import InputError, StoreError
from pipeline.store import faults
from pipeline.store.blobs import unreadable
from pipeline.terms import Source

_READERS_AT_ONCE = 8


@dataclass(frozen=True)
class Digests:
    """Inputs by their URLs."""

    sources: Mapping[str, Source]
    pieces: Mapping[str, cuts.Pieces]
    """The pieces of large outputs, by the SHA-256 of the file."""
    unreadable: Mapping[str, str]
    """Participants' files that are there and cannot be read, with the reason. Missing ones are not here."""


def digests(required: Collection[str], *, optional: Collection[str], cut: Collection[str]) -> Digests:
    """The bytes of all inputs, those of ``required`` organisers' files and of ``optional`` participants'.

    Problems of all required files are raised together, as ``InputError``. ``cut`` are those that large pieces are made
    of. A file that its place alone refuses is unreadable; where the place refuses all of its files, its
    ``StoreError`` is raised.
    """
    looked = _Looked(frozenset(cut))
    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        found = list(pool.map(lambda uri: _outcome(uri, looked.look), sorted({*required, *optional})))
    sources = {one.uri: one for one in found if isinstance(one, Source)}
    refused = dict(one for one in found if isinstance(one, tuple))
    problems = [
        finding
        for uri, error in refused.items()
        if uri in required and isinstance(error, InputError)
        for finding in error.findings
    ]
    if problems:
        raise InputError(problems)
    told = {uri: _why(uri, error, required, sources) for uri, error in refused.items()}
    return Digests(sources, looked.pieces, {uri: why for uri, why in told.items() if why is not None})


Outcome = Source | tuple[str, InputError | StoreError]


def _outcome(uri: str, look: Callable[[str], Source]) -> Outcome:
    try:
        return look(uri)
    except (InputError, StoreError) as error:
        return uri, error


def _why(
    uri: str, error: InputError | StoreError, required: Collection[str], known: Mapping[str, Source]
) -> str | None:
    """Why a participant's file is unreadable, None where it is missing; raises what is a fault of its place."""
    if isinstance(error, InputError):
        first = error.findings[0]
        return None if first.code in ("missing_input", "unknown_place") else first.message
    others = {_place(other) for other in known}
    if uri in required or not faults.is_denied(error) or _place(uri) not in others:
        raise error
    return unreadable(uri, "there is no permission to read it").findings[0].message


def _place(uri: str) -> tuple[str, str]:
    """The bucket or host of a URL."""
    parts = urlsplit(uri)
    return parts.scheme, parts.netloc


class _Looked:
    """The files that were read once, with the pieces of large ones."""

    def __init__(self, cut: Collection[str]) -> None:
        self._cut, self._size = cut, pieces.piece_bytes()
        self.pieces: dict[str, cuts.Pieces] = {}

    def look(self, uri: str) -> Source:
        """The source at a URL. Raises as ``digest`` does."""
        packed = uri.endswith(COMPRESSED)
        cutter = cuts.Cutter(self._size) if uri in self._cut and not packed else None
        source = digest(uri, "") if cutter is None else digest(uri, "", cutter.feed, above=self._size)
        if cutter is not None and (found := cutter.pieces()):
            self.pieces[source.sha256] = found
        elif uri in self._cut and source.n_bytes * (INFLATED if packed else 1) > self._size:
            self.pieces[source.sha256] = ((0, source.sha256),)
        return source
