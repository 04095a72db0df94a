"""A run for ten years: everything in one folder, and every bit made again from it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from season_world import Season

from pipeline.cli import main


@pytest.fixture(scope="module")
def archived(tmp_path_factory):
    """An archive with wheels of a released run, made by the command line; the season's own folder is gone."""
    folder = tmp_path_factory.mktemp("season")
    season = Season(folder / "season")
    run = season.run()
    season.release(run, "official")
    made = folder / "archive"
    assert main(["archive", run.id, str(made), "--store", season.store.root]) == 0
    shutil.rmtree(folder / "season")
    return made


def test_an_archive_holds_everything_by_digest(archived):
    index = json.loads((archived / "archive.json").read_bytes())
    tops = {name.split("/")[0] for name in index["files"]}
    assert tops == {
        "README.txt",
        "figures",
        "inputs",
        "pages",
        "plan.json",
        "protocol",
        "requirements.lock",
        "season",
        "wheels",
    }
    assert any(name.startswith("figures/grid.zarr.zip") for name in index["files"])
    assert any(name.endswith("key.rttm") for name in index["files"])
    values = json.loads((archived / "protocol" / "q" / "d" / "north.json").read_bytes())
    assert values["settings"]["p_target"] == 0.00015
    lines = (archived / "figures" / "figures.csv").read_text().splitlines()
    assert lines[0] == "query_set,dataset,system,condition,measure,value,reason"
    assert any(line.startswith("q,d,canary-perfect,all,atwv,1.0,") for line in lines)
    texts = [path.read_bytes() for path in archived.rglob("*.json")]
    assert not any(b"x.example" in text for text in texts), "no contact data"
    lock = (archived / "requirements.lock").read_text()
    assert "numpy==" in lock
    assert "rescore==" in lock


def test_the_figures_are_made_again_in_a_new_environment_without_a_network(archived, require):
    call = [sys.executable, "-m", "pipeline.cli", "reproduce", str(archived), "--json"]
    isolated = ["unshare", "-r", "-n"]
    alone = subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode == 0
    require("unshare", alone, "this machine does not permit a process without network")
    reach = "import socket; socket.create_connection(('127.0.0.1', 9), 5)"
    lost = subprocess.run([*isolated, sys.executable, "-c", reach], capture_output=True, text=True, check=False)
    assert "Network is unreachable" in lost.stderr, "not even this machine's own addresses are reached"
    done = subprocess.run([*isolated, *call], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["equal"], told["n_cells"], told["differing"]) == (True, 5, [])


def test_what_is_not_what_was_archived_is_told(archived, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(archived, copy, ignore=shutil.ignore_patterns("wheels"))
    index = json.loads((copy / "archive.json").read_bytes())
    index["files"] = {name: entry for name, entry in index["files"].items() if not name.startswith("wheels/")}
    (copy / "archive.json").write_text(json.dumps(index))
    assert main(["reproduce", str(copy), "--here"]) == 0
    result = copy / "figures" / "results" / "q" / "d" / "north.json"
    result.write_bytes(result.read_bytes().replace(b"atwv", b"atwx"))
    assert main(["reproduce", str(copy), "--here"]) == 3
    assert "not what was archived" in capsys.readouterr().err
    assert main(["archive", "tiny-eval", str(copy), "--store", str(tmp_path)]) == 2


def test_a_difference_in_figures_is_found(archived, tmp_path, capsys):
    import hashlib

    copy = tmp_path / "copy"
    shutil.copytree(archived, copy, ignore=shutil.ignore_patterns("wheels"))
    name = "figures/results/q/d/north.json"
    path = copy / name
    path.write_bytes(path.read_bytes().replace(b'"n_detections":4', b'"n_detections":5'))
    index = json.loads((copy / "archive.json").read_bytes())
    index["files"] = {one: entry for one, entry in index["files"].items() if not one.startswith("wheels/")}
    index["files"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (copy / "archive.json").write_text(json.dumps(index))
    assert main(["reproduce", str(copy), "--here"]) == 3
    assert "q/d/north: the result differs" in capsys.readouterr().err
