"""Figures of measures later than the edition of their protocol: an object of its own beside a result for each.

A result never changes. A measure that is added later is computed from the same trials and labels, is kept as
``results/<address>/<measure>.json``, and is read together with the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pipeline.engine import jsonbytes
from pipeline.engine.plan import Job
from pipeline.engine.result import Result, figure_document, figure_of
from pipeline.engine.work import Work
from pipeline.errors import DamageError
from pipeline.metrics.measure import Measure
from pipeline.protocols import rescore_version
from pipeline.protocols.base import Conclusion, Protocol
from pipeline.store.blobs import Store
from pipeline.terms import Figure


def of_edition(protocol: Protocol, result: Result) -> Result:
    """The result with the figures of the protocol's edition alone: what lies at its address."""
    names = {measure.name for measure in protocol.measures_of_edition}
    parts = {name: replace(part, figures=_chosen(part.figures, names)) for name, part in result.conditions.items()}
    return replace(result, figures=_chosen(result.figures, names), conditions=parts)


def _chosen(figures: Mapping[str, Figure], names: Collection[str]) -> dict[str, Figure]:
    return {name: figure for name, figure in figures.items() if name in names}


def keep(store: Store, job: Job, protocol: Protocol, said: Result | Conclusion, made_from: tuple[str, ...]) -> Work:
    """Write what the job's later measures say, as far as ``said`` has it; of a failed cell they say why."""
    work = Work()
    measures = {measure.name: measure for measure in protocol.measures}
    for name, path in job.supplements.items():
        figure = _figure(said, name)
        if figure is not None:
            stored = {**_head(job, measures[name]), "figure": figure_document(figure, measures[name].unit)}
            parts = {c: part.figures[name] for c, part in said.conditions.items() if name in part.figures}
            stored["conditions"] = {c: figure_document(one, measures[name].unit) for c, one in parts.items()}
            store.put_sealed(path, jsonbytes.dumps({**stored, "made_from": made_from}, sort_keys=True))
            work += Work.of_made(path)
    return work


def _figure(said: Result | Conclusion, name: str) -> Figure | None:
    if isinstance(said, Result) and said.failed is not None:
        return Figure.undefined(said.failed)
    return said.figures.get(name)


def _head(job: Job, measure: Measure[Any]) -> dict[str, Any]:
    """The head of a supplement: whose it is, and which measure in which edition."""
    return {
        "result": job.address,
        "measure": {
            "name": measure.name,
            "edition": measure.later,
            "unit": measure.unit,
            "better": measure.better,
            "source": measure.source,
        },
        "version": rescore_version(),
    }


def supplemented(store: Store, job: Job, result: Result) -> Result:
    """The result with what its supplements say. Raises ``DamageError`` where one is lost, damaged or another's."""
    for name, path in job.supplements.items():
        stored = _read(store, job, path)
        figure = figure_of(stored["figure"])
        parts = {
            condition: replace(part, figures={**part.figures, name: figure_of(stored["conditions"][condition])})
            if condition in stored["conditions"]
            else part
            for condition, part in result.conditions.items()
        }
        units = {**result.units, name: stored["measure"]["unit"]}
        figures = result.figures if result.failed is not None else {**result.figures, name: figure}
        result = replace(result, figures=figures, conditions=parts, units=units)
    return result


def _read(store: Store, job: Job, path: str) -> Mapping[str, Any]:
    data = store.get_sealed(path)
    try:
        stored: Mapping[str, Any] = jsonbytes.loads(data)
        if stored["result"] == job.address and {"figure", "conditions", "measure"} <= stored.keys():
            return stored
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"{store.url(path)} is damaged ({error}). Run again to mend it.") from error
    raise DamageError(f"{store.url(path)}: it does not say whose supplement it is. Run again to mend it.")
