"""A measure that comes after its protocol's edition: results stay as they are, and what it says lies beside them."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import finish, score_here
from pipeline import protocols
from pipeline.config import load_evaluation
from pipeline.engine.cell import do_cell, load_result
from pipeline.engine.plan import Plan, load_plan, missing, plan
from pipeline.engine.stored import references
from pipeline.engine.work import Work
from pipeline.grid import Run, faults, load_grid
from pipeline.grid.sweep import survey
from pipeline.metrics.bounds import ANY
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Scored
from pipeline.protocols.base import Protocol
from pipeline.report import words
from pipeline.store.blobs import Store
from pipeline.terms import Figure

sys.path.insert(0, str(Path(__file__).parents[1] / "protocols"))
from golden import inputs_of

NAME = "n_units"
ONE_OF_EACH = ("sws2013", "openkws13-segments", "quesst", "med11", "albayzin-lre12", "stt13")


def n_units(scored: Scored[object]) -> Figure:
    """How many queries (events, …) are on the list, from the facts that every family has."""
    return Figure(float(len(scored.facts.queries)), detail={"twice": 2.0 * len(scored.facts.queries)})


ADDED: Measure[object] = Measure(
    NAME, "1", "higher", ANY, "this test", n_units, label=Label("N", "units"), aggregation="a count", later=1
)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[str, str], Protocol]]:
    """The protocols, to be changed."""
    known = dict(protocols.protocols())
    monkeypatch.setattr(protocols, "_found", known)
    forget()
    yield known
    monkeypatch.undo()
    forget()


def forget() -> None:
    protocols.measures.cache_clear()
    words._labels.cache_clear()


def add(known: dict[tuple[str, str], Protocol], name: str, measure: Measure[object] = ADDED) -> None:
    own = known[name, "official"]
    rest = tuple(one for one in own.measures if one.name != measure.name)
    known[name, "official"] = replace(own, measures=(*rest, measure))
    forget()


def run(root: Path, store: Store) -> tuple[Plan, Work, Run]:
    planned = plan(load_evaluation(str(root / "evaluation.yaml")), store)
    work = score_here(store, planned, missing(planned.jobs, store))
    return planned, work, finish(store, planned, work)


def objects(store: Store, *rings: str) -> dict[str, bytes]:
    return {path: store.get(path) for path in store.listing() if path.partition("/")[0] in rings}


def values(store: Store, published: Run, measure: str) -> dict[str, float]:
    root = load_grid(store, published)[""]
    chosen = root["value"].sel(measure=measure, condition="all").stack(cell=("query_set", "dataset", "system"))
    return dict(zip(map("/".join, chosen["cell"].values.tolist()), chosen.values.tolist(), strict=True))


def golden_evaluation(root: Path, name: str) -> Path:
    """The golden inputs of a protocol as an evaluation of one system, with a second one whose output is refused."""
    own = protocols.find(name)
    inputs = {role: path for role, path in inputs_of(own).items() if role not in ("queries", "resources")}
    pattern = {role: f"out/{{system}}.{role}" for role in own.family.outputs if role in inputs}
    (root / "out").mkdir(parents=True)
    for role in pattern:
        shutil.copy(inputs.pop(role), root / "out" / f"one.{role}")
        (root / "out" / f"two.{role}").write_text("this is no output\n")
    asked = {role: inputs.pop(role) for role in ("kwlist",) if role in inputs}
    evaluation = {
        "name": "golden",
        "protocol": name,
        "datasets": {"d": inputs},
        "query_sets": {"q": asked},
        "systems": {"pattern": pattern if len(pattern) > 1 else next(iter(pattern.values()))},
    }
    (root / "evaluation.yaml").write_text(json.dumps(evaluation))
    return root


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_results_stay_and_the_new_figure_lies_beside_them(
    name: str, tmp_path: Path, registry: dict[tuple[str, str], Protocol]
) -> None:
    root, store = golden_evaluation(tmp_path / "evaluation", name), Store(str(tmp_path / "store"))
    before, _, first = run(root, store)
    kept = objects(store, "tables", "references", "trials", "labels", "results", "runs", "grids")
    add(registry, name)
    after, work, second = run(root, store)
    assert [job.address for job in after.jobs] == [job.address for job in before.jobs]
    assert {path: store.get(path) for path in kept} == kept
    made = {f"results/{job.address}/{NAME}.json" for job in after.jobs}
    assert set(work.made) == made
    assert second.id != first.id
    found = values(store, second, NAME)
    listed = references.load(store, after.protocol.family.kind, after.jobs[0].reference).facts.queries
    assert found["q/d/one"] == float(len(listed))
    assert math.isnan(found["q/d/two"])
    assert NAME not in load_result(store, after.jobs[0].address).figures
    reason = load_grid(store, second)[""]["reason"].sel(measure=NAME, condition="all", system="two")
    assert reason.values.ravel().tolist() == ["refused_input"]
    assert not faults(store, second.id)
    assert NAME in store.get(second.reports["board.csv"]).decode()
    page = store.get(second.reports["index.html"]).decode()
    assert "N<sub>units</sub>" in page
    assert "this test" in page


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    (tmp_path / "grid").mkdir()
    cells.write(tmp_path / "grid")
    return tmp_path / "grid"


def test_a_store_that_never_was_without_it_holds_the_same_bytes(
    grid: Path, registry: dict[tuple[str, str], Protocol]
) -> None:
    store, clean = Store(str(grid / "store")), Store(str(grid / "clean"))
    run(grid, store)
    add(registry, "sws2013")
    run(grid, store)
    run(grid, clean)
    assert objects(store, "results") == objects(clean, "results")
    assert len(objects(clean, "results")) == 2 * 8
    document = json.loads(clean.get_sealed(next(p for p in objects(clean, "results") if p.endswith(f"{NAME}.json"))))
    assert document["measure"]["source"] == "this test"
    assert document["figure"]["twice"] == 2 * document["figure"]["value"]
    assert len(document["made_from"]) == 3


def test_a_run_with_it_costs_nothing_the_second_time_and_leaves_with_its_measure(
    grid: Path, registry: dict[tuple[str, str], Protocol]
) -> None:
    store = Store(str(grid / "store"))
    without, (_, _, first) = registry["sws2013", "official"], run(grid, store)
    add(registry, "sws2013")
    planned, _, second = run(grid, store)
    assert missing(planned.jobs, store) == ()
    again, work, third = run(grid, store)
    assert (again.address, third.id, work.made) == (planned.address, second.id, {})
    assert load_plan(store, planned.address).jobs == planned.jobs
    registry["sws2013", "official"] = without
    assert run(grid, store)[2].id == first.id
    assert not {path for path in survey(store, older_than_s=0.0).removable if NAME in path}


def test_what_is_lost_or_damaged_is_made_again_and_results_are_not(
    grid: Path, registry: dict[tuple[str, str], Protocol]
) -> None:
    store = Store(str(grid / "store"))
    add(registry, "sws2013")
    planned, _, published = run(grid, store)
    kept = objects(store, "results")
    lost, damaged = (f"results/{job.address}/{NAME}.json" for job in planned.jobs[:2])
    store.remove(lost)
    store.put(damaged, b"not what was written")
    assert set(faults(store, published.id)) == {lost, damaged}
    _, _, again = run(grid, store)
    assert again.id == published.id
    assert objects(store, "results") == kept


def test_a_changed_later_measure_is_a_supplement_of_its_own(
    grid: Path, registry: dict[tuple[str, str], Protocol]
) -> None:
    store = Store(str(grid / "store"))
    add(registry, "sws2013")
    planned, _, _ = run(grid, store)
    kept = objects(store, "results")
    add(registry, "sws2013", replace(ADDED, later=2, of=lambda _: Figure(-1.0)))
    after, work, published = run(grid, store)
    assert set(work.made) == {f"results/{job.address}/{NAME}.2.json" for job in planned.jobs}
    assert {path: store.get(path) for path in kept} == kept
    assert set(values(store, published, NAME).values()) == {-1.0}
    assert [job.address for job in after.jobs] == [job.address for job in planned.jobs]


def test_a_cell_whose_labels_are_gone_has_it_too(grid: Path, registry: dict[tuple[str, str], Protocol]) -> None:
    store = Store(str(grid / "store"))
    planned, _, _ = run(grid, store)
    for path in list(store.listing("labels")):
        store.remove(path)
    add(registry, "sws2013")
    later = plan(load_evaluation(str(grid / "evaluation.yaml")), store)
    work = do_cell(store, later, later.jobs[0].cell)
    assert f"results/{planned.jobs[0].address}/{NAME}.json" in work.made
