"""Eight of 500 queries withdrawn: no output is parsed, no tile is aligned, and figures are a clean run's.

Four systems here; ``make soak`` has fifty (RESCORE_SYSTEMS).
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.steps import score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import Plan, missing, plan
from pipeline.engine.stored import references
from pipeline.engine.work import Work, total
from pipeline.store.blobs import Store
from tests.unit.engine.grid_of_cells import termlist

QUERIES = [f"q{number:03d}" for number in range(500)]
GONE = random.Random(8).sample(QUERIES, 8)
N_SYSTEMS = int(os.environ.get("RESCORE_SYSTEMS", "4"))
FILE_S = 3000.0
EVALUATION = """\
name: withdrawn
protocol: sws2013
datasets: {d: {ecf: d.ecf.xml, rttm: d.rttm}}
query_sets: {p: {kwlist: p.tlist.xml}}
systems: {pattern: 'out/{system}.xml'}
"""


def write(root: Path) -> None:
    """Every query is said once; systems find most of them, some late, and a false alarm for some."""
    chance = random.Random(500)
    (root / "out").mkdir()
    (root / "evaluation.yaml").write_text(EVALUATION)
    (root / "p.tlist.xml").write_text(termlist(*QUERIES))
    excerpt = f'<excerpt audio_filename="f.wav" channel="1" tbeg="0" dur="{FILE_S}" language="x" source_type="cts"/>'
    (root / "d.ecf.xml").write_text(f'<ecf source_signal_duration="{FILE_S}" version="1">{excerpt}</ecf>')
    begin_s = {query: 5.0 * number for number, query in enumerate(QUERIES)}
    (root / "d.rttm").write_text(
        "".join(f"LEXEME f 1 {begin} 0.5 {query} lex SELF <NA>\n" for query, begin in begin_s.items())
    )
    texts = [output(chance, begin_s) for _ in range(N_SYSTEMS)]
    assert len(set(texts)) == N_SYSTEMS, "no two outputs are the same"
    for system, text in enumerate(texts):
        (root / f"out/s{system:02d}.xml").write_text(text)


def output(chance: random.Random, begin_s: dict[str, float]) -> str:
    blocks = []
    for query, begin in begin_s.items():
        found = [(begin + chance.choice((0.1, 0.1, 9.0)), 2.0)] if chance.random() < 0.8 else []
        wrong = [(begin + 2.5, chance.choice((0.5, 3.0)))] if chance.random() < 0.3 else []
        row = '<term file="f" channel="1" tbeg="{}" dur="0.5" score="{}" decision="{}"/>'
        rows = "".join(row.format(at, score, "YES" if score > 1 else "NO") for at, score in (*found, *wrong))
        head = f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">'
        blocks.append(f"{head}{rows}</detected_termlist>\n")
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">'
    return f"{head}\n{''.join(blocks)}</stdlist>\n"


def by_the_list(root: Path) -> None:
    (root / "p.tlist.xml").write_text(termlist(*(query for query in QUERIES if query not in GONE)))


def by_an_overlay(root: Path) -> None:
    about = "author: A. Organiser, date: 2026-11-28, reason: said in no recording"
    path = root / "evaluation.yaml"
    path.write_text(f"{path.read_text()}overlays: [{{withdraw_queries: [{', '.join(GONE)}], {about}}}]\n")


def run(root: Path, store: Store) -> tuple[Plan, Work]:
    references.load.cache_clear()
    planned = plan(load_evaluation(str(root / "evaluation.yaml")), store)
    return planned, total([planned.work, score_here(store, planned, missing(planned.jobs, store))])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("withdrawal")
    write(root)
    run(root, Store(str(root / "store")))
    return root


@pytest.mark.parametrize("withdraw", [by_the_list, by_an_overlay])
def test_withdrawing_parses_no_output(base: Path, tmp_path: Path, withdraw: Callable[[Path], None]) -> None:
    root = Path(shutil.copytree(base, tmp_path / "copy", ignore=shutil.ignore_patterns("out")))
    (root / "out").symlink_to(base / "out")
    withdraw(root)
    store = Store(str(root / "store"))
    planned, work = run(root, store)
    told = work.document()
    assert (told["results"]["made"], told["trials"]["made"]) == (N_SYSTEMS, 0)
    assert told["labels"]["made"] == (N_SYSTEMS if withdraw is by_the_list else 0)
    assert told["tables"]["made"] == (1 if withdraw is by_the_list else 0)

    clean = Store(str(tmp_path / "clean"))
    again, _ = run(root, clean)
    assert again.address == planned.address
    assert set(clean.listing()) <= set(store.listing())
    for path in clean.listing("results"):
        assert clean.get(path) == store.get(path)


def test_a_query_that_comes_back_needs_nothing_but_figures(base: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(base, tmp_path / "copy", ignore=shutil.ignore_patterns("out")))
    (root / "out").symlink_to(base / "out")
    store = Store(str(root / "store"))
    by_the_list(root)
    run(root, store)
    for path in store.listing("results"):
        store.remove(path)
    (root / "p.tlist.xml").write_text(termlist(*QUERIES))
    made = run(root, store)[1].document()
    rings = ("tables", "references", "trials", "labels")
    assert [made[ring]["made"] for ring in rings] == [0] * len(rings)
