"""Runs that must wait do, whoever starts them; a person's release is recorded and all or nothing."""

from __future__ import annotations

import json
import re
from unittest.mock import patch

import pytest
import season_files as files
import yaml
from season_world import GATE, Season

from flows.rescore import run_evaluation
from pipeline.cli import main
from pipeline.config.season import load_season
from pipeline.errors import StoreError, UsageError
from pipeline.grid import load_run
from pipeline.report.seasons.packets import write_packets
from pipeline.report.seasons.public import publish_season
from pipeline.season import opening, releases
from pipeline.season.gate import notice
from pipeline.season.submit import Sender, withdraw
from pipeline.store import local


@pytest.fixture
def season(tmp_path):
    return Season(tmp_path)


@pytest.fixture
def dev(tmp_path):
    return Season(tmp_path, phase={"kind": "dev"})


def test_a_sealed_run_waits_and_exactly_the_counting_systems_are_in_it(season):
    files.hand_in(season.store, season.folder, "north", "<broken")
    run = season.run()
    assert season.codes(run) == ["sealed"]
    assert season.seen is None
    assert sorted(run.results) == [
        f"q/d/{name}" for name in ("canary-baseline", "canary-perfect", "canary-silent", "north", "south")
    ]
    season.release(run)
    assert season.seen == run.id
    assert season.run().id == run.id


def test_canaries_have_no_rank(season):
    from pipeline.grid import load_grid
    from pipeline.report import board_rows

    rows = {row["system"]: row["rank"] for row in board_rows(load_grid(season.store, season.run()))}
    assert rows == {"canary-perfect": 0, "canary-silent": 0, "canary-baseline": 0, "north": 1, "south": 2}


def test_a_run_that_trips_nothing_is_published(dev):
    run = dev.run()
    assert dev.seen == run.id
    assert dev.codes(run) == []


def test_a_key_that_loses_thirty_percent_of_its_rows_leaves_the_run_staged(dev):
    more = [f"LEXEME b 1 {begin} 0.5 alpha lex SELF <NA>\n" for begin in range(22, 34, 2)]
    rows = [*files.KEY.splitlines(keepends=True), *more]
    assert len(rows) == 10
    (dev.folder / "key.rttm").write_text("".join(rows))
    found = {**files.PERFECT, "alpha": [*files.PERFECT["alpha"], *(("b", begin, 2.0) for begin in range(22, 34, 2))]}
    (dev.folder / "canary-perfect.xml").write_text(files.stdlist(found))
    first = dev.run()
    (dev.folder / "key.rttm").write_text("".join(rows[:-3]))
    second = dev.run()
    [told] = [trip.message for trip in notice(dev.store, second).trips if trip.code == "key_shrunk"]
    assert re.match(r"the key of q/d lost 3[01]% ", told)  # of the targets 30 %, of the bytes a little more
    assert dev.seen == first.id
    made = dev.release(second, "dev", kind="dev")
    assert dev.seen == second.id
    [recorded] = releases.released(dev.store, files.EVALUATION)
    assert (recorded.by, recorded.reason, recorded.run) == ("A. Judge", "looked at", second.id)
    assert made == recorded


@pytest.mark.parametrize("name", ["canary-perfect", "canary-baseline", "canary-silent"])
def test_a_moved_canary_leaves_the_run_staged(dev, name):
    first = dev.run()
    (dev.folder / f"{name}.xml").write_text(files.stdlist(files.GOOD))
    second = dev.run()
    assert dev.codes(second) == ["canary_moved"]
    assert dev.seen == first.id


def test_a_lost_or_refused_canary_leaves_the_run_staged(dev):
    first = dev.run()
    (dev.folder / "canary-perfect.xml").write_text("<stdlist")
    assert dev.codes(dev.run()) == ["canary_moved"]
    document = yaml.safe_load(dev.evaluation.read_text())
    del document["systems"]["canary-silent"]
    dev.evaluation.write_text(yaml.safe_dump(document))
    assert "canary_missing" in dev.codes(dev.run())
    assert dev.seen == first.id


def test_many_changed_figures_leave_the_run_staged_with_the_diff(dev):
    first = dev.run()
    document = yaml.safe_load(dev.evaluation.read_text())
    settings = {"c_fa": 50, "p_target": 0.01, "trials_per_s": 2}
    dev.evaluation.write_text(yaml.safe_dump({**document, "settings": settings}))
    second = dev.run()
    assert "figures_changed" in dev.codes(second)
    found = notice(dev.store, second)
    assert found.before == first.id
    assert {moved.measure for moved in found.moved} >= {"atwv", "p_fa"}
    assert all(moved.before != moved.after for moved in found.moved)


def test_new_outputs_alone_never_trip_the_gate(dev):
    dev.run()
    files.hand_in(dev.store, dev.folder, "north", files.stdlist(files.PERFECT))
    run = dev.run()
    assert dev.codes(run) == []
    assert dev.seen == run.id


def test_a_release_that_fails_half_way_changes_nothing(season):
    run, before = season.run(), dict(season.store.listing())
    real = local.create

    def failing(path, data):
        if "refs" in path.parts and "+staged" not in str(path):
            raise OSError("disk full")
        return real(path, data)

    with patch.object(local, "create", failing), pytest.raises(StoreError):
        season.release(run)
    assert dict(season.store.listing()) == before
    assert season.seen is None
    season.release(run)
    assert season.seen == run.id


