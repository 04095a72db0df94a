"""A made-up run of many systems on many languages, each with a query set and a dataset of its own."""

from __future__ import annotations

from itertools import product

import numpy as np
import xarray as xr

from pipeline.engine.result import Result
from pipeline.errors import Finding
from pipeline.protocols import find
from pipeline.terms import Cell, Figure

MESSAGE = "the score is not a number (seen 'high', a decimal number is allowed). Write it as -3.25."


def large_grid(n_systems: int, n_languages: int, *, failed: float = 0.1) -> tuple[dict[str, xr.Dataset], list[Result]]:
    """Grid and results under SWS 2013; a share of the cells is refused. Only languages' own pairs are cells."""
    rng, protocol = np.random.default_rng(29), find("sws2013")
    systems = [f"participant-{n:03d}_primary" for n in range(n_systems)]
    languages = [f"lang{n:02d}" for n in range(n_languages)]
    measures = [measure.name for measure in protocol.measures]
    shape = (n_systems, n_languages, n_languages)
    value = np.full((*shape, 1, len(measures)), np.nan)
    reason, fate, message = np.full(value.shape, "no_such_cell", object), np.full(shape, "no_such_cell", object), {}
    results = []
    for (s, system), (k, language) in product(enumerate(systems), enumerate(languages)):
        refused = bool(rng.uniform() < failed)
        value[s, k, k] = np.nan if refused else rng.uniform(0.05, 0.95, len(measures))
        reason[s, k, k], fate[s, k, k] = ("refused_input", "refused_input") if refused else ("", "")
        told = tuple(Finding("bad_score", MESSAGE, f"{system}.xml:{n}") for n in range(5)) if refused else ()
        message[s, k, k] = MESSAGE if refused else ""
        figures = (
            {} if refused else {name: Figure(float(v)) for name, v in zip(measures, value[s, k, k, 0], strict=True)}
        )
        results.append(
            Result(
                "sws2013", 2, "official", f"sws2013.2|official|output:{s:012x}", "atwv",
                Cell(f"{language}-q", language, system), figures=figures, findings=told, n_findings=len(told),
                failed="refused_input" if refused else None,
            )
        )  # fmt: skip
    dims = ("system", "query_set", "dataset")
    messages = np.full(shape, "", object)
    for place, text in message.items():
        messages[place] = text
    primary = value[..., measures.index(protocol.primary)]
    rank = np.where(np.isnan(primary), 0, (-np.nan_to_num(primary, nan=-np.inf)).argsort(axis=0).argsort(axis=0) + 1)
    root = xr.Dataset(
        {
            "value": ((*dims, "condition", "measure"), value),
            "reason": ((*dims, "condition", "measure"), reason),
            "status": ((*dims, "condition", "measure"), np.full(value.shape, "", object)),
            "rank": ((*dims, "condition"), rank),
            "failed": (dims, fate),
            "failed_where": (dims, np.full(shape, "", object)),
            "failed_message": (dims, messages),
            "signature": (dims, np.full(shape, "sws2013.2|official|" + "x" * 300, object)),
            "team": ("system", [f"University of Somewhere {n // 3}" for n in range(n_systems)]),
            "primary": ("system", np.ones(n_systems, bool)),
            **{
                f"measure_{name}": ("measure", [getattr(measure, name) for measure in protocol.measures])
                for name in ("unit", "better", "source")
            },
        },
        coords={
            "system": systems, "query_set": [f"{one}-q" for one in languages], "dataset": languages,
            "condition": ["all"], "measure": measures,
        },
        attrs={
            "evaluation": "languages", "run": "1", "protocol": "sws2013", "mode": "official", "primary_measure": "atwv",
        },
    )  # fmt: skip
    return {"": root}, results
