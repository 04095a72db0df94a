"""Rows of an output in the store by bucket, an object for each piece of its file: what a batch of buckets is made from.

An object is a zip. It has an entry for each bucket of queries that has rows in the piece, with the columns of the
scanner one after the other (32 bytes a row), and at its end the frame of the piece. A digest vouches for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.arrays import Ints
from pipeline.errors import DamageError
from pipeline.formats.kws.fast.kwslist import output_of, queries_of, with_rows
from pipeline.formats.kws.fast.part import Frame, NotCanonicalError, PartOfFile, Place, joined
from pipeline.formats.kws.fast.state import COLUMNS
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.table import Array
from pipeline.store.blobs import Store
from pipeline.store.columns import Column, decode_columns, encode_columns
from pipeline.store.zips import Zip, pack
from pipeline.trials.layout import score_range_of
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import buckets_of

KIND = "piece/2"
_FRAME = "frame"
_ROW_BYTES = sum(np.dtype(kind).itemsize for _, kind in COLUMNS)
_ARRAYS = ("files", "channels", "tags", "tag_rows", "tag_lines")
_BYTES = ("head", "tail", "block")
DECLINED = pack([("declined", b"")])
"""The object of a piece that the scanner declines."""


def encode(part: PartOfFile, n_before: int = 0) -> bytes:
    """The object of a piece, or of a part of it that comes after ``n_before`` others.

    Raises ``NotCanonicalError`` where the tag of a block is not canonical.
    """
    frame = part.frame
    bucket = np.repeat(buckets_of(queries_of(frame)).astype(np.uint8), frame.n_rows_of_blocks)
    order, ends = np.argsort(bucket, kind="stable"), np.cumsum(np.bincount(bucket, minlength=N_BUCKETS)).tolist()
    entries = list[tuple[str, bytes]]()
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if begin < end:
            rows = order[begin:end]
            entries.append((_name(number), b"".join(part.columns[name][rows].tobytes() for name, _ in COLUMNS)))
    return pack([*entries, (_FRAME, _framed(frame, n_before, score_range_of(part.columns["score"])))])


def _name(bucket: int) -> str:
    return f"{bucket:02d}"


def _framed(frame: Frame, n_before: int, score_range: tuple[float, float]) -> bytes:
    about = {name: value for name, value in vars(frame).items() if name not in (*_ARRAYS, *_BYTES)}
    texts = {name: getattr(frame, name).decode("latin-1") for name in _BYTES}
    columns: dict[str, Column] = {name: getattr(frame, name) for name in _ARRAYS}
    return encode_columns(KIND, columns, {**about, **texts, "n_before": n_before, "score_range": score_range})


def _frame_of(zipped: Zip) -> tuple[Frame, tuple[float, float]]:
    columns, about = decode_columns(zipped.read([_FRAME])[_FRAME], KIND)
    low, high = about.pop("score_range")
    about.pop("n_before")
    texts = {name: about.pop(name).encode("latin-1") for name in _BYTES}
    return Frame(**{**about, **columns, **texts, "shapes": tuple(about["shapes"])}), (low, high)


def part_of(path: str, number: int) -> str:
    """Where a part of the piece at ``path`` lies that is not its last one."""
    return f"{path}.{number}"


def parts_of(store: Store, path: str) -> list[str]:
    """The objects of a piece but for that at ``path``, which is written last and tells. Raises ``DamageError``."""
    zipped = Zip(store, path)
    if _FRAME not in zipped.directory:
        return []
    _, about = decode_columns(zipped.read([_FRAME])[_FRAME], KIND)
    return [part_of(path, number) for number in range(about["n_before"])]


def verify(store: Store, path: str) -> bool:
    """Read all of a piece; raises ``DamageError`` where a byte is not what was written, or there is none."""
    for part in (*parts_of(store, path), path):
        Zip(store, part).verify()
    return True


@dataclass(frozen=True, eq=False)
class Spread:
    """An output whose rows lie by bucket in pieces."""

    zips: Sequence[Zip]
    places: Sequence[Place]
    output: SystemOutput
    """All of it but its rows."""
    bucket: Ints
    """Of each of its blocks; and the rows of each."""
    n_rows: Ints

    @property
    def offsets(self) -> Ints:
        """Row where each bucket begins among rows sorted by bucket, with their number at the end."""
        return np.cumsum([0, *np.bincount(self.bucket, self.n_rows, N_BUCKETS).astype(np.int64).tolist()])

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return N_BUCKETS

    def rows(self, first: int, last: int) -> SystemOutput:
        """The output with the rows of buckets ``first`` up to ``last`` (exclusive); of one bucket in the file's order.

        Raises ``DamageError`` where a piece is lost or not what was written.
        """
        ends = [*(place.block for place in self.places[1:]), self.bucket.size]
        blocks, parts = list[Ints](), list[dict[str, Array]]()
        for zipped, place, end in zip(self.zips, self.places, ends, strict=True):
            bucket = self.bucket[place.block : end]
            own = np.flatnonzero((bucket >= first) & (bucket < last))
            blocks.append(place.block + own[np.argsort(bucket[own], kind="stable")])
            names = [name for name in map(_name, range(first, last)) if name in zipped.directory]
            found = zipped.read(names)
            parts += [_placed(_columns(found[name]), place) for name in names]
        at = np.concatenate(blocks)
        columns = {
            name: np.concatenate([np.empty(0, kind), *(part[name] for part in parts)], dtype=kind)
            for name, kind in COLUMNS
        }
        return with_rows(self.output, columns, self.n_rows[at], at)


def _columns(data: bytes) -> dict[str, Array]:
    """The columns of an entry."""
    n_rows, at, columns = len(data) // _ROW_BYTES, 0, dict[str, Array]()
    for name, kind in COLUMNS:
        columns[name] = np.frombuffer(data, kind, n_rows, at)
        at += columns[name].nbytes
    return columns


def _placed(columns: Mapping[str, Array], place: Place) -> dict[str, Array]:
    """Rows of a piece as rows of the file."""
    return {
        **columns,
        "line": columns["line"] + np.int32(place.line),
        "file": place.files[columns["file"]],
        "channel": place.channels[columns["channel"]],
    }


def opened(store: Store, paths: Sequence[str], where: str, *, texts: bool) -> Spread | None:
    """The output whose pieces lie at ``paths``, in their order; None where it is not canonical as a whole.

    ``where`` and ``texts`` as of ``output_of``. Raises ``DamageError`` where a piece is lost or damaged.
    """
    zips = [Zip(store, part) for path in paths for part in (*parts_of(store, path), path)]
    if not all(_FRAME in zipped.directory for zipped in zips):
        return None
    try:
        frames, ranges = zip(*map(_frame_of, zips), strict=True)
    except (KeyError, TypeError, ValueError) as error:
        raise DamageError(f"a stored piece is none ({error}). Remove it and run again.") from error
    try:
        whole, places = joined(frames)
    except NotCanonicalError:
        return None
    output = output_of(whole, where, texts=texts)
    if output is None:
        return None
    known = [bound for bounds in ranges for bound in bounds if not np.isnan(bound)]
    score_range = (min(known), max(known)) if known else (np.nan, np.nan)
    bucket = buckets_of(output.blocks.text("query"))
    return Spread(zips, places, replace(output, score_range=score_range), bucket, whole.n_rows_of_blocks)
