"""``rescore runs | show | diff | verify | gc`` on a store with two runs, one corrected key row apart."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.engine.stored import references
from pipeline.errors import DamageError
from pipeline.grid import Run, faults
from pipeline.grid.publish import load_run
from pipeline.grid.sweep import remove, survey
from pipeline.store.blobs import Store

HOUR_S = 3600.0


def run(folder: Path, store: Store) -> Run:
    references.load.cache_clear()
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return finish(store, planned, score_here(store, planned, missing(planned.jobs, store)))


@dataclass(frozen=True)
class Place:
    """A folder with the evaluation, and its store after two runs."""

    folder: Path
    first: str
    second: str

    @property
    def store(self) -> Store:
        return Store(str(self.folder / "store"))

    def cli(self, *argv: str) -> int:
        return main([*argv, "--store", self.store.root])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Nobody changes what is there."""
    root = tmp_path_factory.mktemp("commands")
    cells.write(root)
    store = Store(str(root / "store"))
    first = run(root, store)
    key = root / "d.rttm"
    # beta is now said where only the earlier of the two systems is: the other one misses it.
    key.write_text(key.read_text().replace("a 1 30.0 1 beta", "a 1 28.95 1 beta"))
    return Place(root, first.id, run(root, store).id)


@pytest.fixture
def place(base: Place, tmp_path: Path) -> Place:
    """A copy to change."""
    return Place(Path(shutil.copytree(base.folder, tmp_path / "copy")), base.first, base.second)


