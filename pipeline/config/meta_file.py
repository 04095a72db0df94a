"""The meta file (YAML): which evaluations a study is of, and what it asks; read as the evaluation file is.

Beside it the strata of queries, events or speakers: a CSV with the columns ``unit`` and ``stratum``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from io import BytesIO

from pipeline.config.document import Path, read_document
from pipeline.config.meta_models import StudyModel, VariantModel, validated
from pipeline.config.place import OpenDocument
from pipeline.config.urls import folder_of, has_secret, masked, shown
from pipeline.errors import ConfigError, InputError, Problems, UsageError
from pipeline.meta.intervals import Resampling
from pipeline.meta.rows import COLUMNS
from pipeline.meta.study import PublishedTable, Sensitivity, Study, StudyEntry, Variant
from pipeline.meta.variants import JOINT, TOLERANCE
from pipeline.protocols import find, protocols
from pipeline.store.blobs import open_input

MOST_BYTES = 1 << 18


def load_study(uri: str) -> Study:
    """The study described by the YAML file at ``uri``, a path or any fsspec URL; its paths are relative to the file.

    Raises ``ConfigError`` with every problem by line and field.
    """
    folder = folder_of(uri)
    if has_secret(folder):
        raise UsageError(f"{masked(uri)} carries credentials. Keep them in the environment or fsspec's configuration.")
    problems = Problems(masked(uri))
    with open_input(uri) as stream:
        data = stream.read(MOST_BYTES + 1)
    place = OpenDocument(read_document(BytesIO(data), problems), folder, problems)
    model = validated(place.document, problems)
    if model is not None:
        for path, code, what in faults_between(model):
            place.note(path, code, what)
    if model is None or problems.count:
        raise ConfigError(problems.findings, problems.count)
    study = _resolved(model, place, sha256(data).hexdigest())
    if problems.count:
        raise ConfigError(problems.findings, problems.count)
    return study


def _resolved(model: StudyModel, place: OpenDocument, source: str) -> Study:
    """The study with every path absolute; faults are noted in ``place``."""
    entries = []
    for name, entry in model.evaluations.items():
        store = place.resolve(("evaluations", name, "store"), entry.store) if entry.store else ""
        url = place.resolve(("evaluations", name, "evaluation"), entry.evaluation) if entry.evaluation else ""
        if url:
            place.check_file(("evaluations", name, "evaluation"), url)
        entries.append(StudyEntry(name, entry.year, entry.run, store, url))
    tables = []
    for at, table in enumerate(model.published):
        url = place.resolve(("published", at, "file"), table.file)
        place.check_file(("published", at, "file"), url)
        tables.append(PublishedTable(url, table.columns, tuple(table.measures), table.set))
    grids, how = model.sensitivity, model.resampling
    strata: Mapping[str, str] = {}
    if how.strata:
        strata = read_strata(place, ("resampling", "strata"), how.strata)
    return Study(
        name=model.name,
        entries=tuple(entries),
        variants=tuple(
            Variant(name, tuple(of(model, v)), v.protocol, v.mode, v.settings, tuple(v.keep))
            for name, v in model.rescore.items()
        ),
        published=tuple(tables),
        teams={other: name for name, others in model.teams.items() for other in others},
        systems={other: name for name, others in model.systems.items() for other in others},
        measures=tuple(model.measures),
        contrasts=tuple((one, other) for one, other in model.contrasts),
        dev_eval=tuple((entry.dev, entry.eval) for entry in model.dev_eval),
        revisions=tuple((one, other) for one, other in model.revisions),
        sensitivity=Sensitivity(tuple(grids.beta), tuple(grids.p_target), tuple(grids.tolerance_s)),
        resampling=Resampling(how.replicates, how.seed, how.level, how.method, strata),
        source=source,
    )


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


_MOST_STRATA_BYTES = 16_000_000
_STRATA = ("unit", "stratum")


def read_strata(place: OpenDocument, path: Path, url: str) -> Mapping[str, str]:
    """The stratum of each unit; what is wrong with the file is noted at the field that names it."""
    found = place.resolve(path, url)
    if not found:
        return {}
    try:
        with open_input(found) as stream:
            data = stream.read(_MOST_STRATA_BYTES + 1)
    except InputError as error:
        place.note(path, "no_such_file", f"cannot be read: {error}")
        return {}
    try:
        rows = list(csv.DictReader(io.StringIO(data[:_MOST_STRATA_BYTES].decode("utf-8-sig", "replace"), newline="")))
    except csv.Error as error:
        rows = []
        place.note(path, "bad_csv", f"is no CSV ({error})")
    if len(data) > _MOST_STRATA_BYTES or not rows or not set(_STRATA) <= rows[0].keys():
        place.note(
            path, "bad_csv", f"must be a CSV of at most {_MOST_STRATA_BYTES} bytes with columns {', '.join(_STRATA)}"
        )
        return {}
    return {str(row["unit"]): str(row["stratum"]) for row in rows}
