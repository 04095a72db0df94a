"""A file read in pieces, however it is cut, is the file read at once."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fast_reader import DOCUMENTS, SEED, Writer

from pipeline import protocols
from pipeline.engine.stored import cuts, pieces, spread
from pipeline.engine.stored.spread import Spread
from pipeline.errors import InputError, PlatformError
from pipeline.formats.kws.ecf import read_ecf
from pipeline.formats.kws.fast.compiled import Compiled
from pipeline.formats.kws.fast.kwslist import read_canonical
from pipeline.formats.kws.fast.part import NotCanonicalError, read_part
from pipeline.formats.kws.fast.state import Scanner
from pipeline.formats.kws.fast.vectors import Vectors
from pipeline.formats.kws.kwslist import SystemOutput, read_handing_on, read_plain
from pipeline.formats.table import Table
from pipeline.store.blobs import Store
from pipeline.terms import Source
from pipeline.trials.layout import Layout, score_range_of, timeline
from pipeline.trials.schema import N_BUCKETS, ROWS
from pipeline.trials.tiles import buckets_of

ECF = b"""<ecf><excerpt audio_filename="f1.sph" channel="1" tbeg="10" dur="20" source_type="cts"/>
<excerpt audio_filename="f2.sph" channel="1" tbeg="0" dur="100.5" source_type="cts"/></ecf>"""
TIMELINE = timeline(read_ecf(io.BytesIO(ECF), "ecf"), files="kwseval")
SCANNERS = pytest.mark.parametrize("scanner", [Compiled, Vectors])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


def cut(data: bytes, size: int, fed: int = 1 << 20) -> cuts.Pieces:
    cutter = cuts.Cutter(size)
    for at in range(0, len(data), fed):
        cutter.feed(data[at : at + fed])
    return cutter.pieces()


def in_pieces(
    store: Store, data: bytes, found: cuts.Pieces, scanner: type[Scanner], *, texts: bool = False
) -> Spread | None:
    ends = [first for first, _ in found[1:]] + [len(data)]
    spans = [data[first:end] for (first, _), end in zip(found, ends, strict=True)]
    for k, span in enumerate(spans):
        try:
            store.put(f"pieces/{k}", spread.encode(read_part(io.BytesIO(span), scanner)))
        except (NotCanonicalError, UnicodeDecodeError):
            store.put(f"pieces/{k}", spread.DECLINED)
    return spread.opened(store, [f"pieces/{k}" for k in range(len(spans))], "x.xml", pytest.fail, texts=texts)


def laid(output: SystemOutput, first: int, last: int) -> tuple[object, ...]:
    """Trials of some buckets, in a form that compares: numbers by their bits."""
    trials = Layout.of(output, TIMELINE, files="kwseval", duplicate_blocks="repeat").tiles(first, last)
    rows = [(column.dtype.str, column.tobytes()) for name in ROWS if (column := getattr(trials, name)) is not None]
    about = trials.queries, trials.files, trials.channels, repr(trials.score_range), trials.header_range
    return rows, about, repr(trials.blocks), np.diff(trials.offsets)[first:last].tolist()


def assert_alike(split: Spread, whole: SystemOutput, data: bytes) -> None:
    """Rows of all buckets, and the trials of any few of them, are those of the whole."""
    assert split.output.attributes == whole.attributes, data
    assert split.output.findings == whole.findings, data
    every, rows = split.rows(0, N_BUCKETS).detections, whole.detections
    orders = [np.argsort(buckets_of(table.text("query")), kind="stable") for table in (every, rows)]
    for name in rows.columns:
        assert every[name][orders[0]].tobytes() == rows[name][orders[1]].tobytes(), (name, data)
    assert every.vocabularies == rows.vocabularies, data
    for first in (0, 7, 40):
        assert laid(split.rows(first, first + 24), first, first + 24) == laid(whole, first, first + 24), data
    assert split.offsets[-1] == len(whole.detections)


def output(rows: list[int], gap: str) -> bytes:
    """A canonical output with so many rows in each block."""
    text = f'<?xml version="1.0"?>{gap}<kwslist system_id="s">{gap}'
    for block, n in enumerate(rows):
        text += f'<detected_kwlist kwid="q{block % 5}" search_time="1" oov_count="0">{gap}'
        for row in range(n):
            place = f'file="f{(block * 7 + row) % 11}" channel="{row % 3}" tbeg="{row}.25" dur="0.5"'
            text += f'<kw {place} score="0.{block + 1}{row}" decision="{"YES" if row % 2 else "NO"}"/>{gap}'
        text += f"</detected_kwlist>{gap}"
    return f"{text}</kwslist>{gap}".encode()


@SCANNERS
@given(
    rows=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    gap=st.sampled_from(["", "\n", "\r\n", "\n    ", "\n" * 9]),
    size=st.integers(1, 6000),
    fed=st.integers(1, 5000),
)
def test_any_number_of_pieces_is_the_whole(
    folder: Path, scanner: type[Scanner], rows: list[int], gap: str, size: int, fed: int
) -> None:
    data = output(rows, gap)
    whole = read_canonical(io.BytesIO(data), "x.xml", scanner)
    assert whole is not None
    found = cut(data, size, fed)
    assert found == cut(data, size)
    if found:
        split = in_pieces(Store(tempfile.mkdtemp(dir=folder)), data, found, scanner)
        assert split is not None
        assert_alike(split, whole, data)


@given(
    rows=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    size=st.integers(1, 6000),
    at_once=st.integers(1, 5000),
)
def test_parts_of_a_stream_are_the_stream(rows: list[int], size: int, at_once: int) -> None:
    data, parts = output(rows, "\n"), list[bytes]()
    stream = cuts.Parts(io.BytesIO(data), size)
    while not stream.is_over:
        part = stream.following()
        parts.append(b"".join(iter(lambda part=part: part.read(at_once), b"")))  # type: ignore[misc]
    assert b"".join(parts) == data
    assert all(part.startswith(b"<detected_kwlist ") for part in parts[1:])
    assert all(len(part) >= size for part in parts[:-1])


@pytest.mark.timeout(0)
@SCANNERS
def test_what_is_accepted_in_pieces_is_accepted_at_once(folder: Path, scanner: type[Scanner]) -> None:
    accepted, store = 0, Store(str(folder / scanner.__name__))
    for seed in range(SEED, SEED + DOCUMENTS // 3):
        data = Writer(seed).document()
        found = cut(data, 1 + seed % 700)
        split = in_pieces(store, data, found, scanner, texts=seed % 2 == 1) if found else None
        whole = read_canonical(io.BytesIO(data), "x.xml", scanner, texts=seed % 2 == 1)
        if found:
            assert (split is None) == (whole is None), f"seed {seed}: {data!r}"
        if split is not None and whole is not None:
            accepted += 1
            assert_alike(split, whole, data)
    assert accepted > DOCUMENTS / 60


@pytest.mark.timeout(0)
def test_rows_handed_on_are_those_that_the_parser_reads(folder: Path) -> None:
    alike = 0
    for seed in range(SEED, SEED + DOCUMENTS // 3):
        data, made, tables = Writer(seed).document(), Store(str(folder / "handed on")), list[Table]()
        whole, refused = read_or_refusal(lambda data=data: read_plain(io.BytesIO(data), "x.xml"))  # type: ignore[misc]
        output, told = read_or_refusal(
            lambda data=data, seed=seed, tables=tables: read_handing_on(  # type: ignore[misc]
                io.BytesIO(data), "x.xml", tables.append, 1 + seed % 9
            )
        )
        assert refused == told, f"seed {seed}: {data!r}"
        if whole is None or output is None:
            continue
        score_range = spread.widest([score_range_of(table["score"]) for table in tables])
        for n, table in enumerate(tables[:-1]):
            made.put(spread.part_of("pieces/x", n), spread.encode_rows(table))
        last = spread.encode_last(tables[-1], replace(output, score_range=score_range), len(tables) - 1)
        made.put("pieces/x", last)
        split = spread.opened_rows(made, "pieces/x", pytest.fail)
        assert split is not None
        assert_alike(split, whole, data)
        alike += 1
    assert alike > DOCUMENTS / 60


def read_or_refusal(read: Callable[[], SystemOutput]) -> tuple[SystemOutput | None, object]:
    try:
        return read(), None
    except InputError as error:
        return None, (error.findings, error.count)


def test_a_piece_that_changed_since_the_plan_is_no_result(tmp_path: Path) -> None:
    data, path = output([20, 20, 20], "\n"), tmp_path / "out.xml"
    path.write_bytes(data.replace(b"0.5", b"0.7"))
    source, found = Source(str(path), "output", "of the file", len(data)), cut(data, 1000)
    with pytest.raises(PlatformError, match="changed since"):
        pieces.ensure(Store(str(tmp_path / "store")), protocols.find("sws2013"), source, found, 1)
