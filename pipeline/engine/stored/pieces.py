"""Large outputs read by many tasks, each a piece that begins with a block and is known by its bytes from the plan.

A task leaves the rows of its piece in the store, by bucket. A task for each batch of buckets takes its own from all of
them; what is made of the file is the same to the last bit as if one task had read it. A packed file is one piece, read
in parts. A file that is not in canonical spelling goes through the parser, in one task that hands its rows on. The rows
take 32 bytes each in the store, from when they are read until the trials are written; ``rescore gc`` removes what a run
that was killed leaves of them.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from functools import partial
from itertools import count
from typing import BinaryIO

from pipeline.engine import editions
from pipeline.engine.inputs import format_of, with_planned
from pipeline.engine.mending import mended, removing, unless_damaged
from pipeline.engine.stored import spread
from pipeline.engine.stored.cuts import Parts, Pieces, PieceStream
from pipeline.engine.stored.spread import Spread
from pipeline.errors import InputError, PlatformError, UsageError
from pipeline.formats.kws.fast.part import NotCanonicalError, read_part
from pipeline.formats.kws.kwslist import read_handing_on, scanner_for
from pipeline.formats.kws.scoretexts import ScoreTexts
from pipeline.formats.packed import unpacked
from pipeline.formats.table import Table
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store, open_input, redacted
from pipeline.terms import Source
from pipeline.trials.layout import score_range_of

PIECE_BYTES = 1 << 27
"""About how large a piece is. Smaller files are not cut."""
BOUND = "RESCORE_PIECE_BYTES"
"""The environment variable that sets another size when a run is planned. No figure depends on it."""
FORMATS = frozenset(("kwslist", "kwslist_texts"))
"""Formats of files that are read in pieces."""
_BYTES_OF_A_ROW = 128
"""About what a detection takes in a file."""


def piece_bytes() -> int:
    """The size in force. Raises ``UsageError`` where the environment holds no whole number above 0."""
    text = os.environ.get(BOUND, str(PIECE_BYTES))
    if not text.isascii() or not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{BOUND} is {text!r} (allowed: a whole number of bytes above 0). Correct or unset it.")
    return int(text)


def path_of(protocol: Protocol, source: Source, pieces: Pieces, k: int) -> str:
    """Where what was read of a piece belongs: its only part or the last one, the others beside it."""
    first, sha256 = pieces[k]
    laid = editions.named("reading", spread.KIND, protocol, file=source.sha256, first=first, sha256=sha256)
    return f"pieces/{laid[:2]}/{laid}"


def ensure(store: Store, protocol: Protocol, source: Source, pieces: Pieces, k: int) -> None:
    """Read piece ``k`` of an output and leave its rows in the store, unless they are there.

    A file that is packed, or has nowhere to be cut, is one piece; what is packed is read in parts of ``PIECE_BYTES``.
    Raises ``PlatformError`` where the bytes are not those that the run was planned for.
    """
    path = path_of(protocol, source, pieces, k)
    if store.exists(path):
        return
    last = pieces[k + 1][0] if k + 1 < len(pieces) else source.n_bytes
    with open_input(source.uri) as stream:
        piece = PieceStream(stream, pieces[k][0], last)
        buffered = io.BufferedReader(piece)
        try:
            plain = unpacked(buffered, source.uri)
            if plain is buffered:
                data = spread.encode(read_part(buffered, scanner_for(buffered, last - pieces[k][0])))
            else:
                data = _read_parts(store, path, plain)
        except (NotCanonicalError, UnicodeDecodeError, InputError):
            data = spread.DECLINED
        while buffered.read(1 << 20):
            pass
    if piece.sha256 != pieces[k][1]:
        raise PlatformError(f"{redacted(source.uri)}: the file changed since the run was planned. Start again.")
    store.put(path, data)


def _read_parts(store: Store, path: str, stream: BinaryIO) -> bytes:
    """Leave all parts of a packed file in the store but the last, which comes back."""
    n_bytes = piece_bytes()
    parts = Parts(stream, n_bytes)
    for number in count():
        part = io.BufferedReader(parts.following())
        data = spread.encode(read_part(part, scanner_for(part, n_bytes)), number)
        if parts.is_over:
            return data
        store.put(spread.part_of(path, number), data)
    raise AssertionError("count() does not end")


def read(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> Spread | None:
    """The output in pieces, those read that the store lacks or holds damaged.

    One that is not in canonical spelling is read by the parser, here, and its rows handed on. None where it is not cut,
    or is to be laid out as a whole. Raises ``InputError`` where it is refused.
    """
    fits, role = protocol.family.can.by_buckets, protocol.family.outputs[0]
    if not pieces or fits is None:
        return None
    for k in range(len(pieces)):
        ensure(store, protocol, source, pieces, k)
    paths = [path_of(protocol, source, pieces, k) for k in range(len(pieces))]
    again = partial(renew, store, protocol, source, pieces)
    texts = format_of(protocol, role) == "kwslist_texts"
    found, _ = mended(lambda: spread.opened(store, paths, role, again, texts=texts), again, paths[0])
    if found is None:
        found = _parsed(store, protocol, source, pieces)
    return found if found is not None and fits(protocol, found.output) else None


def _parsed(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> Spread | None:
    """The output through the parser, from the store where it is there; None where it must be laid out as a whole."""
    path = _parsed_path(protocol, source, pieces)

    def again() -> None:
        store.remove(path)
        _parse(store, protocol, source, path)

    if not store.exists(path):
        _parse(store, protocol, source, path)
    return mended(lambda: spread.opened_rows(store, path, again), again, path)[0]


def _parsed_path(protocol: Protocol, source: Source, pieces: Pieces) -> str:
    return f"{path_of(protocol, source, pieces, 0)}.parsed"


def _parse(store: Store, protocol: Protocol, source: Source, path: str) -> None:
    """Leave the rows of an output in the store as the parser comes to them."""
    role = protocol.family.outputs[0]
    ranges, last, n_parts = list[tuple[float, float]](), list[Table](), 0

    def hand_on(rows: Table) -> None:
        nonlocal n_parts
        if "score_text" in rows.columns:
            raise NotCanonicalError
        if last:
            store.put(spread.part_of(path, n_parts), spread.encode_rows(last.pop()))
            n_parts += 1
        ranges.append(score_range_of(rows["score"]))
        last.append(rows)

    def parsed(stream: BinaryIO) -> bytes:
        texts = ScoreTexts() if format_of(protocol, role) == "kwslist_texts" else None
        try:
            output = read_handing_on(stream, role, hand_on, piece_bytes() // _BYTES_OF_A_ROW, texts)
            return spread.encode_last(last[0], replace(output, score_range=spread.widest(ranges)), n_parts)
        except NotCanonicalError:
            return spread.DECLINED

    store.put(path, with_planned(source, role, parsed))


def renew(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> None:
    """Read those pieces again that the store lacks or holds damaged."""
    for k in range(len(pieces)):
        path = path_of(protocol, source, pieces, k)
        if unless_damaged(lambda path=path: spread.verify(store, path), path) is None:  # type: ignore[misc]
            store.remove(path)  # what vouches for its other parts
            ensure(store, protocol, source, pieces, k)


def forget(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> None:
    """Remove what was read of pieces: trials are made of it. Who needs it now reads the file."""
    with removing("pieces of an output"):
        paths = [path_of(protocol, source, pieces, k) for k in range(len(pieces))]
        for path in (*paths, *([_parsed_path(protocol, source, pieces)] if pieces else ())):
            if store.exists(path):
                for part in unless_damaged(lambda path=path: spread.parts_of(store, path), path) or ():  # type: ignore[misc]
                    store.remove(part)
                store.remove(path)
