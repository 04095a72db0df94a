"""The fields of an evaluation file, and what is said when one is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from pipeline.config.document import Document, Path, dotted
from pipeline.config.names import name_fault, slug_fault
from pipeline.config.roles import InputRoles, roles_of, with_inputs, with_others
from pipeline.config.said import kind_of, said
from pipeline.config.urls import fault_of
from pipeline.errors import Problems
from pipeline.grid.disclosure import LEVELS, SELECTION, Disclosure

SECRET_FIELDS = frozenset(
    {
        *("storage_options", "client_kwargs", "config_kwargs", "credentials", "endpoint_url", "endpoint", "profile"),
        *("key", "secret", "token", "password", "access_key", "secret_key", "aws_access_key_id"),
        *("aws_secret_access_key", "aws_session_token", "aws_endpoint_url"),
    }
)
"""Fields that people write to get at a bucket. None is a field of ours, and what they hold would be kept and shown."""
DISCOVERY = ("pattern", "ledger", "primary", "contrastive", "exclude", "resources", "follow_links")
"""The words that ``systems`` keeps for discovery; every other field there is a system."""


def _custom(code: str, message: str) -> PydanticCustomError:
    return PydanticCustomError("fault", "{message}", {"code": code, "message": message})


def _named(fault: Callable[[str], str | None]) -> AfterValidator:
    def check(name: str) -> str:
        message = fault(name)
        if message is not None:
            raise _custom("bad_name", message)
        return name

    return AfterValidator(check)


def _url(*allowed: str) -> AfterValidator:
    def check(url: str) -> str:
        fault = fault_of(url, allowed)
        if fault is not None:
            raise _custom(*fault)
        return url

    return AfterValidator(check)


def _setting(value: Any) -> Any:
    """A setting as ``--set`` would give it: text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        return "\n".join(value)  # a setting of several lines
    raise _custom("wrong_type", f"must be a number, text, true or false (got {kind_of(value)})")


def _disclosure(value: Any) -> Disclosure:
    """The disclosure of a dataset: a level by its word, or the measures of a selection."""
    if isinstance(value, str) and value in LEVELS:
        return Disclosure(value)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return Disclosure(SELECTION, tuple(value))
    if isinstance(value, Disclosure):
        return value
    raise _custom("bad_setting", f"must be {', '.join(LEVELS)}, or a list of measures (got {kind_of(value)})")


def _share(value: Any) -> float:
    try:
        share = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise _custom("bad_setting", f"must be a share, 0 to 1 (got {kind_of(value)})")
    return share


def _scope(value: Any) -> str:
    return "by_query_set" if isinstance(value, dict) else "any"


def _outputs_kind(value: Any) -> str:
    return "cells" if isinstance(value, dict) else "pattern"


Slug = Annotated[str, _named(slug_fault)]
Name = Annotated[str, _named(name_fault)]
SettingText = Annotated[str, BeforeValidator(_setting)]
OwnSetting = Annotated[
    Annotated[SettingText, Tag("any")] | Annotated[dict[str, SettingText], Tag("by_query_set")], Discriminator(_scope)
]
KeyUrl = Annotated[str, _url("dataset", "query_set")]
QueryUrl = Annotated[str, _url("query_set")]
CellUrl = Annotated[str, _url("system", "query_set", "dataset")]
SystemUrl = Annotated[str, _url("system")]
Outputs = Annotated[
    Annotated[CellUrl, Tag("pattern")] | Annotated[dict[str, CellUrl], Tag("cells")], Discriminator(_outputs_kind)
]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class DatasetEntry(_Strict):
    """One Ω: its inputs by role (ECF, key, …) and settings of its own; a value may be a mapping by query set."""

    inputs: dict[str, KeyUrl]
    settings: dict[str, OwnSetting] = Field(default_factory=dict)
    disclose: Annotated[Disclosure, BeforeValidator(_disclosure)] = Disclosure()
    """What reports may show: ``everything``, ``no_key``, ``held``, or a list of measures."""
    query_sets: Any = None
    """Those that are asked for on it. Read by ``pipeline.config.pairs``."""


class QuerySetEntry(_Strict):
    """One Q: its inputs by role, such as the query list and, where known, the table of query examples."""

    inputs: dict[str, QueryUrl]


class SystemEntry(_Strict):
    """One system by name. Without ``outputs`` it has what the pattern finds, which may be nothing."""

    outputs: Outputs | None = None
    others: dict[str, Outputs] = Field(default_factory=dict)
    """Where the outputs of roles beside the main one are."""
    team: str = ""
    primary: bool | None = None
    resources: SystemUrl | None = None
    disclosure: str = ""
    canary: bool = False
    """Made by the organiser to watch the scoring: shown without a rank."""


class LedgerEntry(_Strict):
    """The ledger of a season: the submissions that count in one phase are the systems."""

    store: Annotated[str, _url()]
    season: Slug
    phase: Slug


