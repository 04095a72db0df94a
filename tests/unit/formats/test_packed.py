"""Compressed inputs: read like plain ones, and refused where damaged, cut off or made to burst."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pipeline.engine.inputs import read_role
from pipeline.errors import InputError
from pipeline.formats import packed
from pipeline.formats.packed import unpacked
from pipeline.protocols import find

OUTPUT = b"""<kwslist kwlist_filename="a" language="b" system_id="c">
<detected_kwlist kwid="q" search_time="1" oov_count="0">
%s</detected_kwlist>
</kwslist>
"""
ROW = b'<kw file="f" channel="1" tbeg="%d.5" dur="0.5" score="0.%d5" decision="NO"/>\n'
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def output(rows: int) -> bytes:
    return OUTPUT % b"".join(ROW % (row, row) for row in range(rows))


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_compressed_output_is_read_like_the_plain_one(tmp_path: Path, pack: Callable[[bytes], bytes]):
    data = output(1000)
    (tmp_path / "plain.xml").write_bytes(data)
    compressed = pack(data)  # once: gzip writes the time
    (tmp_path / "packed.xml").write_bytes(compressed)
    plain, _ = read_role(find("openkws13"), "output", str(tmp_path / "plain.xml"))
    table, source = read_role(find("openkws13"), "output", str(tmp_path / "packed.xml"))
    assert table.detections["score"].tolist() == plain.detections["score"].tolist()
    assert source.sha256 == hashlib.sha256(compressed).hexdigest()  # of the file as it was handed in
    assert source.n_bytes == len(compressed)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_pieces_that_were_compressed_apart_are_one_file(pack: Callable[[bytes], bytes]):
    stream = unpacked(io.BufferedReader(io.BytesIO(pack(b"one ") + pack(b"and two"))), "x")
    assert stream.read() == b"one and two"


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_compressed_stream_can_be_read_twice(pack: Callable[[bytes], bytes]):
    stream = unpacked(io.BufferedReader(io.BytesIO(pack(b"once and again"))), "x")
    assert stream.read() == b"once and again"
    stream.seek(0)
    assert stream.read() == b"once and again"


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
@pytest.mark.parametrize("harm", ["cut", "turned"])
def test_a_damaged_file_is_refused_with_its_name(pack: Callable[[bytes], bytes], harm: str):
    data = bytearray(pack(bytes(range(256)) * 1000))
    if harm == "cut":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2] ^= 0xFF
    with pytest.raises(InputError, match="name.gz: the compressed file is damaged or cut off"):
        unpacked(io.BufferedReader(io.BytesIO(bytes(data))), "name.gz").read()


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_bomb_is_refused_before_it_bursts(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]):
    monkeypatch.setattr(packed, "BYTES_UNASKED", 1 << 20)
    stream = unpacked(io.BufferedReader(io.BytesIO(pack(bytes(1 << 24)))), "bomb.gz")
    with pytest.raises(InputError, match=r"bomb.gz: the file unpacks to more than 200 times its size"):
        stream.read()


def test_without_zstandard_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    data = PACKERS["zstd"](b"x")
    with pytest.raises(InputError, match=r"Install rescore\[zst\], or use gzip"):
        unpacked(io.BufferedReader(io.BytesIO(data)), "x.zst").read()
