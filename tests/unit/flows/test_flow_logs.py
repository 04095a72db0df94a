"""Log lines for programs: from the flow and from Dask's workers, with evaluation, run and cell."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path

import pytest
from distributed import Client

from flows.clusters.kinds import open_cluster
from flows.logs import from_workers, structured
from flows.settings import Settings, settings_for
from pipeline.config import load_evaluation
from pipeline.engine.cell import do_cell
from pipeline.engine.plan import plan
from pipeline.errors import UsageError
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

FIXED = {"evaluation": "grid", "run": "0123"}
WAIT_S = 30.0


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_one_document_with_what_is_the_same_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("rescore.tasks")
    with structured("json", FIXED):
        log.info("tile %d\ndone", 3, extra={"cell": "p/d/good"})
        try:
            int("many")
        except ValueError:
            log.exception("it failed")
    log.info("after")
    first, second = lines(capsys.readouterr().err)
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info",
        "logger": "rescore.tasks",
        "message": "tile 3\ndone",
        **FIXED,
        "cell": "p/d/good",
    }
    assert (second["level"], second["exception"].splitlines()[-1]) == (
        "error",
        "ValueError: invalid literal for int() with base 10: 'many'",
    )


def test_text_is_the_default_and_says_nothing_of_what_went_well(capsys: pytest.CaptureFixture[str]) -> None:
    with structured(settings_for(environment={}).log, FIXED):
        logging.getLogger("rescore").info("all well")
    assert capsys.readouterr().err == ""
    with pytest.raises(UsageError, match=r"RESCORE_LOG must be text or json \('xml'\)"):
        settings_for(environment={"RESCORE_LOG": "xml"})


def test_workers_tell_of_every_task_with_its_cell_and_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(cells.write(tmp_path))), store)
    with (
        structured("json", FIXED),
        open_cluster(Settings(workers=1)) as cluster,
        Client(cluster.scheduler, set_as_default=False) as client,
    ):
        from_workers("json", client)
        work = do_cell(store, planned, planned.jobs[0].cell, client)
        said, limit = "", time.monotonic() + WAIT_S
        while '"task": "conclude"' not in said and time.monotonic() < limit:
            time.sleep(0.05)
            said += capsys.readouterr().err
    told = [line for line in lines(said) if line["logger"] == "rescore.tasks"]
    assert [line["task"] for line in told] == ["ingest", "batches", "conclude"]
    assert {(line["evaluation"], line["run"], line["plan"]) for line in told} == {
        ("grid", "0123", planned.address[:16])
    }
    assert {line["cell"] for line in told} == {str(planned.jobs[0].cell)}
    assert set(work.costs) == {"ingest", "batches", "conclude"}
    ingest = work.costs["ingest"]
    assert (ingest.n_tasks, ingest.cpu_s > 0, ingest.peak_rss_bytes > 1e6) == (1, True, True)
    assert ingest.bytes_read >= (tmp_path / "out/good/p_d.xml").stat().st_size
    assert ingest.bytes_written > 0
