"""Taking a submission: looked at, kept by its content, entered in the ledger with a receipt, refused or not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.errors import StoreError, UsageError
from pipeline.formats.lre.names import submission_faults
from pipeline.season import ledger
from pipeline.season.beside import DESCRIPTION, OUTPUTS, REQUIRED
from pipeline.season.beside import RULES as BESIDE
from pipeline.season.examine import Examined, examined
from pipeline.season.ledger import LedgerRecord
from pipeline.season.naming import Piece
from pipeline.season.rules import SeasonPhase
from pipeline.season.standing import (
    COUNTS,
    REPLACED,
    Output,
    Standing,
    Submission,
    SubmittedRun,
    standing_of,
    submission_of,
)
from pipeline.season.times import now, stamp
from pipeline.season.verdict import ERROR, Remarks
from pipeline.store.address import digest_stream
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name
from pipeline.store.regular import UnreadableError, open_regular

FOLDER = "submissions"
LARGEST = 4 << 30


@dataclass(frozen=True)
class Sender:
    """Who hands in what: the team, the phase where there are several, and the system where names do not say it."""

    team: str
    phase: str | None = None
    system: str | None = None
    primary: bool = True
    by: str = ""
    """Whoever enters it; the team itself where nobody else does."""


def submit(
    store: Store, season: str, sender: Sender, uploads: Sequence[Path], *, arrival: datetime | None = None
) -> Submission:
    """Take files of a team; returns the receipt: what was received when, every problem, and whether it counts.

    A refused submission is in the ledger like any other and replaces nothing. Raises ``UsageError`` for a team, phase
    or file that there is not, where nothing can be received.
    """
    at, team = arrival or now(), sender.team
    before = standing_of(season, ledger.entries(store, season))
    chosen = before.rules.phase(sender.phase)
    _check_call(before, team, uploads)
    with examined(before.rules, chosen, team, uploads, system=sender.system, primary=sender.primary) as found:
        files = [_kept(store, path, path.name) for path in uploads]
        places = _places(store, found) if found.verdict.accepted else {}
        digest = [entry["sha256"] for entry in files]

        def body(entries: Sequence[LedgerRecord]) -> dict[str, Any]:
            standing = standing_of(season, entries)
            remarks, late = Remarks(), at > chosen.ends
            _check_ledger(standing, chosen, team, found, late, remarks)
            _note_repeated(standing, chosen, team, digest, remarks)
            verdict = found.verdict + remarks.verdict()
            return {
                "phase": chosen.name,
                "team": team,
                "arrival": stamp(at),
                "deadline": chosen.deadline,
                "late": late,
                "accepted": verdict.accepted,
                "remarks": verdict.document(),
                "files": files,
                "runs": _runs(standing, chosen, team, found, places) if verdict.accepted else [],
                "whole": standing.rules.naming == "med",
            }

        entry = ledger.append(store, season, ledger.SUBMISSION, at, sender.by or team, body)
    return submission_of(entry)


def withdraw(
    store: Store,
    season: str,
    sender: Sender,
    reason: str,
    *,
    submission: int | None = None,
    at: datetime | None = None,
) -> LedgerRecord:
    """Withdraw a submission, a system, or all that a team has handed in so far; what there was stays in the ledger.

    Raises ``UsageError`` where there is no such thing to withdraw.
    """
    standing = standing_of(season, ledger.entries(store, season))
    chosen = standing.rules.phase(sender.phase)
    team, system = sender.team, sender.system
    own = [one for one in standing.submissions if one.team == team and one.phase == chosen.name]
    meant = [one for one in own if submission in (None, one.number)]
    if not any(system in (None, run.system) for one in meant for run in one.runs):
        have = ", ".join(f"no. {one.number}" for one in own) or "nothing"
        raise UsageError(f"team {team} has nothing of that name to withdraw in phase {chosen.name} (it has {have}).")
    body = {"team": team, "phase": chosen.name, "submission": submission, "system": system, "reason": reason}
    return ledger.append(store, season, ledger.WITHDRAWAL, at or now(), sender.by or team, lambda _: body)


def choose(
    store: Store, season: str, sender: Sender, submission: int, reason: str = "", *, at: datetime | None = None
) -> LedgerRecord:
    """Enter which of a team's submissions counts, in a phase where teams choose.

    Raises ``UsageError`` where the phase has another rule, the team has no such submission that is valid, or the
    deadline is over and nobody but the team asks.
    """
    standing, moment = standing_of(season, ledger.entries(store, season)), at or now()
    chosen, team = standing.rules.phase(sender.phase), sender.team
    if chosen.counts != "chosen":
        raise UsageError(f"of several submissions in phase {chosen.name} the {chosen.counts} counts: none is chosen.")
    if moment > chosen.ends and sender.by in ("", team):
        raise UsageError(f"the deadline of {chosen.name} is over ({chosen.deadline}). Ask the organiser.")
    valid = [
        fate.submission.number
        for fate in standing.fates
        if (fate.submission.team, fate.submission.phase) == (team, chosen.name) and fate.state in (COUNTS, REPLACED)
    ]
    if submission not in valid:
        have = ", ".join(f"no. {number}" for number in sorted(set(valid))) or "nothing"
        raise UsageError(f"team {team} has no valid submission no. {submission} in time ({chosen.name} has {have}).")
    body = {"team": team, "phase": chosen.name, "submission": submission, "reason": reason}
    return ledger.append(store, season, ledger.CHOICE, moment, sender.by or team, lambda _: body)


def receipt(standing: Standing, submission: Submission) -> dict[str, Any]:
    """A submission's receipt as JSON: with its own digest, and what became of every run so far."""
    fates = [fate for fate in standing.fates if fate.submission.number == submission.number]
    stored = asdict(submission) | {"verdict": submission.verdict.document()}
    named = {**stored, "season": standing.season, "files": [dict(entry) for entry in submission.files]}
    digest = hashlib.sha256(json.dumps(named, sort_keys=True, default=list).encode()).hexdigest()
    phase = standing.rules.phase(submission.phase)
    active = {f.run.system for f in standing.counting(phase.name) if f.run and f.submission.team == submission.team}
    return {
        **named,
        "receipt": digest,
        "n_runs": len(active),
        "most_runs": phase.most_runs,
        "states": [
            {
                "system": fate.run.system if fate.run else "",
                "kind": fate.run.kind if fate.run else OUTPUTS,
                "state": fate.state,
                "reason": fate.reason,
            }
            for fate in fates
        ],
    }


