"""The sum of a cell's tiles with all else that its figures need: a new operating point reads nothing but this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipeline import protocols
from pipeline.engine import editions
from pipeline.errors import DamageError, Finding
from pipeline.partials.codec import FORMS, Column, decode_columns, encode_parts, revived
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store
from pipeline.trials.schema import N_BUCKETS

KIND = "total/2"
_PARTIAL = "partial."
"""Before the names of the partial's columns."""


@dataclass(frozen=True)
class Total:
    """What is concluded from, and where it came from."""

    partial: Any
    survey: Mapping[str, Any]
    """What the output says beside its trials, ``n_rows`` included."""
    findings: tuple[Finding, ...]
    """Of reading the output."""
    objects: tuple[str, ...]
    """Paths of the trials and tiles that it was made of."""


def path_of(protocol: Protocol, trials_path: str, reference_address: str) -> str:
    """Where the total of stored trials against a reference belongs: no setting that only ``conclude`` reads counts."""
    settings = protocols.fields(protocol)["settings"]
    name = editions.named(
        "aligning",
        KIND,
        protocol,
        forms=FORMS,
        family=protocol.family.name,
        settings={name: settings[name] for name in settings.keys() - set(protocol.family.conclusion)},
        trials=trials_path,
        reference=reference_address,
    )
    return f"totals/{name[:2]}/{name}"


def save(store: Store, path: str, total: Total) -> None:
    """Write a total."""
    about = {
        "survey": dict(total.survey),
        "findings": [asdict(finding) for finding in total.findings],
        "objects": total.objects,
    }
    own, meta = total.partial.to_columns()
    columns: dict[str, Column] = {f"{_PARTIAL}{name}": column for name, column in own.items()}
    columns["about"] = (json.dumps(about, sort_keys=True, allow_nan=False),)
    store.put_parts(path, encode_parts(KIND, columns, {"kind": total.partial.kind, "partial": meta}))


def part_of(path: str, first: int, last: int) -> str:
    """Where the part of the total at ``path`` belongs that is of the buckets ``first`` up to ``last`` (exclusive)."""
    return f"{path}.{first}-{last}"


def whole(store: Store, path: str) -> Total:
    """The total at a path, put together where it was kept in parts. Raises ``DamageError`` as ``load`` does."""
    if store.exists(path):
        return load(store, path)
    found = {name: tuple(map(int, name.removeprefix(f"{path}.").split("-"))) for name in _parts(store, path)}
    chain, at = list[Total](), 0
    while name := next((name for name, (first, _) in found.items() if first == at), None):
        chain.append(load(store, name))
        at = found[name][1]
    if at != N_BUCKETS:
        raise DamageError(f"{store.url(path)}: there is no such total, nor all parts of one. Run the evaluation again.")
    objects = tuple(sorted({*found, *(name for part in chain for name in part.objects)}))
    return replace(chain[0], partial=merge_tree([part.partial for part in chain], None), objects=objects)


def _parts(store: Store, path: str) -> list[str]:
    return [name for name in store.listing(path.rpartition("/")[0]) if name.startswith(f"{path}.")]


def load(store: Store, path: str) -> Total:
    """The total at a path. Raises ``DamageError`` where it is lost or not what was written."""
    columns, meta = decode_columns(store.get(path), KIND)
    try:
        about = json.loads(columns.pop("about")[0])
        own = {name.removeprefix(_PARTIAL): column for name, column in columns.items()}
        return Total(
            partial=revived(meta["kind"], own, meta["partial"]),
            survey=about["survey"],
            findings=tuple(Finding(**entry) for entry in about["findings"]),
            objects=tuple(about["objects"]),
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DamageError(f"{store.url(path)}: this is no total ({error}). Remove it and run again.") from error
