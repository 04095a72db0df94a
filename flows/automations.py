"""Prefect automations of our deployments: ``python -m flows.automations``. Running it again changes nothing twice.

* A run that falls silent, because its process or machine died, becomes Crashed. The next look or night goes on with it.
* Somebody hears of a night that failed and of figures that moved, where ``--notify`` or ``--block`` says how.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.types import SecretDict

SILENT_S = 90
"""Three heartbeats: a run that is silent for so long is dead."""
BLOCK = "rescore-notify"
ENDED = ("Completed", "Failed", "Cancelled", "Crashed", "TimedOut")
OURS = {"prefect.resource.id": "prefect.tag.rescore", "prefect.resource.role": "tag"}
"""Runs of deployments with the tag ``rescore``, as related resources of their events."""


def main(argv: Sequence[str] | None = None) -> int:
    """Make or change the automations; 0."""
    parser = argparse.ArgumentParser(prog="python -m flows.automations", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--notify",
        metavar="URL",
        default=os.environ.get("RESCORE_NOTIFY_URL"),
        help='gets a POST of {"subject": …, "body": …}; default: RESCORE_NOTIFY_URL',
    )
    where.add_argument("--block", metavar="TYPE/NAME", help="a notification block of Prefect, as slack-webhook/team")
    parser.add_argument("--silent", type=int, metavar="SECONDS", default=SILENT_S, help=f"default: {SILENT_S}")
    args = parser.parse_args(argv)
    block = _existing(args.block) if args.block else _webhook(args.notify) if args.notify else None
    for automation in [crashed(args.silent), *([] if block is None else notifications(block))]:
        print(f"{_keep(automation)} {automation.name}")  # noqa: T201  # a command
    if block is None:
        print("nobody is notified: give --notify URL or --block TYPE/NAME", file=sys.stderr)  # noqa: T201
    return 0


def crashed(silent_s: int) -> AutomationCore:
    """A run of ours that gave a heartbeat, and then no sign within the time, is set to Crashed."""
    beat = "prefect.flow-run.heartbeat"
    return AutomationCore(
        name="rescore: silent runs have crashed",
        description="A run whose process was killed cannot say so. What it has done is kept; the next run goes on.",
        trigger=EventTrigger(
            after={beat},
            expect={beat, *(f"prefect.flow-run.{state}" for state in ENDED)},
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            match_related=ResourceSpecification(OURS),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=timedelta(seconds=silent_s),
        ),
        actions=[
            ChangeFlowRunState(state=StateType.CRASHED, message=f"No sign of it for {silent_s} s: its process is dead.")
        ],
    )


def notifications(block: UUID) -> list[AutomationCore]:
    """The automations that tell somebody, through a notification block."""
    failed = EventTrigger(
        expect={"prefect.flow-run.Failed", "prefect.flow-run.Crashed", "prefect.flow-run.TimedOut"},
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        match_related=ResourceSpecification(OURS),
        for_each={"prefect.resource.id"},
        posture=Posture.Reactive,
        threshold=1,
        within=timedelta(0),
    )
    moved = EventTrigger(
        expect={"rescore.figures.moved"},
        match=ResourceSpecification({"prefect.resource.id": ["rescore.evaluation.*"]}),
        posture=Posture.Reactive,
        threshold=1,
        within=timedelta(0),
    )
    return [
        AutomationCore(
            name="rescore: a night failed",
            trigger=failed,
            actions=[
                SendNotification(
                    block_document_id=block,
                    subject="rescore: {{ flow_run.name }} is {{ flow_run.state.name }}",
                    body="{{ flow_run.state.message }}",
                )
            ],
        ),
        AutomationCore(
            name="rescore: figures moved",
            trigger=moved,
            actions=[
                SendNotification(
                    block_document_id=block,
                    subject="rescore: {{ event.payload.evaluation }}: {{ event.payload.n_cells_moved }} cells moved",
                    body="Run {{ event.payload.run }} after {{ event.payload.before }}: "
                    "{{ event.payload.causes | join(', ') }}",
                )
            ],
        ),
    ]


def _keep(automation: AutomationCore) -> str:
    """Create an automation, or change the one of its name; says which."""
    with get_client(sync_client=True) as client:
        found = client.read_automations_by_name(automation.name)
        if not found:
            client.create_automation(automation)
            return "made"
        client.update_automation(found[0].id, automation)
        for double in found[1:]:
            client.delete_automation(double.id)
        return "kept"


def _webhook(url: str) -> UUID:
    """The block that posts to a URL. The URL is a secret in it: many carry a token."""
    block = CustomWebhookNotificationBlock(
        name=BLOCK,
        url="{{address}}",
        json_data={"subject": "{{subject}}", "body": "{{body}}"},
        secrets=SecretDict({"address": url}),
    )
    block.save(BLOCK, overwrite=True)
    return _existing(f"{block.get_block_type_slug()}/{BLOCK}")


def _existing(slug: str) -> UUID:
    """The id of a block that somebody made, as ``slack-webhook/team``."""
    kind, _, name = slug.partition("/")
    with get_client(sync_client=True) as client:
        return client.read_block_document_by_name(name, kind).id


if __name__ == "__main__":
    sys.exit(main())