def _check_call(standing: Standing, team: str, uploads: Sequence[Path]) -> None:
    if team not in standing.teams:
        known = ", ".join(sorted(standing.teams)) or "none"
        raise UsageError(f"season {standing.season} has no team {team!r} (registered: {known}).")
    for path in uploads:
        if path.is_symlink():
            raise UsageError(f"{path} is a link (allowed: the file itself).")
        try:
            open_regular(path).close()
        except FileNotFoundError as error:
            raise UsageError(f"{path}: there is no such file.") from error
        except UnreadableError as error:
            raise UsageError(f"{path}: {error}. Give a file that can be read.") from error
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} has {path.stat().st_size} bytes (allowed: {LARGEST}).")


def _kept(store: Store, path: Path, name: str) -> dict[str, Any]:
    """A file under its digest in the store; its own name only where a store can have it."""
    with path.open("rb") as stream:
        sha256, n_bytes = digest_stream(stream)
    place = f"{FOLDER}/{sha256}/{_plain(name)}"
    if not store.exists(place):
        store.put(place, path.read_bytes())
    return {"name": name, "sha256": sha256, "n_bytes": n_bytes, "path": place}


def _plain(name: str) -> str:
    try:
        return checked_name(name)
    except StoreError:
        return "file"


def _places(store: Store, found: Examined) -> dict[str, str]:
    """Where every file of a run lies in the store, by its name in the submission."""
    return {
        piece.name: str(_kept(store, found.paths[piece.name], Path(piece.name).name)["path"]) for piece in found.pieces
    }


