"""The meaning of a file's name: whose system it is of, which cell it belongs to, and what it would replace."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.formats.findings import quoted
from pipeline.formats.lre.names import FORM, read_name
from pipeline.protocols import find
from pipeline.protocols.kws.identifiers import BOARD, identifier_slips, identify
from pipeline.season.beside import OUTPUTS, role_of
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.season.verdict import Remarks

_EXTENSIONS = {"KWS": (".kwslist.xml", ".kwslst.xml"), "STT": (".ctm",)}
_TASKS = {"tokens": "STT"}
"""The task of a family of protocols; keyword search is the other one."""


@dataclass(frozen=True)
class Piece:
    """One file of a submission: the system and slot it belongs to, its role, and what its name says.

    A later submission of the same slot replaces an earlier one. Cells are (query set, dataset).
    """

    system: str
    slot: str
    role: str
    name: str
    primary: bool = True
    fields: Mapping[str, str] = field(default_factory=dict)
    query_set: str = ""
    dataset: str = ""
    kind: str = OUTPUTS
    """``outputs``, or the role of what stands beside them; of that ``system`` is "" where it is of all of a team's."""

    @property
    def board(self) -> str:
        """The conditions that part systems into boards; "" where there is one board."""
        return str(self.fields.get("board", ""))


def pieces(
    rules: SeasonRules,
    phase: SeasonPhase,
    team: str,
    names: Sequence[str],
    remarks: Remarks,
    *,
    system: str | None = None,
    primary: bool = True,
) -> tuple[Piece, ...]:
    """The meaning of the names of a submission's files, everything wrong noted."""
    found: list[Piece] = []
    for name in sorted(names, key=lambda name: _is_beside(rules, phase, team, name)):
        if _is_beside(rules, phase, team, name):
            piece = _beside(rules, team, name, {one.system for one in found}, system)
        elif rules.naming == "expid":
            piece = _expid(rules, phase, team, name, remarks)
        elif rules.naming == "lre":
            piece = _lre(phase, team, name, remarks)
        else:
            piece = _patterned(rules, phase, team, name, remarks, system, primary)
        if piece is not None:
            found.append(piece)
    seen: dict[tuple[str, str], str] = {}
    for piece in found:
        first = seen.setdefault((piece.slot, piece.role), piece.name)
        if first != piece.name:
            what = f"{quoted(piece.name)} and {quoted(first)} are for the same run"
            remarks.error("same_run_twice", piece.name, what, "Submit one of them.")
    return tuple(found)


def _is_beside(rules: SeasonRules, phase: SeasonPhase, team: str, name: str) -> bool:
    """Whether a file is no output but what stands beside one: a description or a resources file."""
    patterned = rules.naming == "pattern" and _regex(rules.pattern, phase, team).fullmatch(name) is not None
    return not patterned and role_of(name) is not None


def _beside(rules: SeasonRules, team: str, name: str, systems: Collection[str], system: str | None) -> Piece | None:
    """A file beside outputs: of the system that its name begins with, else of all systems of the team."""
    role, stem = role_of(name) or ("", "")
    known = {**{one: one for one in systems}, **{one.removeprefix(f"{team}-"): one for one in systems}}
    owner = "" if stem == team else known.get(stem, "")
    if rules.naming == "expid" and dict(identify(stem)).get("team") == team:
        owner = stem
    elif not owner and rules.naming != "expid":
        owner = stem if stem.startswith((f"{team}-", f"{team}_")) else ""
    if system is not None and not owner:
        owner = system_name(team, system)
    slot = owner.rpartition("_")[0] if rules.naming == "expid" else owner
    return Piece(owner, f"{role}:{slot}", role, name, False, kind=role)


