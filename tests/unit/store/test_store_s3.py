"""The store on a real S3 server, and what becomes of it when server and connections misbehave."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr
from s3fs import S3FileSystem

from pipeline.errors import DamageError, InputError, StoreError, UsageError
from pipeline.store import arrays, manifest, s3
from pipeline.store.blobs import Store, open_input
from pipeline.store.meter import metered
from tests import s3_faults
from tests.s3_faults import FaultProxy
from tests.s3_server import S3Server

BLOCK = 5 << 20
"""S3 takes no smaller parts."""


@pytest.fixture
def store(s3_here: S3Server) -> Store:
    return Store(f"s3://{s3_here.bucket()}/a/store")


@pytest.fixture
def spoiled(s3: S3Server, s3_spoiled: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store behind the proxy, and little patience."""
    monkeypatch.setenv("RESCORE_S3_PATIENCE_S", "4")
    monkeypatch.setenv("RESCORE_S3_TIMEOUT_S", "1")
    return Store(f"s3://{s3.bucket()}/a/store")


def raw(server: S3Server, store: Store) -> tuple[S3FileSystem, str]:
    """A client past the store, and the store's folder on it."""
    return server.client(), store.root.removeprefix("s3://")


def test_objects_are_kept_under_the_prefix(store: Store, s3_here: S3Server) -> None:
    store.put("partials/ab/abcd", b"data")
    client, base = raw(s3_here, store)
    assert client.find(base) == [f"{base}/partials/ab/abcd"]
    assert store.get("partials/ab/abcd") == b"data"
    assert store.get_range("partials/ab/abcd", 1, 3) == b"at"
    assert store.get_range("partials/ab/abcd", 3, 9) == b"a"
    assert store.get_range("partials/ab/abcd", 4, 9) == b""
    assert store.listing() == store.listing("partials/ab") == {"partials/ab/abcd": 4}
    assert abs(store.times("partials")["partials/ab/abcd"] - time.time()) < 60
    assert store.exists("partials/ab/abcd")
    assert not store.exists("partials/ab")
    store.remove("partials/ab/abcd")
    store.remove("partials/ab/abcd")
    assert store.listing() == store.listing("partials") == {}
    with pytest.raises(DamageError, match="there is none"):
        store.get("partials/ab/abcd")


def test_a_listing_of_many_pages_is_whole(store: Store) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: store.put(f"partials/{i:04}", b""), range(1005)))
    store.put("partials-not/x", b"")
    assert list(store.listing("partials")) == [f"partials/{i:04}" for i in range(1005)]


def test_what_there_is_takes_few_questions(spoiled: Store, s3_spoiled: FaultProxy) -> None:
    paths = [f"results/{number:04d}.json" for number in range(40)]
    for path in paths[:30]:
        spoiled.put(path, b"x")
    spoiled.put("labels/a", b"x")
    s3_spoiled.kinds.clear()
    assert spoiled.present([*paths, "labels/a", "labels/b"]) == {*paths[:30], "labels/a"}
    assert s3_spoiled.kinds == {"list": 1, "head": 2}
    assert spoiled.present([]) == set()


def test_what_there_is_among_many_is_asked_one_by_one_where_that_is_less(
    spoiled: Store, s3_spoiled: FaultProxy, s3: S3Server
) -> None:
    client, base = raw(s3, spoiled)
    client.pipe({f"{base}/results/{number:04d}": b"x" for number in range(0, 4400, 2)})
    asked = [f"results/{number:04d}" for number in range(0, 4400, 275)]
    s3_spoiled.kinds.clear()
    assert spoiled.present(asked) == set(asked[::2])  # 16 questions are worth two pages, which reach up to 3998
    assert s3_spoiled.kinds == {"list": 2, "head": 1}


def test_what_another_writer_wrote_is_listed_at_once(store: Store, s3_here: S3Server) -> None:
    assert store.listing("refs") == {}
    client, base = raw(s3_here, store)
    client.pipe_file(f"{base}/refs/e/00000001.json", b"{}")
    assert store.listing("refs") == {"refs/e/00000001.json": 2}
    assert store.exists("refs/e/00000001.json")


def test_of_eight_racing_writers_one_creates_an_object(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        for name in map("refs/e/{}".format, range(4)):
            won = list(pool.map(lambda i, name=name: store.create(name, b"%d" % i), range(8)))
            assert (won.count(True), store.get(name)) == (1, b"%d" % won.index(True))


def test_racing_commits_get_different_numbers(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda i: manifest.commit(store, "sws2013", {"i": i}), range(8)))
    assert sorted(numbers) == list(range(1, 9))


