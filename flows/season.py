"""Take what is new in a drop folder or bucket prefix into a season's ledger; a deployment's schedule calls it.

Import after ``settings.prepare_environment``.
"""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.events import emit_event

from flows.settings import settings_for
from flows.told import best_effort
from pipeline.report.seasons.packets import write_packets
from pipeline.report.seasons.public import publish_season
from pipeline.season.drop import SETTLED_S, Collected, collect
from pipeline.season.ledger import find_season
from pipeline.store.blobs import Store


@flow(name="rescore-collect", flow_run_name="collect {season}", retries=0, persist_result=False)
def collect_submissions(
    drop: str, store: str | None = None, season: str | None = None, settled_s: float = SETTLED_S
) -> Collected:
    """Submit what is new in ``drop``; every upload is an event ``rescore.submission.accepted`` or ``….refused``.

    Where there was anything new, the season's page and the teams' packets, with their receipts, are written anew.
    ``store`` is that of the environment where none is given. Raises ``PlatformError`` where the folder or the store
    cannot be reached.
    """
    kept = Store(settings_for(store).store)
    name = find_season(kept, season)
    found = collect(kept, name, drop, settled_s=settled_s)
    if found.submissions:
        publish_season(kept, name)
        write_packets(kept, name)
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
