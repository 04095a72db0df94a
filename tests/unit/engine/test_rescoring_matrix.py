"""What a run makes anew after each kind of change: exactly what it must, and the same bytes as from an empty store."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import score_here
from pipeline import protocols
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import Plan, missing, plan
from pipeline.engine.result import document
from pipeline.engine.stored import references
from pipeline.engine.work import RINGS, Work, total
from pipeline.store.blobs import Store

WHOLE = {"tables": 6, "references": 4, "trials": 8, "labels": 8, "results": 8}
MED = """\
name: med
protocol: med11
datasets: {test: {ref: ref.csv, index: index.csv}}
query_sets: {events: {}}
systems: {pattern: {detection: 'out/{system}.detection.csv', threshold: 'out/{system}.threshold.csv'}}
"""
STT = """\
name: talk
protocol: stt13
settings: {variant: ser}
datasets: {dev: {stm: dev.stm, lexicon: lexicon.txt}}
query_sets: {all: {}}
systems: {pattern: 'out/{system}.ctm'}
"""

LEXICON = "one\tw ah n\ntwo\tt uw\nthree\tth r . iy\n"

Change = Callable[[Path], None]


def run(folder: Path, store: Store) -> tuple[Plan, Work]:
    """Plan and score in this process, as a new one would."""
    references.load.cache_clear()
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return planned, total([planned.work, score_here(store, planned, missing(planned.jobs, store))])


def objects(store: Store) -> dict[str, bytes]:
    """Every object of the rings."""
    return {path: store.get(path) for path in store.listing() if path.partition("/")[0] in RINGS}


def made_by(folder: Path, store: Store) -> dict[str, int]:
    """How many objects of each ring a run makes; its own count, and its bytes, are checked on the way."""
    before = objects(store)
    planned, work = run(folder, store)
    after = objects(store)
    new = after.keys() - before.keys()
    assert new == work.made.keys()
    assert {path: after[path] for path in before} == before
    assert not work.damaged
    assert not work.reused & work.made.keys()

    clean = Store(store.root + "-clean")
    clean_plan, _ = run(folder, clean)
    assert clean_plan.address == planned.address
    for path, data in objects(clean).items():
        assert after[path] == data, path
    counts = Counter(path.partition("/")[0] for path in new)
    return {ring: counts[ring] for ring in RINGS if counts[ring]}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the evaluation and a store that holds its run."""
    root = tmp_path_factory.mktemp("base")
    cells.write(root)
    _, work = run(root, Store(str(root / "store")))
    assert {ring: counts["made"] for ring, counts in work.document().items() if ring in RINGS} == WHOLE
    return root


