"""Two processes that publish the same run at the same time, of which one knows a run before it and one does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.steps import score_here
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import plan
from pipeline.grid import faults, publish
from pipeline.store import manifest
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells


def reports(text: str, meanwhile: Any = None) -> Any:
    def report(store: Store, place: str, *_: object) -> dict[str, str]:
        path = f"{place}-{text}/index.html"
        store.put(path, text.encode())
        if meanwhile is not None:
            meanwhile()
        return {"index.html": path}

    return report


def test_the_manifest_of_a_run_is_written_once_and_every_commit_names_it(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(cells.write(tmp_path))), store)
    score_here(store, planned, planned.jobs)
    results = [load_result(store, job.address) for job in planned.jobs]
    late = publish(store, planned, results, reports("one", lambda: publish(store, planned, results, reports("other"))))
    assert [Path(path).parent.name.rpartition("-")[2] for path in late.reports.values()] == ["other"]
    assert faults(store, late.id) == []
    digests = {entry["sha256"] for entry in manifest.history(store, "grid").values()}
    assert digests == {store.describe(f"runs/{late.id}.json")["sha256"]}
