"""An evaluation of which not every (query set, dataset) pair is a cell, under every command an organiser gives it.

Three runs: with two pairs, with a corrected key row of one of them, and with a third pair beside them.
"""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import load_plan, missing, plan
from pipeline.engine.stored import references
from pipeline.grid import Run
from pipeline.grid.publish import load_run
from pipeline.meta.variants import Variant, replanned
from pipeline.store.blobs import Store

ASKED = {"p/e/good", "p/e/poor", "q/d/good", "q/d/poor"}
ADDED = {"p/d/good", "p/d/poor"}
NO_CELL = "q/e/good"


@dataclass(frozen=True)
class Place:
    """A folder with the evaluation, and its store after three runs."""

    folder: Path
    runs: tuple[str, ...]

    @property
    def store(self) -> Store:
        return Store(str(self.folder / "store"))

    def cli(self, *argv: str) -> int:
        return main([*argv, "--store", self.store.root])

    def reports(self, run: str) -> dict[str, str]:
        found = load_run(self.store, run).reports
        return {name: self.store.get(path).decode() for name, path in found.items()}


def run(folder: Path, store: Store) -> Run:
    references.load.cache_clear()
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return finish(store, planned, score_here(store, planned, missing(planned.jobs, store)))


def hand_in(folder: Path, pair: str) -> None:
    query_set, dataset = pair.split("_")
    for system, late_s in cells.SYSTEMS.items():
        file = folder / "out" / system / f"{pair}.xml"
        file.write_text(cells.output(dataset, cells.DETECTED[query_set], late_s))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Nobody changes what is there."""
    root = tmp_path_factory.mktemp("pairs")
    file, store = cells.write(root), Store(str(root / "store"))
    for path in (*root.glob("out/*/p_d.xml"), *root.glob("out/*/q_e.xml")):
        path.unlink()
    text = file.read_text()
    file.write_text(f"{text}pairs: [[q, d], [p, e]]\n")
    first = run(root, store)
    key = root / "d.rttm"
    key.write_text(key.read_text().replace("b 1 20.0 1 gamma", "b 1 24.0 1 gamma"))
    second = run(root, store)
    hand_in(root, "p_d")
    file.write_text(f"{text}pairs: [[p, d], [q, d], [p, e]]\n")
    return Place(root, (first.id, second.id, run(root, store).id))


@pytest.fixture
def place(base: Place, tmp_path: Path) -> Place:
    """A copy to change."""
    return Place(Path(shutil.copytree(base.folder, tmp_path / "copy")), base.runs)


def printed(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_show_has_the_cells_that_exist_and_every_object_is_sound(
    base: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert base.cli("show", base.runs[1], "--verify", "--json") == 0
    shown = printed(capsys)
    assert (set(shown["results"]), shown["n_scored"], shown["n_failed"], shown["damaged"]) == (ASKED, 4, 0, [])
    assert base.cli("show", "grid") == 0
    text = capsys.readouterr().out
    assert [line.strip() for line in text.splitlines() if " × " in line] == ["p × d", "p × e", "q × d"]
    assert "no_such_cell" not in text


def test_a_corrected_key_moves_the_cells_of_its_pair_alone(base: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert base.cli("diff", base.runs[0], base.runs[1], "--json") == 0
    found = printed(capsys)
    assert found["n_cells"] == 4
    assert {f"{one['query_set']}/{one['dataset']}/{one['system']}" for one in found["cells"]} == {
        "q/d/good",
        "q/d/poor",
    }
    assert [cause["n_cells"] for cause in found["causes"]] == [2]
    assert "no_such_cell" not in json.dumps(found)


def test_a_pair_that_is_added_is_new_and_one_taken_away_is_withdrawn(
    base: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for pair, state in ((base.runs[1:], "new"), (base.runs[:0:-1], "withdrawn")):
        assert base.cli("diff", *pair, "--json") == 0
        found = printed(capsys)
        assert found["n_cells"] == 6
        assert {f"{o['query_set']}/{o['dataset']}/{o['system']}" for o in found["cells"]} == ADDED
        assert {one["state"] for one in found["cells"]} == {state}
        assert all(one["figures"] == {} and one["queries"] == {} for one in found["cells"])
    assert base.cli("diff", *base.runs[1:]) == 0
    assert "p/d/good: new" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["explain", NO_CELL, "gamma"], ["verify", NO_CELL]])
def test_what_is_no_cell_is_told_by_name(base: Place, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert base.cli(*command, "--run", "grid") == 2
    said = capsys.readouterr().err
    assert NO_CELL in said
    assert "rescore show" in said
    assert "Name the run" not in said


def test_cells_that_exist_are_explained_and_computed_again(base: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert base.cli("explain", "q/d/good", "gamma", "--run", base.runs[0], "--json") == 0
    assert printed(capsys)["rows"]
    assert base.cli("verify", "p/d/poor", "--run", "grid") == 0


def test_whatif_scores_the_pairs_of_the_patched_key(base: Place, capsys: pytest.CaptureFixture[str]) -> None:
    row = next(line for line in (base.folder / "d.rttm").read_text().splitlines() if "gamma" in line)
    patch = base.folder / "d.patch"
    patch.write_text(f"-{row}\n+{row.replace('24.0', '20.0')}\n")
    file = str(base.folder / "evaluation.yaml")
    assert base.cli("whatif", file, "--key", str(patch), "--dataset", "d", "--json") == 0
    found = printed(capsys)
    assert found["n_cells"] == 6
    assert {f"{one['query_set']}/{one['dataset']}" for one in found["cells"] if one["figures"]} == {"q/d"}
    assert {f"{one['query_set']}/{one['dataset']}" for one in found["cells"]} == {"p/d", "q/d"}


def test_gc_keeps_what_the_last_run_stands_on(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    kept = load_run(place.store, place.runs[-1])
    assert place.cli("gc", "--keep", "1", "--older-than", "0", "--delete", "--json") == 0
    capsys.readouterr()
    assert set(place.store.listing("results")) == {f"results/{address}.json" for address in kept.results.values()}
    assert len(place.store.listing("references")) == 3
    assert place.cli("show", "grid", "--verify") == 0
    references.load.cache_clear()
    again = plan(load_evaluation(str(place.folder / "evaluation.yaml")), place.store)
    assert missing(again.jobs, place.store) == ()
    assert {str(job.cell): job.address for job in again.jobs} == dict(kept.results)


def test_a_study_has_rows_of_cells_that_exist_alone(place: Place) -> None:
    file = place.folder / "study.yaml"
    one, _, three = place.runs
    file.write_text(
        f"name: both\nevaluations:\n  one: {{year: 2012, run: {one}, store: {place.store.root}}}\n"
        f"  two: {{year: 2013, run: {three}, store: {place.store.root}}}\nmeasures: [atwv, mtwv]\n"
        "dev_eval: [{dev: p/e, eval: q/d}]\nresampling: {replicates: 100, seed: 13, method: percentile}\n"
    )
    assert place.cli("meta", str(file)) == 0
    (table,) = (path for path in place.store.listing("studies") if path.endswith("table.csv"))
    text = place.store.get(table).decode()
    found = {
        (row["evaluation"], f"{row['query_set']}/{row['dataset']}/{row['system']}")
        for row in csv.DictReader(text.splitlines())
    }
    assert found == {("one", cell) for cell in ASKED} | {("two", cell) for cell in ASKED | ADDED}
    assert "no_such_cell" not in text


def test_a_variant_has_the_same_cells_on_the_same_axes(base: Place) -> None:
    planned = load_plan(base.store, load_run(base.store, base.runs[1]).plan)
    found = replanned(base.store, planned, Variant("wide", ("grid",), settings={"tolerance_s": "2"}))
    assert {str(job.cell) for job in found.jobs} == ASKED
    assert found.datasets == planned.datasets == ("d", "e")
    assert {job.address for job in found.jobs}.isdisjoint(job.address for job in planned.jobs)


def test_latex_and_codabench_have_a_table_and_a_score_for_each_pair(base: Place) -> None:
    reports = base.reports(base.runs[1])
    tex = reports["board.tex"]
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 2
    assert [line for line in tex.splitlines() if "caption" in line] == [
        r"\caption{Query set p on dataset e.}",
        r"\caption{Query set q on dataset d.}",
    ]
    assert "such" not in tex
    scores = [json.loads(text) for name, text in reports.items() if name.endswith("scores.json")]
    assert len(scores) == 2
    assert all(not any(word in json.dumps(one) for word in ("p_d", "q_e", "no_such_cell")) for one in scores)
    assert all("no_such_cell" not in text for text in reports.values())


def test_outputs_of_pairs_that_are_no_cells_are_told_and_left_out(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(place.folder, "q_e")
    assert place.cli("plan", str(place.folder / "evaluation.yaml"), "--json") == 0
    out = capsys.readouterr()
    assert "q/e is no cell of this evaluation" in out.out + out.err
    planned = plan(load_evaluation(str(place.folder / "evaluation.yaml")), place.store)
    assert {str(job.cell) for job in planned.jobs} == ASKED | ADDED
