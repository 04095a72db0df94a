"""Reading a KWSList of a given size: ``python -m bench.reader [--rows N]``.

Beside this project's fast readers, compiled and of NumPy alone, and its plain parser: a floor that only counts line
ends, expat without handlers, and expat with Python handlers that make numbers. Each reads in a process of its own that
has read a small file before, and loads nothing that the others need.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from bench.inside import Made, Run, Ways
from bench.measured import ADDED, CPU, WALL, inside
from bench.running import TIMES, show
from bench.table import Comparison, Group

N_QUERIES = 4000
N_FILES = 1000
N_WARM = 50_000
"""Detections of the small file: enough for buffers to have their size."""
COMPILED, NUMPY, PLAIN = "read KWSList, compiled", "read KWSList, NumPy", "read KWSList, parser"
FLOOR, BARE, HANDLERS = "counting line ends", "expat, no handlers", "expat, Python handlers"
LIMIT_MIB, LIMIT_BYTES = 64, 32
"""What the reader may take at most, and beyond that for each detection, its columns included."""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reader", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="detections (default: 1000000)")
    parser.add_argument("--times", type=int, default=TIMES, help=f"runs of each (default: {TIMES})")
    args = parser.parse_args(argv)
    show({"reader": partial(group, rows=args.rows)}, args.times)


def group(place: Path, rows: int) -> Group:
    """Every reader on one file of so many detections."""
    path = place / "out.kwslist.xml"
    write_output(path, rows)
    write_output(small(path), min(rows, N_WARM))
    limit = {ADDED: (LIMIT_MIB * 2**20 + LIMIT_BYTES * rows) / 1e6}
    times = CPU, WALL
    return Group(
        rows,
        "det",
        [inside(name, "bench.reader", name, path) for name in WAYS],
        [
            Comparison(COMPILED, FLOOR, times, alike=_as_many),
            Comparison(COMPILED, BARE, times, {CPU: 6}),
            Comparison(COMPILED, HANDLERS, times, {CPU: 15}, alike=_as_many),
            Comparison(NUMPY, HANDLERS, times, {CPU: 3}, alike=_as_many),
            Comparison(PLAIN, HANDLERS, times, alike=_as_many),
            Comparison(COMPILED, f"{LIMIT_MIB} MiB + {LIMIT_BYTES} B a detection", [ADDED], {ADDED: 1}, limit),
        ],
    )


def small(path: Path) -> Path:
    """The small file beside a large one."""
    return path.with_name(f"small.{path.name}")


def _as_many(ours: int, theirs: int) -> bool:
    return ours == theirs


def _way(read: Callable[[Path], int]) -> Callable[[str], Run]:
    def prepared(path: str) -> Run:
        read(small(Path(path)))
        return lambda: Made(read(Path(path)))

    return prepared


def _count(path: Path) -> int:
    buffer, n = bytearray(1 << 20), 0
    with path.open("rb", buffering=0) as stream:
        while held := stream.readinto(buffer):
            n += buffer.count(b"\n", 0, held)
    return n - 3 - 2 * N_QUERIES  # lines that are no detections


def _bare(path: Path) -> int:
    with path.open("rb") as stream:
        return expat.ParserCreate().ParseFile(stream)


def _handlers(path: Path) -> int:
    rows: list[Any] = []

    def start(name: str, of: dict[str, str]) -> None:
        if name == "kw":
            numbers = float(of["tbeg"]), float(of["dur"]), float(of["score"])
            rows.append((of["file"], of["channel"], *numbers, of["decision"]))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with path.open("rb") as stream:
        parser.ParseFile(stream)
    return len(rows)


def _compiled(path: Path) -> int:
    from pipeline.formats.kws.fast.compiled import Compiled  # here, so that no peer's memory holds it

    return _canonical(path, Compiled)


def _numpy(path: Path) -> int:
    from pipeline.formats.kws.fast.vectors import Vectors

    return _canonical(path, Vectors)


def _canonical(path: Path, scanner: Any) -> int:
    from pipeline.formats.kws.fast.kwslist import read_canonical

    with path.open("rb") as stream:
        table = read_canonical(stream, "x", scanner)
    if table is None:
        raise SystemExit("the file was declined")
    return len(table.detections)


def _plain(path: Path) -> int:
    from pipeline.formats.kws.kwslist import read_plain

    with path.open("rb") as stream:
        return len(read_plain(stream, "x").detections)


WAYS: Ways = {
    name: _way(read)
    for name, read in (
        (FLOOR, _count), (BARE, _bare), (HANDLERS, _handlers), (PLAIN, _plain), (NUMPY, _numpy), (COMPILED, _compiled),
    )
}  # fmt: skip


def write_output(path: Path, rows: int) -> None:
    """A KWSList in canonical spelling: scores of six decimals, times of two."""
    random = np.random.default_rng(14)
    with path.open("w") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<kwslist kwlist_filename="a" language="b" system_id="c">\n')
        for number, n in enumerate(np.diff(np.linspace(0, rows, N_QUERIES + 1).astype(int)).tolist()):
            out.write(f'  <detected_kwlist kwid="KW-{number:05d}" search_time="1.5" oov_count="0">\n')
            begin_s, dur_s = random.integers(0, 360_000, n) / 100, random.integers(10, 90, n) / 100
            for file, begin, dur, score in zip(
                random.integers(0, N_FILES, n), begin_s, dur_s, random.random(n), strict=True
            ):
                decision = "YES" if score > 0.5 else "NO"
                place = f'file="FILE_{file:04d}_inLine" channel="1" tbeg="{begin:.2f}" dur="{dur:.2f}"'
                out.write(f'    <kw {place} score="{score:.6f}" decision="{decision}"/>\n')
            out.write("  </detected_kwlist>\n")
        out.write("</kwslist>\n")


if __name__ == "__main__":
    main()
