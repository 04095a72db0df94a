"""Debian's sclite on one case, and ours, both as counts, percentages, entropies and alignments."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sclite_random import Case

from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.protocols import find
from tests.conformance.sclite_cases import rounded, seen_alignment

COLUMNS = ("n_segments", "n_ref", "corr", "sub", "del", "ins", "err", "seg_err")
MEANS = {"Mean", "S.D.", "Median"}
HALF_A_DIGIT = 0.000501
"""Of the three decimals of an entropy, with what arithmetic adds."""
NOT_A_NUMBER = -2147483.648
"""What sclite prints for an entropy that is none."""
_PROCESSOR_S, _WALL_S, _KILOBYTES_AT_MOST = 5, 60, 1 << 17
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TAG = re.compile(r"(?<!\\);")


@dataclass(frozen=True)
class Outcome:
    """What a scorer says: rows of counts and of percentages by speaker, entropies, and alignments of segments."""

    counts: dict[str, tuple[float, ...]]
    percentages: dict[str, tuple[float, ...]]
    nce: dict[str, float | None]
    alignments: Counter[str]


def command() -> list[str] | None:
    """How sclite is called here, None where it is not."""
    if shutil.which("sclite"):
        return ["sclite"]
    return ["sctk", "sclite"] if shutil.which("sctk") else None


def theirs(case: Case, place: Path) -> Outcome | str:
    """sclite's outcome, or how it ended where there is none."""
    kinds = ("trn", "trn") if case.protocol == "stt-trn" else ("stm", "ctm")
    (place / "ref").write_text(case.reference)
    (place / "hyp").write_text(case.output)
    files = ["-r", "ref", kinds[0], "-h", "hyp", kinds[1], *(["-i", "spu_id"] if kinds[0] == "trn" else [])]
    reports = ["-f", "0", "-o", "sum", "rsum", "nl.sgml", "-O", ".", "-n", "out"]
    for old in place.glob("out.*"):
        old.unlink()
    status, said = _run([*(command() or []), *files, *case.options, *reports], place)
    if status:
        return f"ends with {status}: {said.strip()[-200:]}"
    counts, nce = _table((place / "out.raw").read_text())
    percentages, _ = _table((place / "out.sys").read_text())
    return Outcome(counts, percentages, nce, _alignments((place / "out.nl.sgml").read_text(), case.protocol))


def differences(wanted: Outcome, seen: Outcome) -> list[str]:
    """Where ours differs from sclite, in words.

    Not held against each other, as sclite prints something else there: percentages of speakers without reference
    tokens (counts with ``*``); means of percentages with two such speakers or more, whose array it shifts, and of
    such speakers alone; and entropies where no word of the output has letters: 0 of a speaker and 1 of all, which are
    none for ours.
    """
    speakers = wanted.counts.keys() - MEANS
    wordless = {name for name in speakers if not wanted.counts[name][1]}
    means = MEANS if len(wordless - {"Sum"}) < 2 and "Sum" not in wordless else set()
    counts = {name: wanted.counts[name] for name in speakers}
    told = _unlike("counts", counts, {name: seen.counts.get(name) for name in speakers})
    for what, theirs_, ours_, rows in (
        ("means of counts", wanted.counts, seen.counts, MEANS),
        ("percentages", wanted.percentages, seen.percentages, (speakers - wordless) | means),
    ):
        shown = {name: tuple(map(_tenths, ours_.get(name, ()))) for name in rows}
        told += _unlike(what, {name: theirs_[name] for name in rows}, shown)
    for name in wanted.nce.keys() - MEANS:
        value, own = wanted.nce[name], seen.nce.get(name)
        defined = value is not None and (name != "Sum" or _has_letters(wanted))
        alike = own is not None and value is not None and abs(own - value) <= HALF_A_DIGIT
        if not (alike if defined and (value or own is not None) else own is None):
            told.append(f"entropy of {name}: {value}, ours {own}")
    return [*told, *_unlike("alignments", dict(wanted.alignments), dict(seen.alignments))]


