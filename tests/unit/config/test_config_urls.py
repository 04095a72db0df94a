from __future__ import annotations

import pytest

from pipeline.config.names import LONGEST_NAME, name_fault, slug_fault
from pipeline.config.urls import fault_of, filled, folder_of, masked, resolved, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://KEY:SECRET@bucket/a: gone", "s3://***@bucket/a: gone"),
        ("sftp://me@host/a and ftp://u:p@h/b", "sftp://***@host/a and ftp://***@h/b"),
        ("https://h/a?X-Amz-Signature=abc&x=1", "https://h/a?***"),
        ("https://h/a?jwt=abc: gone", "https://h/a?*** gone"),
        ("https://h/a#access_token=abc", "https://h/a#***"),
        ("http://token@h/a", "http://***@h/a"),
        ("abfs://container@account/a", "abfs://container@account/a"),
        ("is this a/b?c#d", "is this a/b?c#d"),
        ("s3://bucket/mail@home/a", "s3://bucket/mail@home/a"),
        ("/data/a@b:3", "/data/a@b:3"),
    ],
)
def test_credentials_are_masked_and_nothing_else(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    ("folder", "url", "expected"),
    [
        ("/ev", "keys/a.xml", "/ev/keys/a.xml"),
        ("/ev", "../keys/a.xml", "/ev/../keys/a.xml"),
        ("/ev", "/keys/a.xml", "/keys/a.xml"),
        ("/ev", "s3://b/a.xml", "s3://b/a.xml"),
        ("/ev", "file:///keys/a.xml", "/keys/a.xml"),
        ("s3://b/ev", "keys/{dataset}.xml", "s3://b/ev/keys/{dataset}.xml"),
        ("s3://b/ev", "../keys/a.xml", "s3://b/keys/a.xml"),
        ("s3://b", "a.xml", "s3://b/a.xml"),
        ("memory://", "a.xml", "memory://a.xml"),
        ("zip://ev::/data/e.zip", "keys/a.xml", "zip://ev/keys/a.xml::/data/e.zip"),
        ("s3://b/ev", "zip://a.xml::s3://b/c.zip", "zip://a.xml::s3://b/c.zip"),
    ],
)
def test_paths_are_relative_to_the_evaluation_files_folder(folder: str, url: str, expected: str) -> None:
    assert resolved(folder, url) == expected


def test_a_relative_path_stays_in_its_bucket() -> None:
    with pytest.raises(ValueError, match="leaves s3://b"):
        resolved("s3://b/ev", "../../other/a.xml")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("/data/ev/e.yaml", "/data/ev"),
        ("file:///data/ev/e.yaml", "/data/ev"),
        ("s3://b/ev/e.yaml", "s3://b/ev"),
        ("https://h/ev/e.yaml?token=1/2", "https://h/ev"),
        ("memory://e.yaml", "memory://"),
        ("zip://ev/e.yaml::s3://b/e.zip", "zip://ev::s3://b/e.zip"),
    ],
)
def test_folder_of_a_file(uri: str, expected: str) -> None:
    assert folder_of(uri) == expected


def test_only_known_placeholders_are_filled() -> None:
    assert filled("{system}/{query_set}", {"system": "a"}) == "a/{query_set}"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("a/{sytem}.xml", "bad_placeholder"),
        ("a/{system.xml", "bad_placeholder"),
        ("a/{{system}}.xml", "bad_placeholder"),
        ("", "bad_url"),
        (" a", "bad_url"),
        ("a\nb", "bad_url"),
        ("a" * 5000, "bad_url"),
        ("s3://k:s@b/a", "secret_in_url"),
        ("https://h/a?sig=abc", "secret_in_url"),
    ],
)
def test_urls_that_are_refused(url: str, code: str) -> None:
    fault = fault_of(url, ("system",))
    assert fault is not None
    assert fault[0] == code
    assert ":s@" not in fault[1]
    assert "abc" not in fault[1]


def test_urls_that_are_fine() -> None:
    for url in ("a/{system}.xml", "s3://b/á b.xml", "../x", "/abs/[1].xml", "sftp://host/a"):
        assert fault_of(url, ("system",)) is None


@pytest.mark.parametrize("name", ["alpha", "Equipe Été", "系统-1", "p-baseline_2.1+x", "a" * LONGEST_NAME])
def test_names_that_are_fine(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "-x", "a/b", "a\\b", "a\x00b", "a\nb", " a", "a ", "a\u202eb", "a*b", "{a}", "a" * 129],
)
def test_names_that_are_refused(name: str) -> None:
    assert name_fault(name) is not None


def test_an_evaluations_name_is_a_plain_folder_name() -> None:
    assert slug_fault("sws2013-dev") is None
    for name in ("a..b", "é", "", "../x", ".x", "a b", "a" * 101):
        assert slug_fault(name) is not None


def test_values_in_messages_are_short_and_masked() -> None:
    assert shown("s3://k:s@b/a") == "'s3://***@b/a'"
    assert len(shown("x" * 1000)) < 90
