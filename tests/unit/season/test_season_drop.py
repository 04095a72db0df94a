"""A drop folder: what is new is taken once, in order of arrival, and what is still growing is left."""

from __future__ import annotations

import os

import pytest
import season_files as files

from pipeline.cli import main
from pipeline.season.drop import collect
from pipeline.store.blobs import Store

NOW_S = files.ENDS.timestamp()


def put(drop, name, text, age_s):
    path = drop / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (NOW_S - age_s, NOW_S - age_s))


def test_what_is_new_is_submitted_once_when_it_has_settled(tmp_path):
    store, drop = files.opened(tmp_path), tmp_path / "drop"
    put(drop, "eval/south/q_d.stdlist.xml", files.stdlist(files.POOR), 500)
    put(drop, "eval/north/try1/q_d.stdlist.xml", files.stdlist(files.GOOD), 1000)
    put(drop, "eval/north/try2/q_d.stdlist.xml", "<stdlist", 200)
    put(drop, "eval/east/q_d.stdlist.xml", files.stdlist(files.GOOD), 10)
    put(drop, "eval/nobody/x.xml", "x", 500)
    put(drop, "eval/north/.part", "x", 500)
    (drop / "eval/north/linked.xml").symlink_to("/etc/hostname")
    found = collect(store, files.NAME, str(drop), now_s=NOW_S)
    assert [(one.team, one.accepted) for one in found.submissions] == [
        ("north", True),
        ("south", True),
        ("north", False),
    ]
    assert found.submissions[0].arrival[:19] == "2026-06-01T21:43:20"
    assert found.unsettled == ("eval/east/q_d.stdlist.xml",)
    assert found.strays == ("eval/nobody/x.xml",)
    again = collect(store, files.NAME, str(drop), now_s=NOW_S + 100)
    assert [one.team for one in again.submissions] == ["east"]
    assert collect(store, files.NAME, str(drop), now_s=NOW_S + 100).submissions == ()


def test_a_bucket_prefix_is_a_drop_folder(tmp_path):
    store, bucket = files.opened(tmp_path), Store("memory://season-drop-test")
    bucket.put("drop/eval/north/q_d.stdlist.xml", files.stdlist(files.GOOD).encode())
    found = collect(store, files.NAME, "memory://season-drop-test/drop", settled_s=-1e9)
    assert [(one.team, one.accepted) for one in found.submissions] == [("north", True)]


def test_the_command_takes_what_is_new(tmp_path, capsys):
    store, drop = files.opened(tmp_path), tmp_path / "drop"
    put(drop, "eval/north/q_d.stdlist.xml", files.stdlist(files.GOOD), 500)
    assert main(["season", "collect", str(drop), "--store", store.root, "--settled", "0"]) == 0
    assert "no. 3 of north in eval: accepted" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["show", "packets"])
def test_a_season_without_results_can_be_shown(tmp_path, capsys, command):
    store = files.opened(tmp_path)
    files.hand_in(store, tmp_path, "north", files.stdlist(files.GOOD))
    assert main(["season", command, "--store", store.root, "--json"]) == 0
    assert main(["season", command, "--store", store.root]) == 0
    assert "north" in capsys.readouterr().out


def test_the_commands_of_a_whole_submission(tmp_path, capsys):
    path = files.season(tmp_path)
    store = ["--store", str(tmp_path / "store")]
    assert main(["season", "open", str(path), *store]) == 0
    (tmp_path / "q_d.stdlist.xml").write_text(files.stdlist(files.GOOD))
    call = ["submit", str(tmp_path / "q_d.stdlist.xml"), "--team", "north", *store]
    assert main([*call, "--received", "2026-05-01T12:00Z"]) == 0
    assert "accepted" in capsys.readouterr().out
    assert main([*call, "--received", "yesterday"]) == 2
    (tmp_path / "bad.xml").write_text("x")
    assert main(["submit", str(tmp_path / "bad.xml"), "--team", "north", *store, "--json"]) == 1
    assert main(["withdraw", "--team", "north", "--submission", "3", "--reason", "a mistake", *store]) == 0
    assert main(["season", "show", *store]) == 0
    out = capsys.readouterr().out
    assert "a mistake" in out
    assert "refused" in out
