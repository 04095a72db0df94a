"""Edges of a store: what may only be read, folders where objects belong, names that look alike."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from flows.rescore import run_evaluation
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.config.names import twins
from pipeline.errors import ConfigError, DamageError, Finding, StoreError
from pipeline.report.spreadsheet import guarded
from pipeline.store import local
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("edges")
    cells.write(root)
    run_evaluation(str(root / "evaluation.yaml"), store=str(root / "store"), quiet=True)
    return root


def copied(made: Path, tmp_path: Path) -> Store:
    return Store(str(shutil.copytree(made / "store", tmp_path / "store")))


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_store_that_may_only_be_read_serves_a_run_with_nothing_to_do(made, tmp_path, monkeypatch, code) -> None:
    store = copied(made, tmp_path)
    before = store.listing()

    def refuse(path, *_):
        raise OSError(code, "may not be written", str(path))

    monkeypatch.setattr(local, "_temporary", refuse)
    assert main(["run", str(made / "evaluation.yaml"), "--store", store.root, "--quiet"]) == 0
    assert store.listing() == before


def test_a_store_that_may_only_be_read_is_told_where_there_is_something_to_do(made, tmp_path, monkeypatch) -> None:
    def refuse(path, *_):
        raise OSError(errno.EROFS, "may not be written", str(path))

    monkeypatch.setattr(local, "_temporary", refuse)
    with pytest.raises(StoreError):
        run_evaluation(str(made / "evaluation.yaml"), store=str(tmp_path / "empty"), quiet=True)


def test_an_empty_folder_in_place_of_an_object_is_damage_and_is_made_again(made, tmp_path, capsys) -> None:
    store = copied(made, tmp_path)
    path = next(path for path in store.listing("results") if path.count("/") == 1)
    place = Path(store.root) / path
    sound = place.read_bytes()
    place.unlink()
    place.mkdir()
    with pytest.raises(DamageError):
        store.get(path)
    assert main(["show", "grid", "--verify", "--store", store.root]) == 3
    assert f"damaged: {path}" in capsys.readouterr().out
    run_evaluation(str(made / "evaluation.yaml"), store=store.root, quiet=True)
    assert place.read_bytes() == sound


def test_a_folder_with_something_in_it_is_left_and_told(tmp_path) -> None:
    store = Store(str(tmp_path))
    (tmp_path / "results" / "a.json" / "mine").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot write the object"):
        store.put("results/a.json", b"x")
    assert (tmp_path / "results" / "a.json" / "mine").is_dir()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["alpha", "Alpha"], [("alpha", "Alpha")]),
        (["e\u0301", "\u00e9"], [("e\u0301", "\u00e9")]),
        (["ﬁn", "fin"], [("ﬁn", "fin")]),
        (["alpha", "beta", "alpha"], []),
    ],
)
def test_names_that_look_alike_are_found(names, expected) -> None:
    assert twins(names) == expected


def test_an_evaluation_with_names_that_look_alike_is_refused(made, tmp_path) -> None:
    folder = shutil.copytree(made, tmp_path / "ev", ignore=shutil.ignore_patterns("store"))
    text = (folder / "evaluation.yaml").read_text()
    name = load_evaluation(str(folder / "evaluation.yaml")).systems[0].name
    assert name != name.upper()
    for place in [one for one in Path(folder).rglob("*") if name in one.name]:
        other = place.with_name(place.name.replace(name, name.upper()))
        (shutil.copytree if place.is_dir() else shutil.copy)(place, other)
    (folder / "evaluation.yaml").write_text(text)
    with pytest.raises(ConfigError, match="by case or Unicode form alone. Rename"):
        load_evaluation(str(folder / "evaluation.yaml"))


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\x1b", "\x07", "\r", "\n", "\x00", "\u200f"])
def test_what_steers_a_terminal_is_escaped_in_every_finding_and_table(character: str) -> None:
    finding = Finding("x", f"the name a{character}b", f"f{character}:1")
    assert character not in f"{finding}"
    assert finding.message == f"the name a{ascii(character)[1:-1]}b"
    if character not in "\r\n":
        assert character not in guarded(f"a{character}b")
