"""Trials in the store: one Zarr dataset per (output, timeline), written once by the task that read the output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipeline.engine.inputs import read_planned
from pipeline.errors import Finding
from pipeline.protocols.base import Protocol, Sliced
from pipeline.store import arrays
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.terms import Source
from pipeline.trials.schema import Ints

TRIALS_EDITION = 2
"""Raised when the reading of an output or the layout of trials changes."""

Inputs = Mapping[str, Source]


@dataclass(frozen=True)
class TrialsInfo:
    """What is known of stored trials without reading them."""

    path: str
    offsets: Ints
    findings: tuple[Finding, ...]
    survey: Mapping[str, Any]
    """What the output says beside its trials."""

    @property
    def n_rows(self) -> int:
        """Trials of the output."""
        return int(self.offsets[-1])


def path_of(protocol: Protocol, inputs: Inputs, timeline: Any) -> str:
    """Where the trials of an output on a timeline belong. The query list plays no part, nor does any cost."""
    kind = protocol.family.kind
    laid = address(
        "trials",
        edition=TRIALS_EDITION,
        trials_kind=kind.name,
        output={role: inputs[role].sha256 for role in protocol.family.outputs if role in inputs},
        layout=dict(kind.timeline_parts(protocol.settings, timeline)),
    )
    return f"trials/{laid}.zarr"


def ensure(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any) -> TrialsInfo:
    """The stored trials of an output, made by reading it if the store lacks them."""
    path = path_of(protocol, inputs, timeline)
    if not arrays.is_complete(store, path):
        outputs = [role for role in protocol.family.outputs if role in inputs]
        tables = {role: read_planned(protocol, role, inputs[role]) for role in outputs}
        trials, findings = protocol.family.lay_out(protocol, tables, timeline)
        attributes: dict[str, str | int] = {f"{role}_sha256": inputs[role].sha256 for role in outputs}
        attributes |= {f"{role}_bytes": inputs[role].n_bytes for role in outputs}
        attributes["survey"] = json.dumps(protocol.family.kind.survey(trials), sort_keys=True, allow_nan=False)
        attributes["findings"] = json.dumps([asdict(finding) for finding in findings])
        arrays.write_groups(store, path, {"": protocol.family.kind.to_dataset(trials, timeline, attributes)})
    return info(store, protocol, inputs, timeline)


def info(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any) -> TrialsInfo:
    """What is known of trials already stored."""
    path = path_of(protocol, inputs, timeline)
    stored = arrays.open_group(store, path)
    findings = tuple(Finding(**entry) for entry in json.loads(stored.attrs["findings"]))
    offsets = np.asarray(stored["bucket_offset"].values, np.int64)
    return TrialsInfo(path, offsets, findings, json.loads(stored.attrs["survey"]))


def load(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, first: int, last: int) -> Sliced:
    """Buckets ``first`` up to ``last`` (exclusive) of stored trials."""
    stored = arrays.open_group(store, path_of(protocol, inputs, timeline))
    loaded: Sliced = protocol.family.kind.from_dataset(stored, first, last)
    return loaded
