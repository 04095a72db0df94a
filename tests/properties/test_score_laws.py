"""Laws of a whole cell, from files to figures: the order of rows, the perfect and the silent system."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.engine.result import document
from pipeline.engine.score import score_files

FILES = ("a", "b")
QUERIES = ("q1", "q2", "q3")
PROTOCOLS = [("sws2013", "official"), ("sws2013", "plan"), ("openkws13", "official")]


@dataclass(frozen=True)
class Row:
    """A detection, or with its score ignored an occurrence, of one second."""

    query: str
    file: str
    begin: float
    score: float
    decision: str


ROWS = st.builds(
    Row,
    st.sampled_from(QUERIES),
    st.sampled_from(FILES),
    # A coarse grid: overlaps, ties of time and ties of score are the rule, not the exception.
    st.integers(0, 40).map(lambda n: n / 4),
    st.integers(-4, 4).map(lambda n: n / 2),
    st.sampled_from(("YES", "NO")),
)
OCCURRENCES = st.lists(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from(FILES), st.integers(0, 10)), min_size=1, max_size=8, unique=True
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ECF and the query list; outputs and keys are written over and over."""
    made = tmp_path_factory.mktemp("laws")
    excerpts = "".join(
        f'<excerpt audio_filename="{file}.sph" channel="1" tbeg="0" dur="60" language="x" source_type="bnews"/>'
        for file in FILES
    )
    (made / "ecf").write_text(f'<ecf source_signal_duration="120" language="x" version="1">{excerpts}</ecf>')
    words = "".join(f'<kw kwid="{query}"><kwtext>{query}</kwtext></kw>' for query in QUERIES)
    head = '<kwlist ecf_filename="e" language="x" encoding="UTF-8" compareNormalize="" version="1">'
    (made / "kwlist").write_text(f"{head}{words}</kwlist>")
    return made


def score(folder: Path, protocol: tuple[str, str], key: list[tuple[str, str, int]], rows: Iterable[Row]) -> dict:
    """The document of an output of these rows, in this order, against this key; source lines left out."""
    name, mode = protocol
    in_time = sorted(key, key=lambda occurrence: occurrence[2])  # KWSEval's chains want transcripts in time
    (folder / "rttm").write_text("".join(f"LEXEME {file} 1 {begin} 1 {q} lex s <NA>\n" for q, file, begin in in_time))
    blocks: dict[str, str] = {}
    for row in rows:
        place = f'file="{row.file}" channel="1" tbeg="{row.begin}" dur="1"'
        kw = f'<kw {place} score="{row.score}" decision="{row.decision}"/>'
        blocks[row.query] = blocks.get(row.query, "") + kw
    body = "".join(
        f'<detected_kwlist kwid="{query}" search_time="1" oov_count="0">{kws}</detected_kwlist>'
        for query, kws in blocks.items()
    )
    (folder / "output").write_text(f'<kwslist kwlist_filename="k" language="x" system_id="s">{body}</kwslist>')
    inputs = {role: str(folder / role) for role in ("ecf", "rttm", "kwlist", "output")}
    scored = document(score_files(protocols.find(name, mode=mode), inputs), curve=True)
    return {part: scored[part] for part in ("facts", "measures", "blocks", "curve")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(key=OCCURRENCES, rows=st.lists(ROWS, max_size=14), seed=st.integers(0, 1000))
def test_the_order_of_rows_and_blocks_changes_nothing(
    folder: Path, protocol: tuple[str, str], key: list[tuple[str, str, int]], rows: list[Row], seed: int
) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert score(folder, protocol, key, shuffled) == score(folder, protocol, key, rows)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(key=OCCURRENCES)
def test_the_perfect_system_has_value_one(
    folder: Path, protocol: tuple[str, str], key: list[tuple[str, str, int]]
) -> None:
    rows = [Row(query, file, float(begin), 2.0, "YES") for query, file, begin in key]
    measures = score(folder, protocol, key, rows)["measures"]
    assert measures["atwv"]["value"] == 1
    assert measures["mtwv"]["value"] == 1
    assert measures["p_miss"]["value"] == 0
    assert measures["p_fa"]["value"] == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(key=OCCURRENCES)
def test_the_silent_system_has_value_zero(
    folder: Path, protocol: tuple[str, str], key: list[tuple[str, str, int]]
) -> None:
    measures = score(folder, protocol, key, [])["measures"]
    assert measures["atwv"]["value"] == 0
    assert measures["mtwv"]["value"] == 0
    assert measures["mtwv_threshold"]["reason"] == "no_scores"
    assert (measures["cnxe"]["value"], measures["cnxe"]["status"]) == (1, "no_scores")
