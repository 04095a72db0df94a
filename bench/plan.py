"""How long planning takes: ``python -m bench.plan`` (5,000 systems of one cell each; 3 s are allowed).

Reading the evaluation file, finding and hashing every output, and writing the plan into an empty store: the least of
three, in a process that has its imports. Fails where it takes longer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.config import load_evaluation
from pipeline.engine.memory import seldom_collected
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store

MOST_S = 3.0
N_TRIES = 3
FILES = {
    "e.ecf.xml": '<ecf source_signal_duration="600" version="1"><excerpt audio_filename="a.wav" channel="1" tbeg="0" '
    'dur="600" source_type="bnews"/></ecf>',
    "r.rttm": "LEXEME a 1 10 0.5 word lex s 0.5\n",
    "k.kwlist.xml": '<kwlist ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize=""><kw '
    'kwid="K1"><kwtext>word</kwtext></kw></kwlist>',
}
OUTPUT = (
    '<kwslist kwlist_filename="k" language="x" system_id="{name}"><detected_kwlist kwid="K1" search_time="1" '
    'oov_count="0"><kw file="a" channel="1" tbeg="10" dur="0.5" score="0.{at:05d}" decision="YES"/></detected_kwlist>'
    "</kwslist>"
)
EVALUATION = """name: many
protocol: openkws13
datasets:
  d: {ecf: e.ecf.xml, rttm: r.rttm}
query_sets:
  q: {kwlist: k.kwlist.xml}
systems:
  pattern: out/{system}/{query_set}_{dataset}.kwslist.xml
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.plan", description=__doc__)
    parser.add_argument("--systems", type=int, default=5000)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        write(place, args.systems)
        tries = [planned(place, place / f"store-{at}") for at in range(N_TRIES)]
    wall_s, cpu_s = min(tries)
    print(f"{args.systems} systems are planned in {wall_s:.2f} s ({cpu_s:.2f} s of CPU; allowed: {MOST_S:.0f} s)")
    return int(wall_s > MOST_S)


def planned(place: Path, store: Path) -> tuple[float, float]:
    """Wall and CPU seconds of a plan."""
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    with seldom_collected():
        plan(load_evaluation(str(place / "evaluation.yaml")), Store(str(store)))
    return time.perf_counter() - began_s, time.process_time() - began_cpu_s


def write(place: Path, n_systems: int) -> None:
    """An evaluation of one cell a system, each with an output of its own."""
    for name, text in {**FILES, "evaluation.yaml": EVALUATION}.items():
        (place / name).write_text(text)
    for at in range(n_systems):
        name = f"s{at:05d}"
        (place / "out" / name).mkdir(parents=True)
        (place / "out" / name / "q_d.kwslist.xml").write_text(OUTPUT.format(name=name, at=at))


if __name__ == "__main__":
    sys.exit(main())
