"""KWSEval's cases as command lines, and the comparison of a document with the tool's figures at full precision."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TOLERANCE = 1e-11
ROLES = {"ecf": "-e", "rttm": "-r", "kwlist": "-t", "kwslist": "-s"}
EDGE_FILES = {"-e": "e.ecf.xml", "-r": "r.rttm", "-t": "k.kwlist.xml", "-s": "s.kwslist.xml"}
REPORTS = frozenset({"-o", "-b", "-c", "-d", "-O", "-B", "-X"})
"""Options that choose what is printed, not what it says."""
REPORTS_OF = frozenset({"-zG", "-y"})
"""The same with a value."""
BLOCK_COUNTS = {
    "n_target": "n_targ",
    "n_hit": "n_corr",
    "n_miss": "n_miss",
    "n_fa": "n_fa",
    "n_correct_rejection": "n_cornotdet",
    "n_omitted": "n_omitted",
}
BLOCK_RATES = {"twv": "twv", "p_fa": "pfa", "p_miss": "pmiss", "twv_supremum": "sup_twv"}
Found = Iterator[tuple[str, Any, Any]]
"""Differences: what, ours, the tool's."""


def index(conformance: Path, family: str) -> list[dict[str, Any]]:
    """The cases of one family."""
    cases: list[dict[str, Any]] = json.loads((conformance / "kws" / family / "index.json").read_text())["cases"]
    return cases


def options(argv: Sequence[str]) -> list[str]:
    """The tool's own options without those that only choose reports."""
    kept, rest = [], iter(argv)
    for option in rest:
        if option in REPORTS_OF:
            next(rest)
        elif option not in REPORTS:
            kept.append(option)
    return kept


def arguments(conformance: Path, family: str, case: dict[str, Any]) -> list[str]:
    """``rescore score`` of a case, with the four files and the options as the organisers give them."""
    folder = conformance / "kws" / family
    if family == "edge":
        files = {option: folder / case["case"] / name for option, name in EDGE_FILES.items()}
    else:
        files = {option: folder / case["files"][role] for role, option in ROLES.items()}
    named = [part for option, path in files.items() for part in (option, str(path))]
    return ["score", "--protocol", "openkws13", *named, *options(case["argv"]), "--json", "--curve"]


def det_points(path: Path) -> list[list[Any]]:
    """The rows of a det.csv: threshold ("NaN" where the tool has none), PMiss, PFA, TWV (None where undefined)."""
    with path.open(newline="") as handle:
        rows = list(csv.reader(handle))[1:]
    return [[None if cell == "" else cell if cell == "NaN" else float(cell) for cell in row[:4]] for row in rows]


def close(seen: Any, expected: Any) -> bool:
    """Equal at relative 1e-11, undefined alike, infinities by name."""
    if seen is None or expected is None or isinstance(seen, str) or isinstance(expected, str):
        return str(seen).lower() == str(expected).lower()
    return math.isclose(seen, expected, rel_tol=TOLERANCE, abs_tol=1e-15)


def differences(
    part: dict[str, Any],
    expected: dict[str, Any],
    *,
    optimum: bool,
    det: list[list[Any]] | None,
    decisions: bool = True,
    own_thresholds: bool = True,
) -> list[tuple[str, Any, Any]]:
    """All figures of the whole or of one condition that differ from the tool's, thresholds and counts exactly."""
    seen = {name: entry["value"] for name, entry in part["measures"].items()}
    found = [
        *_rates(part, expected, seen),
        *_bounds(part["measures"], expected, optimum=optimum),
        *_blocks(part["blocks"], expected["keywords"], optimum=optimum, own_thresholds=own_thresholds),
        *(_curve(part["curve"], det) if det is not None else ()),
    ]
    if decisions:
        wanted = expected["decision_range"]
        found += [("min_yes", part["facts"]["score_min_yes"], wanted["min_yes"])]
        found += [("max_no", part["facts"]["score_max_no"], wanted["max_no"])]
    if "MAP" in expected["global"]:
        found.append(("map", seen["map"], expected["global"]["MAP"]))
    return [(name, ours, tools) for name, ours, tools in found if not close(ours, tools)]


def _rates(part: dict[str, Any], expected: dict[str, Any], seen: dict[str, Any]) -> Found:
    yield "t_audio_s", part["facts"]["t_audio_s"], expected["trial_params"]["TotDur"]
    yield "n_trials", part["facts"]["n_trials"], expected["trial_params"]["TotTrials"]
    yield "beta", part["facts"]["beta"], expected["metric_params"]["BETA"]
    for ours, tools in (("atwv", "twv"), ("p_miss", "pmiss"), ("p_fa", "pfa")):
        yield ours, seen[ours], expected["actual"][tools]
    maximum = expected["maximum"]
    yield "mtwv", seen["mtwv"], maximum["twv"]
    threshold = seen["mtwv_threshold"]
    if maximum["twv"] is not None:
        same = threshold == (None if maximum["thresh"] == "NaN" else maximum["thresh"]) or close(
            threshold if isinstance(threshold, str) else None, maximum["thresh"]
        )
        yield "mtwv_threshold", None if same else threshold, None if same else maximum["thresh"]
        for ours, tools in (("p_miss", "pmiss"), ("p_fa", "pfa")):
            yield f"mtwv {ours}", part["measures"]["mtwv"].get(ours), maximum[tools]


def _bounds(measures: dict[str, Any], expected: dict[str, Any], *, optimum: bool) -> Found:
    for name, key in (("twv_optimum", "optimum"), ("twv_supremum", "supremum")):
        if key == "supremum" or optimum:
            yield name, measures[name]["value"], expected[key]["twv"]
            if expected[key]["twv"] is not None:
                for ours, tools in (("p_miss", "pmiss"), ("p_fa", "pfa")):
                    yield f"{name} {ours}", measures[name].get(ours), expected[key][tools]


def _blocks(blocks: list[dict[str, Any]], expected: dict[str, Any], *, optimum: bool, own_thresholds: bool) -> Found:
    by_id = {block["id"]: block for block in blocks}
    yield "keywords", str(sorted(by_id)), str(sorted(expected))
    for keyword, wanted in expected.items():
        block = by_id.get(keyword)
        if block is None:
            continue
        yield from ((f"{keyword} {ours}", block[ours], wanted[tools]) for ours, tools in BLOCK_COUNTS.items())
        if not wanted["evaluated"]:
            yield f"{keyword} twv", block["twv"], None
            continue
        yield from ((f"{keyword} {ours}", block[ours], wanted.get(tools)) for ours, tools in BLOCK_RATES.items())
        if optimum and "opt_twv" in wanted:
            yield f"{keyword} twv_optimum", block["twv_optimum"], wanted["opt_twv"]
            if own_thresholds and block["twv_optimum_threshold"] is not None:
                yield f"{keyword} twv_optimum_threshold", block["twv_optimum_threshold"], wanted["opt_thresh"]


def _curve(curve: list[dict[str, Any]], det: list[list[Any]]) -> Found:
    if not curve and len(det) == 1 and det[0][1] is None:
        return  # the tool writes one point without figures where nothing is evaluated
    yield "DET points", len(curve), len(det)
    for place, (point, wanted) in enumerate(zip(curve, det, strict=False)):
        threshold = None if wanted[0] == "NaN" else wanted[0]
        same = point["threshold"] == threshold or (isinstance(threshold, str) and close(point["threshold"], threshold))
        yield f"DET {place} threshold", None if same else point["threshold"], None if same else threshold
        for name, column in (("p_miss", 1), ("p_fa", 2), ("twv", 3)):
            yield f"DET {place} {name}", point[name], wanted[column]
