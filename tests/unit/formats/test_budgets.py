"""What one input may take: refused with the budget's name, before it costs more."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.engine.inputs import digest, read_role
from pipeline.errors import PROBLEMS_AT_MOST, InputError, UsageError
from pipeline.formats import READERS, budgets
from pipeline.formats.packed import unpacked
from pipeline.protocols import find
from tests.fuzz.seeds import VALID

MIB = 1 << 20
XML = ("ecf", "kwlist", "kwslist", "kwslist_texts")
LINED = ("rttm", "queries", "stm", "ctm", "lexicon", "trn", "lre_key", "lre_out", "med_detection", "med_ref")
ROOTS = {"ecf": b"<ecf>\n", "kwlist": b"<kwlist>\n", "kwslist": b"<kwslist>\n", "kwslist_texts": b"<kwslist>\n"}


class Endless(io.RawIOBase):
    """A stream of a head and a piece again and again, up to a size; it counts what was read of it."""

    def __init__(self, head: bytes, piece: bytes, n_bytes: int) -> None:
        self.head, self.piece, self.left, self.n_read = head, piece * (MIB // len(piece)), n_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        source = self.head or self.piece
        n = min(len(buffer), len(source), self.left)
        buffer[:n] = source[:n]
        self.head = self.head[n:]
        self.left -= n
        self.n_read += n
        return n


def refused(form: str, stream) -> InputError:
    with pytest.raises(InputError) as caught:
        READERS[form](stream, "f")
    return caught.value


@pytest.mark.parametrize("form", [*XML, *LINED])
@pytest.mark.parametrize("piece", [b"\n", b"x\n"], ids=["blank", "short"])
def test_short_lines_without_end_are_not_read_to_the_end(form: str, piece: bytes) -> None:
    stream = Endless(ROOTS.get(form, b""), piece, 64 * MIB)
    refused(form, io.BufferedReader(stream))
    assert stream.n_read < 6 * MIB


@pytest.mark.parametrize("form", XML)
@pytest.mark.parametrize("opened", [b"", b"<x>"], ids=["in the root", "in an unknown element"])
def test_unknown_elements_without_end_are_not_read_to_the_end(form: str, opened: bytes) -> None:
    stream = Endless(ROOTS[form] + opened, b"<a/>", 64 * MIB)
    error = refused(form, io.BufferedReader(stream))
    assert stream.n_read < 6 * MIB
    assert {"over_budget", "too_many_problems"} & {finding.code for finding in error.findings}


@pytest.mark.parametrize("form", READERS)
def test_a_packed_file_of_newlines_is_refused_early(form: str) -> None:
    data = gzip.compress(b"\n" * (64 * MIB), 9)
    stream = io.BytesIO(data * 160)  # 10 MB that unpack to 10 GB
    refused(form, unpacked(io.BufferedReader(stream), "f"))
    assert stream.tell() < MIB


def test_reading_stops_after_so_many_problems() -> None:
    stream = Endless(b"", b"one two three four\n", 64 * MIB)
    error = refused("stm", io.BufferedReader(stream))
    assert error.count == PROBLEMS_AT_MOST
    assert error.findings[-1].code == "too_many_problems"
    assert "is read no further. Mend these first." in str(error)
    assert stream.n_read < 3 * MIB


@pytest.mark.parametrize("name", ["RESCORE_INPUT_LINES", "RESCORE_INPUT_NAMES"])
def test_a_text_beyond_a_budget_is_refused_with_the_setting(monkeypatch, name: str) -> None:
    text = b"".join(b"segment-%d Basque\n" % n for n in range(20))
    assert READERS["lre_key"](io.BytesIO(text), "f") is not None
    monkeypatch.setenv(name, "10")
    (finding,) = refused("lre_key", io.BytesIO(text)).findings
    assert (finding.code, finding.where) == ("over_budget", "f")
    assert f"raise {name}" in finding.message


def test_a_file_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "e.xml"
    path.write_bytes(VALID["ecf"])
    monkeypatch.setenv("RESCORE_INPUT_BYTES", "10")
    with pytest.raises(InputError, match="allowed: 10 bytes of a file as it lies"):
        read_role(find("openkws13"), "ecf", str(path))
    with pytest.raises(InputError, match="RESCORE_INPUT_BYTES"):
        digest(str(path), "ecf")


def test_what_is_packed_has_a_budget_of_its_own(monkeypatch) -> None:
    monkeypatch.setenv("RESCORE_INPUT_UNPACKED_BYTES", "100")
    stream = unpacked(io.BufferedReader(io.BytesIO(gzip.compress(os.urandom(1000)))), "f")
    with pytest.raises(InputError, match="raise RESCORE_INPUT_UNPACKED_BYTES"):
        stream.read()


def test_processor_time_has_a_budget(monkeypatch) -> None:
    spent = budgets.Spent("f", began_s=-10_000.0)
    with pytest.raises(InputError, match="f: .*RESCORE_INPUT_CPU_S"):
        spent.stream(1)


@pytest.mark.parametrize("text", ["0", "-1", "many", "", "1e9"])
def test_a_budget_that_is_no_number_is_told(monkeypatch, text: str) -> None:
    monkeypatch.setenv("RESCORE_INPUT_LINES", text)
    with pytest.raises(UsageError, match="RESCORE_INPUT_LINES is"):
        budgets.budget("RESCORE_INPUT_LINES")


def test_a_million_names_in_one_output_are_read() -> None:
    n = 1_000_000 if "RESCORE_SOAK" in os.environ else 20_000
    text = b"TrialID,Score\n" + b"".join(b"clip%d.E1,0.5\n" % at for at in range(n))
    assert len(READERS["med_detection"](io.BytesIO(text), "f").table) == n


N_BYTES = 1 << (30 if "RESCORE_SOAK" in os.environ else 25)
"""Of hostile XML: a gigabyte in `make soak`."""
HOSTILE = """
import io, resource, sys
sys.path.insert(0, {root!r})
from pipeline.errors import InputError
from pipeline.formats import READERS
from tests.peak import peak_bytes
from tests.unit.formats.test_budgets import Endless
stream = io.BufferedReader(Endless({head!r}, {piece!r}, {n_bytes}))
try:
    READERS["kwslist"](stream, "f")
except InputError:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(peak_bytes() >> 20, int(used.ru_utime + used.ru_stime))
"""


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"<kwslist>", b"<a/>"),
        (b"<kwslist><x>", b"<a b='c'>d</a>"),
        (b"<kwslist>", b"\n"),
        (b"<kwslist>", b"<!-- a comment of some length, and nothing else -->"),
        (b"<kwslist ", b"a" * 64),
        (b"<kwslist>", b"<detected_kwlist kwid='q'></detected_kwlist>"),
        (b"<kwslist><detected_kwlist kwid='q'>", b"<kw/>"),
    ],
    ids=["unknown", "in unknown", "blank", "comments", "one tag", "one query", "empty rows"],
)
def test_hostile_xml_of_any_length_is_refused_within_bounds(head: bytes, piece: bytes) -> None:
    code = HOSTILE.format(root=str(Path(__file__).parents[3]), head=head, piece=piece, n_bytes=N_BYTES)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    mib, seconds = map(int, ended.stdout.split())
    assert mib < 256
    assert seconds < 10
