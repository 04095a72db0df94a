"""A tiny season that is scored: two teams' systems and the organiser's canaries."""

from __future__ import annotations

from pathlib import Path

import season_files as files

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.grid import Run, latest
from pipeline.report.seasons.public import publish_season
from pipeline.season import releases
from pipeline.season.gate import notice

CANARIES = {
    "canary-perfect": files.stdlist(files.PERFECT),
    "canary-silent": files.stdlist(files.SILENT),
    "canary-baseline": files.stdlist(files.POOR),
}
GATE = {
    "canaries": {"canary-perfect": "1", "canary-silent": "0", "canary-baseline": "same"},
    "most_shrunk": "0.2",
    "most_changed": "0.1",
}


class Season:
    """A season with two teams' systems and the organiser's canaries, scored on this machine."""

    def __init__(self, folder: Path, **changed: object) -> None:
        self.folder = folder
        self.store = files.opened(folder, gate=GATE, **changed)
        systems = {"ledger": {"store": self.store.root, "season": files.NAME, "phase": "eval"}}
        for name, text in CANARIES.items():
            (folder / f"{name}.xml").write_text(text)
            systems[name] = {"outputs": {"q/d": f"{name}.xml"}, "canary": True}
        files.hand_in(self.store, folder, "north", files.stdlist(files.GOOD))
        files.hand_in(self.store, folder, "south", files.stdlist(files.POOR))
        self.evaluation = files.evaluation(folder, self.store, systems=systems)

    def run(self) -> Run:
        work = plan(load_evaluation(str(self.evaluation)), self.store)
        return finish(self.store, work, score_here(self.store, work, missing(work.jobs, self.store)))

    def release(self, run, state="preliminary", **given):
        kind = given.pop("kind", "eval")
        made = releases.release(self.store, files.NAME, kind, run, state, by="A. Judge", reason="looked at", **given)
        publish_season(self.store, files.NAME)
        return made

    @property
    def seen(self):
        found = latest(self.store, files.EVALUATION)
        return None if found is None else found.id

    def codes(self, run):
        found = notice(self.store, run)
        return [] if found is None else [trip.code for trip in found.trips]
