"""What is wrong between the fields of a meta file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.config.document import Path
from pipeline.config.meta_models import StudyModel, VariantModel
from pipeline.config.urls import shown
from pipeline.errors import UsageError
from pipeline.meta.rows import COLUMNS
from pipeline.meta.variants import JOINT, TOLERANCE
from pipeline.protocols import find, protocols

Fault = tuple[Path, str, str]
"""Where, which code, and what to say."""


def faults_between(model: StudyModel) -> Iterator[Fault]:
    """Everything that no single field shows."""
    yield from _entry_faults(model)
    yield from _variant_faults(model)
    yield from _pair_faults(model)
    yield from _name_faults(model)
    yield from _alias_faults(model)


def of(model: StudyModel, variant: VariantModel) -> list[str]:
    """The evaluations of a variant: all of them unless it names some."""
    return variant.of or list(model.evaluations)


def _entry_faults(model: StudyModel) -> Iterator[Fault]:
    for name, entry in model.evaluations.items():
        if bool(entry.run) == bool(entry.evaluation):
            yield ("evaluations", name), "bad_value", "needs `run` or `evaluation`, and not both"
        if entry.store and entry.evaluation:
            yield ("evaluations", name, "store"), "bad_value", "goes with `run`: files are scored in the study's store"


def _variant_faults(model: StudyModel) -> Iterator[Fault]:
    for name, variant in model.rescore.items():
        if name.startswith(TOLERANCE):
            yield ("rescore", name), "bad_name", f"must not begin with `{TOLERANCE}`: `sensitivity` makes such names"
        for at, one in enumerate(variant.of):
            if one not in model.evaluations:
                yield ("rescore", name, "of", at), "unknown_evaluation", _unknown(one, model.evaluations)
        if not variant.protocol and not variant.settings:
            yield ("rescore", name), "bad_value", "needs `protocol` or `settings`"
        if variant.protocol:
            try:
                find(variant.protocol, mode=variant.mode or "official", overrides=variant.settings)
            except UsageError as error:
                yield ("rescore", name), "unknown_protocol", f"is refused: {error}"


def _pair_faults(model: StudyModel) -> Iterator[Fault]:
    variants = (f"{one}{JOINT}{name}" for name, variant in model.rescore.items() for one in of(model, variant))
    known = {*model.evaluations, *variants}
    for field in ("contrasts", "revisions"):
        for at, pair in enumerate(getattr(model, field)):
            for one in pair:
                if one not in known:
                    yield (field, at), "unknown_evaluation", _unknown(one, known)


def _unknown(name: str, known: Iterable[str]) -> str:
    return f"names no evaluation (got {shown(name)}, allowed: {', '.join(sorted(known))})"


def _name_faults(model: StudyModel) -> Iterator[Fault]:
    measures = {measure.name for protocol in protocols().values() for measure in protocol.measures}
    for at, one in enumerate(model.measures):
        if one not in measures:
            yield ("measures", at), "unknown_measure", f"names no measure of any protocol (got {shown(one)})"
    for at, table in enumerate(model.published):
        for column in sorted({*table.columns, *table.set} - set(COLUMNS)):
            what = f"names no column (got {shown(column)}, allowed: {', '.join(COLUMNS)})"
            yield ("published", at), "unknown_column", what


def _alias_faults(model: StudyModel) -> Iterator[Fault]:
    for kind in ("teams", "systems"):
        seen: dict[str, str] = {}
        for name, others in getattr(model, kind).items():
            for other in others:
                if seen.setdefault(other, name) != name:
                    yield (kind, name), "bad_value", f"claims {shown(other)}, which {shown(seen[other])} has already"
