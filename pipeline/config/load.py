"""From the evaluation file to ``Evaluation``: read, check, resolve every path, find every output."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.config.document import Path, read_document
from pipeline.config.ledger import rule_of
from pipeline.config.models import DatasetEntry, EvaluationEntry, validate
from pipeline.config.names import twins
from pipeline.config.overlays import collect_overlays
from pipeline.config.pairs import Pair, collect_pairs
from pipeline.config.place import OpenDocument
from pipeline.config.ranking import check_rank_by, rank_rules
from pipeline.config.roles import check_roles
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
    place = OpenDocument(document, folder, problems)
    entry = validate(document, problems)
    _check_protocol(place)
    pairs = collect_pairs(place)
    check_roles(place, pairs)
    if entry is None or problems.count:
        raise ConfigError(problems.findings, problems.count)
    evaluation = _resolve(entry, place, pairs)
    if problems.count:
        raise ConfigError(problems.findings, problems.count)
    return evaluation


def _resolve(entry: EvaluationEntry, place: OpenDocument, pairs: tuple[Pair, ...]) -> Evaluation:
    """The evaluation with every path absolute; faults are noted in ``place``."""
    if re.search(r"[*?{}]", place.folder):
        place.note(("name",), "bad_url", f"stands in the folder {shown(place.folder)}, whose name holds * ? {{ or }}")
    ledger = entry.systems.discovery.ledger
    everywhere, rules = rank_rules(entry.rank_by)
    overrides = {**entry.settings, **everywhere}
    protocol = find(entry.protocol, mode=entry.mode, overrides=overrides)
    evaluation = Evaluation(
        name=entry.name,
        protocol=entry.protocol,
        mode=entry.mode,
        overrides=tuple(overrides.items()),
        rank_by=rules,
        counts="" if ledger is None else rule_of(ledger, place),
        datasets=_datasets(entry, place, pairs),
        query_sets=_query_sets(entry, place),
        systems=collect_systems(entry, place, pairs),
        publication=entry.publication,
        overlays=collect_overlays(place, protocol, entry.query_sets, entry.datasets),
        cells_of=pairs,
        findings=tuple(place.told),
        max_targets_lost=entry.max_targets_lost,
    )
    _check_twins(evaluation, place)
    for at, layer in enumerate(evaluation.overlays):
        if not any(layer.holds_for(*pair) for pair in evaluation.pairs):
            place.note(
                ("overlays", at), "unknown_cell", "holds for no cell: none of its pairs is asked for", "Remove it."
            )
    if place.problems.count:
        place.refuse_told()
    return evaluation


def _check_twins(evaluation: Evaluation, place: OpenDocument) -> None:
    """Note names that only case or Unicode form tells apart: boards and file systems would mix them up."""
    for field in ("datasets", "query_sets", "systems"):
        for one, other in twins(named.name for named in getattr(evaluation, field)):
            what = f"{shown(other)} differs from {shown(one)} by case or Unicode form alone. Rename one of them"
            place.note((field,), "twin_names", what)


def _check_protocol(place: OpenDocument) -> None:
    """Note an unknown protocol, mode or setting, each at its own line.

    Works on the document, so that these faults are told beside those of the fields' form.
    """
    top = place.document.value if isinstance(place.document.value, Mapping) else {}
    name, mode, settings = top.get("protocol"), top.get("mode", "official"), top.get("settings", {})
    if not isinstance(name, str) or mode not in ("official", "plan"):
        return
    if not _accepted(place, ("protocol",), name, mode, {}) or not isinstance(settings, Mapping):
        return
    texts = {key: text for key, value in settings.items() if (text := _text(value)) is not None}
    alone = [_accepted(place, ("settings", key), name, mode, {key: value}) for key, value in texts.items()]
    if all(alone):
        _accepted(place, ("settings",), name, mode, texts)
        _check_dataset_settings(place, name, mode)
        check_rank_by(place, find(name, mode=mode))


def _check_dataset_settings(place: OpenDocument, name: str, mode: str) -> None:
    """Note unknown settings of datasets, values by query set one by one."""
    top = place.document.value
    datasets, query_sets = top.get("datasets"), top.get("query_sets")
    for dataset, entry in (datasets if isinstance(datasets, Mapping) else {}).items():
        own = entry.get("settings") if isinstance(entry, Mapping) else None
        for key, value in (own if isinstance(own, Mapping) else {}).items():
            path: Path = ("datasets", dataset, "settings", key)
            if not isinstance(value, Mapping):
                text = _text(value)
                if text is not None:
                    _accepted(place, path, name, mode, {key: text})
                continue
            for query_set, one in value.items():
                text = _text(one)
                if isinstance(query_sets, Mapping) and query_set not in query_sets:
                    known = ", ".join(map(str, query_sets))
                    place.note((*path, query_set), "unknown_query_set", f"names no query set (allowed: {known})")
                elif text is not None:
                    _accepted(place, (*path, query_set), name, mode, {key: text})


def _text(value: object) -> str | None:
    """A setting as ``--set`` would give it, None for what the form of the file forbids anyway."""
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return str(value) if isinstance(value, str | bool) else None


def _accepted(place: OpenDocument, path: Path, name: str, mode: str, settings: Mapping[str, str]) -> bool:
    try:
        find(name, mode=mode, overrides=settings)
    except UsageError as error:
        code = "bad_setting" if "settings" in path else "unknown_protocol"
        place.note(path, code, f"is refused: {error}")
        return False
    return True


def _datasets(entry: EvaluationEntry, place: OpenDocument, pairs: tuple[Pair, ...]) -> tuple[Dataset, ...]:
    """Ω in the order of the file. ``{query_set}`` stays in a URL: the engine fills it in per cell."""
    datasets = []
    for name, dataset in entry.datasets.items():
        own = [query_set for query_set in entry.query_sets if not pairs or (query_set, name) in pairs]
        _check_scopes(name, dataset, own, place)
        urls = {}
        for role, url in dataset.inputs.items():
            path = ("datasets", name, role)
            urls[role] = place.resolve(path, filled(url, {"dataset": name}))
            for one in dict.fromkeys(filled(urls[role], {"query_set": query_set}) for query_set in own):
                place.check_file(path, one)
        ecf, rttm = urls.pop("ecf", ""), urls.pop("rttm", "")
        _check_selection(name, dataset, entry, place)
        datasets.append(Dataset(name, ecf, rttm, _own_settings(dataset), urls, str(dataset.disclose)))
    return tuple(datasets)


def _check_scopes(name: str, dataset: DatasetEntry, own: list[str], place: OpenDocument) -> None:
    """Note settings for query sets that are not asked for on the dataset."""
    for setting, value in dataset.settings.items():
        for query_set in value if isinstance(value, dict) else ():
            if query_set not in own:
                allowed = ", ".join(own)
                what = f"is set for {shown(query_set)}, which is not asked for on {shown(name)} (allowed: {allowed})"
                place.note(("datasets", name, "settings", setting, query_set), "unknown_cell", what, "Remove it.")


def _check_selection(name: str, dataset: DatasetEntry, entry: EvaluationEntry, place: OpenDocument) -> None:
    known = {measure.name for measure in find(entry.protocol, mode=entry.mode, overrides=entry.settings).measures}
    for measure in dataset.disclose.measures:
        if measure not in known:
            allowed = ", ".join(sorted(known))
            what = f"names {shown(measure)}, which is no measure of {entry.protocol} (allowed: {allowed})"
            place.note(("datasets", name, "disclose"), "bad_setting", what)


def _own_settings(dataset: DatasetEntry) -> tuple[tuple[str, str, str], ...]:
    """A dataset's settings as (query set, name, value), query set "" for any."""
    rows = []
    for name, value in dataset.settings.items():
        rows += [("", name, value)] if isinstance(value, str) else [(q, name, one) for q, one in value.items()]
    return tuple(rows)


def _query_sets(entry: EvaluationEntry, place: OpenDocument) -> tuple[QuerySet, ...]:
    """Q in the order of the file."""
    query_sets = []
    for name, query_set in entry.query_sets.items():
        urls = {}
        for role, url in query_set.inputs.items():
            path = ("query_sets", name, role)
            urls[role] = place.resolve(path, filled(url, {"query_set": name}))
            place.check_file(path, urls[role])
        query_sets.append(QuerySet(name, urls.pop("kwlist", ""), urls.pop("queries", None), urls))
    return tuple(query_sets)
