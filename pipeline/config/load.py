"""From the evaluation file to ``Evaluation``: read, check, resolve every path, find every output."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.config.document import Path, read_document
from pipeline.config.models import EvaluationEntry, validate
from pipeline.config.place import Place
from pipeline.config.systems import collect_systems
from pipeline.config.urls import filled, folder_of, has_secret, masked, shown
from pipeline.errors import ConfigError, Problems, UsageError
from pipeline.protocols import find
from pipeline.store.blobs import open_input
from pipeline.terms import Dataset, Evaluation, QuerySet


def load(uri: str) -> Evaluation:
    """See ``pipeline.config.load_evaluation``.

    All faults of form (fields, names, protocol, settings) are raised together; when there are none, all faults
    of files (missing keys, patterns, names read off files) are.
    """
    folder = folder_of(uri)
    if has_secret(folder):
        raise UsageError(f"{masked(uri)} carries credentials. Keep them in the environment or fsspec's configuration.")
    problems = Problems(masked(uri))
    with open_input(uri) as stream:
        document = read_document(stream, problems)
    place = Place(document, folder, problems)
    entry = validate(document, problems)
    _check_protocol(place)
    if entry is None or problems.count:
        raise ConfigError(problems.findings, problems.count)
    evaluation = _resolve(entry, place)
    if problems.count:
        raise ConfigError(problems.findings, problems.count)
    return evaluation


def _resolve(entry: EvaluationEntry, place: Place) -> Evaluation:
    """The evaluation with every path absolute; faults are noted in ``place``."""
    if re.search(r"[*?{}]", place.folder):
        place.note(("name",), "bad_url", f"stands in the folder {shown(place.folder)}, whose name holds * ? {{ or }}")
    return Evaluation(
        name=entry.name,
        protocol=entry.protocol,
        mode=entry.mode,
        overrides=tuple(entry.settings.items()),
        datasets=_datasets(entry, place),
        query_sets=_query_sets(entry, place),
        systems=collect_systems(entry, place),
    )


def _check_protocol(place: Place) -> None:
    """Note an unknown protocol, mode or setting, each at its own line.

    Works on the document, so that these faults are told beside those of the fields' form.
    """
    top = place.document.value if isinstance(place.document.value, Mapping) else {}
    name, mode, settings = top.get("protocol"), top.get("mode", "official"), top.get("settings", {})
    if not isinstance(name, str) or mode not in ("official", "plan"):
        return
    if not _accepted(place, ("protocol",), name, mode, {}) or not isinstance(settings, Mapping):
        return
    texts = {key: str(value) for key, value in settings.items() if isinstance(value, str | bool)}
    alone = [_accepted(place, ("settings", key), name, mode, {key: value}) for key, value in texts.items()]
    if all(alone):
        _accepted(place, ("settings",), name, mode, texts)


def _accepted(place: Place, path: Path, name: str, mode: str, settings: Mapping[str, str]) -> bool:
    try:
        find(name, mode=mode, overrides=settings)
    except UsageError as error:
        code = "bad_setting" if path[0] == "settings" else "unknown_protocol"
        place.note(path, code, f"is refused: {error}")
        return False
    return True


def _datasets(entry: EvaluationEntry, place: Place) -> tuple[Dataset, ...]:
    """Ω in the order of the file. ``{query_set}`` stays in a URL: the engine fills it in per cell."""
    datasets = []
    for name, dataset in entry.datasets.items():
        urls = {}
        for role, url in (("ecf", dataset.ecf), ("rttm", dataset.rttm)):
            path = ("datasets", name, role)
            urls[role] = place.resolve(path, filled(url, {"dataset": name}))
            for one in dict.fromkeys(filled(urls[role], {"query_set": query_set}) for query_set in entry.query_sets):
                place.check_file(path, one)
        datasets.append(Dataset(name, **urls))
    return tuple(datasets)


def _query_sets(entry: EvaluationEntry, place: Place) -> tuple[QuerySet, ...]:
    """Q in the order of the file."""
    query_sets = []
    for name, query_set in entry.query_sets.items():
        urls: dict[str, str | None] = {"kwlist": query_set.kwlist, "queries": query_set.queries}
        for role, url in urls.items():
            if url is not None:
                path = ("query_sets", name, role)
                urls[role] = place.resolve(path, filled(url, {"query_set": name}))
                place.check_file(path, urls[role] or "")
        query_sets.append(QuerySet(name, urls["kwlist"] or "", urls["queries"]))
    return tuple(query_sets)
