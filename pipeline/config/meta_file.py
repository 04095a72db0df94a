"""The meta file (YAML): which evaluations a study is of, and what it asks; read as the evaluation file is."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO

from pipeline.config.document import read_document
from pipeline.config.meta_faults import faults_between, of
from pipeline.config.meta_models import StudyModel, validated
from pipeline.config.place import Place
from pipeline.config.strata import read_strata
from pipeline.config.urls import folder_of, has_secret, masked
from pipeline.errors import ConfigError, Problems, UsageError
from pipeline.meta.intervals import Resampling
from pipeline.meta.study import Entry, Published, Sensitivity, Study, Variant
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
    place = Place(read_document(BytesIO(data), problems), folder, problems)
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


def _resolved(model: StudyModel, place: Place, source: str) -> Study:
    """The study with every path absolute; faults are noted in ``place``."""
    entries = []
    for name, entry in model.evaluations.items():
        store = place.resolve(("evaluations", name, "store"), entry.store) if entry.store else ""
        url = place.resolve(("evaluations", name, "evaluation"), entry.evaluation) if entry.evaluation else ""
        if url:
            place.check_file(("evaluations", name, "evaluation"), url)
        entries.append(Entry(name, entry.year, entry.run, store, url))
    tables = []
    for at, table in enumerate(model.published):
        url = place.resolve(("published", at, "file"), table.file)
        place.check_file(("published", at, "file"), url)
        tables.append(Published(url, table.columns, tuple(table.measures), table.set))
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