class DiscoveryEntry(_Strict):
    """Systems found by a pattern, and which of them are primary, left out, and where they declare resources."""

    pattern: CellUrl | None = None
    ledger: LedgerEntry | None = None
    others: dict[str, CellUrl] = Field(default_factory=dict)
    """Patterns of roles beside the main one; they take the names that the main pattern found."""
    primary: list[str] | None = None
    """Names or patterns of primary systems; all others are contrastive."""
    contrastive: list[str] = Field(default_factory=list)
    """Names or patterns of contrastive systems."""
    exclude: list[str] = Field(default_factory=list)
    resources: SystemUrl | None = None
    follow_links: bool = False
    """Whether local links may lead out of the folder that a pattern is looked for in."""


class SystemsEntry(_Strict):
    """The field ``systems``, parted into discovery and the systems listed by name."""

    discovery: DiscoveryEntry
    listed: dict[Name, SystemEntry]


class EvaluationEntry(_Strict):
    """A whole evaluation file."""

    name: Slug
    protocol: str
    mode: Literal["official", "plan"] = "official"
    publication: Literal["open", "staged", "sealed"] = "open"
    settings: dict[str, SettingText] = Field(default_factory=dict)
    max_targets_lost: Annotated[float, BeforeValidator(_share)] = 0.5
    """Share of a key's targets that the dataset may have no place for; beyond, nobody is scored."""
    rank_by: Any = None
    """Read by ``pipeline.config.ranking``."""
    overlays: Any = None
    """Read by ``pipeline.config.overlays``."""
    pairs: Any = None
    """Read by ``pipeline.config.pairs``."""
    datasets: dict[Name, DatasetEntry] = Field(min_length=1)
    query_sets: dict[Name, QuerySetEntry] = Field(min_length=1)
    systems: SystemsEntry


def validate(document: Document, problems: Problems) -> EvaluationEntry | None:
    """The file as models, or None with every fault noted by line and field."""
    roles = roles_of(document.value)
    try:
        return EvaluationEntry.model_validate(_parted(document.value, roles))
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            _note(fault, document, problems, roles)
        return None


def _parted(value: Any, roles: InputRoles) -> Any:
    """The document with inputs gathered by role and ``systems`` parted as ``SystemsEntry`` has it."""
    if not isinstance(value, dict):
        return value
    value = with_inputs(value, roles)
    if not isinstance(value.get("systems"), dict):
        return value
    systems = value["systems"]
    discovery = {key: entry for key, entry in systems.items() if key in DISCOVERY}
    discovery = with_others(discovery, "pattern", roles)
    listed = {key: with_others(e, "outputs", roles) for key, e in systems.items() if key not in DISCOVERY}
    return {**value, "systems": {"discovery": discovery, "listed": listed}}


def _path(location: tuple[int | str, ...], document: Document) -> Path:
    """A location in the models as the field of the file it came from, without what only the models have."""
    if location[:1] == ("systems",) and location[1:2] in (("discovery",), ("listed",)):
        location = (location[0], *location[2:])
    path: Path = ()
    for part in location:
        if part == "[key]":
            break
        if (*path, part) in document.lines:
            path = (*path, part)
    return path


def _note(fault: ErrorDetails, document: Document, problems: Problems, roles: InputRoles) -> None:
    kind, location = fault["type"], fault["loc"]
    path = _path(location, document)
    if kind == "missing":
        path = (*path, location[-1])
    code = fault["ctx"]["code"] if kind == "fault" else _CODES.get(kind, "wrong_type")
    problems.add(code, document.line(path), f"`{dotted(path) or 'the file'}` {_say(path, fault, roles)}")


_CODES = {"missing": "missing_field", "extra_forbidden": "unknown_field", "too_short": "missing_field"}


def _say(path: Path, fault: ErrorDetails, roles: InputRoles) -> str:
    """What is wrong, in the words of the file."""
    if fault["type"] == "extra_forbidden" and path and str(path[-1]).lower() in SECRET_FIELDS:
        return "is refused: credentials, endpoints and storage options belong to the environment or to fsspec"
    if fault["type"] == "extra_forbidden":
        return f"is unknown (allowed: {', '.join(_fields_around(path, roles))})"
    return said(fault)


def _fields_around(path: Path, roles: InputRoles) -> list[str]:
    """The fields allowed beside the one at ``path``."""
    inputs = {"datasets": roles.datasets, "query_sets": roles.query_sets}.get(str(path[0]), ()) if len(path) > 1 else ()
    entries: dict[str, type[BaseModel]] = {
        "datasets": DatasetEntry,
        "query_sets": QuerySetEntry,
        "systems": SystemEntry,
    }
    entry = entries.get(str(path[0])) if len(path) > 1 else None
    own = [name for name in (entry or EvaluationEntry).model_fields if name not in ("inputs", "others")]
    return [*inputs, *own]
