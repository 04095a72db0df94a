"""``rescore whatif``: which figures and ranks another key would move. Nothing is published."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import note, print_json, shown
from pipeline.cli.place import DEFAULT_STORE, shared_store
from pipeline.errors import Finding, UsageError
from pipeline.store.blobs import Store, open_input

if TYPE_CHECKING:
    from pipeline.report.changes.diff import CellDiff, Diff, Side
    from pipeline.terms import Evaluation

_BY_SET = "{query_set}"


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "whatif",
        help="which figures and ranks another key would move",
        description="Apply a patch to an evaluation's key (lines -ROW and +ROW), score every system with it, and tell "
        "which figures and ranks move. Trials are aligned in memory; nothing is published.",
        allow_abbrev=False,
    )
    parser.add_argument("evaluation", metavar="EVALUATION.yaml")
    parser.add_argument("--key", required=True, type=Path, metavar="PATCH")
    parser.add_argument("--dataset", metavar="NAME", help="whose key it is; default: the only dataset")
    parser.add_argument("--query-set", metavar="NAME", help="the query set it is for, where each has a key of its own")
    parser.add_argument("--role", metavar="ROLE", help="the key's role; default: the protocol's one")
    parser.add_argument("--store", type=shared_store, default=DEFAULT_STORE, metavar="URL")
    parser.add_argument("--all", action="store_true", help="print every figure and query that moved")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=whatif)


def whatif(args: argparse.Namespace) -> int:
    """Score with the patched key and print what moves; 0, whatever does."""
    from pipeline.config import load_evaluation
    from pipeline.report.changes.documents import diff_document, diff_text

    evaluation = load_evaluation(args.evaluation)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="rescore-whatif-")))
        other = with_patch(evaluation, args.key, args.dataset, args.role, folder, args.query_set)
        found = moved(Store(args.store), evaluation, other)
        for finding in new_findings(Store(args.store), evaluation, other):
            note(str(finding))
    found = replace(found, cells=tuple(_named(cell, str(folder), args.key.name) for cell in found.cells))
    if args.json:
        print_json(diff_document(found))
    else:
        print(shown(diff_text(found, everything=args.all)))
    return 0


def _named(cell: CellDiff, folder: str, patch: str) -> CellDiff:
    """A cell's causes with the patched key called by its own name and the patch's."""
    called = [
        replace(cause, file=f"{cause.file.rpartition('/')[2]} with {patch}")
        if Path(folder).name in cause.file
        else cause
        for cause in cell.causes
    ]
    return replace(cell, causes=tuple(called))


def with_patch(
    evaluation: Evaluation,
    patch: Path,
    dataset: str | None,
    role: str | None,
    folder: Path,
    query_set: str | None = None,
) -> Evaluation:
    """The evaluation with a patched key, which is written to ``folder``; so are those of other query sets, unchanged,
    where each has its own.
    """
    from pipeline.season.patches import patched
    from pipeline.season.rules import KEY_ROLES

    names = [entry.name for entry in evaluation.datasets if dataset in (None, entry.name)]
    if len(names) != 1:
        known = ", ".join(entry.name for entry in evaluation.datasets)
        raise UsageError(f"--dataset names whose key is patched (allowed: {known}).")
    own = next(entry for entry in evaluation.datasets if entry.name == names[0])
    roles = [name for name in own.urls if (name in KEY_ROLES if role is None else name == role)]
    if len(roles) != 1:
        raise UsageError(f"--role names which input is patched (allowed: {', '.join(own.urls)}).")
    url = own.urls[roles[0]]
    sets = [asked for asked, searched in evaluation.pairs if searched == own.name] if _BY_SET in url else [""]
    if _BY_SET in url and query_set not in sets:
        raise UsageError(f"--query-set names whose key is patched: each has its own (allowed: {', '.join(sets)}).")
    place = f"{_BY_SET}/" if _BY_SET in url else ""
    place = f"{folder}/{place}{url.rpartition('/')[2]}"
    for name in sets:
        path = Path(place.replace(_BY_SET, name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_input(url.replace(_BY_SET, name)) as stream:
            data = stream.read()
        path.write_bytes(
            patched(data, patch.read_bytes(), str(patch)) if name == (query_set or "") or not name else data
        )
    mended = replace(own, rttm=place) if roles[0] == "rttm" else replace(own, inputs={**own.inputs, roles[0]: place})
    datasets = tuple(mended if entry.name == own.name else entry for entry in evaluation.datasets)
    return replace(evaluation, datasets=datasets)


def new_findings(store: Store, before: Evaluation, after: Evaluation) -> tuple[Finding, ...]:
    """What is odd about the other evaluation's keys and lists, and not about the first one's."""
    from pipeline.engine.plan import plan, told

    known = {(one.code, one.message) for one in told(plan(before, store), store)}
    return tuple(one for one in told(plan(after, store), store) if (one.code, one.message) not in known)


def moved(store: Store, before: Evaluation, after: Evaluation) -> Diff:
    """Differences between two evaluations, each of them scored in memory as far as the store lacks it."""
    from pipeline.report.changes.diff import compare

    return compare(_side(store, before), _side(store, after))


def _side(store: Store, evaluation: Evaluation) -> Side:
    from pipeline.engine.cell import figured
    from pipeline.engine.plan import plan
    from pipeline.grid import gather, id_of
    from pipeline.report.changes.diff import Side

    work = plan(evaluation, store)
    results = {job.cell: figured(store, work, job) for job in work.jobs}
    grid = gather(work, list(results.values()))
    return Side.of(id_of(work), work, lambda cell: results[cell], grid)
