"""Studies in a store: numbered, the latest found, old and unfinished ones swept as runs are."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import DamageError
from pipeline.grid.sweep import DAY_S, remove, survey
from pipeline.meta.analysis import AnalysedBoard, Analysis
from pipeline.meta.intervals import BoardIntervals, Resampling
from pipeline.meta.publish import publish
from pipeline.meta.rows import Row
from pipeline.meta.study import Study, StudyEntry
from pipeline.store import arrays, studies
from pipeline.store.blobs import Store

LATER_S = time.time() + 10 * DAY_S


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def write(store: Store, value: float, name: str = "years") -> dict[str, str]:
    """A study of one figure."""
    study = Study(name, (StudyEntry("a"),), source="0" * 64)
    return publish(store, Analysis(study, (Row("a", measure="atwv", value=value),), ()), lambda *_: f"<p>{value}</p>")


def folder(paths: dict[str, str]) -> str:
    return paths["manifest.json"].removesuffix("manifest.json")


def whole(store: Store, paths: dict[str, str]) -> bool:
    """Whether every file of a study is as it was written."""
    manifest = json.loads(store.get_sealed(paths["manifest.json"]))
    with arrays.open_group(store, paths["table.zarr.zip"]) as table:
        table.load()
    return all(store.describe(path) == told for path, told in manifest["objects"].items())


def test_a_study_is_numbered_once_for_every_time_it_changes(store):
    paths = [write(store, value) for value in (0.1, 0.1, 0.2, 0.1)]
    assert [one["manifest"] for one in studies.history(store, "years").values()] == [
        paths[0]["manifest.json"],
        paths[2]["manifest.json"],
        paths[0]["manifest.json"],
    ]
    assert studies.names(store) == ("years",)


def test_a_sweep_keeps_what_references_name_and_drops_what_a_killed_writer_left(store):
    paths = [write(store, value) for value in (0.1, 0.2)]
    other = write(store, 0.1, "other")
    killed = f"studies/years/{'0' * 16}/table.csv"
    store.put(killed, b"evaluation\n")
    assert survey(store, now_s=LATER_S).removable == (killed,)
    assert survey(store).removable == ()  # it was written lately: its study may be going on
    remove(store, survey(store, now_s=LATER_S))
    assert all(whole(store, one) for one in (*paths, other))


def test_a_sweep_keeps_as_many_of_each_study_as_it_is_told(store):
    first, second = (write(store, value) for value in (0.1, 0.2))
    other = write(store, 0.1, "other")
    swept = survey(store, keep=1, now_s=LATER_S)
    assert {path for path in store.listing() if path.startswith(folder(first))} < set(swept.removable)
    assert swept.removable[0] == studies.path_of("years", 1)  # what names others goes before them
    assert len(swept.removable) == 1 + len(store.listing(folder(first).rstrip("/")))
    remove(store, swept)
    assert whole(store, second)
    assert whole(store, other)
    assert survey(store, now_s=LATER_S).removable == ()
    assert write(store, 0.1)["manifest.json"] == first["manifest.json"]  # asked for again, it is there again
    assert sorted(studies.history(store, "years")) == [2, 3]


def test_replicates_stay_as_long_as_a_study_that_was_made_from_them(store):
    own, stray = "resamples/aa/aa", "resamples/bb/bb"
    for path in (own, stray):
        store.put(path, b"1")
    board = AnalysedBoard(
        "a", BoardIntervals("q", "d", "atwv", "query", Resampling(), {}), {}, None, replicates=(own, "gone")
    )
    study = Study("drawn", (StudyEntry("a"),), source="0" * 64)
    publish(store, Analysis(study, (), (board,)), lambda *_: "")
    latest = studies.latest(store, "drawn")
    assert latest is not None
    assert latest["replicates"] == [own]
    assert survey(store, now_s=LATER_S).removable == (stray,)


def test_nothing_goes_while_it_is_not_known_what_a_kept_study_is(store):
    paths = write(store, 0.1)
    store.put(paths["manifest.json"], b"{}")
    with pytest.raises(DamageError, match=r"manifest\.json"):
        survey(store, keep=1, now_s=LATER_S)
    write(store, 0.1)  # mends it
    assert survey(store, keep=1, now_s=LATER_S).removable == ()


def test_the_command_changes_nothing_unless_told(store, capsys):
    first = write(store, 0.1)
    write(store, 0.2)
    asked = ["gc", "--keep", "1", "--older-than", "0", "--store", store.root]
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deleted"] is False
    assert whole(store, first)
    assert main([*asked, "--delete"]) == 0
    assert not store.listing(folder(first).rstrip("/"))
