"""Random cases with the live KWSEval: options alone and together, every count and figure of every keyword.

Counts and alignments are compared exactly, curves and the figures of the whole at 1e-12, what is only printed to its
last decimal.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from live_kws import Case, case, write_kws
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

from bench.installed import KWSEVAL

COUNTS = {"#Targ": "n_target", "#Corr": "n_hit", "#FA": "n_fa", "#Miss": "n_miss"}
RATES = {"TWV": ("twv", 4), "PFA": ("p_fa", 5), "PMISS": ("p_miss", 3)}
SEGMENT_NAMES = {"atwv": "stwv", "mtwv": "max_stwv", "twv_supremum": "stwv_supremum"}


@pytest.fixture(scope="module")
def kwseval() -> tuple[str, ...]:
    return started(KWSEVAL)


@pytest.mark.parametrize("segments", [False, True], ids=["occurrences", "segments"])
def test_random_cases(kwseval: tuple[str, ...], tmp_path: Path, segments: bool) -> None:
    def found(seed: int, place: Path) -> Found:
        random = Random(f"kwseval {segments} {seed}")
        options = _options(random, segments=segments)
        return compared(kwseval, case(random, off_borders=segments), options, place, segments=segments)

    assert differing(found, tmp_path) == {}


def _options(random: Random, *, segments: bool) -> list[str]:
    """Some options, at most one kind of condition."""
    some: list[list[str]] = [
        ["-F", random.choice(("0", "0.3", "1"))],
        ["-k", "0.2", "-K", "2"],
        ["-p", random.choice(("0.01", "0.5"))],
        ["-inc"],
        ["-j"],
        ["-P"],
        ["-x", "charsplit"],
        ["-x", "charsplit", "-x", "notASCII"],
        ["-x", "charsplit", "-x", "deleteHyphens"],
        ["-x", "deleteHyphens"],
        ["-x", "notASCII"],
        ["-a"],
    ]
    if not segments:
        some += [["-S", random.choice(("0", "0.1", "2"))], ["-n", random.choice(("0.5", "3"))], ["-N", "f0/1"]]
        some += [["-N", "f[01]/.", "-N", "f2/1"]]
    conditions = [["-Y", "A:cts,splitcts", "-Y", "B:bnews"], ["-T", "A:K[12]", "-T", "B:k3,K4"], ["-q", "Level"]]
    conditions += [["-q", "Level:regex=[12]"], ["-G"], *([] if segments else [["-w"]])]
    chosen = random.sample(some, k=random.choice((0, 1, 1, 2, 3)))
    if segments and ["-inc"] in chosen:
        chosen = [option for option in chosen if option not in (["-P"], ["-j"])]  # refused with -inc
    chosen += [random.choice(conditions)] if random.random() < 0.5 else []
    words = [word for option in chosen for word in option]
    return ["-x", "charsplit"] if words.count("charsplit") > 1 else words


def compared(start: tuple[str, ...], made: Case, options: list[str], place: Path, *, segments: bool = False) -> Found:
    """Every difference of one case."""
    files = write_kws(made, place)
    named = [word for pair in files.items() for word in pair]
    told = run(start, [*named, *options, *(["-g"] if segments else []), *"-o -b -c -d -O -B -D -f out".split()], place)
    protocol = "openkws13-segments" if segments else "openkws13"
    status, seen = ours(["--protocol", protocol, *named, *options, "--alignment", str(place / "ours.csv")])
    if told.returncode:
        words = told.stdout + told.stderr
        if "must > 0" in words and (status == 1 or not _has_audio(seen)):
            return []
        if status == 0 and "Illegal division by zero" in words and not _possible(seen):
            return []
        return [("refused", status, words.strip().splitlines()[-1:])]
    if status:
        return [("scored", seen.get("errors"), "scored")]
    pooled = "-P" in options
    found = _whole(seen, options, place, segments=segments) if _possible(seen) else []
    found += _rows(seen, _table(place / "outbsum.txt"), pooled=pooled)
    conditions = place / "outcond.bsum.txt"
    if conditions.exists() and not (pooled and "-G" in options):
        found += _conditions(seen, _table(conditions), by_targets="-G" in options)
    return found + _alignments(place)


def _has_audio(seen: dict[str, Any]) -> bool:
    """Whether every condition has trials: of one without any the tool dies."""
    return all(part["facts"]["n_trials"] for part in seen.get("conditions", {}).values())


def _possible(part: dict[str, Any]) -> bool:
    """Whether every keyword has trials that are no targets: without them the tool divides by zero, or by less."""
    return all(block["n_target"] < part["facts"]["n_trials"] for block in part["blocks"])


def _whole(seen: dict[str, Any], options: list[str], place: Path, *, segments: bool) -> Found:
    def figure(name: str) -> Any:
        return seen["measures"][SEGMENT_NAMES[name] if segments else name]["value"]

    text = (place / "outsum.txt").read_text()
    facts = {name: number(found[1]) if (found := re.search(rf"\| +{name} \| +(\S+) \|", text)) else None
             for name in ("TotDur", "TotTrials", "BETA")}  # fmt: skip
    found = [("T", seen["facts"]["t_audio_s"], facts["TotDur"])] if not segments else []
    found += [("trials", seen["facts"]["n_trials"], facts["TotTrials"]), ("beta", seen["facts"]["beta"], facts["BETA"])]
    [first] = (place / "outdets").glob("sum.*.dat.2") if list((place / "outdets").glob("sum.*.dat.2")) else [None]
    if first is not None:
        [values] = points(first, (1, 6, 7, 8, 16))
        names = ("mtwv", "atwv", "p_miss", "p_fa", "twv_supremum")
        for name, value in zip(names, values, strict=True):
            ours = seen["measures"][name]["value"] if name.startswith("p_") else figure(name)
            found.append((name, ours, value))
        curve = points(first.with_suffix(".1"), (0, 3, 4, 5))
        thinned = "-a" in options or not seen["facts"]["n_queries_scored"]  # points left out, or without a value
        if not thinned and not (len(curve) == 1 and curve[0][0] is None):
            return [row for row in found if not close(*row[1:])] + curve_differences(seen["curve"], curve)
    return [row for row in found if not close(*row[1:], rel=1e-6)]


def _table(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """A block summary: the cells by group and keyword, then by column."""
    lines = [line for line in path.read_text().splitlines() if "|" in line]
    head = next(at for at, line in enumerate(lines) if "#Targ" in line)
    columns = [name.strip() for name in lines[head].split("|")]
    edges = [at for at, letter in enumerate(lines[head - 1]) if letter == "|"]
    groups = [name.strip() for name in lines[head - 1].split("|")]
    ends = [at for at, letter in enumerate(lines[head]) if letter == "|"]
    of = ["", *(groups[sum(edge <= end for edge in edges)] for end in ends)]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines[head + 1 :]:
        cells = [cell.strip() for cell in line.split("|")]
        keyword = re.sub(r"^(Keyword|Summary) +", "", cells[0])
        if "Summary" in cells[0]:
            break
        for group, column, cell in zip(of, columns, cells, strict=False):
            if group and group != "MetaData":
                found.setdefault((group, keyword), {})[column] = cell
    return found


def _rows(part: dict[str, Any], rows: dict[tuple[str, str], dict[str, str]], *, pooled: bool) -> Found:
    by_name, possible = {block["id"]: block for block in part["blocks"]}, _possible(part)
    found: Found = []
    for (_, keyword), cells in rows.items():
        block = next(iter(by_name.values())) if pooled else by_name.get(keyword)
        if block is None:
            if any(cells.values()):
                found.append((f"{keyword} block", None, cells))
            continue
        if not cells["#Targ"]:  # not evaluated, or not of this group
            continue
        for theirs, name in COUNTS.items():
            if block[name] != number(cells[theirs]):
                found.append((f"{keyword} {name}", block[name], cells[theirs]))
        for theirs, (name, places) in RATES.items():
            if possible and not close(block[name], number(cells[theirs]), places=places):
                found.append((f"{keyword} {name}", block[name], cells[theirs]))
    return found


def _conditions(seen: dict[str, Any], rows: dict[tuple[str, str], dict[str, str]], *, by_targets: bool) -> Found:
    """With -G a detection goes by the targets that the keyword has so far, in the order of a hash: then the tool's
    false alarms are in either group."""
    found: Found = []
    for group in sorted({group for group, _ in rows}):
        part = seen.get("conditions", {}).get(group)
        if part is None:
            found.append((f"condition {group}", sorted(seen.get("conditions", {})), group))
            continue
        own = {key: cells for key, cells in rows.items() if key[0] == group}
        found += [(f"{group}: {what}", *values) for what, *values in _rows(part, own, pooled=False)]
        if by_targets:
            found = [row for row in found if row[0].endswith(("n_target", "n_hit", "n_miss"))]
            continue
        evaluated = {keyword for (_, keyword), cells in own.items() if cells["#Targ"]}
        ours = {block["id"] for block in part["blocks"] if block["twv"] is not None}
        if (
            _possible(part)
            and any(number(cells["TWV"]) is not None for cells in own.values())
            and not ours <= evaluated
        ):
            found.append((f"{group}: evaluated", sorted(ours), sorted(evaluated)))
    return found


def _alignments(place: Path) -> Found:
    return alignment_differences(*(_alignment(place / name) for name in ("ours.csv", "outalignment.csv")))


def _alignment(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return Counter((*row[1:4], *(_plain(cell) for cell in row[5:10]), *row[10:12]) for row in rows)


def _plain(text: str) -> str:
    """Numbers as one text each, times as exact as the tool prints them."""
    return f"{float(text):.9g}" if text else ""
