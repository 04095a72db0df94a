"""Eight of five hundred queries withdrawn under fifty systems: nothing is read or aligned, and the bits are right."""

from __future__ import annotations

import season_files as files

from flows.steps import score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.store.blobs import Store

N_QUERIES, N_SYSTEMS, N_OUTPUTS = 500, 50, 5
GONE = [f"q{number:03d}" for number in range(3, 499, 62)]


def evaluation(folder, *more):
    systems = [f"  s{at:02d}: {{outputs: out{at % N_OUTPUTS}.xml}}" for at in range(N_SYSTEMS)]
    head = ["name: big", "protocol: sws2013", "datasets: {d: {ecf: ecf.xml, rttm: key.rttm}}"]
    lines = [*head, "query_sets: {q: {kwlist: terms.xml}}", "systems:", *systems, *more]
    path = folder / f"evaluation{len(more)}.yaml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def scored(path, store):
    """The plan, and what its scoring made."""
    work = plan(load_evaluation(path), store)
    return work, score_here(store, work, missing(work.jobs, store))


def test_eight_of_five_hundred_queries_are_withdrawn(tmp_path):
    gone = GONE
    assert len(gone) == 8
    queries = tuple(f"q{number:03d}" for number in range(N_QUERIES))
    (tmp_path / "ecf.xml").write_text(files.ECF)
    (tmp_path / "terms.xml").write_text(files.kwlist(queries))
    spoken = [(query, "ab"[at % 2], 0.05 * at) for at, query in enumerate(queries)]
    rows = [f"LEXEME {file} 1 {begin:.2f} 0.05 {query} lex s <NA>\n" for query, file, begin in spoken]
    (tmp_path / "key.rttm").write_text("".join(rows))
    for at in range(N_OUTPUTS):
        found = {query: [(file, begin, 1.0 + at)] for query, file, begin in spoken[at::3]}
        (tmp_path / f"out{at}.xml").write_text(files.stdlist(found))
    overlay = f"overlays: [{{withdraw_queries: [{', '.join(gone)}], author: A, date: 2026-06-02, reason: misspelt}}]"
    store, clean = Store(str(tmp_path / "store")), Store(str(tmp_path / "clean"))
    scored(evaluation(tmp_path), store)
    work, made = scored(evaluation(tmp_path, overlay), store)
    rings = made.document()
    assert rings["trials"]["made"] == rings["partials"]["made"] == rings["totals"]["made"] == 0
    assert rings["results"]["made"] == N_SYSTEMS
    again, _ = scored(evaluation(tmp_path, overlay), clean)
    assert [job.path for job in work.jobs] == [job.path for job in again.jobs]
    assert all(store.get(job.path) == clean.get(job.path) for job in work.jobs)
    scored_queries = store.get_sealed(work.jobs[0].path)
    assert not any(f'"id":"{query}","n_target":1'.encode() in scored_queries for query in gone)
