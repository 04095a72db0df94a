"""Cells above the bound: they are counted in parts, passes run on the cluster, and every result has the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster, get_task_stream

from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.large import BOUND, rows_in_memory
from pipeline.engine.plan import Plan, plan
from pipeline.errors import UsageError
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

QUERIES, DOCUMENTS = [f"q{n}" for n in range(12)], [f"d{n:02d}" for n in range(40)]
N_ROWS = len(QUERIES) * len(DOCUMENTS) * 3 // 4


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """QUESST's files: three quarters of all pairs are scored, most scores are distinct."""
    random, place = np.random.default_rng(7), tmp_path_factory.mktemp("quesst")
    pairs = [(query, document) for query in QUERIES for document in DOCUMENTS]
    targets = {pair for pair in pairs if random.random() < 0.1}
    excerpt = '<excerpt audio_filename="{}.wav" channel="1" tbeg="0" dur="10" language="x" source_type="c"/>'
    (place / "ecf.xml").write_text(f'<ecf version="1">{"".join(map(excerpt.format, DOCUMENTS))}</ecf>')
    (place / "key.rttm").write_text("".join(f"LEXEME {d} 1 0 10 {q} lex SELF <NA>\n" for q, d in sorted(targets)))
    terms = "".join(f'<term termid="{q}"><termtext>{q}</termtext></term>' for q in QUERIES)
    (place / "terms.xml").write_text(f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>')
    kept = sorted(random.choice(len(pairs), N_ROWS, replace=False).tolist())
    for name, digits in (("distinct", 6), ("tied", 0)):
        blocks = dict.fromkeys(QUERIES, "")
        for query, document in (pairs[row] for row in kept):
            score = random.normal(3.0 if (query, document) in targets else -2.0, 2.0)
            blocks[query] += f'<term file="{document}" channel="1" tbeg="0" dur="10" score="{score:.{digits}f}" '
            blocks[query] += f'decision="{"YES" if score > 1 else "NO"}"/>\n'
        head = '<detected_termlist termid="{}" term_search_time="1" oov_term_count="0">{}</detected_termlist>'
        body = "".join(head.format(query, rows) for query, rows in blocks.items())
        opening = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">'
        (place / f"{name}.xml").write_text(f"{opening}{body}</stdlist>")
    return place


def evaluation(folder: Path, output: str = "distinct", protocol: str = "quesst", **settings: str) -> Evaluation:
    return Evaluation(
        name="large",
        protocol=protocol,
        mode="official",
        overrides=tuple({"censor": "-10", **settings}.items()),
        datasets=(Dataset("d", str(folder / "ecf.xml"), str(folder / "key.rttm")),),
        query_sets=(QuerySet("q", str(folder / "terms.xml")),),
        systems=(System("s", outputs={("q", "d"): str(folder / f"{output}.xml")}),),
    )


def scored(asked: Evaluation, store: Store, client: Client | None) -> tuple[Plan, bytes]:
    planned = plan(asked, store)
    [job] = planned.jobs
    score_cell(store, planned, job.cell, client)
    return planned, store.get(job.path)


def labels(store: Store) -> dict[str, bytes]:
    return {path: store.get(path) for path in store.listing("labels")}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of some 60 rows; all cells of more than 300 distinct scores are too large."""
    monkeypatch.setenv(BOUND, "300")
    monkeypatch.setattr("pipeline.engine.tasks.ROWS_PER_TASK", 60)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("protocol", ["quesst", "sws2013"])
def test_a_cell_above_the_bound_is_calibrated_in_passes(
    folder: Path, tmp_path: Path, client: Client, protocol: str
) -> None:
    asked = evaluation(folder, protocol=protocol, p_target_effective="0.1")
    alone, large = Store(str(tmp_path / "alone")), Store(str(tmp_path / "large"))
    with get_task_stream(client) as passes:
        planned, found = scored(asked, large, client)
    assert found == scored(asked, alone, None)[1]
    assert labels(large) == labels(alone)
    assert load_result(large, planned.jobs[0].address).figures["min_cnxe_affine"].status == "ok"
    done = [task for task in passes.data if task["key"].startswith("pass_over")]
    assert len({task["worker"] for task in done}) == 2
    # Every pass has a task for each part: of all trials, of all rows, for each Newton step.
    n_parts = sum(task["key"].startswith("kept") for task in passes.data)
    assert n_parts > 4
    assert len(done) > 4 * n_parts
    assert not large.listing("scratch")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("is_damaged", [False, True])
def test_another_operating_point_counts_from_the_labels_and_mends_damaged_ones(
    folder: Path, tmp_path: Path, client: Client, *, is_damaged: bool
) -> None:
    store = Store(str(tmp_path / "store"))
    scored(evaluation(folder), store, client)
    [(path, data)] = labels(store).items()
    if is_damaged:
        at = len(data) // 8
        store.put(path, data[:at] + bytes(200) + data[at + 200 :])
    _, found = scored(evaluation(folder, p_target_effective="0.3"), store, client)
    assert labels(store) == {path: data}
    assert not store.listing("scratch")
    assert found == scored(evaluation(folder, p_target_effective="0.3"), Store(str(tmp_path / "alone")), None)[1]


@pytest.mark.usefixtures("small")
def test_equal_scores_are_one_row_before_the_bound_is_asked(folder: Path, tmp_path: Path, client: Client) -> None:
    store = Store(str(tmp_path / "store"))
    planned, found = scored(evaluation(folder, "tied"), store, client)
    [job] = planned.jobs
    assert rows_in_memory() < N_ROWS
    assert found == scored(evaluation(folder, "tied"), Store(str(tmp_path / "alone")), None)[1]
    assert load_result(store, job.address).figures["min_cnxe_pav"].reason is None


@pytest.mark.usefixtures("small")
def test_a_refusal_has_the_same_words(folder: Path, tmp_path: Path, client: Client) -> None:
    asked = evaluation(folder, censor="error")
    planned, found = scored(asked, Store(str(tmp_path / "store")), client)
    assert found == scored(asked, Store(str(tmp_path / "alone")), None)[1]
    assert b"120 pairs of 12 queries have no score" in found
    assert planned.jobs[0].failed is None


@pytest.mark.parametrize("text", ["", "-1", "1e6", "many"])
def test_a_bound_is_a_whole_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(BOUND, text)
    with pytest.raises(UsageError, match=BOUND):
        rows_in_memory()
