"""Which runs were published, and how a person names one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.errors import DamageError, UsageError
from pipeline.grid.publish import Run, load_run
from pipeline.store import manifest
from pipeline.store.blobs import Store

_PLACE = re.compile(r"(?P<evaluation>.+?)(?:@(?P<number>[0-9]+)|~(?P<back>[0-9]+))?")


@dataclass(frozen=True)
class RunCommit:
    """One commit: a run became the latest of its evaluation."""

    evaluation: str
    number: int
    run: str
    written_s: float
    """When, in seconds since 1970, by the store's clock."""
    work: Mapping[str, Any]


def history(store: Store, evaluation: str) -> tuple[RunCommit, ...]:
    """Every commit of an evaluation, oldest first. Raises ``DamageError`` where one cannot be read."""
    times = store.times(f"refs/{evaluation}")
    return tuple(
        RunCommit(evaluation, number, entry["run"], times[manifest.path_of(evaluation, number)], entry.get("work", {}))
        for number, entry in manifest.sound_history(store, evaluation).items()
    )


def find_run(store: Store, name: str) -> Run:
    """The run that ``name`` means: an id or the beginning of one, ``EVALUATION`` (its latest), ``EVALUATION~1`` (the
    one before), ``EVALUATION@3`` (its third commit).

    Raises ``UsageError`` where there is none or more than one.
    """
    known = manifest.evaluations(store)
    parts = _PLACE.fullmatch(name)
    if parts is not None and parts["evaluation"] in known:
        commits = history(store, parts["evaluation"])
        if not commits:
            raise DamageError(f"{store.url('')}: every commit of {parts['evaluation']} is damaged. Run it again.")
        wanted = int(parts["number"]) if parts["number"] else commits[-1].number - int(parts["back"] or 0)
        for commit in commits:
            if commit.number == wanted:
                return replace(load_run(store, commit.run), work=commit.work)
        raise UsageError(f"{parts['evaluation']} has no commit {wanted} (there are {len(commits)}).")
    ids = sorted(path.removeprefix("runs/").removesuffix(".json") for path in store.listing("runs"))
    found = [one for one in ids if one.startswith(name)]
    if len(found) == 1:
        return load_run(store, found[0])
    if found:
        raise UsageError(f"{name!r} begins {len(found)} runs ({', '.join(found[:3])}, …). Give more of the id.")
    raise UsageError(
        f"{store.url('')} has no run {name!r}. `rescore runs` lists them; EVALUATION~1 is the one before; "
        "--store names another store."
    )