def test_a_rejected_run_cannot_be_released_and_states_follow_their_order(season):
    run = season.run()
    with pytest.raises(UsageError, match=r"is sealed: it cannot become corrected"):
        season.release(run, "corrected")
    releases.reject(season.store, files.NAME, run, by="A. Judge", reason="wrong key")
    with pytest.raises(UsageError, match=r"was rejected by A. Judge \(wrong key\)"):
        season.release(run)
    (season.folder / "key.rttm").write_text(files.KEY + ";; second version\n")
    other = season.run()
    season.release(other)
    season.release(other, "official")
    with pytest.raises(UsageError, match="is official: it cannot become preliminary"):
        season.release(other, "preliminary")
    with pytest.raises(UsageError, match="released already"):
        releases.reject(season.store, files.NAME, other, by="x", reason="y")


def test_keys_that_nobody_entered_trip_once_keys_are_entered(dev, capsys):
    call = ["season", "key", "--store", dev.store.root, "--role", "rttm", "--dataset", "d", "--by", "K", "--json"]
    assert main([*call, "--reason", "first", str(dev.folder / "key.rttm")]) == 0
    assert dev.codes(dev.run()) == []
    (dev.folder / "key.rttm").write_text(files.KEY + ";; mended\n")
    assert dev.codes(dev.run()) == ["unknown_key"]
    assert main([*call, "--reason", "mended", str(dev.folder / "key.rttm")]) == 0
    entry = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (entry["version"], entry["author"], entry["reason"]) == (2, "K", "mended")
    assert entry["parent"]
    assert main([*call, "--reason", "again", str(dev.folder / "key.rttm")]) == 2


PARTICIPANTS = ("public/", "packets/")


def readable(store):
    """Every object that a participant can read, but for the style of pages."""
    texts = {path: store.get(path).decode() for path in store.listing() if path.startswith(PARTICIPANTS)}
    return {path: re.sub(r"(?s)<style>.*?</style>", "", text) for path, text in texts.items()}


def figures_of(store, run):
    """Every figure of a run's systems as text, to six and to all digits; 0 and 1 are everywhere."""
    found = set()
    for address in load_run(store, run.id).results.values():
        measures = json.loads(store.get_sealed(f"results/{address}.json"))["measures"]
        for one in measures.values():
            value = one["value"]
            if isinstance(value, float) and value not in (0.0, 1.0) and len(f"{value:.4f}") > 4:
                found |= {repr(value), f"{value:.6f}", f"{value:.4f}"}
    return found


def shown(text, figures):
    return {one for one in figures if re.search(rf"(?<![\d.]){re.escape(one)}", text)}


def test_before_release_nothing_a_participant_reads_holds_a_figure(season):
    run = season.run()
    publish_season(season.store, files.NAME)
    write_packets(season.store, files.NAME)
    figures = figures_of(season.store, run)
    assert len(figures) > 20
    before = readable(season.store)
    assert len(before) >= 8
    assert {path: hit for path, text in before.items() if (hit := shown(text, figures))} == {}
    season.release(run)
    write_packets(season.store, files.NAME)
    after = readable(season.store)
    assert any(shown(text, figures) for text in after.values()), "the scan finds figures where there are some"
    assert all("x.example" not in text for text in after.values())


def test_official_boards_are_frozen_and_withdrawn_rows_are_struck(season):
    run = season.run()
    season.release(run, "official")
    frozen = {path: data for path, data in readable(season.store).items() if "-official/" in path}
    assert len(frozen) == 3
    withdraw(season.store, files.NAME, Sender("south"), "a <b>bug</b> in our index")
    (season.folder / "key.rttm").write_text(files.KEY + ";; corrected\n")
    second = season.run()
    season.release(second, "corrected")
    after = readable(season.store)
    assert {path: after[path] for path in frozen} == frozen
    page = after[f"public/{files.NAME}/index.html"]
    assert "<s>south</s>" in page
    assert "withdrawn: a &lt;b&gt;bug&lt;/b&gt; in our index" in page
    assert "Earlier boards" in page
    assert "official" in page
    assert "<s>north</s>" not in page


def test_publish_refuses_what_is_of_a_season(season, capsys):
    run = season.run()
    assert main(["publish", run.id, "--store", season.store.root]) == 2
    assert "season release" in capsys.readouterr().err
    call = ["season", "release", run.id, "--as", "official", "--by", "J", "--reason", "r", "--store", season.store.root]
    assert main(call) == 0
    assert season.seen == run.id


def test_others_are_named_or_not_as_the_phase_says(tmp_path):
    season = Season(tmp_path, phase={"disclosure": "own"})
    run = season.run()
    season.release(run)
    others = json.loads(season.store.get_sealed(f"results/{run.results['q/d/south']}.json"))["measures"]
    for level, named, figures in (("own", False, False), ("anonymous", False, True), ("named", True, True)):
        rules, _ = load_season(str(files.season(tmp_path, gate=GATE, phase={"disclosure": level})))
        opening.enter(season.store, rules, (), {})
        publish_season(season.store, files.NAME)
        write_packets(season.store, files.NAME)
        seen = readable(season.store)
        mine = "".join(text for path, text in seen.items() if path.startswith(f"packets/{files.NAME}/north/"))
        assert ("south" in mine) == named
        assert (f"{others['atwv']['value']:.4f}"[:6] in mine.replace("\N{MINUS SIGN}", "-")) == figures
        public = "".join(
            text for path, text in seen.items() if path.startswith("public/") and path.endswith("boards.json")
        )
        assert ("south" in public) == (level == "named")


def test_a_run_says_on_the_terminal_why_it_waits(season, capsys):
    season.run()
    run_evaluation(str(season.evaluation), store=season.store.root)
    assert "is sealed until a person releases" in capsys.readouterr().out
    assert main(["season", "staged", "--store", season.store.root]) == 0
    assert "waits for a person" in capsys.readouterr().out
