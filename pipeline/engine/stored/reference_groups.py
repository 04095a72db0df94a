"""A reference as Zarr groups, the form in which it is stored and looked at.

The root holds facts and key: the listed queries with their texts, seconds of audio, numbers of trials, and what trials
are aligned with, a row each. The group ``timeline`` holds recordings and excerpts. Names stand once each, sorted;
columns such as ``query`` and ``file`` are positions among ``queries`` and ``files``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import DamageError, Finding
from pipeline.protocols.base import AnyKind, AnyReference, Reference
from pipeline.store.groups import Array, Group
from pipeline.terms import Facts, Selection

if TYPE_CHECKING:
    import xarray as xr

_UNITS = {"_s": "s"}
_TEXTS = np.dtypes.StringDType()
_FACTS: dict[str, tuple[str, str, str]] = {
    "t_audio_s": ("s", "seconds of audio that is searched", "ECF, by the protocol's rule"),
    "n_trials": ("1", "trials of a query, as error rates count them", "seconds of audio, trials per second"),
    "n_trials_exact": ("1", "trials of a query, not rounded", "seconds of audio, trials per second"),
}
"""Units, long name and source of the facts that are single numbers."""
_KEY, _TIMELINE = "key_", "timeline"


def to_groups(reference: AnyReference, kind: AnyKind) -> dict[str, Group]:
    """The groups of a reference by their names; nothing is lost."""
    facts, columns = reference.facts, kind.key_columns(reference.key)
    attributes = {
        "title": "reference",
        "counts": json.dumps(dict(facts.counts)),
        "selections": json.dumps([asdict(selection) for selection in facts.selections]),
        "findings": json.dumps([asdict(finding) for finding in reference.findings]),
        "places": json.dumps(facts.places),
        "n_key_target": facts.n_key_target,
        "n_key_lost": facts.n_key_lost,
    }
    about = {"units": "", "long_name": "listed queries, in the order of their list", "source": "query list"}
    arrays = {
        "query": Array(("query",), np.array(facts.queries, _TEXTS), about),
        "text": Array(
            ("query",),
            np.array([facts.texts[query] for query in facts.queries], _TEXTS),
            {"units": "", "long_name": "text of the query", "source": "query list"},
        ),
    }
    for name, (units, long_name, source) in _FACTS.items():
        described = {"units": units, "long_name": long_name, "source": source}
        arrays[name] = Array((), np.array(getattr(facts, name), np.float64), described)
    arrays |= {f"{_KEY}{name}": _array(name, column, len(reference.key)) for name, column in columns.items()}
    timeline = {name: _array(name, column, -1) for name, column in kind.timeline_columns(reference.timeline).items()}
    about_timeline = {"title": "what trials are laid out on"}
    return {"": Group(arrays, ("query",), attributes), _TIMELINE: Group(timeline, (), about_timeline)}


def from_groups(groups: Mapping[str, xr.Dataset], kind: AnyKind) -> AnyReference:
    """The reference that ``to_groups`` took apart. Raises ``DamageError`` for groups of anything else."""
    root = groups[""]
    try:
        key = {name.removeprefix(_KEY): _column(root[name]) for name in map(str, root) if name.startswith(_KEY)}
        queries = _column(root["query"])
        facts = Facts(
            **{name: root[name].item() for name in _FACTS},
            queries=queries,
            texts=dict(zip(queries, _column(root["text"]), strict=True)),
            counts=json.loads(root.attrs["counts"]),
            selections=tuple(map(_selection, json.loads(root.attrs["selections"]))),
            places=tuple((file, channel) for file, channel in json.loads(root.attrs["places"])),
            n_key_target=int(root.attrs["n_key_target"]),
            n_key_lost=int(root.attrs["n_key_lost"]),
        )
        return Reference(
            key=kind.key_from_columns(key),
            timeline=kind.timeline_from_columns(
                {str(name): _column(values) for name, values in groups[_TIMELINE].items()}
            ),
            facts=facts,
            findings=tuple(Finding(**entry) for entry in json.loads(root.attrs["findings"])),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise DamageError(f"a stored reference is damaged ({error}). Remove it, it is derived again.") from error


def groups_of() -> tuple[str, ...]:
    """The names of a reference's groups."""
    return "", _TIMELINE


def _array(name: str, column: Any, n_rows: int) -> Array:
    """A column over the rows of the key where it has a value for each; else over a dimension of its own."""
    values = np.array(column, _TEXTS) if isinstance(column, tuple) else np.asarray(column)
    dims = tuple(
        "row" if size == n_rows and not isinstance(column, tuple) else f"{name}_{axis}"
        for axis, size in enumerate(values.shape)
    )
    units = next(
        (units for ending, units in _UNITS.items() if name.endswith(ending)), "" if isinstance(column, tuple) else "1"
    )
    return Array(dims, values, {"units": units, "long_name": name.replace("_", " "), "source": "organiser's files"})


def _column(values: Any) -> Any:
    found = values.to_numpy()
    return tuple(found.tolist()) if found.dtype.kind == "T" else found


def _selection(entry: Mapping[str, Any]) -> Selection:
    queries, places = entry["queries"], entry["places"]
    listed = None if queries is None else tuple(queries)
    placed = None if places is None else tuple((file, channel) for file, channel in places)
    return Selection(**{**entry, "queries": listed, "places": placed})
