from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.errors import StoreError
from pipeline.store import manifest
from pipeline.store.blobs import Store


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path))


def test_before_the_first_commit_there_is_nothing(store):
    assert manifest.latest(store, "sws2013") is None
    assert manifest.history(store, "sws2013") == {}


def test_commits_are_numbered_and_the_last_is_the_latest(store):
    assert [manifest.commit(store, "sws2013", {"run": run}) for run in ("a", "b", "a")] == [1, 2, 3]
    assert manifest.commit(store, "openkws13", {"run": "x"}) == 1
    assert manifest.latest(store, "sws2013") == {"run": "a"}
    assert manifest.history(store, "sws2013") == {1: {"run": "a"}, 2: {"run": "b"}, 3: {"run": "a"}}
    assert sorted(store.listing("refs/sws2013"))[0] == "refs/sws2013/00000001.json"


def test_racing_commits_all_succeed_under_different_numbers(store):
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda i: manifest.commit(store, "e", {"i": i}), range(40)))
    assert sorted(numbers) == list(range(1, 41))
    assert {number: payload["i"] for number, payload in manifest.history(store, "e").items()} == {
        number: i for i, number in enumerate(numbers)
    }


def test_a_number_that_was_taken_is_not_used_again_after_a_removal_below(store):
    for _ in range(3):
        manifest.commit(store, "e", {})
    store.remove("refs/e/00000001.json")
    store.remove("refs/e/00000002.json")
    assert manifest.commit(store, "e", {}) == 4


def test_other_objects_beside_the_references_are_no_commits(store):
    store.put("refs/e/README.txt", b"about")
    assert manifest.commit(store, "e", {"run": "a"}) == 1


def test_a_damaged_commit_is_an_error_and_never_an_older_one(store):
    manifest.commit(store, "e", {"run": "a"})
    manifest.commit(store, "e", {"run": "b"})
    store.put("refs/e/00000002.json", store.get("refs/e/00000002.json").replace(b'"b"', b'"c"'))
    with pytest.raises(StoreError, match=r"00000002\.json: .*damaged"):
        manifest.latest(store, "e")


def spoiled(data: bytes) -> bytes:
    return data.replace(b'"run"', b'"ran"')


def test_damaged_commits_are_discarded_and_no_others(store):
    for run in "abc":
        manifest.commit(store, "e", {"run": run})
    store.put("refs/e/00000002.json", spoiled(store.get("refs/e/00000002.json")))
    assert manifest.discard_damaged(store, "e") == ["refs/e/00000002.json"]
    assert sorted(manifest.history(store, "e")) == [1, 3]


class Busy(Store):
    """Another writer commits after each listing, and the first answer of each object is spoiled on its way."""

    def listing(self, folder: str) -> dict[str, int]:
        found = super().listing(folder)
        manifest.commit(Store(self.root), "e", {"run": "another"})
        return found

    def get(self, path: str) -> bytes:
        is_first, data = path not in SEEN, super().get(path)
        SEEN.add(path)
        return spoiled(data) if is_first else data


SEEN: set[str] = set()


def test_a_commit_that_comes_meanwhile_or_is_spoiled_on_its_way_is_not_discarded(store):
    SEEN.clear()
    manifest.commit(store, "e", {"run": "a"})
    assert manifest.discard_damaged(Busy(store.root), "e") == []
    assert [entry["run"] for entry in manifest.history(store, "e").values()] == ["a", "another"]


@pytest.mark.parametrize("evaluation", ["", "..", "a/b", "/etc", "a b"])
def test_an_evaluation_is_one_harmless_name(store, evaluation):
    for operation in (manifest.latest, manifest.history, lambda s, e: manifest.commit(s, e, {})):
        with pytest.raises(StoreError, match="Rename it"):
            operation(store, evaluation)
