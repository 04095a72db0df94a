from __future__ import annotations

import copy
import os
import pickle
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from pipeline.errors import DamageError, InputError, StoreError, UsageError, escaped
from pipeline.store import elsewhere
from pipeline.store.blobs import Store, open_input, redacted
from pipeline.store.noting import NotingStore


@pytest.fixture(params=["path", "file", "memory"])
def store(request, tmp_path):
    return Store(
        {
            "path": str(tmp_path / "store"),
            "file": f"file://{tmp_path}/store",
            "memory": f"memory://{uuid4().hex}/store",
        }[request.param]
    )


def test_what_was_put_is_got_listed_described_and_removed(store):
    store.put("partials/ab/abcd", b"first")
    store.put("partials/ab/abcd", b"data!!")
    store.put("partialsx/y", b"")
    assert store.get("partials/ab/abcd") == b"data!!"
    assert store.get_range("partials/ab/abcd", 1, 4) == b"ata"
    assert store.get_range("partials/ab/abcd", 3, 99) == b"a!!"
    assert store.get_range("partials/ab/abcd", 6, 9) == b""
    assert store.exists("partials/ab/abcd")
    assert not store.exists("partials/ab")
    assert not store.exists("partials/none")
    assert store.listing() == {"partials/ab/abcd": 6, "partialsx/y": 0}
    assert store.listing("partials") == {"partials/ab/abcd": 6}
    assert store.listing("results") == {}
    assert store.describe("partials/ab/abcd")["n_bytes"] == 6
    store.remove("partials/ab/abcd")
    store.remove("partials/ab/abcd")
    assert store.listing() == {"partialsx/y": 0}


def test_several_objects_are_asked_for_together(store):
    store.put("a/b", b"x")
    store.put("a/c/d", b"x")
    assert store.present(["a/b", "a/c", "a/c/d", "a/e", "f"]) == {"a/b", "a/c/d"}
    with pytest.raises(StoreError):
        store.present(["../a"])


def test_a_noting_store_names_what_went_through_it_without_reading_it_again(store, monkeypatch):
    store.put("a/read", b"read")
    noting = NotingStore(store.root)
    assert noting == store
    assert hash(noting) == hash(store)
    assert noting.get("a/read") == b"read"
    noting.put("a/written", b"written")
    noting.put_sealed("a/sealed", b"{}")
    found = {path: store.describe(path) for path in store.listing()}
    with monkeypatch.context() as closed:
        closed.setattr(Store, "get", lambda *_: pytest.fail("read again"))
        assert {path: noting.describe(path) for path in found} == found
    store.put("a/other", b"without a seal")
    assert noting.describe("a/other") == store.describe("a/other")
    store.put_sealed("a/sealed-there", b"{}")
    assert NotingStore(store.root).vouched("a/sealed-there") == store.describe("a/sealed-there")
    with pytest.raises(DamageError):
        NotingStore(store.root).vouched("a/other")
    noting.remove("a/read")
    with pytest.raises(DamageError):
        noting.describe("a/read")


def test_no_manifest_vouches_for_what_was_once_read_damaged(store, monkeypatch):
    store.put_sealed("a/sealed", b"{}")
    noting = NotingStore(store.root)
    with monkeypatch.context() as cut:
        cut.setattr(Store, "get", lambda *_: b'{"sha256":')
        with pytest.raises(DamageError):
            noting.get_sealed("a/sealed")
    assert noting.vouched("a/sealed") == store.describe("a/sealed")


def test_a_missing_object_is_an_error_that_names_it(store):
    with pytest.raises(StoreError, match=r"results/x\.json: .*there is none"):
        store.get("results/x.json")
    with pytest.raises(StoreError, match=r"results/x\.json: .*there is none"):
        store.get_range("results/x.json", 0, 1)


def test_exclusive_creation_keeps_the_first(store):
    assert store.create("refs/e/1", b"first")
    assert not store.create("refs/e/1", b"second")
    assert store.get("refs/e/1") == b"first"


