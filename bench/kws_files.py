"""A made-up keyword search evaluation of a given size: key, query list and one output, as files.

As many keywords, occurrences and hours as a large evaluation has: occurrences are spread over keywords as words are
(Zipf), a quarter of them close together, three quarters are found, and all other detections are false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

N_QUERIES = 4000
N_TRUE = 30_000
FILE_S = 600
INPUTS = {"ecf": "key.ecf.xml", "rttm": "key.rttm", "kwlist": "key.kwlist.xml", "output": "out.kwslist.xml"}
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class _Rows:
    """Query, file, begin and duration (hundredths of a second) of occurrences or detections."""

    query: Any
    file: Any
    begin: Any
    dur: Any


def write_files(folder: Path, rows: int, n_queries: int = N_QUERIES, n_true: int = N_TRUE) -> dict[str, str]:
    """Write the evaluation; returns the paths of its inputs by role."""
    random = np.random.default_rng(14)
    n_files = audio_s(rows) // FILE_S
    spoken = _occurrences(random, n_files, n_queries, n_true)
    _write_key(folder, spoken, n_files, n_queries)
    _write_output(folder / INPUTS["output"], random, spoken, n_files, n_queries, rows)
    return {role: str(folder / name) for role, name in INPUTS.items()}


def audio_s(rows: int) -> int:
    """Seconds of audio of an evaluation with so many detections."""
    return (75 if rows <= 100_000 else 100 if rows <= 1_000_000 else 250) * 3600


def _occurrences(random: np.random.Generator, n_files: int, n_queries: int, n_true: int) -> _Rows:
    share = 1.0 / np.arange(1, n_queries + 1)
    query = random.choice(n_queries, n_true, p=share / share.sum())
    file, begin = random.integers(0, n_files, n_true), random.integers(0, FILE_S * 100 - 500, n_true)
    near = random.choice(n_true, n_true // 4, replace=False)
    beside = random.integers(0, n_true, near.size)
    query[near], file[near] = query[beside], file[beside]
    begin[near] = np.clip(begin[beside] + random.integers(40, 150, near.size), 0, FILE_S * 100 - 500)
    return _Rows(query, file, begin, random.integers(20, 80, n_true))


def _write_key(folder: Path, spoken: _Rows, n_files: int, n_queries: int) -> None:
    excerpts = "".join(
        f'<excerpt audio_filename="FILE_{file:04d}_inLine.sph" channel="1" tbeg="0" dur="{FILE_S}" '
        'source_type="bnews"/>\n'
        for file in range(n_files)
    )
    seconds = n_files * FILE_S
    head = f'<ecf source_signal_duration="{seconds}" language="english" version="1">\n'
    (folder / INPUTS["ecf"]).write_text(f"{head}{excerpts}</ecf>\n")
    keywords = "".join(f'<kw kwid="KW-{q:05d}"><kwtext>word{q:05d}</kwtext></kw>\n' for q in range(n_queries))
    head = '<kwlist ecf_filename="key.ecf.xml" language="english" encoding="UTF-8" compareNormalize="" version="1">\n'
    (folder / INPUTS["kwlist"]).write_text(f"{head}{keywords}</kwlist>\n")
    order = np.lexsort((spoken.begin, spoken.file))
    columns = (column[order].tolist() for column in (spoken.file, spoken.begin, spoken.dur, spoken.query))
    (folder / INPUTS["rttm"]).write_text(
        "".join(
            f"LEXEME FILE_{file:04d}_inLine 1 {begin / 100:.2f} {dur / 100:.2f} word{query:05d} lex SELF <NA>\n"
            for file, begin, dur, query in zip(*columns, strict=True)
        )
    )


def _write_output(
    path: Path, random: np.random.Generator, spoken: _Rows, n_files: int, n_queries: int, rows: int
) -> None:
    found = np.flatnonzero(random.random(spoken.query.size) < 0.75)[:rows]
    n_false = rows - found.size
    query = np.concatenate((spoken.query[found], random.integers(0, n_queries, n_false)))
    file = np.concatenate((spoken.file[found], random.integers(0, n_files, n_false)))
    near = np.maximum(spoken.begin[found] + random.integers(-20, 20, found.size), 0)
    begin = np.concatenate((near, random.integers(0, FILE_S * 100 - 100, n_false)))
    score = np.concatenate((random.beta(4, 2, found.size), random.beta(1, 6, n_false)))
    order = np.argsort(query, kind="stable")
    numbers = file[order], begin[order], random.integers(20, 80, rows), (score[order] * 1e6).round().astype(np.int64)
    ends = np.searchsorted(query[order], np.arange(n_queries + 1))
    with path.open("w") as out:
        head = '<kwslist kwlist_filename="key.kwlist.xml" language="english" system_id="made up">'
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n')
        for number, (first, last) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            out.write(f'  <detected_kwlist kwid="KW-{number:05d}" search_time="1.5" oov_count="0">\n')
            out.writelines(_detections(*(column[first:last].tolist() for column in numbers)))
            out.write("  </detected_kwlist>\n")
        out.write("</kwslist>\n")


def _detections(file: list[int], begin: list[int], dur: list[int], score: list[int]) -> Iterator[str]:
    for of_file, begins, lasts, worth in zip(file, begin, dur, score, strict=True):
        decision = "YES" if worth >= 500_000 else "NO"
        place = f'file="FILE_{of_file:04d}_inLine" channel="1" tbeg="{begins / 100:.2f}" dur="{lasts / 100:.2f}"'
        yield f'    <kw {place} score="{worth / 1e6:.6f}" decision="{decision}"/>\n'
