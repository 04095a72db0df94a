from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import fsspec
import pytest

from pipeline.config.discover import LINK_OUT, PatternError, exists, find
from pipeline.errors import InputError
from pipeline.store.blobs import open_input

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


def test_a_name_that_reads_two_ways_is_found_with_the_fault_and_spoils_no_other(tmp_path: Path) -> None:
    touch(tmp_path, "a_b_c.xml", "a_b.xml")
    found = {match.url.rpartition("/")[2]: match for match in find(f"{tmp_path}/{{system}}_{{query_set}}.xml", {})}
    assert dict(found["a_b.xml"].names) == {"system": "a", "query_set": "b"}
    assert (dict(found["a_b_c.xml"].names), found["a_b.xml"].fault) == ({}, "")
    assert found["a_b_c.xml"].fault.startswith("the name 'a_b_c.xml' can be read in two ways")


@pytest.mark.parametrize("pattern", ["/x/**/{system}.xml", "/x/{system}{dataset}.xml", "/x/*{system}.xml"])
def test_patterns_that_cannot_be_walked(pattern: str) -> None:
    with pytest.raises(PatternError):
        find(pattern, KNOWN)


def test_hidden_entries_and_files_in_place_of_folders_are_passed_over(tmp_path: Path) -> None:
    touch(tmp_path, ".DS_Store", ".git/dev.xml", "a/dev.xml", "a/._dev.xml", "readme.xml")
    assert names(f"{tmp_path}/{{system}}/{{query_set}}.xml") == [{"system": "a", "query_set": "dev"}]
    assert names(f"{tmp_path}/{{system}}") == [{"system": "readme.xml"}]


def test_what_has_the_name_of_a_file_and_is_none_is_found_and_opening_it_tells_why(tmp_path: Path) -> None:
    (tmp_path / "b" / "dev.xml").mkdir(parents=True)
    os.mkfifo(tmp_path / "b" / "pipe.xml")
    (tmp_path / "b" / "link.xml").symlink_to(tmp_path / "none")
    found = find(f"{tmp_path}/{{system}}/{{query_set}}.xml", KNOWN)
    assert [match.names["query_set"] for match in found] == ["dev", "link", "pipe"]
    for match, why in zip(found, ("a folder", "a link that leads nowhere", "a pipe"), strict=True):
        with pytest.raises(InputError, match=f"cannot be read: it is {why} "):
            open_input(match.url)


def test_links_are_followed_inside_of_the_folder_alone_unless_they_may_lead_out(tmp_path: Path) -> None:
    touch(tmp_path, "out/a/dev.xml", "away/b/dev.xml", "away/secret.xml", "out/f/dev.xml")
    out = tmp_path / "out"
    (out / "b").symlink_to(tmp_path / "away" / "b")
    (out / "c").symlink_to("a")
    (out / "d").symlink_to(out / "none")
    (out / "e").symlink_to("e")
    (out / "a" / "eval.xml").symlink_to("../../away/secret.xml")
    (out / "c" / "more.xml").symlink_to("dev.xml")
    pattern = f"{tmp_path}/out/{{system}}/{{query_set}}.xml"
    faults = {tuple(match.names.values()): match.fault for match in find(pattern, KNOWN)}
    fine = [names for names, fault in faults.items() if not fault]
    assert fine == [("a", "dev"), ("a", "more"), ("c", "dev"), ("c", "more"), ("f", "dev")]
    assert {names: why for names, why in faults.items() if why == LINK_OUT}.keys() == {
        ("a", "eval"),
        ("b",),
        ("c", "eval"),
    }
    assert faults["d",] == faults["e",] == "the folder cannot be looked into: it is a link that leads nowhere."
    followed = [tuple(match.names.values()) for match in find(pattern, KNOWN, follow_links=True) if not match.fault]
    assert {("b", "dev"), ("a", "eval"), ("c", "eval")} <= set(followed)
    elsewhere = tmp_path / "linked"
    elsewhere.symlink_to(out)
    assert ("a", "dev") in [tuple(m.names.values()) for m in find(f"{elsewhere}/{{system}}/{{query_set}}.xml", KNOWN)]


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
