"""Random document cases with the live scoring tool of QUESST 2015: what it prints of single precision, at 2e-6.

The tool pools no ties in its PAV, so it is held to ``min_cnxe_pav_input_order``.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from live_peers import Found, close, differing, ours, run, started

from bench.installed import JAR
from tests.conformance.quesst_cases import ecf, rttm, stdlist, termlist

PRIOR = "0.0741289"
FIGURES = {"actTWV": "atwv", "maxTWV": "mtwv", "actCnxe": "cnxe", "minCnxe": "min_cnxe_pav_input_order"}
_MAIN = re.compile(r"(actTWV|maxTWV|Threshold|actCnxe|minCnxe): (\S+)")
PRECISION = 2e-6


@pytest.fixture(scope="module")
def jar() -> tuple[str, ...]:
    return started(JAR)


def test_random_cases(jar: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(lambda seed, place: explored(jar, seed, place)[1], tmp_path) == {}


def printed(text: str) -> dict[str, float]:
    """The figures of the main results."""
    main = text.rsplit("Main Results:", maxsplit=1)[-1].split("Model-dependent", maxsplit=1)[0]
    return {name: float(value.replace("Infinity", "inf")) for name, value in _MAIN.findall(main)}


def explored(start: tuple[str, ...], seed: int, place: Path) -> tuple[list[str], Found]:
    """The default score of a random case, where it has one, and every difference."""
    random = Random(f"jar {seed}")
    default = random.choice((None, None, "-10", "0.1"))
    files = _write(random, place, complete=default is None)
    words = [files[name] for name in ("out.xml", "key.rttm", "ecf.xml", "terms.xml")]
    told = run(start, [*words, PRIOR, *([default] if default else [])], place)
    named = ["-s", words[0], "-r", words[1], "-e", words[2], "-t", words[3]]
    settings = ["--set", f"p_target_effective={PRIOR}", *(["--set", f"censor={default}"] if default else [])]
    status, seen = ours(["--protocol", "quesst", *named, *settings])
    options = [default or "complete"]
    if status or told.returncode:
        refused = (told.stdout + told.stderr).strip().splitlines()[-1:]
        return options, [("scored", (status, seen.get("errors")), refused)]
    theirs = printed(told.stdout)
    found = []
    for name, measure in FIGURES.items():
        value = seen["measures"][measure]["value"]
        value = float(value) if isinstance(value, str) else value
        if not (abs(value - theirs[name]) <= PRECISION if value == 0 else close(value, theirs[name], rel=PRECISION)):
            found.append((name, value, theirs[name]))
    return options, found


def _write(random: Random, place: Path, *, complete: bool) -> dict[str, str]:
    """A few queries and documents; every query has a target, and some documents are none of its."""
    queries = [f"q{number:03d}" for number in range(random.randint(1, 5))]
    documents = [f"d{number:03d}" for number in range(random.randint(5, 30))]
    targets = [(query, name) for query in queries
               for name in sorted(random.sample(documents, k=random.randint(1, 4)))]  # fmt: skip
    digits = random.choice((1, 2, 4))
    rows = []
    for query in queries:
        for name in random.sample(documents, k=len(documents)):
            if complete or random.random() < 0.7:
                score = random.gauss(2 if (query, name) in targets else 0, 1.5)
                text = f"{score:.{digits}f}"
                text = text if float(text) else text.removeprefix("-")  # Java sorts -0.0 below 0.0; to us they tie
                rows.append((query, name, text, "YES" if score > 2.5 else "NO"))
    texts = {"ecf.xml": ecf(documents), "key.rttm": rttm(targets), "terms.xml": termlist(queries),
             "out.xml": stdlist(rows)}  # fmt: skip
    for name, text in texts.items():
        (place / name).write_text(text)
    return {name: str(place / name) for name in texts}