def _check_ledger(
    standing: Standing, phase: SeasonPhase, team: str, found: Examined, late: bool, remarks: Remarks
) -> None:
    """Note faults of a submission beside what there is already."""
    if late:
        what = f"it arrived after the deadline ({phase.deadline})"
        if phase.late == "refuse":
            remarks.error("late", "", what, "Ask the organiser.")
        else:
            remarks.warning("late", "", what, "It counts only where nothing arrived in time.")
    if not found.verdict.accepted or standing.rules.naming == "med":
        return
    _check_beside(standing, phase, team, found.pieces, remarks)
    pieces = [piece for piece in found.pieces if piece.kind == OUTPUTS]
    slots = {piece.slot for piece in pieces}
    others = [
        fate.run
        for fate in standing.counting(phase.name)
        if fate.run is not None and fate.submission.team == team and fate.run.slot not in slots
    ]
    _check_primaries(pieces, others, remarks)
    _check_owner(standing, phase, team, pieces, remarks)
    systems = {piece.system for piece in pieces} | {run.system for run in others}
    if phase.most_runs is not None and len(systems) > phase.most_runs:
        what = f"team {team} would have {len(systems)} systems (allowed: {phase.most_runs})"
        remarks.error("too_many_runs", "", what, "Withdraw one first.")
    if standing.rules.naming == "lre":
        names = [piece.name for piece in pieces] + [output.name for run in others for output in run.outputs]
        remarks.take(ERROR, submission_faults(names))


def _check_beside(standing: Standing, phase: SeasonPhase, team: str, pieces: Sequence[Piece], remarks: Remarks) -> None:
    """Note systems without what the phase requires beside outputs, now or handed in before."""
    for role, rule in BESIDE.items():
        now_there = {piece.system for piece in pieces if piece.kind == role}
        for system in dict.fromkeys(piece.system for piece in pieces if piece.kind == OUTPUTS):
            there = now_there & {"", system} or role in standing.beside(phase.name, team, system)
            if getattr(phase, rule) == REQUIRED and not there:
                what = f"the system {system} has no {role}, which phase {phase.name} requires"
                name = f"{system}.pdf or {system}.txt" if role == DESCRIPTION else "resources.yaml"
                remarks.error(f"missing_{role}", "", what, f"Hand in {name} with it.")


def _check_primaries(pieces: Iterable[Piece], others: Iterable[SubmittedRun], remarks: Remarks) -> None:
    """There is one primary system on each board."""
    primary = {run.board: run.system for run in others if run.primary}
    for piece in pieces:
        if piece.primary and primary.setdefault(piece.board, piece.system) != piece.system:
            what = f"{piece.system} would be a second primary system beside {primary[piece.board]}"
            where = f" under {piece.board}" if piece.board else ""
            remarks.error("second_primary", piece.name, f"{what}{where}", "Call it contrastive, or withdraw the other.")


def _check_owner(standing: Standing, phase: SeasonPhase, team: str, pieces: Iterable[Piece], remarks: Remarks) -> None:
    owners = {fate.run.system: fate.submission.team for fate in standing.counting(phase.name) if fate.run is not None}
    for piece in pieces:
        owner = owners.get(piece.system, team)
        if owner != team:
            remarks.error("wrong_team", piece.name, f"the system {piece.system} is another team's", "Rename it.")


def _note_repeated(standing: Standing, phase: SeasonPhase, team: str, digests: list[str], remarks: Remarks) -> None:
    for other in standing.submissions:
        if (other.team, other.phase) == (team, phase.name) and [f["sha256"] for f in other.files] == digests:
            remarks.note("same_files", "", f"no. {other.number} has the same bytes")


def _runs(
    standing: Standing, phase: SeasonPhase, team: str, found: Examined, places: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The runs of an accepted submission, each with its version: one more than the team's earlier ones of the slot."""
    runs: dict[str, dict[str, Any]] = {}
    earlier = [
        run.slot for one in standing.submissions if (one.team, one.phase) == (team, phase.name) for run in one.runs
    ]
    for piece in found.pieces:
        run = runs.setdefault(
            piece.slot,
            {
                "system": piece.system,
                "slot": piece.slot,
                "primary": piece.primary,
                "board": piece.board,
                "version": earlier.count(piece.slot) + 1,
                "fields": dict(piece.fields),
                "outputs": [],
                **({"kind": piece.kind} if piece.kind != OUTPUTS else {}),
            },
        )
        name = Path(piece.name).name
        run["outputs"].append(asdict(Output(piece.query_set, piece.dataset, piece.role, name, places[piece.name])))
    return list(runs.values())
