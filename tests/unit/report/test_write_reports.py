from __future__ import annotations

import json

import pytest

from pipeline.report import board_csv, render_page, write_reports
from pipeline.store.blobs import Store


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def test_the_files_are_written_and_their_paths_returned(made, store):
    paths = write_reports(store, "reports/sws/run-1", *made)
    tables = {"index.html", "board.csv", "board.tex", "boards.json", "queries.csv", "curves.csv", "results.json"}
    assert tables <= set(paths)
    assert len(set(paths) - tables) == 2 * 6
    assert paths == {name: f"reports/sws/run-1/{name}" for name in paths}
    assert store.get(paths["index.html"]).decode() == render_page(*made)
    assert store.get(paths["board.csv"]) == board_csv(made[0])
    assert len(json.loads(store.get(paths["results.json"]))["results"]) == 24


def test_writing_again_changes_nothing(made, store):
    paths = write_reports(store, "reports/sws/run-1/", *made)
    before = {name: store.get(path) for name, path in paths.items()}
    assert write_reports(store, "reports/sws/run-1", *made) == paths
    assert {name: store.get(path) for name, path in paths.items()} == before
