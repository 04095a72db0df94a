"""The watching flow: nothing where nothing changed, else a run, published or kept for a person, and word of it."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.errors import UsageError
from pipeline.grid import latest
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

WAIT_S = 60.0

# Prefect leaves the socket of a client that has done its part to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def place(tmp_path: Path, prefect_server: None) -> Iterator[Path]:
    """A folder with an evaluation and a store with its first run."""
    evaluation = cells.write(tmp_path)
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(evaluation)), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    yield tmp_path
    gc.collect()  # what Prefect left, while nobody minds


def look(place: Path, publish: bool | None = None) -> object:
    from flows.watch import watch

    return watch(str(place / "evaluation.yaml"), str(place / "store"), publish=publish)


def edit(place: Path, old: str, new: str) -> None:
    path = place / "evaluation.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def events(name: str, run: str) -> list[dict]:
    """Events of a name about a run, as the server has them once they have reached it."""
    from prefect.settings import PREFECT_API_URL

    limit, asked = time.monotonic() + WAIT_S, {"filter": {"event": {"name": [name]}}, "limit": 50}
    while True:
        found = httpx.post(f"{PREFECT_API_URL.value()}/events/filter", json=asked).json()["events"]
        mine = [event for event in found if event["payload"].get("run") == run]
        if mine or time.monotonic() > limit:
            return mine
        time.sleep(0.2)


def artifact(key: str) -> str:
    from prefect.artifacts import Artifact

    return Artifact.get(key).data


def test_what_changed_is_run_published_and_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(str(place / "store"))
    first = latest(store, "grid")
    assert (look(place).state, latest(store, "grid").id) == ("unchanged", first.id)
    edit(place, "datasets:", "settings: {c_fa: 3}\ndatasets:")
    capsys.readouterr()
    assert main(["watch", str(place / "evaluation.yaml"), "--store", store.root, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    second = latest(store, "grid")
    assert told == {"evaluation": "grid", "run": second.id, "state": "published"}
    assert second.id != first.id
    assert look(place).state == "unchanged"
    text = artifact("changes-grid")
    assert "setting" not in text
    assert "c_fa 1.0 → 3.0: 8 cells" in text
    [event] = events("rescore.run.published", second.id)
    assert event["resource"]["prefect.resource.id"] == "rescore.evaluation.grid"
    assert event["payload"]["before"] == first.id
    assert event["payload"]["causes"] == ["setting c_fa"]


@pytest.mark.parametrize("publication", ["staged", "sealed"])
def test_what_may_not_appear_unattended_waits_for_a_person(
    place: Path, publication: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(str(place / "store"))
    first = latest(store, "grid")
    edit(place, "datasets:", f"publication: {publication}\nsettings: {{c_fa: 3}}\ndatasets:")
    staged = look(place)
    assert (staged.state, latest(store, "grid").id) == ("staged", first.id)
    assert look(place).state == "unchanged"
    if publication == "sealed":
        with pytest.raises(UsageError, match="never appear unattended"):
            look(place, publish=True)
    assert latest(store, "grid").id == first.id
    assert main(["publish", staged.run, "--store", store.root]) == 0
    assert latest(store, "grid").id == staged.run
    assert "is now the latest of grid" in capsys.readouterr().out
    assert look(place).state == "unchanged"


def test_a_changed_output_goes_through_the_cluster(place: Path) -> None:
    output = place / "out/good/p_d.xml"
    output.write_text(output.read_text().replace('score="2.9"', 'score="2.95"'))
    store = Store(str(place / "store"))
    found = look(place)
    assert (found.state, latest(store, "grid").id) == ("published", found.run)
    assert latest(store, "grid").work["results"] == {"made": 1, "reused": 7}


def test_nobody_sees_figures_on_prefects_pages_that_reports_do_not_show(place: Path) -> None:
    from prefect.artifacts import Artifact

    from flows.overnight import rescore

    evaluation, store = str(place / "evaluation.yaml"), Store(str(place / "store"))
    edit(place, "e.rttm}", "e.rttm, disclose: held}")
    published = rescore(evaluation, store.root, plan=plan(load_evaluation(evaluation), store).address)
    assert latest(store, "grid").id == published.id
    board = Artifact.get("board")
    assert {row["dataset"] for row in json.loads(board.data)} == {"d"}
    assert json.loads(artifact("failed-cells")) == []

    edit(place, "datasets:", "publication: sealed\nsettings: {c_fa: 3}\ndatasets:")
    look(place)
    assert "8 of 8 cells moved" in artifact("changes-grid")
    assert "ATWV" not in artifact("changes-grid")
    rescore(evaluation, store.root)  # as the nightly deployment does
    assert latest(store, "grid").id == published.id
    assert Artifact.get("board").id == board.id
