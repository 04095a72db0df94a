"""The product broken on purpose, in ways that a hurried change might: each must be found."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pipeline.engine.cell
import pipeline.engine.inputs
import pipeline.engine.stored.trialstore
import pipeline.engine.tasks
import pipeline.grid.sweep
import pipeline.store.blobs
import pipeline.store.leases
import pipeline.store.numbered
import pipeline.store.seal
import pipeline.store.zips
from pipeline.engine.work import Work
from pipeline.store import manifest
from pipeline.store.seal import seal
from tests.simulation import seams
from tests.simulation.seams import PUBLISH

Seams = Sequence[tuple[Any, str, Any]]


def commit_before_data() -> Seams:
    """The reference is made first, and what it names then."""
    write = PUBLISH._write

    def early(store: Any, plan: Any, run_id: str, *rest: Any) -> Any:
        manifest.commit(store, plan.evaluation, {"run": run_id, "manifest": PUBLISH._path(run_id), "work": {}})
        return write(store, plan, run_id, *rest)

    return [(PUBLISH, "_write", early)]


def non_exclusive_reference() -> Seams:
    """Records are written whether there is one or not."""

    def create(store: Any, folder: str, number: int, payload: dict[str, Any]) -> bool:
        path = pipeline.store.numbered.path_of(folder, number)
        if store.exists(path):
            return False
        store.put(path, seal(json.dumps(payload, sort_keys=True).encode()))
        return True

    return [(pipeline.store.numbered, "create", create)]


def reuse_without_digest() -> Seams:
    """Sealed objects are taken as they come."""

    def unseal(data: bytes, _where: str) -> bytes:
        return data.partition(b'"body":')[2].removesuffix(b"}\n")

    return [(module, "unseal", unseal) for module in (pipeline.store.blobs, pipeline.engine.cell)]


def rows_without_digest() -> Seams:
    """Entries of arrays are taken as they come."""
    zips = pipeline.store.zips.Zip
    return [(zips, "_checked", lambda _self, _name, data: data), (zips, "_check", lambda _self, _whole: None)]


def gc_without_lease() -> Seams:
    """A collection looks for no run that is at work."""
    return [(pipeline.store.leases.Lease, "others", lambda _self, _kind: [])]


def lease_left_behind() -> Seams:
    """A run ends and leaves its lease, which counts for ever."""
    return [
        (pipeline.store.leases.Lease, "end", lambda _self: None),
        (pipeline.store.leases.Lease, "sweep", lambda _self: None),
    ]


def gc_from_the_bottom() -> Seams:
    """What names others goes after them."""
    turn = pipeline.grid.sweep._turn
    return [(pipeline.grid.sweep, "_turn", lambda path: (-turn(path)[0], *turn(path)[1:]))]


def gc_forgets_what_results_stand_on() -> Seams:
    """Only what the manifest names is kept."""
    return [
        (pipeline.grid.sweep, "_of_results", lambda _store, addresses, **_: {f"results/{a}.json" for a in addresses})
    ]


def result_before_labels() -> Seams:
    """A cell's result is written, and its labels then."""
    tasks = pipeline.engine.tasks
    right, keep, write = tasks.conclude, tasks.keep_conclusion, tasks._write_labels
    own = threading.local()

    def conclude(*args: Any) -> Work:
        own.late = []
        return right(*args)

    def put_off(place: Any, *rest: Any) -> Work:
        own.late.append((place, *rest))
        return Work.of_made(place.labels)

    def kept(*args: Any) -> Work:
        done = keep(*args)
        for late in own.late:
            write(*late)
        return done

    return [
        *((module, "conclude", conclude) for module in (tasks, pipeline.engine.cell)),
        (tasks, "_write_labels", put_off),
        (tasks, "keep_conclusion", kept),
    ]


def input_not_compared() -> Seams:
    """An input that is another than when the run was planned is scored all the same."""
    inputs = pipeline.engine.inputs

    def read_planned(protocol: Any, role: str, planned: Any) -> Any:
        return inputs.read_role(protocol, role, planned.uri, role)[0]

    modules = (pipeline.engine.stored.trialstore, pipeline.engine.tasks, inputs)
    return [(module, "read_planned", read_planned) for module in modules]


VARIANTS: dict[str, Callable[[], Seams]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        commit_before_data,
        non_exclusive_reference,
        reuse_without_digest,
        rows_without_digest,
        gc_without_lease,
        lease_left_behind,
        gc_from_the_bottom,
        gc_forgets_what_results_stand_on,
        result_before_labels,
        input_not_compared,
    )
}


@contextmanager
def broken(name: str) -> Iterator[None]:
    """The product is broken so while the context lasts."""
    seams.start_anew()
    try:
        with seams.patched(VARIANTS[name]()):
            yield
    finally:
        seams.start_anew()