def printed(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_runs_lists_commits_oldest_first_with_what_they_took(base: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert base.cli("runs", "--json") == 0
    runs = printed(capsys)["runs"]
    assert [(entry["number"], entry["run"]) for entry in runs] == [(1, base.first), (2, base.second)]
    assert [entry["work"]["results"] for entry in runs] == [{"made": 8, "reused": 0}, {"made": 4, "reused": 4}]
    assert runs[1]["work"]["labels"] == {"made": 4, "reused": 0}
    assert runs[1]["work"]["tables"] == {"made": 1, "reused": 3}
    assert runs[1]["work"]["bytes_read"] == (base.folder / "d.rttm").stat().st_size
    assert base.cli("runs", "nobody") == 0
    assert "no runs of nobody" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["grid", "grid@2", "{second}", "{short}"])
def test_show_finds_a_run_by_any_of_its_names(base: Place, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert base.cli("show", name.format(second=base.second, short=base.second[:9]), "--json") == 0
    shown = printed(capsys)
    assert (shown["run"], shown["n_scored"], shown["damaged"]) == (base.second, 8, [])
    assert len(shown["board"]) == len(shown["results"]) == 8


@pytest.mark.parametrize(("name", "told"), [("grid@9", "no commit 9"), ("nosuch", "no run 'nosuch'"), ("", "begins 2")])
def test_a_name_that_means_no_run_is_told(
    base: Place, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert base.cli("show", name) == 2
    assert told in capsys.readouterr().err


def test_show_verify_reads_every_object(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.cli("show", "grid", "--verify") == 0
    assert "every object is what the manifest says" in capsys.readouterr().out
    path = load_run(place.store, place.second).reports["board.csv"]
    place.store.put(path, place.store.get(path) + b" ")
    assert place.cli("show", "grid", "--verify") == 3
    assert f"damaged: {path}" in capsys.readouterr().out


def test_diff_says_what_moved_by_how_much_and_why(base: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert base.cli("diff", "grid~1", "grid", "--json") == 0
    found = printed(capsys)
    assert (found["before"], found["after"], found["n_cells"]) == (base.first, base.second, 8)
    [cause] = found["causes"]
    assert (cause["kind"], cause["name"], cause["file"], cause["n_cells"]) == ("input", "rttm", "d.rttm", 4)
    by_cell = {(entry["query_set"], entry["dataset"], entry["system"]): entry for entry in found["cells"]}
    assert set(by_cell) == {(q, "d", s) for q in ("p", "q") for s in ("good", "poor")}
    hit, missed = by_cell["p", "d", "good"], by_cell["p", "d", "poor"]
    # beta's one occurrence is at 29.45 s now: good's detection has its middle at 30.6 s, 1.15 s off; poor's 1.45 s.
    assert set(missed["queries"]) == set(hit["queries"]) == {"beta"}
    assert missed["queries"]["beta"]["n_hit"] == {"before": 1, "after": 0, "by": -1}
    assert missed["figures"]["p_miss"] == {"before": 0, "after": 0.5, "by": 0.5}
    assert by_cell["q", "d", "good"]["figures"] == by_cell["q", "d", "good"]["queries"] == {}


def test_diff_as_text_and_page(base: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "diff.html"
    assert base.cli("diff", base.first, base.second, "--all", "--html", str(page)) == 0
    text = capsys.readouterr().out
    assert "2 of 8 cells moved; 2 were scored again to the same." in text
    assert "rttm d.rttm (" in text
    assert "p/d/poor: ATWV" in text
    assert "P_miss: 0.0000 → 0.5000 (+0.5000)" in text
    assert "beta: " in text
    for html in (page.read_text(), base.store.get(load_run(base.store, base.second).reports["index.html"]).decode()):
        assert "Changes since the run before" in html
        assert "rttm d.rttm" in html
    assert b"Changes since" not in base.store.get(f"reports/grid/{base.first}/index.html")
    assert base.cli("diff", "grid", "grid") == 0
    assert "Nothing moved in 8 cells." in capsys.readouterr().out


def test_diff_of_settings_and_systems(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.folder / "evaluation.yaml"
    path.write_text(path.read_text().replace("datasets:", "settings: {c_fa: 3}\ndatasets:"))
    shutil.rmtree(place.folder / "out/poor")
    cells.submit(place.folder, "late", 0.8)
    run(place.folder, place.store)
    capsys.readouterr()
    assert place.cli("diff", "grid~1", "grid", "--json") == 0
    found = printed(capsys)
    assert [(c["kind"], c["name"], c["before"], c["after"]) for c in found["causes"]] == [
        ("setting", "c_fa", "1.0", "3.0")
    ]
    states = {(cell["system"], cell["state"]) for cell in found["cells"]}
    assert states == {("good", "changed"), ("poor", "withdrawn"), ("late", "new")}


def test_verify_computes_a_result_again(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.cli("verify", "p/d/poor", "--run", "grid", "--json") == 0
    verified = printed(capsys)
    assert verified["equal"]
    assert place.cli("verify", verified["result"][:12]) == 0
    path = f"results/{verified['result']}.json"
    kept = json.loads(place.store.get_sealed(path))
    kept["measures"]["atwv"]["value"] += 0.25
    place.store.put_sealed(path, json.dumps(kept, sort_keys=True, separators=(",", ":")).encode())
    capsys.readouterr()
    assert place.cli("verify", verified["result"]) == 3
    assert "atwv is kept as" in capsys.readouterr().err
    (place.folder / "out/poor/p_d.xml").write_text("")
    assert place.cli("verify", "p/d/poor", "--run", "grid~1") == 3
    assert "changed since the run was planned" in capsys.readouterr().err
    assert place.cli("verify", "nosuch") == 2


def aged(store: Store, hours: float, *, only: tuple[str, ...] = ()) -> None:
    """Make objects older than they are."""
    then = time.time() - hours * HOUR_S
    for path in store.listing():
        if not only or path in only:
            os.utime(store.url(path), (then, then))


def test_gc_leaves_all_that_a_kept_run_reaches(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    aged(place.store, 48)
    before = place.store.listing()
    assert place.cli("gc", "--delete") == 0
    assert "0 objects" in capsys.readouterr().out
    assert place.store.listing() == before


def test_gc_removes_what_is_left_over_only_when_asked_and_only_when_old(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    store = place.store
    reached = set(store.listing())
    score = place.folder / "out/good/p_d.xml"
    score.write_text(score.read_text().replace('score="2.9"', 'score="2.95"'))
    planned = plan(load_evaluation(str(place.folder / "evaluation.yaml")), store)
    score_here(store, planned, missing(planned.jobs, store))  # and then the run is killed before it is published
    left_over = set(store.listing()) - reached
    assert {path.partition("/")[0] for path in left_over} == {*("plans", "trials", "labels", "results")}
    aged(store, 48, only=tuple(reached))
    assert place.cli("gc", "--delete") == 0  # written just now: a run may be at it
    assert set(store.listing()) == reached | left_over
    # Old objects that a plan of today counts on are as safe: only the plan is young.
    aged(store, 48, only=tuple(path for path in left_over if not path.startswith("plans/")))
    assert survey(store).removable == ()
    aged(store, 48)
    capsys.readouterr()
    assert place.cli("gc", "--json") == 0
    assert set(printed(capsys)["objects"]) == left_over
    assert set(store.listing()) == reached | left_over
    assert place.cli("gc", "--delete") == 0
    assert set(store.listing()) == reached
    assert faults(store, place.second) == faults(store, place.first) == []


def test_gc_may_forget_older_runs_and_the_kept_one_stays_whole(place: Place) -> None:
    store = place.store
    aged(store, 48)
    sweep = survey(store, keep=1)
    assert f"runs/{place.first}.json" in sweep.removable
    remove(store, sweep)
    assert faults(store, place.second) == []
    assert survey(store).removable == ()
    references.load.cache_clear()
    work = run(place.folder, store).work
    assert (work["results"]["made"], work["damaged"]) == (0, [])
    # Everything that the kept run was made from is there: figures under another point come from its labels.
    path = place.folder / "evaluation.yaml"
    path.write_text(path.read_text().replace("datasets:", "settings: {c_fa: 3}\ndatasets:"))
    work = run(place.folder, store).work
    rings = ("references", "trials", "labels")
    assert {ring: work[ring]["made"] for ring in rings} == dict.fromkeys(rings, 0)


def test_gc_refuses_where_it_cannot_tell_what_a_run_stands_on(place: Place) -> None:
    result = next(path for path in place.store.listing("results"))
    place.store.put(result, b"{}")
    with pytest.raises(DamageError, match="what result"):
        survey(place.store)
