"""The fields of a meta file, and what is said when one is wrong."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from pipeline.config.document import Document, Path, dotted
from pipeline.config.models import Name, SettingText, Slug
from pipeline.config.said import said
from pipeline.config.urls import fault_of, shown
from pipeline.errors import Problems
from pipeline.meta.intervals import LEVEL, N_REPLICATES, SEED

MOST_REPLICATES = 100_000


def _number(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, str) and value.isascii() else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"must be a number (got {shown(value)})")
    return number


def _whole(value: Any) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.isdecimal() or len(value) > 18:
        raise ValueError(f"must be a whole number (got {shown(value)})")
    return int(value)


def _checked_url(url: str) -> str:
    fault = fault_of(url, ())
    if fault is not None:
        raise ValueError(fault[1])
    return url


def _seconds(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError(f"must be seconds, as 0.5 (got {shown(text)})")
    return text


def _cell(text: str) -> str:
    if text.count("/") != 1:
        raise ValueError(f"must be QUERY_SET/DATASET (got {shown(text)})")
    return text


Url = Annotated[str, AfterValidator(_checked_url)]
Number = Annotated[float, BeforeValidator(_number)]
Whole = Annotated[int, BeforeValidator(_whole)]
CellName = Annotated[str, AfterValidator(_cell)]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class _StudyPart(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class EntryModel(_StudyPart):
    """One evaluation: an evaluation file, or a published run by name (in a store of its own, where one is given)."""

    year: str = ""
    run: str = ""
    store: Url | None = None
    evaluation: Url | None = None


class VariantModel(_StudyPart):
    """Evaluations under another protocol or other settings."""

    of: list[str] = Field(default_factory=list)
    protocol: str = ""
    mode: Literal["official", "plan", ""] = ""
    settings: dict[str, SettingText] = Field(default_factory=dict)
    keep: list[str] = Field(default_factory=list)


class PublishedModel(_StudyPart):
    """A CSV of published figures."""

    file: Url
    columns: dict[str, str] = Field(default_factory=dict)
    measures: list[str] = Field(default_factory=list)
    set: dict[str, str] = Field(default_factory=dict)


class DevEvalModel(_StudyPart):
    """A tuning cell and the cell it is applied to."""

    dev: CellName
    eval: CellName


class SensitivityModel(_StudyPart):
    """Grids of parameters."""

    beta: list[Annotated[Number, Field(gt=0.0)]] = Field(default_factory=list)
    p_target: list[Annotated[Number, Field(gt=0.0, lt=1.0)]] = Field(default_factory=list)
    tolerance_s: list[Annotated[str, AfterValidator(_seconds)]] = Field(default_factory=list)


class ResamplingModel(_StudyPart):
    """How intervals are drawn; ``strata`` is a CSV with columns unit and stratum.

    BCa unless asked otherwise: in simulations (``python -m bench.coverage``) it held MTWV, whose maximum is biased in
    replicates, more often than the percentile interval at every number of queries, and the others as often.
    """

    replicates: Annotated[Whole, Field(ge=100, le=MOST_REPLICATES)] = N_REPLICATES
    seed: Whole = SEED
    level: Annotated[Number, Field(gt=0.0, lt=1.0)] = LEVEL
    method: Literal["percentile", "bca"] = "bca"
    strata: Url | None = None


class StudyModel(_StudyPart):
    """A whole meta file."""

    name: Slug
    evaluations: dict[Slug, EntryModel] = Field(min_length=1)
    rescore: dict[Slug, VariantModel] = Field(default_factory=dict)
    published: list[PublishedModel] = Field(default_factory=list)
    teams: dict[Name, list[str]] = Field(default_factory=dict)
    systems: dict[Name, list[str]] = Field(default_factory=dict)
    measures: list[str] = Field(default_factory=list)
    contrasts: list[Pair] = Field(default_factory=list)
    revisions: list[Pair] = Field(default_factory=list)
    dev_eval: list[DevEvalModel] = Field(default_factory=list)
    sensitivity: SensitivityModel = Field(default_factory=SensitivityModel)
    resampling: ResamplingModel = Field(default_factory=ResamplingModel)


def validated(document: Document, problems: Problems) -> StudyModel | None:
    """The file as models, or None with every fault noted by line and field."""
    try:
        return StudyModel.model_validate(document.value)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            path = _path(fault, document)
            problems.add(_code(fault), document.line(path), f"`{dotted(path) or 'the file'}` {_say(fault)}")
        return None


def _path(fault: ErrorDetails, document: Document) -> Path:
    path: Path = ()
    for part in fault["loc"]:
        if part == "[key]":
            break
        if (*path, part) in document.lines or fault["type"] == "missing":
            path = (*path, part)
    return path


def _code(fault: ErrorDetails) -> str:
    return {"missing": "missing_field", "extra_forbidden": "unknown_field", "value_error": "bad_value"}.get(
        fault["type"], "wrong_type"
    )


def _say(fault: ErrorDetails) -> str:
    if fault["type"] == "extra_forbidden":
        return "is unknown (`rescore meta --help` lists the fields)"
    return said(fault)