def _unlike(what: str, wanted: Mapping[str, object], seen: Mapping[str, object]) -> list[str]:
    names = sorted({*wanted, *seen})
    unlike = [name for name in names if wanted.get(name) != seen.get(name)]
    return [f"{what}: {name}: {wanted.get(name)}, ours {seen.get(name)}" for name in unlike]


def _has_letters(outcome: Outcome) -> bool:
    """Whether any word of the output has letters."""
    return any(step[2] for alignment in outcome.alignments for step in json.loads(alignment)[-1])


def _run(words: list[str], place: Path) -> tuple[int, str]:
    """Status and complaints of a command whose processes all end with it: sclite can split words without end."""
    with subprocess.Popen(
        ["sh", "-c", f'ulimit -t {_PROCESSOR_S}; ulimit -v {_KILOBYTES_AT_MOST}; exec "$@"', "sclite", *words],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        errors="replace",
    ) as process:
        try:
            _, said = process.communicate(timeout=_WALL_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, said = process.communicate()
    return process.returncode, said


def _table(report: str) -> tuple[dict[str, tuple[float, ...]], dict[str, float | None]]:
    """Rows of numbers by speaker (``Sum`` for all) without their footnotes, and the entropies that are printed."""
    rows: dict[str, tuple[float, ...]] = {}
    nce: dict[str, float | None] = {}
    for line in report.splitlines():
        name, *cells = (cell.split() for cell in line.strip().strip("|").split("|"))
        if len(name) != 1 or name[0] == "SPKR" or len(cells) < 2:
            continue
        row = name[0].split("/")[0]
        rows[row] = tuple(float(cell.rstrip("*+")) for cell in cells[0] + cells[1])
        if len(cells) > 2 and cells[2] and not cells[2][0].endswith("#"):
            nce[row] = None if float(cells[2][0]) == NOT_A_NUMBER else float(cells[2][0])
    return rows, nce


def _alignments(report: str, protocol: str) -> Counter[str]:
    found: Counter[str] = Counter()
    lines = iter(report.split("\n"))
    for line in lines:
        if not line.startswith("<PATH "):
            continue
        about = dict(_ATTRIBUTE.findall(line))
        width = 3 + len(list(filter(None, about.get("word_aux", "").split(","))))
        body = []
        while (line := next(lines)) != "</PATH>":
            body.append(line)
        steps = [_step(body[at : at + 3]) for at in range(0, width * int(about["word_cnt"]), width)]
        names = ["", ""] if protocol == "stt-trn" else [about["file"], about["channel"]]
        found[json.dumps([*names, about["id"], steps])] += 1
    return found


def _step(fields: list[str]) -> list[str | None]:
    return [fields[0], *(_word(field) for field in fields[1:])]


def _word(field: str) -> str | None:
    return _TAG.split(field[1:-1], maxsplit=1)[0].replace("\\;", ";") if field else None


def ours(case: Case, place: Path) -> Outcome:
    """The same of ours."""
    (place / "ref").write_text(case.reference)
    (place / "hyp").write_text(case.output)
    settings = {name: str(value) for name, value in case.settings.items()}
    protocol = find(case.protocol, overrides={**settings, "alignment": "true"})
    result = document(score_files(protocol, {"stm": str(place / "ref"), "ctm": str(place / "hyp")}))
    counts, percentages = ({row["id"]: _numbers(row) for row in result[table]} for table in ("raw", "sys"))
    nce = {row["id"]: row["nce"] for row in result["blocks"]}
    nce["Sum"] = result["measures"]["nce"]["value"]
    return Outcome(counts, percentages, nce, seen_alignment(result))


def _numbers(row: Mapping[str, float | None]) -> tuple[float, ...]:
    return tuple(math.nan if (value := row[column]) is None else float(value) for column in COLUMNS)


def _tenths(value: float) -> float:
    return value if math.isnan(value) else rounded(value)
