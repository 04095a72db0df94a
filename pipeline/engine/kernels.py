"""All that Numba compiles, at once: ``python -m pipeline.engine.kernels``, for images and before a first large cell."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from pipeline.formats.fast import compiled as fast_compiled
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols import find
from pipeline.terms import Facts

_TRIALS = 60_000
"""Of a made-up cell: so many that all kernels of the conclusion are used."""


def compile_all() -> tuple[str, ...]:
    """The names of the modules of kernels, all of which are compiled then, or were before. Needs Numba."""
    root = Path(__file__).parents[2]
    files = sorted((root / "pipeline").rglob("*_kernel.py"))
    kernels = tuple(".".join(file.relative_to(root).with_suffix("").parts) for file in files)
    for name in kernels:
        import_module(name)  # what has a signature is compiled on import
    fast_compiled.compile_all()
    _conclude()
    return kernels


def _conclude() -> None:
    """Figures of a made-up cell, for kernels that are compiled when they are called."""
    number = np.arange(_TRIALS)
    queries = tuple(f"q{n}" for n in range(4))
    target, score = number % 100 == 0, (number * 7919 % 1_000_000) / 1e6
    query = (number % 4).astype(np.int32)
    ledger = Ledger.of(queries, query, score, score > 0.5, target, query[:4])
    protocol, facts = find("openkws13"), Facts(1e5, 1e5, 1e5, queries)
    protocol.family.conclude(protocol, Outcomes.of(ledger, Tally()), facts, {"n_rows": _TRIALS})


if __name__ == "__main__":
    sys.stdout.write("\n".join((*compile_all(), "")))
