"""Artifacts and events that a flow leaves with Prefect, for people and automations.

The run is published by then. A server that does not answer costs these, never the run. Whoever may look at Prefect's
pages sees what reports may show: no figure of a run that waits for a person, and nothing that a dataset holds back.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal

import httpx
from prefect import runtime
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.client.orchestration import get_client
from prefect.events import emit_event
from prefect.exceptions import PrefectException
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, get_current_settings, temporary_settings

from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan, load_plan
from pipeline.engine.result import plain
from pipeline.engine.work import work_text
from pipeline.grid import Run, before, load_grid
from pipeline.grid.disclosure import HELD, Disclosure, levels_of
from pipeline.report import board_rows
from pipeline.report.changes.diff import Diff, compare, side_of
from pipeline.report.changes.documents import diff_text
from pipeline.report.disclosure import disclosed, disclosed_changes
from pipeline.season.gate import waits_for
from pipeline.store.blobs import Store

State = Literal["published", "staged"]
_LOG = logging.getLogger("rescore")


@contextmanager
def best_effort(what: str) -> Iterator[None]:
    """Go on, with a warning, where Prefect's server does not take ``what``."""
    try:
        yield
    except (httpx.HTTPError, PrefectException, OSError) as error:
        _LOG.warning("Prefect did not take %s (%s: %s); the results are safe", what, type(error).__name__, error)


@contextmanager
def unheard(is_brief: bool) -> Iterator[None]:
    """While the context lasts, a brief flow gives no heartbeats: it would wait a second for their thread at its end.

    Where somebody has said how often they are to come, they come.
    """
    if not is_brief or "heartbeat_frequency" in get_current_settings().flows.model_fields_set:
        yield
        return
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield


def name_run(evaluation: str) -> None:
    """Call the flow run by the evaluation and the date: a path says less, and is the same every night."""
    run = runtime.flow_run.id
    if run:
        with best_effort("the run's name"), get_client(sync_client=True) as client:
            client.update_flow_run(run, name=f"{evaluation} {datetime.now(UTC):%Y-%m-%d %H:%M}")


def show_dashboard(url: str, *, told: bool) -> None:
    """Say where Dask's pages are, to Prefect and, where it is to be ``told``, on stderr; "" is nowhere."""
    if not url:
        return
    if told:
        sys.stderr.write(f"Dask's pages: {url}\n")
    with best_effort("the address of Dask's pages"):
        create_link_artifact(link=url, link_text="Dask's pages", key="dask", description="while the run lasts")


def leave_artifacts(store: Store, run: Run, state: State) -> None:
    """The board, the cells without figures and what the run took, as tables beside the flow run.

    There is no board of a run that is staged.
    """
    grid, _ = disclosed(load_grid(store, run), ())
    primary = str(grid[""].attrs["primary_measure"])
    rows = [row for row in board_rows(grid) if row["condition"] == "all"]
    counts = f"{run.evaluation}: {run.n_scored} cells scored, {run.n_failed} failed; {work_text(run.work)}"
    with best_effort("the board"):
        if state == "published":
            scored = [row for row in rows if not row["failed"]]
            create_table_artifact(
                key="board",
                description=counts,
                table=[_shown(row, "query_set", "dataset", "rank", "system", primary) for row in scored],
            )
        create_table_artifact(
            key="failed-cells",
            description="Cells without figures, and why",
            table=[
                _shown(row, "query_set", "dataset", "system", "failed", "failed_where", "failed_message")
                for row in rows
                if row["failed"] not in ("", HELD)
            ],
        )
        create_table_artifact(
            key="cost",
            description=f"{run.evaluation}: what run {run.id} took, by kind of task",
            table=[{"task": kind, **cost} for kind, cost in run.work.get("costs", {}).items()],
        )
        for which in ("slowest", "heaviest"):
            if found := run.work.get(which):
                create_table_artifact(
                    key=f"{which}-cells", description=f"The {which} cells of run {run.id}", table=found
                )


def _shown(row: Mapping[str, Any], *columns: str) -> dict[str, Any]:
    return {name: plain(row[name]) for name in columns}


def tell(store: Store, work: Plan, run: Run, state: State) -> str:
    """Leave an artifact with what moved since the run before, and events; returns all that moved as text.

    Events are ``rescore.run.published`` or ``rescore.run.staged``, and ``rescore.figures.moved`` where any did.
    """
    changes = unless_damaged(lambda: _changes(store, work, run), f"run {run.id}")
    payload = _payload(run, changes, waits_for(store, run))
    text = _counted(run, payload) if state == "staged" else _text(disclosed_changes(changes, _levels(store, run)))
    with best_effort("word of the run"):
        for event in [f"rescore.run.{state}", *(["rescore.figures.moved"] if payload["n_cells_moved"] else [])]:
            emit_event(
                event,
                resource={"prefect.resource.id": f"rescore.evaluation.{run.evaluation}", "rescore.run": run.id},
                payload=payload,
            )
        create_markdown_artifact(
            key=re.sub(r"[^a-z0-9]+", "-", f"changes-{run.evaluation}".lower()).strip("-"),
            markdown="\n\n".join(
                [f"Run `{run.id}` is {state}: {work_text(run.work)}.", *payload["waits"], f"```\n{text}\n```\n"]
            ),
            description=f"{run.evaluation}: what moved",
        )
    return _text(changes)


def moved(store: Store, run: Run) -> str:
    """Changes since the run before, as text."""
    return _text(unless_damaged(lambda: _changes(store, load_plan(store, run.plan), run), f"run {run.id}"))


def _levels(store: Store, run: Run) -> Mapping[str, Disclosure]:
    return levels_of(load_grid(store, run))


def _counted(run: Run, payload: Mapping[str, Any]) -> str:
    """The number of changes to a run that nobody may see yet, without any figure."""
    if payload["before"] is None:
        return "This is the first run."
    moved = f"{payload['n_cells_moved']} of {len(run.results)} cells moved since run {payload['before']}."
    return f"{moved} `rescore diff {payload['before']} {run.id}` shows how to whoever may read the store."


def _text(changes: Diff | None) -> str:
    return "This is the first run." if changes is None else diff_text(changes)


def _changes(store: Store, work: Plan, run: Run) -> Diff | None:
    earlier = before(store, work)
    return None if earlier is None else compare(side_of(store, earlier), side_of(store, run))


def _payload(run: Run, changes: Diff | None, waits: Sequence[str]) -> dict[str, Any]:
    moved = [] if changes is None else [cell for cell in changes.cells if cell.has_moved]
    return {
        "run": run.id,
        "evaluation": run.evaluation,
        "before": None if changes is None else changes.before,
        "n_scored": run.n_scored,
        "n_failed": run.n_failed,
        "n_cells_moved": len(moved),
        "waits": waits,
        "causes": [] if changes is None else [f"{cause.kind} {cause.name}" for cause, _ in changes.causes],
    }