def _expid(rules: SeasonRules, phase: SeasonPhase, team: str, name: str, remarks: Remarks) -> Piece | None:
    """A file named by an identifier of OpenKWS13 (plan 004, appendix B)."""
    fields = dict(identify(name))
    slips = identifier_slips(name)
    for slip in slips:
        (remarks.warning if fields else remarks.error)(slip.code, name, slip.message)
    if not fields:
        if not slips:
            what = f"the name {quoted(name)} is no EXPID (allowed: KWS13_<TEAM>_…_<VERSION>.kwslist.xml or .ctm)"
            remarks.error("bad_file_name", name, what, "Name the file by its EXPID (plan, section B.1).")
        return None
    task = _TASKS.get(find(rules.protocol).family.name, "KWS")
    wanted = {"team": team, "task": task, **phase.fields}
    for field_name, value in wanted.items():
        if fields.get(field_name) != value:
            what = f"the field {field_name.upper()} is {quoted(fields.get(field_name, ''))} (allowed here: {value})"
            code = "wrong_team" if field_name == "team" else "wrong_field"
            remarks.error(code, name, what, "Correct the name, or submit it where it belongs.")
    if not name.endswith(_EXTENSIONS[fields["task"]]):
        what = f"the file is of the task {fields['task']} (its name ends in {_EXTENSIONS[fields['task']][0]})"
        remarks.error("wrong_extension", name, what, "Rename it.")
    identifier = re.sub(r"\.(kwslist\.xml|kwslst\.xml|ctm)$", "", name)
    cell = only_cell(phase)
    return Piece(
        identifier,
        identifier.rpartition("_")[0],
        find(rules.protocol).family.outputs[0],
        name,
        fields["sysid"].startswith("p-"),
        {**fields, "board": "+".join(fields[part] for part in BOARD)},
        *cell,
    )


def _lre(phase: SeasonPhase, team: str, name: str, remarks: Remarks) -> Piece | None:
    """A file of Albayzin 2012: ``<GroupID>_<track>_<pri|con1…>.out``; its track is the query set."""
    read = read_name(name)
    if read is None:
        remarks.error("bad_file_name", name, f"the name is {quoted(name)} (allowed: {FORM})", "Rename it.")
        return None
    if read.group != team:
        what = f"the group is {quoted(read.group)} (allowed here: {team})"
        remarks.error("wrong_team", name, what, "Name the files by your group's id.")
    if phase.query_sets and read.track not in phase.query_sets:
        what = f"the track is {read.track} (allowed here: {', '.join(phase.query_sets)})"
        remarks.error("wrong_field", name, what, "Submit it where it belongs.")
    slot = f"{read.track}_{read.system}"
    fields = {"track": read.track, "system_id": read.system, "board": read.track}
    dataset = next((one for track, one in phase.cells if track == read.track), (phase.datasets or ("",))[0])
    primary = read.system == "pri"
    return Piece(f"{team}_{read.system}", slot, "output", name, primary, fields, read.track, dataset)


def _patterned(
    rules: SeasonRules, phase: SeasonPhase, team: str, name: str, remarks: Remarks, system: str | None, primary: bool
) -> Piece | None:
    """A file named by the season's own pattern."""
    found = _regex(rules.pattern, phase, team).fullmatch(name)
    if found is None:
        what = f"the name {quoted(name)} does not fit {quoted(rules.pattern)}"
        sets = f"query sets {', '.join(phase.query_sets)}; datasets {', '.join(phase.datasets)}; team {team}"
        remarks.error("bad_file_name", name, what, f"Rename it ({sets}).")
        return None
    given = found.groupdict()
    sides = given.get("query_set"), given.get("dataset")
    fits = [pair for pair in phase.cells if all(side in (None, one) for side, one in zip(sides, pair, strict=True))]
    if not fits:
        what = f"query set {sides[0]} is not asked for on dataset {sides[1]}"
        allowed = ", ".join("/".join(pair) for pair in phase.cells)
        remarks.error("wrong_field", name, what, f"Submit it where it belongs (allowed here: {allowed}).")
        return None
    query_set, dataset = fits[0]
    named = system_name(team, given.get("system") or system)
    role = find(rules.protocol).family.outputs[0]
    return Piece(named, f"{named}/{query_set}/{dataset}", role, name, primary, {}, query_set, dataset)


def system_name(team: str, system: str | None) -> str:
    """A team's system as the boards name it: the team's id, and the system's own name behind it."""
    return (
        team
        if system in (None, "", team)
        else str(system)
        if str(system).startswith(f"{team}-")
        else f"{team}-{system}"
    )


def _regex(pattern: str, phase: SeasonPhase, team: str) -> re.Pattern[str]:
    """A pattern with placeholders, each of them once, as a regular expression."""
    choices = {
        "team": re.escape(team),
        "query_set": "|".join(map(re.escape, phase.query_sets)),
        "dataset": "|".join(map(re.escape, phase.datasets)),
        "system": r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}",
    }
    parts = re.split(r"\{(\w+)\}", pattern)
    made = [f"(?P<{part}>{choices[part]})" if at % 2 else re.escape(part) for at, part in enumerate(parts)]
    return re.compile("".join(made))


def only_cell(phase: SeasonPhase) -> tuple[str, str]:
    """The one cell that identifiers of a phase are of."""
    return phase.cells[0] if phase.cells else ((phase.query_sets or ("",))[0], (phase.datasets or ("",))[0])
