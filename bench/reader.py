"""Reading a KWSList of a given size: ``python -m bench.reader [--rows N]``.

Prints CPU nanoseconds a detection (the least of five) of a floor that only counts line ends, of expat without
handlers, of expat with Python handlers that make numbers, of this project's parser and of its two fast scanners, with
the ratios; and the memory that the compiled one adds, in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from pipeline.formats.fast_compiled import Compiled
from pipeline.formats.fast_kwslist import read_canonical
from pipeline.formats.fast_vectors import Vectors
from pipeline.formats.kwslist import read_plain

N_QUERIES = 4000
N_FILES = 1000
TIMES = 5


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reader", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="detections (default: 1000000)")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.memory_of:
        print(_added_bytes(Path(args.memory_of)))
        return
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        path = Path(folder) / "out.kwslist.xml"
        write_output(path, args.rows)
        print(f"{args.rows} detections, {path.stat().st_size / 1e6:.1f} MB")
        routes: dict[str, Callable[[Path], Any]] = {
            "count line ends": _count,
            "expat, no handlers": _bare,
            "expat, Python handlers": _handlers,
            "rescore, parser": lambda path: read_plain(path.open("rb"), "x"),
            "rescore, NumPy": lambda path: read_canonical(path.open("rb"), "x", Vectors),
            "rescore, compiled": lambda path: read_canonical(path.open("rb"), "x", Compiled),
        }
        taken = {name: _least_cpu_s(route, path) for name, route in routes.items()}
        for name, seconds in taken.items():
            times = ", ".join(f"{taken[peer] / seconds:5.1f}" for peer in list(taken)[1:3])
            print(f"{name:<24} {seconds / args.rows * 1e9:8.0f} ns a detection; times less than expat: {times}")
        command = [sys.executable, "-m", "bench.reader", "--memory-of", str(path)]
        added = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"memory added: {added / 2**20:.0f} MiB, {added / args.rows:.0f} bytes a detection")


def _least_cpu_s(route: Callable[[Path], Any], path: Path) -> float:
    def once() -> float:
        start = time.process_time()
        route(path)
        return time.process_time() - start

    return min(once() for _ in range(TIMES))


def _count(path: Path) -> int:
    buffer, n = bytearray(1 << 20), 0
    with path.open("rb", buffering=0) as stream:
        while held := stream.readinto(buffer):
            n += buffer.count(b"\n", 0, held)
    return n


def _bare(path: Path) -> None:
    with path.open("rb") as stream:
        expat.ParserCreate().ParseFile(stream)


def _handlers(path: Path) -> list[Any]:
    rows: list[Any] = []

    def start(name: str, of: dict[str, str]) -> None:
        if name == "kw":
            numbers = float(of["tbeg"]), float(of["dur"]), float(of["score"])
            rows.append((of["file"], of["channel"], *numbers, of["decision"]))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with path.open("rb") as stream:
        parser.ParseFile(stream)
    return rows


def _added_bytes(path: Path) -> int:
    """Highest memory while the file is read, beyond what a small one took before."""
    small = path.with_name("small.xml")
    write_output(small, 1000)
    read_canonical(small.open("rb"), "x", Compiled)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the highest memory so far (Linux)
    before = _highest_kib()
    if read_canonical(path.open("rb"), "x", Compiled) is None:
        raise SystemExit("the file was declined")
    return (_highest_kib() - before) * 1024


def _highest_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


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
