"""The published QUESST 2015 key with a made-up output of over 200,000 rows, through flow, Dask and store."""

from __future__ import annotations

import os
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flows.rescore import run_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.formats.kws.ecf import read_ecf
from pipeline.formats.kws.kwlist import read_kwlist
from pipeline.grid import latest
from pipeline.metrics.kws.det import thinned
from pipeline.protocols import find
from pipeline.store.blobs import Store

ROWS_PER_QUERY = 460


@pytest.fixture(scope="module")
def key(require: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the key, unpacked."""
    root = Path(__file__).parents[2].parent / "shared" / "data"
    archive = Path(os.environ.get("RESCORE_DATA") or root) / "groundtruth_quesst2015_dev.tgz"
    require("data", archive.is_file(), f"{archive} is not there")
    folder = tmp_path_factory.mktemp("quesst")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "groundtruth_quesst2015_dev"


def write_output(key: Path, path: Path) -> int:
    """A made-up output: for every query, scores for as many documents; returns the number of rows."""
    with (key / "quesst2015_dev.tlist.xml").open("rb") as stream:
        queries = read_kwlist(stream, "tlist").keywords.text("id")
    with (key / "quesst2015.ecf.xml").open("rb") as stream:
        files = [Path(name).stem for name in read_ecf(stream, "ecf").excerpts.text("file")]
    targets = {
        tuple(line.split()[i] for i in (5, 1)) for line in (key / "quesst2015_dev.rttm").read_text().splitlines()
    }
    random = np.random.default_rng(2015)
    rows = 0
    with path.open("w") as output:
        output.write('<stdlist termlist_filename="t" indexing_time="1" language="m" index_size="1" system_id="s">\n')
        for query in queries:
            output.write(f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n')
            for row in random.choice(len(files), ROWS_PER_QUERY, replace=False):
                score = random.normal(4.0 if (query, files[row]) in targets else -3.0, 2.2)
                decision = "YES" if score >= 2.5 else "NO"
                place = f'file="{files[row]}" channel="1" tbeg="0" dur="10"'
                output.write(f'<term {place} score="{score:.4f}" decision="{decision}"/>\n')
                rows += 1
            output.write("</detected_termlist>\n")
        output.write("</stdlist>\n")
    return rows


def test_a_run_over_the_real_key(
    key: Path, tmp_path: Path, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that it is scored as a large cell: in batches on both workers, whose partials are added up.
    monkeypatch.setattr("pipeline.engine.cell.BYTES_PER_TASK", 1_000_000)
    monkeypatch.setattr("pipeline.engine.tasks.ROWS_PER_TASK", 50_000)
    n_rows = write_output(key, tmp_path / "made-up.stdlist.xml")
    assert n_rows >= 200_000
    (tmp_path / "evaluation.yaml").write_text(
        "name: quesst-2015-dev\nprotocol: sws2013\n"
        f"datasets: {{dev: {{ecf: {key}/quesst2015.ecf.xml, rttm: {key}/quesst2015_dev.rttm}}}}\n"
        f"query_sets: {{dev-q: {{kwlist: {key}/quesst2015_dev.tlist.xml}}}}\n"
        "systems: {made-up: {outputs: made-up.stdlist.xml}}\n"
    )
    store = Store(str(tmp_path / "store"))
    summary = run_evaluation(str(tmp_path / "evaluation.yaml"), store=store.root, workers=2, quiet=True)
    assert (summary.n_scored, summary.n_failed) == (1, 0)
    run = latest(store, "quesst-2015-dev")
    assert run is not None
    [job] = load_plan(store, run.plan).jobs
    assert not store.listing("scratch")
    kept = document(load_result(store, job.address), curve=True)
    facts = kept["facts"]
    # What the key's own paper trail says: 445 queries, one without occurrence, 3,803 target pairs.
    assert (facts["n_queries"], facts["n_queries_scored"], facts["n_target"]) == (445, 444, 3803)
    assert (facts["n_detections"], facts["n_outside_ecf"]) == (n_rows, 0)
    assert any(warning["code"] == "duration_mismatch" for warning in kept["warnings"])
    alone = score_files(find("sws2013"), {role: source.uri for role, source in job.inputs.items()}, cell=job.cell)
    alone = replace(alone, curve=thinned(alone.curve))
    for part in ("measures", "blocks", "curve", "facts"):
        assert document(alone, curve=True)[part] == kept[part]
