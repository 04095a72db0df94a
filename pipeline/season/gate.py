"""The gate before publication: what makes a run wait for a person, whoever started it and however.

It stands where runs are published, and reads the season from the store: no evaluation file can leave it out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.engine.cell import load_result
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.result import Result, plain
from pipeline.grid import STAGED, Run, id_of, latest
from pipeline.season import ledger
from pipeline.season.releases import released
from pipeline.season.rules import KEY_ROLES, Gate, SeasonPhase
from pipeline.season.standing import Standing, standing
from pipeline.store.blobs import Store

NOTICES = "notices"
_MOST_LISTED = 500


@dataclass(frozen=True)
class Trip:
    """One reason for a run to wait."""

    code: str
    message: str


@dataclass(frozen=True)
class ShiftedFigure:
    """A figure that is another one although its output is the same."""

    cell: str
    measure: str
    before: float
    after: float


@dataclass(frozen=True)
class Judgement:
    """The finding of the gate on a run; without ``trips`` it may be published."""

    run: str
    before: str
    trips: tuple[Trip, ...]
    moved: tuple[ShiftedFigure, ...] = ()
    n_figures: int = 0

    def document(self) -> dict[str, Any]:
        """The notice as JSON: why the run waits, and what moved."""
        moved = [{name: plain(value) for name, value in asdict(one).items()} for one in self.moved[:_MOST_LISTED]]
        trips = [asdict(trip) for trip in self.trips]
        counts = {"n_moved": len(self.moved), "n_figures": self.n_figures}
        return {"run": self.run, "before": self.before, "trips": trips, **counts, "moved": moved}

    def text(self) -> str:
        """The notice for people."""
        lines = [f"Run {self.run} waits for a person:", *(f"  {trip.message}" for trip in self.trips)]
        if self.n_figures and not any(trip.code == "figures_changed" for trip in self.trips):
            lines.append(f"  {len(self.moved)} of {self.n_figures} figures of unchanged outputs moved")
        return "\n".join(lines)


def phase_of(store: Store, evaluation: str) -> tuple[Standing, SeasonPhase] | None:
    """The season and phase whose runs are published under a name, None where it is of no season."""
    for season in ledger.seasons(store):
        found = standing(store, season)
        for phase in found.rules.phases:
            if phase.evaluation == evaluation:
                return found, phase
    return None


def judge(store: Store, plan: Plan, results: Sequence[Result]) -> Judgement | None:
    """Whether a run must wait, None where its evaluation is of no season. Nothing is written.

    Key and figures are compared with the run that readers see, or where there is none with the last that was staged.
    """
    found = phase_of(store, plan.evaluation)
    if found is None:
        return None
    season, phase = found
    run_id = id_of(plan)
    standing_run = latest(store, plan.evaluation)
    if standing_run is not None and standing_run.id == run_id:
        return Judgement(run_id, run_id, ())
    trips = list(_sealed(store, phase))
    before = standing_run or latest(store, f"{plan.evaluation}{STAGED}")
    trips += _keys(season, phase, plan)
    gate = season.rules.gate
    if gate is None:
        return Judgement(run_id, before.id if before else "", tuple(trips))
    earlier = None if before is None or before.id == run_id else unless_damaged(lambda: _Earlier(store, before), "")
    trips += _canaries(gate, plan, results, earlier)
    if earlier is None:
        return Judgement(run_id, "", tuple(trips))
    trips += _shrunk(gate, plan, results, earlier)
    moved, n_figures = _moved(plan, results, earlier)
    if n_figures and len(moved) / n_figures > gate.most_changed:
        share = f"{len(moved)} of {n_figures} figures of unchanged outputs moved"
        trips.append(Trip("figures_changed", f"{share} (allowed: {gate.most_changed:.0%})"))
    return Judgement(run_id, earlier.run.id, tuple(trips), tuple(moved), n_figures)


def holds(store: Store, plan: Plan, results: Sequence[Result]) -> bool:
    """Whether a run must wait; where it must, the notice of why is written beside it."""
    found = judge(store, plan, results)
    if found is None or not found.trips:
        return False
    data = json.dumps(found.document(), sort_keys=True, allow_nan=False).encode()
    store.put_sealed(notice_path(plan.evaluation, found.run), data)
    return True


def notice(store: Store, run: Run) -> Judgement | None:
    """Why a run had to wait, None where it had not to."""
    path = notice_path(run.evaluation, run.id)
    if not store.exists(path):
        return None
    stored = json.loads(store.get_sealed(path))
    moved = (
        ShiftedFigure(
            one["cell"], one["measure"], *(math.nan if v is None else float(v) for v in (one["before"], one["after"]))
        )
        for one in stored["moved"]
    )
    trips = tuple(Trip(**trip) for trip in stored["trips"])
    return Judgement(stored["run"], stored["before"], trips, tuple(moved), stored["n_figures"])


def waits_for(store: Store, run: Run) -> tuple[str, ...]:
    """Why a run that is not the latest waits, in sentences; nothing where it does not."""
    found, seen = notice(store, run), latest(store, run.evaluation)
    return () if found is None or (seen is not None and seen.id == run.id) else tuple(t.message for t in found.trips)


def notice_path(evaluation: str, run: str) -> str:
    """Where a notice lies."""
    return f"{NOTICES}/{evaluation}/{run}.json"


class _Earlier:
    """The run that is compared with."""

    def __init__(self, store: Store, run: Run) -> None:
        self.run, self.plan, self._store = run, load_plan(store, run.plan), store

    def job(self, job: Job) -> Job | None:
        """The job of the cell in that run; None where it has none."""
        return self.plan.by_cell.get(job.cell)

    def result(self, job: Job) -> Result | None:
        """The result of the same cell there, None where there is none with figures."""
        earlier = self.job(job)
        if earlier is None:
            return None
        found = unless_damaged(lambda: load_result(self._store, earlier.address), earlier.path)
        return None if found is None or found.failed is not None else found


def _sealed(store: Store, phase: SeasonPhase) -> Iterator[Trip]:
    if phase.kind == "eval" and not released(store, phase.evaluation):
        yield Trip("sealed", f"phase {phase.name} is sealed until a person releases its results")


def _keys(season: Standing, phase: SeasonPhase, plan: Plan) -> Iterator[Trip]:
    """Keys that are in use and not entered, where the season enters its keys."""
    entered = {entry.body["sha256"] for entry in season.entries if _is_key_of(entry, phase)}
    if not entered:
        return
    used = {source.sha256: role for job in plan.jobs for role, source in job.inputs.items() if role in KEY_ROLES}
    for sha256, role in sorted(used.items()):
        if sha256 not in entered:
            yield Trip(
                "unknown_key", f"the {role} {sha256[:12]} is no version that the season knows (`rescore season key`)"
            )


def _is_key_of(entry: ledger.LedgerRecord, phase: SeasonPhase) -> bool:
    return entry.kind == ledger.KEY and entry.body["phase"] == phase.name


def _canaries(gate: Gate, plan: Plan, results: Sequence[Result], earlier: _Earlier | None) -> Iterator[Trip]:
    present = {job.cell.system for job in plan.jobs}
    for name in sorted(set(gate.canaries) - present):
        yield Trip("canary_missing", f"the canary {name} is no system of the run")
    for job, result in zip(plan.jobs, results, strict=True):
        if job.cell.system not in gate.canaries:
            continue
        expected = gate.canaries[job.cell.system]
        if expected is None:
            before = earlier.result(job) if earlier is not None else None
            if before is None:
                continue
            expected = before.figures[before.primary].value
        value = math.nan if result.failed else result.figures[result.primary].value
        if not _near(value, expected, gate.tolerance):
            what = f"the canary {job.cell} has {result.primary} {value:.6g}, and must have {expected:.6g}"
            yield Trip("canary_moved", f"{what}{f' ({result.failed})' if result.failed else ''}")


def _near(value: float, expected: float, tolerance: float) -> bool:
    both_undefined = math.isnan(value) and math.isnan(expected)
    return both_undefined or value == expected or abs(value - expected) <= tolerance


def _shrunk(gate: Gate, plan: Plan, results: Sequence[Result], earlier: _Earlier) -> Iterator[Trip]:
    """Keys that lost targets or bytes, told once for each pair of query set and dataset."""
    told = set[tuple[str, str]]()
    for job, result in zip(plan.jobs, results, strict=True):
        pair, before = (job.cell.query_set, job.cell.dataset), earlier.job(job)
        if pair in told or before is None:
            continue
        losses = {f"{role} in bytes": _lost(before.inputs[role].n_bytes, job.inputs[role].n_bytes)
                  for role in KEY_ROLES & before.inputs.keys() & job.inputs.keys()}  # fmt: skip
        old = None if before.address == job.address else earlier.result(job)
        if old is not None and result.failed is None:
            losses["targets"] = _lost(old.facts.get("n_target", 0.0), result.facts.get("n_target", 0.0))
        worst = max(losses, key=lambda name: losses[name], default="")
        if worst and losses[worst] > gate.most_shrunk:
            told.add(pair)
            what = f"the key of {'/'.join(pair)} lost {losses[worst]:.0%} ({worst}; allowed: {gate.most_shrunk:.0%})"
            yield Trip("key_shrunk", what)


def _lost(before: float | str, after: float | str) -> float:
    """Share of ``before`` that is gone."""
    if isinstance(before, str) or isinstance(after, str) or not before > 0:
        return 0.0
    return float(1.0 - after / before)


def _moved(plan: Plan, results: Sequence[Result], earlier: _Earlier) -> tuple[list[ShiftedFigure], int]:
    """Figures that differ though the output is the same, and how many were compared."""
    moved, n_figures = list[ShiftedFigure](), 0
    outputs = plan.protocol.family.outputs
    for job, result in zip(plan.jobs, results, strict=True):
        before = earlier.job(job)
        if before is None or result.failed is not None or _outputs(before, outputs) != _outputs(job, outputs):
            continue
        n_figures += len(result.figures)
        old = None if before.address == job.address else earlier.result(job)
        for name, figure in result.figures.items() if old is not None else ():
            was = old.figures[name].value if old is not None and name in old.figures else math.nan
            if not _near(was, figure.value, 0.0):
                moved.append(ShiftedFigure(str(job.cell), name, was, figure.value))
    return moved, n_figures


def _outputs(job: Job, roles: Sequence[str]) -> Mapping[str, str]:
    return {role: job.inputs[role].sha256 for role in roles if role in job.inputs}
