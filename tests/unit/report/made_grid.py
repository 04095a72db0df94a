"""A grid and its results made by hand: 6 systems on 2 × 2 cells, one malformed output, one missing, hostile names."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

import numpy as np
import xarray as xr

from pipeline.engine.result import Result
from pipeline.errors import Finding
from pipeline.terms import Cell, Figure

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("x")'
QUOTES = "\"'><img src=x onerror=alert(2)>"
CONTROLS = "esc\x1b[31m\u202eltr"
HOSTILE = ("gtts-fusion", SCRIPT, FORMULA, CONTROLS, "cuhk-posteriors", QUOTES)
TIDY = ("gtts-fusion", "brno-akws", "limsi-dtw", "telefonica-svm", "cuhk-posteriors", "gtts-phone-lattice")
TEAMS = ("GTTS, UPV/EHU", "BUT Speech@FIT", "L2F", "Telefónica Research", "CUHK", "GTTS, UPV/EHU")
PLACES = (("dev", "dev"), ("dev", "eval"), ("eval", "dev"), ("eval", "eval"))
MALFORMED = ("eval", "dev", 5)
MISSING = ("eval", "eval", 4)
BETA = 66.65666666666667
MEASURES = (
    ("mtwv", "1", "higher", "SWS 2013 performance measures, eq 6"),
    ("atwv", "1", "higher", "SWS 2013 performance measures, eq 5"),
    ("mtwv_threshold", "score", "none", "SWS 2013 performance measures, eq 6"),
    ("p_miss", "1", "lower", "SWS 2013 performance measures, eq 3"),
    ("p_fa", "1", "lower", "SWS 2013 performance measures, eq 4"),
    ("cxe", "bit", "lower", "SWS 2013 performance measures, eq 38"),
    ("cnxe", "1", "lower", "SWS 2013 performance measures, eq 41"),
    ("min_cnxe_affine", "1", "lower", "SWS 2013 performance measures, eq 44"),
    ("min_cnxe_pav", "1", "lower", "SWS 2013 performance measures, eq 45"),
    ("map", "1", "higher", "trec_eval"),
    ("isf", "1", "lower", "SWS 2013 performance measures, eq 46"),
    ("ssf", "1/h", "lower", "SWS 2013 performance measures, eq 47"),
    ("pmu_index", "GB", "lower", "SWS 2013 performance measures, section 4.3"),
    ("pmu_search", "GB", "lower", "SWS 2013 performance measures, section 4.3"),
    ("pl", "GB", "lower", "SWS 2013 performance measures, eq 48"),
)
LOAD = ("isf", "ssf", "pmu_index", "pmu_search", "pl")
WHERE = "outputs/<b>bad</b>.kwslist.xml:17"
MESSAGE = "the score is not a number (seen <i>'high'</i>, a decimal number is allowed). Write it as -3.25."
SIGNATURE = (
    "sws2013.1|official|rank:atwv|c_fa:1.0|c_miss:100.0|censor:llr_min|p_target:0.00015|tolerance_s:0.5|"
    "ecf:6e3a91f0c2d4|kwlist:0b9d5e7a1f38|output:{digest}|rttm:4c7e20b18a95|rescore:0.1.0"
)

Sweep = dict[str, np.ndarray]


def sweep(separation: float, n: int = 220) -> Sweep:
    """A detector whose targets lie ``separation`` deviations above its non-targets, 0.4 of them never detected."""
    normal = NormalDist()
    thresholds = np.linspace(-1.0, 7.0, n)
    seen = 0.75 + separation / 20
    p_fa = np.array([0.02 * (1 - normal.cdf(t)) for t in thresholds])
    p_miss = np.array([1 - seen * (1 - normal.cdf(t - separation)) for t in thresholds])
    columns = {"threshold": thresholds, "p_miss": p_miss, "p_fa": p_fa}
    last = {"threshold": math.nan, "p_miss": 1.0, "p_fa": 0.0}
    columns = {name: np.append(column, last[name]) for name, column in columns.items()}
    return {**columns, "twv": 1 - columns["p_miss"] - BETA * columns["p_fa"]}


def figures(system: int, place: int, curve: Sweep) -> dict[str, Figure]:
    """Figures of one scored cell; system 3 has an infinite cost, system 4 no finite threshold, system 5 no load."""
    top = int(np.argmax(curve["twv"]))
    acted = min(top + (0, 4, 12, 2, 30, 18)[system], len(curve["twv"]) - 2)
    cnxe = 0.45 + 0.09 * system + 0.02 * place
    load = (0.5 + 0.3 * system, 0.002 * (system + 1), 2.0 + system, 1.0 + system / 2)
    pl = 0.1 * load[0] * load[2] + 0.9 * load[1] * load[3]
    found = {
        "atwv": Figure(float(curve["twv"][acted])),
        "mtwv": Figure(float(curve["twv"][top])),
        "mtwv_threshold": Figure(float(curve["threshold"][top])),
        "p_miss": Figure(float(curve["p_miss"][acted])),
        "p_fa": Figure(float(curve["p_fa"][acted])),
        "cxe": Figure(cnxe * 0.111),
        "cnxe": Figure(math.inf if system == 3 else cnxe),
        "min_cnxe_affine": Figure(cnxe * 0.8, status="gamma_zero" if system == 2 else None),
        "min_cnxe_pav": Figure(cnxe * 0.7),
        "map": Figure.undefined("no_targets") if place == 3 else Figure(0.61 - 0.07 * system),
        **{name: Figure(value) for name, value in zip(LOAD, (*load, pl), strict=True)},
    }
    if system == 4:
        found["mtwv_threshold"] = Figure.undefined("reject_all")
    if system == 5:
        found.update({name: Figure.undefined("no_resources") for name in LOAD})
    return found


def make_results(names: tuple[str, ...] = HOSTILE) -> tuple[list[Result], dict[tuple[int, int], Sweep]]:
    """The results of all cells in grid order, and the sweep of each scored (system, place)."""
    results, sweeps = [], {}
    for (s, name), (p, (query_set, dataset)) in product(enumerate(names), enumerate(PLACES)):
        common = {
            "protocol": "sws2013",
            "edition": 1,
            "mode": "official",
            "signature": SIGNATURE.format(digest=f"{97 * s + p:012x}"),
            "primary": "atwv",
            "cell": Cell(query_set, dataset, name),
        }
        if (query_set, dataset, s) == MALFORMED:
            problems = tuple(Finding("bad_score", MESSAGE, WHERE.replace("17", str(17 + i))) for i in range(3))
            results.append(Result(**common, findings=problems, n_findings=41, failed="refused_input"))
            continue
        if (query_set, dataset, s) == MISSING:
            results.append(Result(**common, failed="missing_output"))
            continue
        sweeps[s, p] = sweep(4.3 - 0.42 * s - 0.3 * p + 0.12 * s * p)
        warned = (Finding("unknown_query", f"query {SCRIPT} is not in the list.", "out.xml:9"),) if s == p == 1 else ()
        results.append(
            Result(
                **common,
                facts={
                    "t_audio_s": 71839.25,
                    "n_queries_scored": 495,
                    "n_detections": 203099 + s,
                    "decisions_consistent": "yes",
                },
                figures=figures(s, p, sweeps[s, p]),
                units={m[0]: m[1] for m in MEASURES},
                blocks=({"id": "Q-001", "n_target": 3, "p_miss": math.nan, "threshold": math.inf},),
                findings=warned,
                n_findings=len(warned),
            )
        )
    return results, sweeps


def make_root(names: tuple[str, ...], results: list[Result]) -> xr.Dataset:
    """The root group of a grid over ``results``, conditions "T1" (of which nothing is known) and "all"."""
    query_sets, datasets = ("dev", "eval"), ("dev", "eval")
    measures, conditions = tuple(m[0] for m in MEASURES), ("T1", "all")
    shape = (len(names), 2, 2, len(conditions), len(measures))
    value, reason, status = np.full(shape, np.nan), np.full(shape, "", object), np.full(shape, "", object)
    rank = np.zeros(shape[:-1], np.int64)
    texts = {n: np.full(shape[:3], "", object) for n in ("failed", "failed_where", "failed_message", "signature")}
    for result in results:
        assert result.cell is not None
        cell = result.cell
        at = (names.index(cell.system), query_sets.index(cell.query_set), datasets.index(cell.dataset))
        texts["signature"][at] = result.signature
        reason[(*at, 0)] = "no_such_condition"
        if result.failed:
            texts["failed"][at] = result.failed
            reason[at] = result.failed
            if result.findings:
                texts["failed_where"][at], texts["failed_message"][at] = WHERE, MESSAGE
        for m, name in enumerate(measures if not result.failed else ()):
            figure = result.figures[name]
            value[(*at, 1, m)], reason[(*at, 1, m)] = figure.value, figure.reason or ""
            status[(*at, 1, m)] = figure.status or ""
    for q, d in product(range(2), range(2)):
        atwv = value[:, q, d, 1, measures.index("atwv")]
        order = sorted((s for s in range(len(names)) if not np.isnan(atwv[s])), key=lambda s: -atwv[s])
        for place, s in enumerate(order):
            rank[s, q, d, 1] = place + 1
    dims = ("system", "query_set", "dataset", "condition", "measure")
    return xr.Dataset(
        {
            "value": (dims, value),
            "reason": (dims, reason),
            "status": (dims, status),
            "rank": (dims[:-1], rank),
            **{name: (dims[:3], array) for name, array in texts.items()},
            "measure_unit": ("measure", [m[1] for m in MEASURES]),
            "measure_better": ("measure", [m[2] for m in MEASURES]),
            "measure_source": ("measure", [m[3] for m in MEASURES]),
            "team": ("system", list(TEAMS)),
            "primary": ("system", np.array([True, True, True, True, True, False])),
        },
        coords={
            "system": list(names),
            "query_set": list(query_sets),
            "dataset": list(datasets),
            "condition": list(conditions),
            "measure": list(measures),
        },
        attrs={
            "evaluation": "Spoken Web Search 2013",
            "run": "20131018T0214-6e3a91f0",
            "protocol": "sws2013",
            "edition": np.int64(1),
            "mode": "official",
            "primary_measure": "atwv",
            "title": "MediaEval SWS 2013, spoken web search",
            "rescore_version": "0.1.0",
        },
    )


def make_curves(names: tuple[str, ...], sweeps: dict[tuple[int, int], Sweep]) -> xr.Dataset:
    """The curves group: all sweeps in one long dimension, each cell's rows by ``first`` and ``last``."""
    first, last = np.zeros((len(names), 2, 2), np.int64), np.zeros((len(names), 2, 2), np.int64)
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("threshold", "p_miss", "p_fa", "twv")}
    at = 0
    for (s, p), curve in sweeps.items():
        first[s, p // 2, p % 2], last[s, p // 2, p % 2] = at, at + len(curve["twv"])
        at += len(curve["twv"])
        for name, parts in columns.items():
            parts.append(curve[name])
    dims = ("system", "query_set", "dataset")
    return xr.Dataset(
        {
            **{name: ("point", np.concatenate(parts)) for name, parts in columns.items()},
            "first": (dims, first),
            "last": (dims, last),
        },
        coords={"system": list(names), "query_set": ["dev", "eval"], "dataset": ["dev", "eval"]},
    )


def make_load(root: xr.Dataset) -> xr.Dataset:
    """The load group: the root's load figures, and their summaries over systems."""
    value = root["value"].sel(condition="all", measure=list(LOAD)).values
    defined = np.moveaxis(np.ma.masked_invalid(value), 0, 0)
    summaries = [
        (~np.ma.getmaskarray(defined)).sum(axis=0),
        defined.min(axis=0),
        np.ma.median(defined, axis=0),
        defined.mean(axis=0),
        defined.max(axis=0),
    ]
    return xr.Dataset(
        {
            "value": (("system", "query_set", "dataset", "load_measure"), value),
            "summary_value": (
                ("summary", "query_set", "dataset", "load_measure"),
                np.stack([np.ma.filled(np.ma.asarray(s, float), np.nan) for s in summaries]),
            ),
        },
        coords={
            "system": root["system"].values,
            "query_set": ["dev", "eval"],
            "dataset": ["dev", "eval"],
            "load_measure": list(LOAD),
            "summary": ["n", "min", "median", "mean", "max"],
        },
    )


def make_grid(names: tuple[str, ...] = HOSTILE) -> tuple[dict[str, xr.Dataset], list[Result]]:
    """The grid groups that the reports read, and the results they were gathered from."""
    results, sweeps = make_results(names)
    root = make_root(names, results)
    return {"": root, "curves": make_curves(names, sweeps), "load": make_load(root)}, results
