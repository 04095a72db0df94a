"""A file read in pieces, however it is cut, is the file read at once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fast_reader import DOCUMENTS, SEED, Writer, as_read

from pipeline import protocols
from pipeline.engine.stored import pieces
from pipeline.errors import PlatformError
from pipeline.formats.kws.fast.compiled import Compiled
from pipeline.formats.kws.fast.kwslist import output_of, read_canonical
from pipeline.formats.kws.fast.part import NotCanonicalError, read_part
from pipeline.formats.kws.fast.state import Scanner
from pipeline.formats.kws.fast.vectors import Vectors
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.store.blobs import Store
from pipeline.terms import Source

SCANNERS = pytest.mark.parametrize("scanner", [Compiled, Vectors])


def cut(data: bytes, size: int, fed: int = 1 << 20) -> pieces.Pieces:
    cutter = pieces.Cutter(size)
    for at in range(0, len(data), fed):
        cutter.feed(data[at : at + fed])
    return cutter.pieces()


def in_pieces(data: bytes, found: pieces.Pieces, scanner: type[Scanner], *, texts: bool = False) -> SystemOutput | None:
    ends = [first for first, _ in found[1:]] + [len(data)]
    spans = [data[first:end] for (first, _), end in zip(found, ends, strict=True)]
    try:
        parts = [pieces.decode(pieces.encode(read_part(io.BytesIO(span), scanner))) for span in spans]
    except (NotCanonicalError, UnicodeDecodeError):
        return None
    return output_of([part for part in parts if part is not None], "x.xml", texts=texts)


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
    scanner: type[Scanner], rows: list[int], gap: str, size: int, fed: int
) -> None:
    data = output(rows, gap)
    whole = read_canonical(io.BytesIO(data), "x.xml", scanner)
    assert whole is not None
    found = cut(data, size, fed)
    assert found == cut(data, size)
    if found:
        split = in_pieces(data, found, scanner)
        assert split is not None
        assert as_read(split) == as_read(whole)


@pytest.mark.timeout(0)
@SCANNERS
def test_what_is_accepted_in_pieces_is_accepted_at_once(scanner: type[Scanner]) -> None:
    accepted = 0
    for seed in range(SEED, SEED + DOCUMENTS // 3):
        data = Writer(seed).document()
        found = cut(data, 1 + seed % 700)
        split = in_pieces(data, found, scanner, texts=seed % 2 == 1) if found else None
        whole = read_canonical(io.BytesIO(data), "x.xml", scanner, texts=seed % 2 == 1)
        if found:
            assert (split is None) == (whole is None), f"seed {seed}: {data!r}"
        if split is not None and whole is not None:
            accepted += 1
            assert as_read(split) == as_read(whole), f"seed {seed}: {data!r}"
    assert accepted > DOCUMENTS / 60


def test_a_piece_that_changed_since_the_plan_is_no_result(tmp_path: Path) -> None:
    data, path = output([20, 20, 20], "\n"), tmp_path / "out.xml"
    path.write_bytes(data.replace(b"0.5", b"0.7"))
    source, found = Source(str(path), "output", "of the file", len(data)), cut(data, 1000)
    with pytest.raises(PlatformError, match="changed since"):
        pieces.ensure(Store(str(tmp_path / "store")), protocols.find("sws2013"), source, found, 1)
