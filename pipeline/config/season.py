"""The season file and the roster file: phases with deadlines, names, the gate; and who takes part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.config.document import Document, dotted, read_document
from pipeline.config.models import Name, SettingText, Slug
from pipeline.config.pairs import Pair, check_all_used, listed
from pipeline.config.place import OpenDocument
from pipeline.config.said import kind_of, said
from pipeline.config.urls import fault_of, folder_of, masked, placeholders
from pipeline.errors import ConfigError, Problems, UsageError
from pipeline.protocols import find
from pipeline.season.roster import RosterTeam
from pipeline.season.rules import KEY_ROLES, Gate, Required, SeasonPhase, SeasonRules
from pipeline.season.times import parse
from pipeline.store.blobs import open_input

OPEN_ROLES = frozenset({"ecf", "segments"})
"""The roles that tell recordings or test segments apart, whatever the protocol."""
SAME = "same"
_NAMING = {"events": "med", "language": "lre"}
_IN_PATTERN = ("team", "system", "query_set", "dataset")


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number (got {kind_of(value)})")
    return number


def _count(value: object) -> int:
    if not isinstance(value, str) or not value.isdecimal() or int(value) < 1:
        raise ValueError(f"must be a count of at least 1 (got {kind_of(value)})")
    return int(value)


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"must be a share, 0 to 1 (got {value:g})")
    return value


def _deadline(value: str) -> str:
    parse(value)
    return value


Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[Number, AfterValidator(_share)]
Kept = Annotated[float | None, BeforeValidator(lambda value: None if value == SAME else _number(value))]
Count = Annotated[int, BeforeValidator(_count)]


class _SeasonModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Required(_SeasonModel):
    board: str
    of: Literal["all", "performers"] = "all"


class _Phase(_SeasonModel):
    kind: Literal["dry_run", "dev", "eval"]
    evaluation: Slug
    deadline: Annotated[str, AfterValidator(_deadline)]
    late: Literal["mark", "refuse"] = "mark"
    query_sets: list[Name] = Field(min_length=1)
    datasets: list[Name] = Field(min_length=1)
    pairs: Any = None
    """Read by ``pipeline.config.pairs``."""
    inputs: dict[str, str] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)
    descriptions: Literal["required", "optional"] = "optional"
    resources: Literal["required", "optional"] = "optional"
    counts: Literal["last", "best", "chosen"] = "last"
    most_runs: Count | None = None
    required: list[_Required] = Field(default_factory=list)
    disclosure: Literal["named", "anonymous", "own"] = "named"


class _Gate(_SeasonModel):
    canaries: dict[Name, Kept] = Field(default_factory=dict)
    tolerance: Number = 0.0
    most_shrunk: Share = 0.1
    most_changed: Share = 0.5


class _Season(_SeasonModel):
    name: Slug
    protocol: str
    mode: Literal["official", "plan"] = "official"
    settings: dict[str, SettingText] = Field(default_factory=dict)
    names: Literal["expid", "med", "lre", "pattern"] | None = None
    pattern: str = ""
    roster: str = ""
    phases: dict[Slug, _Phase] = Field(min_length=1)
    gate: _Gate | None = None


class _Team(_SeasonModel):
    name: str = ""
    institution: str = ""
    performer: bool = False
    contact: dict[str, str] = Field(default_factory=dict)


class _Roster(_SeasonModel):
    teams: dict[Slug, _Team] = Field(min_length=1)


@dataclass(frozen=True)
class Roster:
    """Teams, and how to reach them, apart."""

    teams: tuple[RosterTeam, ...]
    contacts: Mapping[str, Mapping[str, str]]


def load_season(uri: str) -> tuple[SeasonRules, str]:
    """The rules of a season file, with every URL absolute, and the URL of its roster ("" where it names none).

    Raises ``ConfigError`` with every problem by line and field.
    """
    entry, place = _read(uri, _Season)
    _check_protocol(entry, place)
    naming = entry.names or _NAMING.get(_family(entry.protocol), "pattern")
    if naming == "pattern" and not entry.pattern:
        place.note(("pattern",), "missing_field", "is missing: the names of files must say what they are of")
    fault = fault_of(entry.pattern, _IN_PATTERN) if entry.pattern else None
    if fault is not None or len(set(placeholders(entry.pattern))) != len(placeholders(entry.pattern)):
        place.note(("pattern",), "bad_pattern", fault[1] if fault else "names a placeholder twice")
    phases = tuple(_phase(name, phase, entry, place) for name, phase in entry.phases.items())
    _check_evaluations(entry, place)
    roster = place.resolve(("roster",), entry.roster) if entry.roster else ""
    _finish(place)
    gate = None if entry.gate is None else Gate(**entry.gate.model_dump())
    return SeasonRules(
        entry.name, entry.protocol, entry.mode, naming, phases, entry.pattern, entry.settings, gate
    ), roster


def load_roster(uri: str) -> Roster:
    """The teams of a roster file. Raises ``ConfigError`` with every problem by line and field."""
    entry, place = _read(uri, _Roster)
    _finish(place)
    teams = tuple(
        RosterTeam(key, team.name or key, team.institution, team.performer) for key, team in entry.teams.items()
    )
    return Roster(teams, {key: team.contact for key, team in entry.teams.items() if team.contact})


Entry = TypeVar("Entry", bound=BaseModel)


def _read(uri: str, model: type[Entry]) -> tuple[Entry, OpenDocument]:
    problems = Problems(masked(uri))
    with open_input(uri) as stream:
        document = read_document(stream, problems)
    place = OpenDocument(document, folder_of(uri), problems)
    try:
        entry = model.model_validate(document.value)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            path = _path(fault["loc"], document)
            place.note(path, "bad_field", "is unknown" if fault["type"] == "extra_forbidden" else said(fault))
        raise ConfigError(problems.findings, problems.count) from error
    return entry, place


def _path(location: tuple[int | str, ...], document: Document) -> tuple[int | str, ...]:
    """A location in the models as a field of the file."""
    path: tuple[int | str, ...] = ()
    for part in location:
        if (*path, part) not in document.lines:
            return (*path, part) if dotted((*path, part)) and part != "[key]" else path
        path = (*path, part)
    return path


def _finish(place: OpenDocument) -> None:
    if place.problems.count:
        raise ConfigError(place.problems.findings, place.problems.count)


def _family(protocol: str) -> str:
    try:
        return find(protocol).family.name
    except UsageError:
        return ""


def _check_protocol(entry: _Season, place: OpenDocument) -> None:
    try:
        find(entry.protocol, mode=entry.mode, overrides=entry.settings)
    except UsageError as error:
        place.note(("protocol",), "unknown_protocol", f"is refused: {error}")


def _check_evaluations(entry: _Season, place: OpenDocument) -> None:
    """Note phases that would publish under one name."""
    seen: dict[str, str] = {}
    for name, phase in entry.phases.items():
        first = seen.setdefault(phase.evaluation, name)
        if first != name:
            what = f"is the evaluation of phase {first} too"
            place.note(("phases", name, "evaluation"), "same_evaluation", what, "Give each phase its own.")


def _phase(name: str, phase: _Phase, season: _Season, place: OpenDocument) -> SeasonPhase:
    inputs = {}
    roles = {role.name for role in find(season.protocol).roles} if _family(season.protocol) else set()
    for role, url in phase.inputs.items():
        path = ("phases", name, "inputs", role)
        if role in KEY_ROLES:
            place.note(path, "key_in_season", "is a key: participants see what stands here", "Leave it out.")
        elif roles and role not in roles | OPEN_ROLES:
            allowed = ", ".join(sorted(roles - KEY_ROLES | OPEN_ROLES))
            place.note(path, "unknown_field", f"is unknown (allowed: {allowed})")
        fault = fault_of(url, ("query_set", "dataset"))
        if fault is not None:
            place.note(path, *fault)
        inputs[role] = place.resolve(path, url)
    if phase.counts == "best" and (phase.kind == "eval" or phase.disclosure != "named"):
        what = "is best, and its boards are not public: who may try again must see what came of it"
        place.note(("phases", name, "counts"), "bad_field", what, "Give last or chosen.")
    required = tuple(Required(one.board, one.of) for one in phase.required)
    pairs: list[Pair] = []
    if phase.pairs is not None:
        names = {"query_sets": phase.query_sets, "datasets": phase.datasets}
        pairs = listed(phase.pairs, ("phases", name, "pairs"), names, place)
        check_all_used(pairs, names, ("phases", name), place)
    plain = ("kind", "evaluation", "deadline", "late", "fields", "most_runs", "disclosure")
    kept = {field: getattr(phase, field) for field in (*plain, "counts", "descriptions", "resources")}
    return SeasonPhase(
        name=name,
        query_sets=tuple(phase.query_sets),
        datasets=tuple(phase.datasets),
        pairs=tuple(pairs),
        inputs=inputs,
        required=required,
        **kept,
    )
