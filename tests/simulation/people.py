"""Who acts in a history: runs in one process or on a cluster, watchers, collectors, and a person who publishes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flows.rescore
import flows.tasks
import flows.watch
from pipeline.engine import cell as cells
from pipeline.engine.work import total
from pipeline.errors import PlatformError, WorkerDiedError
from pipeline.grid import STAGED, promote
from pipeline.grid.sweep import collect
from pipeline.store import manifest
from pipeline.store.blobs import Store
from tests.simulation.cluster import Cluster
from tests.simulation.inputs import NAME
from tests.simulation.seams import ROOT
from tests.simulation.world import World

TRIES = 3
PAUSES_S = (1.0, 5.0)
EVERY_S = 60.0
N_WORKERS = 2


def run(_world: World) -> None:
    """``rescore run``."""
    flows.rescore.run_evaluation(NAME, store=ROOT, quiet=True)


def watch(world: World, rounds: int) -> None:
    """``rescore watch --every``, for some rounds: what fails is looked at again at the next."""
    for at in range(rounds):
        try:
            flows.watch.watch.fn(NAME, ROOT)
        except PlatformError:
            if at == rounds - 1:
                raise
        world.pause(EVERY_S)


def gc(_world: World, older_than_s: float, keep: int | None) -> None:
    """``rescore gc --delete``."""
    collect(Store(ROOT), older_than_s=older_than_s, keep=keep)


def publish(_world: World) -> None:
    """``rescore publish`` of the newest staged run, where there is one."""
    store = Store(ROOT)
    newest = manifest.latest(store, f"{NAME}{STAGED}")
    if newest is not None:
        promote(store, newest["run"])


def flow(world: World) -> Callable[..., Any]:
    """What Prefect's flow does: a task for each cell, with its tries, on workers; then the task that publishes."""

    def start(_evaluation: str, work: Any, todo: Any, _settings: Any, *, staged: bool = False, **_: Any) -> Any:
        store, cluster, died = Store(ROOT), Cluster(world, N_WORKERS), list[Any]()
        works = _scored(world, work, [job.cell for job in todo], cluster, died)
        for one in sorted(died, key=str):
            died.remove(one)
            works += _scored(world, work, [one], cluster, died)
        lost = [(one.query_set, one.dataset, one.system) for one in sorted(died, key=str)]
        made = total([work.work, *works])
        return _tried(world, lambda: flows.tasks.publish_run.fn(store.root, work.address, made, staged, lost, {}))

    return start


def watched_flow(world: World) -> Callable[..., Any]:
    """The same as ``watch`` calls it."""
    start = flow(world)

    def rescore(
        _evaluation: str, _store: str, _cluster: Any, _workers: Any, *, plan: str, staged: bool, **_: Any
    ) -> Any:
        from pipeline.engine.plan import load_plan, missing

        store = Store(ROOT)
        work = load_plan(store, plan)
        return start("", work, missing(work.jobs, store), None, staged=staged)

    return rescore


def _scored(world: World, work: Any, todo: list[Any], cluster: Cluster, died: list[Any]) -> list[Any]:
    """Cells scored side by side; those whose workers died are added to ``died``."""
    main = world.current
    assert main is not None
    works, errors, pending = list[Any](), list[BaseException](), [len(todo)]

    def task(cell: Any) -> Callable[[], None]:
        def score() -> None:
            try:
                works.append(_tried(world, lambda: cells.do_cell(Store(ROOT), work, cell, cluster)))  # type: ignore[arg-type]
            except WorkerDiedError:
                died.append(cell)
            except Exception as error:  # noqa: BLE001 - raised again below
                errors.append(error)
            pending[0] -= 1

        return score

    for cell in todo:
        world.spawn(f"task {cell}", main.process, task(cell))
    world.wait(lambda: not pending[0])
    if errors:
        raise errors[0]
    return works


def _tried(world: World, call: Callable[[], Any]) -> Any:
    """As Prefect's tasks are tried."""
    for at in range(TRIES):
        try:
            return call()
        except WorkerDiedError:
            raise
        except (PlatformError, OSError):
            if at == TRIES - 1:
                raise
            world.pause(PAUSES_S[at])
    raise AssertionError("the last try returns or raises")
