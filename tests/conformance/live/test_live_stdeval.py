"""Random cases with the live STDEval 0.7: counts and alignments exactly, curves at 1e-12, what is printed as printed.

STDEval draws no curve of fewer than two terms with occurrences; ours has one.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from live_kws import case, write_std
from live_peers import (
    Found,
    alignment_differences,
    close,
    curve_differences,
    differing,
    number,
    ours,
    points,
    run,
    started,
)

from bench.installed import STDEVAL

_TERM = re.compile(r"\|\s+(K\d+)\s")
_SET = re.compile(r"\|\s+(A|All Terms)\s+[\d.]+ \|")
_FACTS = {"trials": "Number of Trials", "T": "Total Speech Time (sec.)", "atwv": "A. T-Weighted Value (N/A excl.)"}
_COUNTS = ("n_target", "n_hit", "n_fa", "n_miss")


@pytest.fixture(scope="module")
def stdeval() -> tuple[str, ...]:
    return started(STDEVAL)


def test_random_cases(stdeval: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(lambda seed, place: explored(stdeval, seed, place)[1], tmp_path) == {}


def explored(start: tuple[str, ...], seed: int, place: Path) -> tuple[list[str], Found]:
    """The options of a random case, and every difference."""
    random = Random(f"stdeval {seed}")
    options = _options(random)
    made = case(random)
    files = write_std(made, place)
    named = [word for pair in files.items() for word in pair]
    wanted = "-A -o o.txt -C a.csv -d det".split() + (["-O", "c.txt"] if {"-T", "-Y"} & {*options} else [])
    told = run(start, [*named, *options, *wanted], place)
    status, seen = ours(["--protocol", "std2006", *named, *options, "--alignment", str(place / "ours.csv")])
    if told.returncode and "Illegal division by zero" in told.stderr:
        return options, []  # in its table by source type, of one that has as many occurrences as trials
    if told.returncode and "Invalid STDList" in told.stderr and not made.blocks:
        return options, []  # an output without a block is none to the tool
    if told.returncode or status:
        refused = told.stderr.strip().splitlines()[-1:]
        return options, [] if told.returncode and status == 1 else [("scored", (status, seen.get("errors")), refused)]
    found = _alignments(place)
    if _possible(seen):
        found += _printed(seen, (place / "o.txt").read_text(errors="replace")) + _curve(seen, place / "det.sub00.dat.1")
    for part in seen.get("conditions", {}).values():
        if _possible(part):
            found += _condition(part, (place / "c.txt").read_text(errors="replace"))
    return options, found


def _options(random: Random) -> list[str]:
    some = [
        ["-F", random.choice(("0", "0.3", "1"))],
        ["-S", random.choice(("0", "0.1", "2"))],
        ["-p", random.choice(("0.01", "0.5"))],
        ["-n", random.choice(("0.7", "3"))],
        ["-E"],
    ]
    chosen = random.sample(some, k=random.choice((0, 1, 1, 2, 3)))
    if random.random() < 0.4:
        chosen.append(
            random.choice((["-T", "A:K[12]"], ["-T", "A:k3,K4"], ["-Y", "A:cts"], ["-Y", "A:bnews,splitcts"]))
        )
    costs = [["-k", "0.1", "-K", "1"], ["-k", "0.2", "-K", "2.5"]]
    return [word for option in [*chosen, random.choice(costs)] for word in option]


def _possible(part: dict[str, Any]) -> bool:
    """Whether every term has trials that are no targets."""
    return all(block["n_target"] < part["facts"]["n_trials"] for block in part["blocks"])


def _printed(seen: dict[str, Any], text: str) -> Found:
    found: Found = []
    blocks = {block["id"]: block for block in seen["blocks"]}
    lines = text.split("DET Curve Analysis", maxsplit=1)[0].splitlines()
    facts = {name: number(_all(line)[-1]) for name, told in _FACTS.items() for line in lines if told in line}
    if not any(block["n_target"] for block in seen["blocks"]):
        return []  # the tool prints 0 for what is undefined
    figures = (("trials", seen["facts"]["n_trials"], 0), ("T", seen["facts"]["t_audio_s"], 1),
               ("atwv", seen["measures"]["atwv"]["value"], 3))  # fmt: skip
    found += [(name, value, facts[name]) for name, value, places in figures
              if not close(value, facts[name], places=places)]  # fmt: skip
    rows = [(hit[1], *_all(line)) for line in lines if (hit := _TERM.match(line))]
    for name, *cells in rows:
        block = blocks[name]
        counts = [int(cell) for cell in cells[:4]]
        if [block[count] for count in _COUNTS] != counts:
            found.append((name, [block[count] for count in _COUNTS], counts))
        for rate, cell, places in (("p_fa", cells[-2], 5), ("p_miss", cells[-1], 3)):
            if counts[0] and not close(block[rate], number(cell), places=places):
                found.append((f"{name} {rate}", block[rate], cell))
    named = sorted(name for name, *_ in rows)
    return found if named == sorted(blocks) else [*found, ("terms", sorted(blocks), named)]


def _condition(part: dict[str, Any], text: str) -> Found:
    """The one row of the conditional report: totals, trials and the value of the terms that it holds."""
    *_, last = [line for line in text.splitlines() if _SET.match(line)]
    n_target, n_hit, _, n_miss, *_, n_trials, twv = _all(last)
    if n_target == "0":
        return []
    own = {name: sum(block[name] for block in part["blocks"]) for name in ("n_target", "n_hit", "n_miss")}
    counts = {"n_target": n_target, "n_hit": n_hit, "n_miss": n_miss}
    found = [(f"condition {name}", own[name], value) for name, value in counts.items() if own[name] != int(value)]
    if part["facts"]["n_trials"] != float(n_trials):
        found.append(("condition trials", part["facts"]["n_trials"], n_trials))
    if not close(part["measures"]["atwv"]["value"], number(twv), places=3):
        found.append(("condition atwv", part["measures"]["atwv"]["value"], twv))
    return found


def _all(line: str) -> list[str]:
    """The words of the last column, which is that of all source types."""
    return line.strip().rstrip("|").split("|")[-1].split()


def _curve(part: dict[str, Any], path: Path) -> Found:
    """Our curve ends with a point that accepts nothing, the tool's with one at the highest score."""
    evaluated = [block for block in part["blocks"] if block["n_target"]]
    if len(evaluated) < 2 or not path.exists():
        return [] if len(evaluated) < 2 or len(part["curve"]) < 2 else [("curve", len(part["curve"]), "none")]
    wanted = points(path, (0, 3, 4, 5))
    best = max(point[3] for point in wanted if point[3] is not None)
    found = (
        [] if close(part["measures"]["mtwv"]["value"], best) else [("mtwv", part["measures"]["mtwv"]["value"], best)]
    )
    return found + curve_differences(part["curve"][:-1], wanted[:-1])


def _alignments(place: Path) -> Found:
    return alignment_differences(_alignment(place / "ours.csv", 0), _alignment(place / "a.csv", 1))


def _alignment(path: Path, skipped: int) -> Counter[tuple[str, ...]]:
    """Rows without their outcome: the tool's says whether a detection is mapped, whatever its decision."""
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = [row[skipped:] for row in csv.reader(lines)][1:]
    return Counter((*row[1:4], *(f"{float(cell):.9g}" if cell else "" for cell in row[5:10]), row[10])
                   for row in rows)  # fmt: skip