def test_one_of_many_local_creators_wins_and_nothing_else_is_left(tmp_path):
    store = Store(str(tmp_path))
    for race in range(30):
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(lambda i, race=race: store.create(f"refs/{race}", b"%d" % i), range(8)))
        assert won.count(True) == 1
        assert store.get(f"refs/{race}") == b"%d" % won.index(True)
    assert sorted(path.name for path in (tmp_path / "refs").iterdir()) == sorted(map(str, range(30)))


def test_a_failed_local_write_leaves_the_old_object_and_no_temporary_file(tmp_path):
    store = Store(str(tmp_path))
    store.put("a/b", b"old")
    with pytest.raises(StoreError, match="cannot write"):
        store.put("a/b", None)
    with pytest.raises(StoreError, match="cannot write"):
        store.put("a/b/c", b"a file is in the way")
    assert store.get("a/b") == b"old"
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_temporary_files_of_killed_writers_are_not_listed(tmp_path):
    store = Store(str(tmp_path))
    store.put("a/b", b"data")
    (tmp_path / "a" / ".b.0123").write_bytes(b"da")
    assert store.listing("a") == {"a/b": 4}


def test_a_store_can_be_read_by_a_group(tmp_path):
    umask = os.umask(0o022)
    try:
        Store(str(tmp_path)).put("a", b"data")
    finally:
        os.umask(umask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_sealed_objects_are_json_and_damage_is_an_error(store):
    store.put_sealed("r.json", b'{"a":1}')
    sealed = store.get("r.json")
    assert store.get_sealed("r.json") == b'{"a":1}'
    assert sealed.startswith(b'{"sha256":"')
    assert sealed.endswith(b'","body":{"a":1}}\n')
    for damaged in (sealed[:-1], sealed + b"\n", sealed.replace(b":1}", b":2}"), b"", b'{"a":1}'):
        store.put("r.json", damaged)
        with pytest.raises(StoreError, match=r"r\.json: .*damaged"):
            store.get_sealed("r.json")


def test_a_store_is_a_value(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    store = Store("store")
    assert store == Store(str(tmp_path / "store")) == Store(f"file://{tmp_path}/store/")
    assert len({store, Store("./store")}) == 1
    assert copy.copy(store) == pickle.loads(pickle.dumps(store)) == store  # noqa: S301
    assert store.url("a/b") == f"{tmp_path}/store/a/b"
    assert store.url("") == f"{tmp_path}/store"
    assert Store("~/kept").root == f"{tmp_path}/home/kept"
    assert Store("s3://bucket/a/").url("b") == "s3://bucket/a/b"


def test_a_relative_store_does_not_move_with_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = Store("store")
    store.put("a", b"data")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert store.get("a") == b"data"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "file://",
        "nonsense://x",
        "s3://key:secret@bucket/x",
        "s3://bucket/x?secret=1",
        "simplecache::s3://b/x",
        "a\0",
    ],
)
def test_what_cannot_be_a_store_is_refused_without_showing_secrets(url):
    with pytest.raises(UsageError) as refused:
        Store(url)
    assert "secret" not in str(refused.value)


def test_one_file_system_serves_a_process():
    assert fsspec.filesystem("memory", use_listings_cache=False) is elsewhere.file_system("memory://one")[0]


def test_inputs_are_opened_from_paths_and_urls(tmp_path, monkeypatch):
    (tmp_path / "a.rttm").write_bytes(b"LEXEME")
    monkeypatch.chdir(tmp_path)
    fsspec.filesystem("memory").pipe_file("/inputs/a.rttm", b"LEXEME")
    for uri in ("a.rttm", str(tmp_path / "a.rttm"), f"file://{tmp_path}/a.rttm", "memory://inputs/a.rttm"):
        with open_input(uri) as stream:
            assert stream.read(3) == b"LEX"
            assert stream.read() == b"EME"


