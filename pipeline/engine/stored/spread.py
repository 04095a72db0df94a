"""Rows of an output in the store by bucket, an object for each piece of its file: what a batch of buckets is made from.

An object is a zip. It has an entry for each bucket of queries that has rows in the piece, with the columns of the
scanner one after the other (32 bytes a row), and at its end what the piece holds beside them: the frame that the
scanner tells, or the blocks that its rows are of; then the last one has the rest of the output. A digest vouches for
each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from pipeline.arrays import Ints
from pipeline.engine.mending import mended
from pipeline.errors import DamageError, Finding
from pipeline.formats.kws.fast.kwslist import output_of, queries_of, with_rows
from pipeline.formats.kws.fast.part import Frame, NotCanonicalError, PartOfFile, Place, joined
from pipeline.formats.kws.fast.state import CHANNELS_AT_MOST, COLUMNS, NAMES_AT_MOST
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.table import Array, Table
from pipeline.store.blobs import Store
from pipeline.store.columns import Column, decode_columns, encode_columns
from pipeline.store.zips import Zip, pack
from pipeline.trials.layout import score_range_of
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import buckets_of

KIND = "piece/2"
_FRAME, _RUNS, _OUTPUT = "frame", "runs", "output"
_ROW_BYTES = sum(np.dtype(kind).itemsize for _, kind in COLUMNS)
_ARRAYS = ("files", "channels", "tags", "tag_rows", "tag_lines")
_BYTES = ("head", "tail", "block")
_NAMES = ("query", "file", "channel")
DECLINED = pack([("declined", b"")])
"""The object of a piece, or of a whole file, that is not to be had in this way."""


def encode(part: PartOfFile, n_before: int = 0) -> bytes:
    """The object of a piece, or of a part of it that comes after ``n_before`` others.

    Raises ``NotCanonicalError`` where the tag of a block is not canonical.
    """
    frame = part.frame
    bucket = np.repeat(buckets_of(queries_of(frame)), frame.n_rows_of_blocks)
    about = {name: value for name, value in vars(frame).items() if name not in (*_ARRAYS, *_BYTES)}
    texts = {name: getattr(frame, name).decode("latin-1") for name in _BYTES}
    told = {**about, **texts, "n_before": n_before, "score_range": score_range_of(part.columns["score"])}
    columns: dict[str, Column] = {name: getattr(frame, name) for name in _ARRAYS}
    return pack([*_by_bucket(part.columns, bucket), (_FRAME, encode_columns(KIND, columns, told))])


def encode_rows(rows: Table) -> bytes:
    """The object of some rows of an output, whose codes are those of the whole.

    Raises ``NotCanonicalError`` where it has more files or channels than a scanner takes.
    """
    return pack(_row_entries(rows))


def encode_last(rows: Table, output: SystemOutput, n_before: int) -> bytes:
    """The object of the last rows of an output, ``n_before`` others being before it, with the output but for rows."""
    told = {
        "attributes": dict(output.attributes),
        "findings": [asdict(finding) for finding in output.findings],
        "score_range": output.score_range,
        "n_before": n_before,
    }
    columns: dict[str, Column] = {f"block.{name}": column for name, column in output.blocks.columns.items()}
    columns |= {name: output.detections.vocabularies[name] for name in _NAMES}
    return pack([*_row_entries(rows), (_OUTPUT, encode_columns(KIND, columns, told))])


def _row_entries(rows: Table) -> list[tuple[str, bytes]]:
    if rows["file"].max(initial=0) >= NAMES_AT_MOST or rows["channel"].max(initial=0) >= CHANNELS_AT_MOST:
        raise NotCanonicalError
    columns = {name: rows[name].astype(kind, copy=False) for name, kind in COLUMNS}
    begins = np.flatnonzero(np.diff(rows["block"], prepend=-1))
    runs: dict[str, Column] = {"block": rows["block"][begins], "n_rows": np.diff(begins, append=len(rows))}
    bucket = buckets_of(rows.vocabularies["query"])[rows["query"]]
    return [*_by_bucket(columns, bucket), (_RUNS, encode_columns(KIND, runs))]


def _by_bucket(columns: Mapping[str, Array], bucket: Ints) -> list[tuple[str, bytes]]:
    """The entries of the buckets that have rows."""
    order = np.argsort(bucket.astype(np.uint8), kind="stable")
    ends, entries = np.cumsum(np.bincount(bucket, minlength=N_BUCKETS)).tolist(), list[tuple[str, bytes]]()
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if begin < end:
            rows = order[begin:end]
            entries.append((_name(number), b"".join(columns[name][rows].tobytes() for name, _ in COLUMNS)))
    return entries


def _name(bucket: int) -> str:
    return f"{bucket:02d}"


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
    return _before(Zip(store, path), path)


def _before(last: Zip, path: str) -> list[str]:
    for entry in {_FRAME, _OUTPUT} & last.directory.keys():
        _, about = decode_columns(last.read([entry])[entry], KIND)
        return [part_of(path, number) for number in range(about["n_before"])]
    return []


def _zips(store: Store, path: str) -> list[Zip]:
    """All objects of a piece, in their order."""
    last = Zip(store, path)
    return [*(Zip(store, part) for part in _before(last, path)), last]


def verify(store: Store, path: str) -> bool:
    """Read all of a piece; raises ``DamageError`` where a byte is not what was written, or there is none."""
    for zipped in _zips(store, path):
        zipped.verify()
    return True


@dataclass(frozen=True, eq=False)
class _SomeRows:
    """An object of rows, where its numbers stand in the file, and its blocks in turn with the rows of each."""

    zipped: Zip
    place: Place | None
    block: Ints
    n_rows: Ints


@dataclass(frozen=True, eq=False)
class Spread:
    """An output whose rows lie by bucket in pieces."""

    parts: Sequence[_SomeRows]
    output: SystemOutput
    """All of it but its rows."""
    bucket: Ints
    """Of each of its blocks."""
    renew: Callable[[], object]
    """What reads pieces again that are lost or not what was written."""

    @property
    def offsets(self) -> Ints:
        """Row where each bucket begins among rows sorted by bucket, with their number at the end."""
        n_rows = np.zeros(N_BUCKETS, np.int64)
        for part in self.parts:
            np.add.at(n_rows, self.bucket[part.block], part.n_rows)
        return np.cumsum([0, *n_rows.tolist()])

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return N_BUCKETS

    def rows(self, first: int, last: int) -> SystemOutput:
        """The output with rows of buckets ``first`` up to ``last`` (exclusive); within one in the order of the file."""
        return mended(lambda: self._rows(first, last), self.renew, "a piece of an output")[0]

    def _rows(self, first: int, last: int) -> SystemOutput:
        blocks, n_rows, found = list[Ints](), list[Ints](), list[dict[str, Array]]()
        for part in self.parts:
            bucket = self.bucket[part.block]
            own = np.flatnonzero((bucket >= first) & (bucket < last))
            own = own[np.argsort(bucket[own], kind="stable")]
            blocks.append(part.block[own])
            n_rows.append(part.n_rows[own])
            names = [name for name in map(_name, range(first, last)) if name in part.zipped.directory]
            entries = part.zipped.read(names)
            found += [_placed(_columns(entries[name]), part.place) for name in names]
        columns = {
            name: np.concatenate([np.empty(0, kind), *(rows[name] for rows in found)], dtype=kind)
            for name, kind in COLUMNS
        }
        return with_rows(self.output, columns, np.concatenate(n_rows), np.concatenate(blocks))


def _columns(data: bytes) -> dict[str, Array]:
    """The columns of an entry."""
    n_rows, at, columns = len(data) // _ROW_BYTES, 0, dict[str, Array]()
    for name, kind in COLUMNS:
        columns[name] = np.frombuffer(data, kind, n_rows, at)
        at += columns[name].nbytes
    return columns


def _placed(columns: dict[str, Array], place: Place | None) -> dict[str, Array]:
    """Rows of a piece as rows of the file."""
    if place is None:
        return columns
    return {
        **columns,
        "line": columns["line"] + np.int32(place.line),
        "file": place.files[columns["file"]],
        "channel": place.channels[columns["channel"]],
    }


def opened(
    store: Store, paths: Sequence[str], where: str, renew: Callable[[], object], *, texts: bool
) -> Spread | None:
    """The output whose pieces lie at ``paths``, in their order; None where it is not canonical as a whole.

    ``where`` and ``texts`` as of ``output_of``. Raises ``DamageError`` where a piece is lost or damaged.
    """
    zips = [zipped for path in paths for zipped in _zips(store, path)]
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
    n_rows = np.split(whole.n_rows_of_blocks, [place.block for place in places[1:]])
    blocks = [place.block + np.arange(rows.size) for place, rows in zip(places, n_rows, strict=True)]
    parts = [_SomeRows(*part) for part in zip(zips, places, blocks, n_rows, strict=True)]
    return _spread(parts, replace(output, score_range=widest(ranges)), renew)


def opened_rows(store: Store, path: str, renew: Callable[[], object]) -> Spread | None:
    """The output whose last rows are at ``path``; None where it is declined. Raises as ``opened`` does."""
    zips = _zips(store, path)
    if _OUTPUT not in zips[-1].directory:
        return None
    columns, about = decode_columns(zips[-1].read([_OUTPUT])[_OUTPUT], KIND)
    names = {name: columns.pop(name) for name in _NAMES}
    blocks = {name.removeprefix("block."): column for name, column in columns.items()}
    output = SystemOutput(
        attributes=about["attributes"],
        blocks=Table(blocks, {"query": names["query"]}),
        detections=Table({}, names),
        findings=tuple(Finding(**entry) for entry in about["findings"]),
        score_range=tuple(about["score_range"]),
    )
    runs = [decode_columns(zipped.read([_RUNS])[_RUNS], KIND)[0] for zipped in zips]
    return _spread(
        [_SomeRows(z, None, run["block"], run["n_rows"]) for z, run in zip(zips, runs, strict=True)], output, renew
    )


def widest(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The range that covers ranges; NaN stands for none."""
    known = [bound for bounds in ranges for bound in bounds if not np.isnan(bound)]
    return (min(known), max(known)) if known else (np.nan, np.nan)


def _spread(parts: Sequence[_SomeRows], output: SystemOutput, renew: Callable[[], object]) -> Spread:
    return Spread(parts, output, buckets_of(output.blocks.text("query")), renew)
