"""Random submissions with the live DEVA: every event's rates, costs and curve at 1e-12, printed measures as printed."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from typing import Any

import pytest
from live_peers import Found, close, curve_differences, differing, number, ours, points, run, started

from bench.installed import DEVA

COUNTS = {"Inputs|#Targ": "n_target", "Inputs|#NTarg": "n_nontarget"}
TIMES = ("EAGTPT", "EMDTPT", "EBGMDTPT", "SEARCHMDTPT")
Rows = list[tuple[str, ...]]


@pytest.fixture(scope="module")
def deva() -> tuple[str, ...]:
    return started(DEVA)


def test_random_cases(deva: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(lambda seed, place: explored(deva, seed, place)[1], tmp_path) == {}


def explored(start: tuple[str, ...], seed: int, place: Path) -> tuple[list[str], Found]:
    """The profile and options of a random case, and every difference."""
    random = Random(f"deva {seed}")
    protocol = random.choice(("med11", "med11", "med12", "med13", "med14", "med15"))
    files = _write(random, protocol, place)
    options = ["-U", "CostMiss=20", "-U", "Ptarg=0.01"] if protocol == "med11" and random.random() < 0.3 else []
    tables = ["-s", f"{files['detection']}:detection", "-s", f"{files['threshold']}:threshold"]
    words = ["-o", str(place), "-p", protocol.upper(), "-r", files["ref"], *tables, f"{files['index']}:TrialIndex"]
    told = run(start, [*words, *options], place)
    wanted = ["--protocol", protocol, "-r", files["ref"], *tables, "--input", f"index={files['index']}"]
    status, seen = ours([*wanted, *options, "--set", "missing_trials=drop"])
    about = [protocol, *options]
    if told.returncode or status:
        refused = (told.stdout + told.stderr).strip().splitlines()[-1:]
        both = bool(told.returncode) and status == 1
        return about, [] if both else [("scored", (status, seen.get("errors")), refused)]
    return about, _compared(seen, protocol, place)


def _write(random: Random, protocol: str, place: Path) -> dict[str, str]:
    """The four tables of a submission: some trials without a key, some without a score, ties among scores."""
    events = [f"E{number:03d}" for number in range(1, random.randint(1, 4) + 1)]
    clips = [f"{number:06d}" for number in range(random.randint(4, 40))]
    trials = [(f"{clip}.{event}", clip, event) for event in events for clip in clips]
    share = random.choice((0.1, 0.3, 0.6))
    ref = [(trial, "y" if random.random() < share else "n") for trial, _, _ in trials if random.random() < 0.97]
    scored = [row for row in trials if random.random() < random.choice((1, 1, 0.9))] or trials
    digits = random.choice((2, 3, 6))
    ranked = {event: random.sample(range(1, 4 * len(clips)), k=len(clips)) for event in events}
    score = {trial: f"{random.random():.{digits}f}" for trial, _, _ in scored}
    score[scored[0][0]] = f"0.{1:0{digits}d}"
    rank = {trial: str(ranked[event][clips.index(clip)]) for trial, clip, event in scored}
    detection: Rows = [("TrialID", "Score", "Rank"), *((t, score[t], rank[t]) for t, _, _ in scored)]
    threshold: Rows = [
        ("EventID", "DetectionThreshold", "RankThreshold", "DetectionTPT", *TIMES),
        *(
            (event, f"{random.random():.4f}", str(random.randint(1, 20)), *["1.00"] * (1 + len(TIMES)))
            for event in events
        ),
    ]
    kept, limits = _columns(protocol)
    texts = {
        "ref": [("TrialID", "Targ"), *ref],
        "index": [("TrialID", "ClipID", "EventID"), *trials],
        "detection": [tuple(row[at] for at in kept) for row in detection],
        "threshold": [tuple(row[at] for at in limits) for row in threshold],
    }
    for name, rows in texts.items():
        text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
        (place / f"{name}.csv").write_text(text)
    return {name: str(place / f"{name}.csv") for name in texts}


def _columns(protocol: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns that a year's tables have."""
    if protocol in ("med11", "med12"):
        return (0, 1), (0, 1, 3, 4)
    if protocol == "med13":
        return (0, 1), (0, 1, 3, 4, 5, 6, 7)
    return ((0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7)) if protocol == "med14" else ((0, 2), (0, 3, 7))


def _compared(seen: dict[str, Any], protocol: str, place: Path) -> Found:
    blocks = {block["id"]: block for block in seen["blocks"]}
    with (place / "scoreDB.scores.csv").open(newline="") as lines:
        printed = {row[" |Title"]: row for row in csv.DictReader(lines)}
    found: Found = []
    for event, block in blocks.items():
        row = printed.get(event)
        if row is None:
            if block["n_target"] or block["n_nontarget"]:
                found.append((event, "scored", "no row"))
            continue
        if not block["n_target"]:
            continue  # not evaluated: the tool counts nothing
        found += [(f"{event} {name}", block[name], row[column]) for column, name in COUNTS.items()
                  if column in row and block[name] != number(row[column])]  # fmt: skip
        found += _figures(seen, block, row, protocol, place / f"scoreDB.det.{event}.dat.2")
    return found


def _figures(seen: dict[str, Any], block: dict[str, Any], row: dict[str, str], protocol: str, path: Path) -> Found:
    if protocol == "med15":  # draws no curve
        return _average_precision(block, row)
    if not path.exists():
        return [(f"{block['id']} curve", len(seen["curve"]), "none")]
    event, (values,) = block["id"], points(path, (0, 1, 2, 3, 6, 7, 8))
    if protocol in ("med11", "med12"):
        own = [block[name] for name in ("min_ndc", "min_ndc_p_md", "min_ndc_p_fa", "ndc", "p_md", "p_fa")]
        names = ("min_ndc", "p_md at the minimum", "p_fa at the minimum", "ndc", "p_md", "p_fa")
        found = [(f"{event} {name}", mine, theirs) for name, mine, theirs in zip(names, own, values[1:], strict=True)
                 if not close(mine, theirs)]  # fmt: skip
        if not block["n_nontarget"]:  # the tool's file has 0 for a rate that its report calls NA
            return [difference for difference in found if difference[0] == f"{event} p_md"]
        curve = [point | {"twv": point["ndc"]} for point in seen["curve"] if point["event"] == event]
        return found + curve_differences(curve, points(path.with_suffix(".1"), (0, 3, 4, 5)))
    own = [("max_ro", block["max_ro"], values[1]), ("ro", block["ro"], values[4])]
    found = [(f"{event} {name}", mine, theirs) for name, mine, theirs in own if not close(mine, theirs)]
    return found + _average_precision(block, row)


def _average_precision(block: dict[str, Any], row: dict[str, str]) -> Found:
    found = [(column, number(cell)) for column, cell in row.items() if column.endswith("AP%")]
    return [(f"{block['id']} {column}", block["ap"], theirs) for column, theirs in found
            if not close(block["ap"], theirs, places=1)]  # fmt: skip
