"""Take what is new in a drop folder or bucket prefix into a season's ledger; a deployment's schedule calls it.

Import after ``settings.prepare_environment``.
"""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.events import emit_event

from flows.told import best_effort
from pipeline.season.drop import SETTLED_S, Collected, collect
from pipeline.season.ledger import find_season
from pipeline.store.blobs import Store


@flow(name="rescore-collect", flow_run_name="collect {season}", retries=0, persist_result=False)
def collect_submissions(drop: str, store: str, season: str | None = None, settled_s: float = SETTLED_S) -> Collected:
    """Submit what is new in ``drop``; every upload is an event ``rescore.submission.accepted`` or ``….refused``.

    Raises ``PlatformError`` where the folder or the store cannot be reached.
    """
    kept = Store(store)
    name = find_season(kept, season)
    found = collect(kept, name, drop, settled_s=settled_s)
    with best_effort("word of the submissions"):
        for one in found.submissions:
            state = "accepted" if one.accepted else "refused"
            emit_event(
                f"rescore.submission.{state}",
                resource={"prefect.resource.id": f"rescore.season.{name}", "rescore.submission": str(one.number)},
                payload={"team": one.team, "phase": one.phase, "late": one.late, "number": one.number},
            )
        create_table_artifact(
            key="submissions",
            description=f"{name}: what was taken in",
            table=[
                {"no.": one.number, "team": one.team, "phase": one.phase, "accepted": one.accepted, "late": one.late}
                for one in found.submissions
            ],
        )
    return found