@pytest.fixture
def place(base: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(base, tmp_path / "copy"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def setting(text: str) -> Change:
    return lambda root: edit(root / "evaluation.yaml", "datasets:", f"settings: {text}\ndatasets:")


def file(name: str, old: str, new: str) -> Change:
    return lambda root: edit(root / name, old, new)


def write(name: str, text: str) -> Change:
    return lambda root: (root / name).write_text(text) and None


def overlay(text: str) -> Change:
    about = "author: A. Organiser, date: 2026-11-28, reason: a slip in the list"
    return lambda root: edit(root / "evaluation.yaml", "datasets:", f"overlays: [{{{text}, {about}}}]\ndatasets:")


def restricted(root: Path) -> None:
    (root / "scoring.ecf.xml").write_text(cells.ecf({"a": 25.0, "b": 40.0}))
    overlay("scoring_ecf: scoring.ecf.xml, datasets: [d]")(root)


KEYED = {"tables": 1, "references": 2, "labels": 4, "results": 4}
"""What is made where the key of four cells changes: no output is read."""
CHANGES: dict[str, tuple[Change, dict[str, int]]] = {
    "nothing": (lambda _: None, {}),
    # Both query sets of dataset d have the file, and two systems each: four cells are aligned anew, from stored trials.
    "a corrected key row": (file("d.rttm", "a 1 30.0", "a 1 30.2"), KEYED),
    "an added query": (write("p.tlist.xml", cells.termlist("alpha", "beta", "delta")), KEYED),
    "a withdrawn query": (write("p.tlist.xml", cells.termlist("alpha")), KEYED),
    "a listed query that nobody says": (write("q.tlist.xml", cells.termlist("gamma", "nowhere")), KEYED),
    "a corrected duration in the header": (
        write("d.ecf.xml", cells.ecf(cells.RECORDINGS["d"], header_s=101.0)),
        KEYED,
    ),
    # Trials are laid out on another timeline, so outputs are read.
    "a corrected duration of a recording": (
        write("d.ecf.xml", cells.ecf({"a": 61.0, "b": 40.0})),
        {**KEYED, "trials": 4},
    ),
    "a query example of another length": (file("p.examples.csv", "0.7", "0.8"), {"results": 4}),
    "a resources file": (file("out/good/resources.yaml", "cores: 2", "cores: 4"), {"results": 4}),
    "a new system": (
        lambda root: cells.submit(root, "late", 0.8),
        {"trials": 4, "labels": 4, "results": 4},
    ),
    "a withdrawn system": (lambda root: shutil.rmtree(root / "out/poor"), {}),
    "a resubmitted output": (
        file("out/good/p_d.xml", 'score="2.9"', 'score="2.95"'),
        {"trials": 1, "labels": 1, "results": 1},
    ),
    "another operating point": (setting("{c_fa: 2, p_target: 0.001}"), {"results": 8}),
    "a query withdrawn by a setting": (setting("{withdrawn: beta}"), {"results": 8}),
    "queries withdrawn by an overlay": (overlay("withdraw_queries: [beta], query_sets: [p]"), {"results": 4}),
    # From the trials and the organiser's files that are in the store.
    "recordings excluded by an overlay": (
        overlay("exclude_files: [b], datasets: [d]"),
        {"references": 2, "labels": 4, "results": 4},
    ),
    "another rule of averaging": (setting("{include_no_targets: true}"), {"results": 8}),
    "another tolerance": (setting("{tolerance_s: 0.3}"), {"labels": 8, "results": 8}),
    "another rate of trials": (setting("{trials_per_s: 2}"), {"references": 4, "labels": 8, "results": 8}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_makes_exactly_what_it_must(place: Path, name: str) -> None:
    change, expected = CHANGES[name]
    change(place)
    assert made_by(place, Store(str(place / "store"))) == expected


def test_a_scoring_ecf_laid_over_changes_what_an_edited_ecf_would(tmp_path: Path) -> None:
    cells.write(tmp_path)
    edit(tmp_path / "evaluation.yaml", "protocol: sws2013", "protocol: openkws13")
    store = Store(str(tmp_path / "store"))
    run(tmp_path, store)
    restricted(tmp_path)
    assert made_by(tmp_path, store) == KEYED


@pytest.mark.parametrize("what", ["primary", "version"])
def test_a_new_ranking_measure_or_version_only_concludes(
    place: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "version":
        monkeypatch.setattr(protocols, "rescore_version", lambda: "99")
    else:
        changed = replace(protocols.protocols()["sws2013", "official"], primary="mtwv")
        monkeypatch.setitem(protocols.protocols(), ("sws2013", "official"), changed)  # type: ignore[arg-type]
    assert made_by(place, Store(str(place / "store"))) == {"results": 8}


@pytest.mark.parametrize("name", ["sws2013", "openkws13"])
def test_another_edition_of_a_protocol_or_of_one_that_shares_its_trials_makes_everything(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = protocols.protocols()[name, "official"]
    changed = replace(known, edition=known.edition + 1)
    monkeypatch.setitem(protocols.protocols(), (name, "official"), changed)  # type: ignore[arg-type]
    assert made_by(place, Store(str(place / "store"))) == WHOLE


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # Excerpts and their places on the timeline: every cell of dataset d, and no other.
        (write("d.ecf.xml", cells.ecf({"a": 25.0, "b": 40.0})), {**KEYED, "trials": 4}),
        (lambda root: edit(root / "d.rttm", "LEXEME a", "NOSCORE a 1 29 3 <NA> <NA> <NA> <NA>\nLEXEME a"), KEYED),
    ],
    ids=["scoring ECF", "NOSCORE region"],
)
def test_what_is_scored_changes_all_cells_of_its_dataset(
    tmp_path: Path, change: Change, expected: dict[str, int]
) -> None:
    cells.write(tmp_path)
    edit(tmp_path / "evaluation.yaml", "protocol: sws2013", "protocol: openkws13\nmode: plan")
    store = Store(str(tmp_path / "store"))
    run(tmp_path, store)
    change(tmp_path)
    assert made_by(tmp_path, store) == expected


def written(root: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_flipped_reference_changes_the_cells_of_its_key(tmp_path: Path) -> None:
    trials = [(clip, event) for event in ("E1", "E2") for clip in "abcd"]
    texts = {
        "evaluation.yaml": MED,
        "index.csv": "TrialID,ClipID,EventID\n" + "".join(f"{c}.{e},{c},{e}\n" for c, e in trials),
        "ref.csv": "TrialID,Targ\n" + "".join(f"{c}.{e},{'y' if c in 'ab' else 'n'}\n" for c, e in trials),
    }
    for place, system in enumerate(("one", "two")):
        scores = "".join(f"{c}.{e},{(7 * n + 3 * place) % 10 / 10}\n" for n, (c, e) in enumerate(trials))
        texts[f"out/{system}.detection.csv"] = "TrialID,Score\n" + scores
        texts[f"out/{system}.threshold.csv"] = "EventID,DetectionThreshold,DetectionTPT\nE1,0.4,7\nE2,0.5,3\n"
    root, store = written(tmp_path, texts), Store(str(tmp_path / "store"))
    run(root, store)
    edit(root / "ref.csv", "c.E1,n", "c.E1,y")
    assert made_by(root, store) == {"tables": 1, "references": 1, "labels": 2, "results": 2}


@pytest.mark.parametrize("change", ["stm", "lexicon"])
def test_an_stm_or_lexicon_line(tmp_path: Path, change: str) -> None:
    texts = {
        "evaluation.yaml": STT,
        "dev.stm": "f1 1 Ann 0 10 <o,f0> one two\nf2 1 Bob 0 10 <o> two three\n",
        "lexicon.txt": LEXICON,
        "out/a.ctm": "f1 1 1 1 one 0.9\nf1 1 2 1 two 0.8\nf2 1 1 1 two 0.7\n",
        "out/b.ctm": "f1 1 1 1 one 0.5\nf2 1 1 1 three 0.7\n",
    }
    root, store = written(tmp_path, texts), Store(str(tmp_path / "store"))
    run(root, store)
    if change == "stm":
        edit(root / "dev.stm", "one two", "one one two")
        assert made_by(root, store) == {"tables": 1, "references": 1, "labels": 2, "results": 2}
    else:
        edit(root / "lexicon.txt", "th r . iy", "th r iy")
        assert made_by(root, store) == {"references": 1, "labels": 2, "results": 2}


def test_a_query_withdrawn_by_a_setting_is_as_if_it_were_not_on_the_list(place: Path) -> None:
    listed = Path(shutil.copytree(place, place.parent / "listed"))
    CHANGES["a query withdrawn by a setting"][0](place)
    CHANGES["a withdrawn query"][0](listed)
    found = []
    for root in (place, listed):
        planned, _ = run(root, Store(str(root / "store")))
        results = [document(load_result(Store(str(root / "store")), job.address), curve=True) for job in planned.jobs]
        found.append([{name: result[name] for name in ("measures", "blocks", "curve")} for result in results])
    assert found[0] == found[1]
