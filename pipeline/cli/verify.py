"""``rescore verify``: compute a published result once more, from its input files, and compare."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.cli.output import note, print_json, shown
from pipeline.cli.runs import add_store
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.recompute import recompute
from pipeline.engine.result import Result, from_bytes, plain, to_bytes
from pipeline.errors import DamageError, UsageError
from pipeline.season import ledger
from pipeline.season.ledger import seasons
from pipeline.store import manifest, signing, studies
from pipeline.store.blobs import Store


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "verify",
        help="compute a result again and compare",
        description="Read a result's input files again, score them from nothing, and compare every byte.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "result",
        metavar="RESULT",
        help="the address of a result or its beginning, or QUERY_SET/DATASET/SYSTEM of --run; "
        "with --key an evaluation, season or study",
    )
    parser.add_argument(
        "--key",
        metavar="PEM",
        help="check instead that every commit of the evaluation, entry of the season or reference of the study follows "
        "from the one before it and is signed by this public key's owner",
    )
    parser.add_argument("--run", metavar="RUN", help="look in this run only; as for `rescore show`")
    add_store(parser)
    parser.set_defaults(command=verify)


def verify(args: argparse.Namespace) -> int:
    """Compute and compare; 0 when equal, 3 when not."""
    store = Store(args.store)
    if args.key is not None:
        return _verify_commits(store, args)
    plan, job = _find(store, args.result, args.run)
    kept = store.get_sealed(job.path)
    again = recompute(plan, job)
    stored, made = from_bytes(kept), from_bytes(again)
    same = _told(stored) == _told(made)
    differing = [] if same else _differences(stored, made)
    if args.json:
        print_json({"result": job.address, "cell": str(job.cell), "equal": same, "differences": differing})
    elif same:
        print(shown(f"{job.cell}: every figure is what the inputs give ({len(kept)} bytes, {job.address})."))
    for text in differing:
        note(f"{job.cell}: {text}")
    return 0 if same else 3


def _verify_commits(store: Store, args: argparse.Namespace) -> int:
    """Tell which records of a name are not its organiser's; 0 where all are, 3 where not."""
    name, key = args.result, signing.public_key(args.key)
    found, histories = dict[str, str](), list[Mapping[int, Mapping[str, Any]]]()
    kinds = {"evaluation": manifest.evaluations(store), "season": seasons(store), "study": studies.names(store)}
    if not any(name in names for names in kinds.values()):
        raise UsageError(f"{name!r} has no commit here. `rescore runs` lists the evaluations.")
    if name in kinds["evaluation"]:
        found |= manifest.chain_faults(store, name, key)
        histories.append(manifest.sound_history(store, name))
    if name in kinds["season"]:
        found |= ledger.chain_faults(store, name, key)
    if name in kinds["study"]:
        broken = studies.chain_faults(store, name, key)
        found |= broken
        histories.append({} if broken else studies.history(store, name))
    digests = manifest.named(*histories)
    for path in sorted({entry["manifest"] for history in histories for entry in history.values()}):
        try:
            manifest.read(store, path, digests)
        except DamageError:
            found.setdefault(path, "is not what was committed")
    told = [kind for kind, names in kinds.items() if name in names]
    if args.json:
        print_json({**dict.fromkeys(told, name), "faults": found})
    elif not found:
        print(shown(f"{name} ({', '.join(told)}): every record follows from the one before it and is signed."))
    for path, what in found.items():
        note(f"{path} {what}")
    return 3 if found else 0


def _told(result: Result) -> bytes:
    """The bytes of a result, but for the objects of a store that it was made from: those another edition names."""
    return to_bytes(replace(result, made_from=()))


def _find(store: Store, name: str, run: str | None) -> tuple[Plan, Job]:
    """The plan and job of a result."""
    from pipeline.grid import load_run
    from pipeline.grid.history import find_run

    if run is not None:
        runs = [find_run(store, run)]
    else:
        ids = sorted(path.removeprefix("runs/").removesuffix(".json") for path in store.listing("runs"))
        runs = [load_run(store, one) for one in ids]
    found: dict[str, tuple[Plan, Job]] = {}
    for one in runs:
        if any(address.startswith(name) or cell == name for cell, address in one.results.items()):
            plan = load_plan(store, one.plan)
            found |= {j.address: (plan, j) for j in plan.jobs if j.address.startswith(name) or str(j.cell) == name}
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise UsageError(f"{name!r} means {len(found)} results. Name the run (--run), or give more of the address.")
    raise UsageError(f"no run has a result {name!r}. `rescore show RUN --json` lists them.")


def _differences(kept: Result, again: Result) -> list[str]:
    """The differences in phrases: figures first, then all else in one."""
    texts = [
        f"{name} is kept as {plain(kept.figures[name].value)}, the inputs give {plain(figure.value)}"
        for name, figure in again.figures.items()
        if name in kept.figures and plain(kept.figures[name].value) != plain(figure.value)
    ]
    if kept.address != again.address:
        texts.append(f"it is the result of {kept.address or 'nothing'}, not of {again.address}")
    if kept.signature != again.signature:
        texts.append(f"the signature is kept as {kept.signature}, now it is {again.signature}")
    if kept.failed != again.failed:
        texts.append(f"failed is kept as {kept.failed}, now it is {again.failed}")
    return texts or ["figures are equal; blocks, curve, facts or warnings differ"]
