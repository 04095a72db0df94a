from __future__ import annotations

import io
import zipfile
from pathlib import Path

import fsspec
import pytest

from pipeline.config.discover import PatternError, exists, find

KNOWN = {"query_set": ("dev", "eval"), "dataset": ("african", "indian")}


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def names(pattern: str) -> list[dict[str, str]]:
    return [dict(match.names) for match in find(pattern, KNOWN)]


def test_placeholders_are_read_off_folders_and_file_names(tmp_path: Path) -> None:
    touch(tmp_path, "out/b/dev-african.xml", "out/a/eval-indian.xml", "out/a/notes.txt", "other/a/dev-african.xml")
    found = find(f"{tmp_path}/out/{{system}}/{{query_set}}-{{dataset}}.xml", KNOWN)
    assert [(match.url, dict(match.names)) for match in found] == [
        (f"{tmp_path}/out/a/eval-indian.xml", {"system": "a", "query_set": "eval", "dataset": "indian"}),
        (f"{tmp_path}/out/b/dev-african.xml", {"system": "b", "query_set": "dev", "dataset": "african"}),
    ]


def test_unknown_names_are_found_too(tmp_path: Path) -> None:
    touch(tmp_path, "a/dve/african.xml")
    assert names(f"{tmp_path}/{{system}}/{{query_set}}/{{dataset}}.xml") == [
        {"system": "a", "query_set": "dve", "dataset": "african"}
    ]


def test_a_placeholder_given_twice_stands_for_one_name(tmp_path: Path) -> None:
    touch(tmp_path, "a/a.dev.xml", "a/b.dev.xml", "b*/b*.dev.xml", "b*/bxx.dev.xml")
    assert names(f"{tmp_path}/{{system}}/{{system}}.{{query_set}}.xml") == [
        {"system": "a", "query_set": "dev"},
        {"system": "b*", "query_set": "dev"},
    ]


def test_known_names_settle_what_separators_leave_open(tmp_path: Path) -> None:
    touch(tmp_path, "team_a_dev_african.xml")
    assert names(f"{tmp_path}/{{system}}_{{query_set}}_{{dataset}}.xml") == [
        {"system": "team_a", "query_set": "dev", "dataset": "african"}
    ]


def test_a_name_that_reads_two_ways_is_refused(tmp_path: Path) -> None:
    touch(tmp_path, "a_b_c.xml")
    with pytest.raises(PatternError, match=r"two ways for 'a_b_c\.xml'"):
        find(f"{tmp_path}/{{system}}_{{query_set}}.xml", {})


@pytest.mark.parametrize("pattern", ["/x/**/{system}.xml", "/x/{system}{dataset}.xml", "/x/*{system}.xml"])
def test_patterns_that_cannot_be_walked(pattern: str) -> None:
    with pytest.raises(PatternError):
        find(pattern, KNOWN)


def test_hidden_entries_and_wrong_kinds_are_passed_over(tmp_path: Path) -> None:
    touch(tmp_path, ".DS_Store", ".git/dev.xml", "a/dev.xml", "a/._dev.xml", "readme.xml")
    (tmp_path / "b" / "dev.xml").mkdir(parents=True)
    assert names(f"{tmp_path}/{{system}}/{{query_set}}.xml") == [{"system": "a", "query_set": "dev"}]


def test_a_wildcard_stands_for_one_folder(tmp_path: Path) -> None:
    touch(tmp_path, "team1/a/x.xml", "team2/b/x.xml", "team2/c/y/x.xml")
    assert names(f"{tmp_path}/*/{{system}}/x.xml") == [{"system": "a"}, {"system": "b"}]


def test_nothing_there_is_no_match(tmp_path: Path) -> None:
    assert find(f"{tmp_path}/none/{{system}}/x.xml", KNOWN) == []
    touch(tmp_path, "plain")
    assert find(f"{tmp_path}/plain/{{system}}.xml", KNOWN) == []
    assert find(f"{tmp_path}/none.xml", KNOWN) == []
    assert len(find(f"{tmp_path}/plain", KNOWN)) == 1


def test_other_file_systems() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/discover/a/dev.xml", b"")
    assert [match.url for match in find("memory://discover/{system}/{query_set}.xml", KNOWN)] == [
        "memory:///discover/a/dev.xml"
    ]
    assert exists("memory:///discover/a/dev.xml")
    assert not exists("memory:///discover/a")


def test_archives_keep_their_chain(tmp_path: Path) -> None:
    archive = tmp_path / "o.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("out/a/dev.xml", "<x/>")
    (match,) = find(f"zip://out/{{system}}/{{query_set}}.xml::{archive}", KNOWN)
    assert dict(match.names) == {"system": "a", "query_set": "dev"}
    with fsspec.open(match.url) as stream:
        assert io.BytesIO(stream.read()).getvalue() == b"<x/>"