def test_a_large_object_comes_in_parts_and_appears_when_the_last_has_come(
    s3: S3Server, spoiled: Store, s3_spoiled: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.store.s3.PART_BYTES", BLOCK)
    monkeypatch.setenv("RESCORE_S3_TIMEOUT_S", "20")
    data = np.random.default_rng(1).bytes(2 * BLOCK + 17)
    client, base = raw(s3, spoiled)
    seen_midway = []

    def look(method: str, path: str) -> None:
        if method == "PUT" or "uploadId" in path:
            seen_midway.append(client.exists(f"{base}/totals/x"))

    s3_spoiled.fault = look
    spoiled.put("totals/x", data)
    s3_spoiled.fault = None
    assert len(seen_midway) >= 4
    assert not any(seen_midway)
    assert spoiled.get("totals/x") == data
    with open_input(spoiled.url("totals/x")) as stream:
        assert stream.read(3) + stream.read() == data
    assert not spoiled.create("totals/x", data)
    assert [path for method, path in s3_spoiled.seen if method == "POST" and "uploads" in path]


def noisy(n_rows: int) -> xr.Dataset:
    """Trials that cannot be compressed: 1 MB for 100,000 rows."""
    random = np.random.default_rng(3)
    columns = {name: ("trial", random.normal(size=n_rows)) for name in ("begin", "duration", "score")}
    return xr.Dataset({**columns, "n_rows": ("query", np.array([n_rows]))})


def test_arrays_round_trip_and_a_lost_object_is_an_error(store: Store) -> None:
    dataset = noisy(100_000)
    arrays.write_groups(store, "trials/x.zarr.zip", {"": dataset})
    assert arrays.open_group(store, "trials/x.zarr.zip").load().identical(dataset)
    opened = arrays.open_group(store, "trials/x.zarr.zip")
    store.remove("trials/x.zarr.zip")
    with pytest.raises(DamageError, match="cannot read the object"):
        opened.load()
    with pytest.raises(DamageError, match="cannot read the object"):
        arrays.open_group(store, "trials/x.zarr.zip")


def test_a_small_group_is_one_request(spoiled: Store, s3_spoiled: FaultProxy) -> None:
    path, small = "trials/x.zarr.zip", noisy(5000)
    arrays.write_groups(spoiled, path, {"": small})
    s3_spoiled.seen.clear()
    assert arrays.open_group(spoiled, path).load().identical(small)
    assert [method for method, _ in s3_spoiled.seen] == ["GET"]


@pytest.mark.parametrize(("begin", "end"), [(70_000, 90_000), (131_000, 131_100), (0, 65_536)])
def test_some_rows_of_a_large_group_are_two_requests_for_little_and_checked(
    spoiled: Store, s3_spoiled: FaultProxy, begin: int, end: int
) -> None:
    path, large = "trials/x.zarr.zip", noisy(400_000)
    arrays.write_groups(spoiled, path, {"": large})
    n_bytes = spoiled.listing("trials")[path]
    s3_spoiled.seen.clear()
    rows = {"trial": slice(begin, end)}
    with metered() as metered_read:
        opened = arrays.opened(spoiled, path)
        opened.fetch(begin, end)
        assert opened.dataset.isel(rows).load().identical(large.isel(rows))
    assert [method for method, _ in s3_spoiled.seen] == ["GET", "GET"]
    assert 0 < metered_read.cost.bytes_read < n_bytes / 2


def test_rows_that_are_not_what_was_written_are_noticed(store: Store) -> None:
    path = "trials/x.zarr.zip"
    arrays.write_groups(store, path, {"": noisy(400_000)})
    data = store.get(path)
    store.put(path, data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    opened = arrays.opened(store, path)
    opened.fetch(350_000, 400_000)
    with pytest.raises(DamageError, match="is not what was written"):
        opened.fetch(0, 10)


def test_inputs_are_read_from_a_bucket(store: Store) -> None:
    store.put("keys/a.rttm", b"LEXEME")
    store.put("keys/empty.rttm", b"")
    with open_input(store.url("keys/a.rttm")) as stream:
        assert stream.read() == b"LEXEME"
    with open_input(store.url("keys/empty.rttm")) as stream:
        assert stream.read() == b""
    with pytest.raises(InputError, match=r"keys/b\.rttm: there is no such file"):
        open_input(store.url("keys/b.rttm"))


@pytest.mark.parametrize("fault", ["SlowDown", "InternalError", "drop", "lose", "cut", "stall"])
def test_what_passes_is_waited_for(
    spoiled: Store, s3_spoiled: FaultProxy, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESCORE_S3_PATIENCE_S", "60")
    spoiled.put("x", b"before")
    s3_spoiled.fault = s3_faults.first(2, fault)
    spoiled.put("x", b"after")
    s3_spoiled.fault = s3_faults.first(2, fault)
    assert spoiled.get("x") == b"after"
    s3_spoiled.fault = s3_faults.first(2, fault)
    assert spoiled.get_range("x", 1, 4) == b"fte"
    s3_spoiled.fault = s3_faults.first(2, fault)
    with open_input(spoiled.url("x")) as stream:
        assert stream.read() == b"after"
    s3_spoiled.fault = s3_faults.first(2, fault)
    assert spoiled.listing() == {"x": 5}
    assert s3_spoiled.spoiled[fault] >= 8


@pytest.mark.parametrize("fault", ["lose", "drop", "SlowDown"])
def test_who_creates_knows_it_though_the_answer_was_lost(spoiled: Store, s3_spoiled: FaultProxy, fault: str) -> None:
    s3_spoiled.fault = s3_faults.first(1, fault, "PUT")
    assert spoiled.create("refs/e/1", b"same")
    s3_spoiled.fault = s3_faults.first(1, fault, "PUT")
    assert not spoiled.create("refs/e/1", b"same")
    assert s3_spoiled.spoiled[fault] == 2


@pytest.mark.parametrize("fault", ["SlowDown", "stall"])
def test_patience_has_a_bound(
    spoiled: Store, s3_spoiled: FaultProxy, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled.put("x", b"")
    monkeypatch.setenv("RESCORE_S3_PATIENCE_S", "1")
    s3_spoiled.fault = s3_faults.after(0, fault)
    began = time.monotonic()
    with pytest.raises(StoreError, match="Run again when the server is well"):
        spoiled.get("x")
    # The last try begins within the patience and takes a timeout; the rest is for a busy machine.
    assert time.monotonic() - began < 1 + 1 + 20


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("AccessDenied", "these keys are refused .*Check AWS_ACCESS_KEY_ID"),
        ("XMinioStorageFull", "no space is left there .*rescore gc"),
        ("RequestTimeTooSkewed", "the clocks of server and client differ too much .*NTP"),
    ],
)
def test_what_does_not_pass_is_told_at_once_with_how_to_mend_it(
    spoiled: Store, s3_spoiled: FaultProxy, fault: str, told: str
) -> None:
    s3_spoiled.fault = s3_faults.after(0, fault)
    for operation in (lambda: spoiled.put("x", b""), lambda: spoiled.create("y", b""), spoiled.listing):
        asked = len(s3_spoiled.seen)
        with pytest.raises(StoreError, match=told):
            operation()
        assert len(s3_spoiled.seen) == asked + 1


def test_a_missing_bucket_is_an_error_and_not_an_empty_store(s3_here: S3Server) -> None:
    nowhere = Store("s3://no-such-bucket/store")
    for operation in (
        lambda: nowhere.put("x", b""),
        lambda: nowhere.create("x", b""),
        lambda: nowhere.get("x"),
        nowhere.listing,
        lambda: open_input("s3://no-such-bucket/key.rttm"),
    ):
        with pytest.raises(StoreError, match="there is no such bucket .*Create it") as raised:
            operation()
        assert not isinstance(raised.value, DamageError)


@pytest.mark.parametrize(("name", "value"), [("AWS_SECRET_ACCESS_KEY", "wrong"), ("AWS_ACCESS_KEY_ID", "unknown")])
def test_wrong_keys_are_told_and_not_shown(
    store: Store, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("x", b"")
    monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    for operation in (
        lambda: store.put("x", b""),
        lambda: store.exists("x"),
        lambda: store.get("x"),
        lambda: open_input(store.url("x")),
    ):
        with pytest.raises(StoreError, match="these keys are refused") as raised:
            operation()
        assert value not in str(raised.value)


def test_a_dead_endpoint_is_told_sooner_where_it_never_answered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "UNKNOWN_PATIENCE_S", 0.5)
    monkeypatch.setattr(s3, "_ANSWERED", set())
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    S3FileSystem.clear_instance_cache()
    with pytest.raises(StoreError, match=r"nothing answers at http://127\.0\.0\.1:9\. Start"):
        store.get("x")


def test_a_server_that_is_killed_is_waited_for(store: Store, s3_here: S3Server) -> None:
    store.put("x", b"before")
    s3_here.kill()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(store.get, "x")
        time.sleep(0.5)
        assert not reading.done()
        s3_here.start()
        assert reading.result(60) == b"before"


@pytest.mark.parametrize("value", ["soon", "-1", "inf", "0"])
def test_a_patience_that_is_no_time_is_wrong_usage(store: Store, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESCORE_S3_PATIENCE_S", value)
    with pytest.raises(UsageError, match="RESCORE_S3_PATIENCE_S must be a number of seconds"):
        store.listing()