@pytest.mark.parametrize("uri", ["missing.xml", "memory://none/such.xml", "nonsense://x", "a\0b"])
def test_inputs_that_are_not_there_are_refused(uri, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        open_input(uri)
    assert refused.value.findings[0].where == escaped(uri)
    assert refused.value.findings[0].code in {"missing_input", "unknown_place"}


def not_files(folder: Path) -> dict[str, str]:
    """What may stand where a file should, by name, with what is said of it."""
    folder.joinpath("loop").symlink_to(folder / "loop")
    folder.joinpath("broken").symlink_to(folder / "none")
    folder.joinpath("folder").mkdir()
    folder.joinpath("to_folder").symlink_to(folder / "folder")
    os.mkfifo(folder / "pipe")
    folder.joinpath("to_pipe").symlink_to(folder / "pipe")
    folder.joinpath("device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    return {
        "loop": "its links lead round in a circle",
        "broken": "it is a link that leads nowhere",
        "folder": "it is a folder",
        "to_folder": "it is a folder",
        "pipe": "it is a pipe",
        "to_pipe": "it is a pipe",
        "device": "it is a device",
        "socket": "it is a socket",
        "n" * 300: "its name is too long",
    }


def test_what_is_no_file_is_refused_with_the_reason_and_never_waited_for(tmp_path):
    for name, why in not_files(tmp_path).items():
        with pytest.raises(InputError) as refused:
            open_input(str(tmp_path / name))
        ((code, message, where),) = [(one.code, one.message, one.where) for one in refused.value.findings]
        assert (code, where) == ("unreadable_input", str(tmp_path / name))
        assert message.startswith(f"the file cannot be read: {why} (allowed: a regular file that may be read).")


_AS_NOBODY = """
import os, sys
from pipeline.store.blobs import open_input
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
open_input(sys.argv[1])
"""


def test_a_file_without_permission_is_refused_with_the_reason(tmp_path):
    hidden = tmp_path / "hidden"
    hidden.write_bytes(b"x")
    hidden.chmod(0)
    command = [sys.executable, "-c", _AS_NOBODY, hidden]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert f"InputError: {hidden}: the file cannot be read: there is no permission to read it" in made.stderr


def test_a_pipe_of_a_shells_own_is_read():
    reading, writing = os.pipe()
    os.write(writing, b"words")
    os.close(writing)
    with open_input(f"/dev/fd/{reading}") as stream:
        assert stream.read() == b"words"
    os.close(reading)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("s3://bucket/a", "s3://bucket/a"),
        ("https://host/a.xml?X-Amz-Signature=abc", "https://host/a.xml"),
        ("https://host/a.xml#access_token=abc", "https://host/a.xml"),
        ("http://token@host/a", "http://host/a"),
        ("zip://a.xml::https://token@host/c.zip", "zip://a.xml::https://host/c.zip"),
        ("ftp://user:word@host/a", "ftp://host/a"),
        ("s3://KEY:SECRET@bucket/a", "s3://bucket/a"),
        ("s3a://KEY:SEC/RET+x@bucket/a", "s3a://bucket/a"),
        ("s3://KEY@bucket/a", "s3://bucket/a"),
        ("zip://a.xml::s3://KEY:SECRET@bucket/c.zip", "zip://a.xml::s3://bucket/c.zip"),
        ("s3://bucket/mail@home:1", "s3://bucket/mail@home:1"),
        ("abfs://container@account/a", "abfs://container@account/a"),
        ("/data/what?.xml", "/data/what?.xml"),
    ],
)
def test_urls_are_shown_without_secrets(uri, shown):
    assert redacted(uri) == shown


@pytest.mark.parametrize("place", ["s3://{}@b/a", "s3a://K:{}@b/a", "s3://K:x/{}@b/a", "ftp://u:{}@h/a"])
def test_an_input_with_credentials_in_its_url_is_refused_without_showing_them(place):
    with pytest.raises(UsageError, match="holds no credentials") as refused:
        open_input(place.format("S3cr3t"))
    assert "S3cr3t" not in str(refused.value)
