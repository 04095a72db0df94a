"""Random lists with the live compute-atwv of Kaldi: approximate ATWV and STWV, where the approximation says the same.

Kaldi maps greedily within half a second of the centres and decides by score >= 0.5; its MTWV and OTWV are of a grid of
thresholds. So occurrences lie far apart here, detections near them or far from all, and YES is 0.5 or more.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from live_kws import Case, Detection, write_kws
from live_peers import Found, close, differing, ours, run, started

from bench.installed import KALDI
from bench.peers import write_lists

FIGURES = {"ATWV": "atwv", "STWV": "twv_supremum"}
_PRINTED = re.compile(r"aproximate (\w+) = (\S+)")  # as the tool spells it
FILE_S = 200


@pytest.fixture(scope="module")
def kaldi() -> tuple[str, ...]:
    return started(KALDI)


def test_random_cases(kaldi: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(lambda seed, place: explored(kaldi, seed, place)[1], tmp_path) == {}


def test_what_it_prints_is_read() -> None:
    text = "aproximate ATWV = 0.7191\naproximate STWV = -1.5\naproximate MTWV = 0.7\naproximate MTWV threshold = 0.35\n"
    assert printed(text) == {"ATWV": 0.7191, "STWV": -1.5, "MTWV": 0.7}


def test_its_lists_hold_what_the_case_holds(tmp_path: Path) -> None:
    made = _case(Random(1))
    files = write_kws(made, tmp_path)
    write_lists(tmp_path, {"rttm": files["-r"], "output": files["-s"]})
    n_rows = sum(len(rows) for _, _, rows in made.blocks)
    assert len((tmp_path / "hyp.list").read_text().splitlines()) == n_rows > 0
    assert len((tmp_path / "ref.list").read_text().splitlines()) == len(made.rttm) > 0
    status, seen = ours(["--protocol", "openkws13", *(word for pair in files.items() for word in pair)])
    assert status == 0
    assert seen["facts"]["n_target"] == len(made.rttm)


def printed(text: str) -> dict[str, float]:
    """The figures by name."""
    return {name: float(value) for name, value in _PRINTED.findall(text)}


def explored(start: tuple[str, ...], seed: int, place: Path) -> tuple[list[str], Found]:
    """No options, and every difference of a random case."""
    made = _case(Random(f"kaldi {seed}"))
    files = write_kws(made, place)
    write_lists(place, {"rttm": files["-r"], "output": files["-s"]})
    duration = str(FILE_S * len(made.excerpts))
    told = run(start, [duration, f"ark:{place / 'ref.list'}", f"ark:{place / 'hyp.list'}"], place)
    status, seen = ours(["--protocol", "openkws13", *(word for pair in files.items() for word in pair)])
    theirs = printed(told.stdout)
    if status or not theirs:
        return [], [("scored", (status, seen.get("errors")), told.stderr.strip().splitlines()[-1:])]
    pairs = [(name, seen["measures"][measure]["value"], theirs[name]) for name, measure in FIGURES.items()]
    return [], [pair for pair in pairs if not close(*pair[1:], places=3)]


def _case(random: Random) -> Case:
    """Recordings and keywords named as the lists want them; every keyword occurs."""
    files = [f"FILE_{number:04d}_inLine" for number in range(1, random.randint(1, 3) + 1)]
    n_keywords = random.randint(1, 5)
    rttm, blocks = list[str](), list[tuple[str, str, list[Detection]]]()
    slots = {file: random.sample(range(5, FILE_S - 5, 5), k=(FILE_S - 10) // 5) for file in files}
    for keyword in range(n_keywords):
        rows = list[Detection]()
        for file in random.choices(files, k=random.randint(1, 4)):
            begin = slots[file].pop() if len(slots[file]) > 1 else FILE_S - 3
            rttm.append(f"LEXEME {file} 1 {begin:.2f} 0.50 word{keyword:05d} lex A <NA>")
            if random.random() < 0.7:
                rows.append(_detection(random, file, begin + random.choice((0, 0.1, -0.2))))
        rows += [_detection(random, file, slots[file].pop() + 2) for file in files if len(slots[file]) > 1]
        blocks.append((f"KW-{keyword:05d}", "0", rows))
    keywords = [(name, f"word{name.removeprefix('KW-')}", "1") for name, _, _ in blocks]
    excerpts = [(file, "1", "0", str(FILE_S), "bnews") for file in files]
    return Case(excerpts, sorted(rttm), keywords, blocks, "", "")


def _detection(random: Random, file: str, begin: float) -> Detection:
    score = random.random()
    return (file, "1", f"{begin:.2f}", "0.50", f"{score:.6f}", "YES" if float(f"{score:.6f}") >= 0.5 else "NO")
