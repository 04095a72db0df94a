from __future__ import annotations

import pytest

from pipeline.errors import StoreError
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name, checked_path


@pytest.mark.parametrize("path", ["a", "refs/OpenKWS13/00000001.json", "x/_y/c=1+2-3.json", "n" * 200])
def test_plain_paths_are_let_through(path):
    assert checked_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "/etc/passwd", "a//b", "a/", "..", "a/../b", "./a", ".hidden", "a/.hidden", "-rf", "~", "a\\b", "C:x",
        "a b", "a\nb", "a\0b", "é", "a%2e", "a?b", "a#b", "a*b", "{x}", "$HOME", "n" * 201, "/".join(["n" * 100] * 10),
    ],
)  # fmt: skip
def test_other_paths_are_refused_by_every_operation(path, tmp_path):
    store = Store(str(tmp_path / "store"))
    with pytest.raises(StoreError):
        checked_path(path)
    for operation in (store.get, store.exists, store.remove, store.get_sealed, store.describe):
        with pytest.raises(StoreError):
            operation(path)
    for operation in (store.put, store.create, store.put_sealed):
        with pytest.raises(StoreError):
            operation(path, b"data")
    assert list(tmp_path.rglob("*")) in ([], [tmp_path / "store"])


def test_a_name_has_one_part():
    with pytest.raises(StoreError, match="'a/b'"):
        checked_name("a/b")
