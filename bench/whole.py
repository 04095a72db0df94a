"""A keyword search output from its files to figures, and from trials that a store holds: ``python -m bench.whole``.

Beside ``rescore score``, with what Numba compiles and without: a plain pandas notebook that makes ATWV and MTWV only.
Processes start cold, with Python's and Numba's caches filled. From stored trials the same cell is aligned anew under
another tolerance; from XML it goes through an empty store under that tolerance. Warm processes have scored a smaller
cell before, and have the compiled reader where Numba is there, as a worker has after its first large one; both routes
are planned, and their inputs hashed, before time is taken. Cold ones take all of it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from bench.inside import Made, Run, Ways
from bench.kws_files import write_files
from bench.measured import CPU, MEMORY, Way, inside, run
from bench.running import TIMES, show
from bench.table import Comparison, Group

NOTEBOOK = "pandas notebook"
TWO, EVERY = "XML to ATWV and MTWV", "XML to every figure"
PLAIN = f"{TWO}, not compiled"
STORED, UNSTORED = "stored trials to every figure", "XML through a new store"
_PLAIN = "import sys; sys.modules['numba'] = None; from pipeline.cli import run; run()"
_AS_COMMANDS = {"NUMPY_MADVISE_HUGEPAGE": "0"}
"""What the command line sets for itself before it imports NumPy."""
_FILLED_AT, _SCORED_AT = "0.5", "0.4"
"""Tolerances at which the store is filled, and at which its trials are scored."""
AIMED = 5_000_000
"""Detections that the aims are meant for."""
N_WARM = 200_000
"""Detections of the cell that a warm process has scored: enough for all that is compiled to be loaded."""
ROLES = ("ecf", "rttm", "kwlist", "output")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.whole", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[AIMED], help="detections (default: 5e6)")
    parser.add_argument("--times", type=int, default=TIMES, help=f"runs of each (default: {TIMES})")
    args = parser.parse_args(argv)
    makes = {f"{rows}": partial(large, rows=rows) for rows in args.rows}
    return int(any(line.wrong for line in show(makes, args.times, aimed=min(args.rows) >= AIMED)))


def group(place: Path, rows: int) -> Group:
    """ATWV and MTWV, and every figure, beside the notebook."""
    inputs = write_files(place, rows)
    notebook, *ours = _scorers(inputs, None)
    return Group(rows, "det", [notebook, *ours], [Comparison(way.name, NOTEBOOK, alike=near) for way in ours])


def large(place: Path, rows: int) -> Group:
    """The same with aims, and the route through a store; fewer runs of what takes long and has no aim."""
    inputs = write_files(place, rows)
    paths = [inputs[role] for role in ROLES]
    _filled(place, paths)
    ways = _scorers(inputs, 1)
    cold = (sys.executable, "-c", "import sys; from bench.whole import cold; cold(*sys.argv[1:])")
    for name in WAYS:
        stored = str(place) if name == STORED else ""
        ways.append(replace(inside(name, "bench.whole", name, stored, *paths), environment=_AS_COMMANDS))
        command = (*cold, stored, *paths)
        ways.append(Way(f"{name}, cold", command, times=2, environment=_AS_COMMANDS, found=_printed))
    return Group(
        rows,
        "det",
        ways,
        [
            Comparison(TWO, NOTEBOOK, aims={CPU: 10, MEMORY: 8}, alike=near),
            Comparison(PLAIN, NOTEBOOK, alike=near),
            Comparison(EVERY, NOTEBOOK, alike=near),
            Comparison(STORED, UNSTORED, aims={CPU: 4}, alike=_equal),
            Comparison(f"{STORED}, cold", f"{UNSTORED}, cold", alike=_equal),
        ],
    )


def _scorers(inputs: dict[str, str], notebooks: int | None) -> list[Way]:
    """Whole processes, the notebook first, with so many runs."""
    scoring = scored("openkws13", inputs)
    two = (*scoring, "--measures", "atwv,mtwv")
    notebook = (sys.executable, "-m", "bench.notebook", *(inputs[role] for role in ROLES))
    return [
        Way(NOTEBOOK, notebook, times=notebooks, found=_printed),
        Way(TWO, (sys.executable, "-m", "pipeline.cli", *two), found=told),
        Way(PLAIN, (sys.executable, "-c", _PLAIN, *two), found=told),
        Way(EVERY, (sys.executable, "-m", "pipeline.cli", *scoring), found=told),
    ]


def scored(protocol: str, inputs: dict[str, str]) -> tuple[str, ...]:
    """The words of ``rescore score``."""
    named = [word for role, path in inputs.items() for word in ("--input", f"{role}={path}")]
    return ("score", "--protocol", protocol, *named, "--json")


def told(text: str, _place: Path) -> list[float]:
    """ATWV and MTWV of the document that ``rescore score`` prints."""
    measures = json.loads(text)["measures"]
    return [float(measures[name]["value"]) for name in ("atwv", "mtwv")]


def _printed(text: str, _place: Path) -> list[float]:
    return [float(word) for word in text.split()]


def near(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """The notebook maps greedily: the third digit may differ."""
    return all(math.isclose(one, other, abs_tol=5e-3) for one, other in zip(ours, theirs, strict=True))


def _equal(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    return list(ours) == list(theirs)


def _filled(place: Path, paths: Sequence[str]) -> None:
    """A store that has the trials, made by a process of its own. Ways that need it fail where this does."""
    command = (sys.executable, "-c", "import sys; from bench.whole import fill; fill(*sys.argv[1:])", str(place))
    run(Way("filling a store", (*command, *paths)), place)


def fill(place: str, *paths: str) -> None:
    """Score the cell into ``place``/store."""
    _planned(Path(place, "store"), _FILLED_AT, paths)()


def _planned(place: Path, tolerance_s: str, paths: Sequence[str]) -> Callable[[], Callable[[], list[float]]]:
    """Scores the cell by way of a store, once it is called; the plan is made. What it returns tells ATWV and MTWV."""
    from pipeline.engine.cell import load_result, score_cell  # here, so that no other way's process loads it
    from pipeline.engine.plan import plan
    from pipeline.store.blobs import Store
    from pipeline.terms import Cell, Dataset, Evaluation, QuerySet, System

    ecf, rttm, kwlist, output = paths
    evaluation = Evaluation(
        name="bench",
        protocol="openkws13",
        mode="official",
        overrides=(("tolerance_s", tolerance_s),),
        datasets=(Dataset("d", ecf, rttm),),
        query_sets=(QuerySet("q", kwlist),),
        systems=(System("s", outputs={("q", "d"): output}),),
    )
    store = Store(str(place))
    planned = plan(evaluation, store)

    def score() -> Callable[[], list[float]]:
        address = score_cell(store, planned, Cell("q", "d", "s"))
        return lambda: [float(load_result(store, address).figures[name].value) for name in ("atwv", "mtwv")]

    return score


def cold(stored: str, *paths: str) -> None:
    """Score the cell into a store of this folder, which has the trials where one that has them is given."""
    print(*_planned(_own_store(stored), _SCORED_AT, paths)()())


def _own_store(filled: str) -> Path:
    """In the present folder, which is this run's own: copied by links, as no object of a store changes, or empty."""
    here = Path("store").absolute()
    if filled:
        shutil.copytree(Path(filled, "store"), here, copy_function=os.link)
    return here


def _prepared(stored: str, *paths: str) -> Run:
    if find_spec("numba") is not None:
        import_module("pipeline.formats.kws.fast.compiled").compile_all()
    warm = Path("warm").absolute()
    warm.mkdir()
    _planned(warm / "store", _SCORED_AT, [write_files(warm, N_WARM, 400, 3000)[role] for role in ROLES])()
    score = _planned(_own_store(stored), _SCORED_AT, paths)

    def run() -> Callable[[], Made]:
        figures = score()
        return lambda: Made(figures())

    return run


WAYS: Ways = {STORED: _prepared, UNSTORED: _prepared}


if __name__ == "__main__":
    sys.exit(main())
