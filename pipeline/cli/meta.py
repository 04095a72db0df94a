"""``rescore meta``: evaluations of many years in one table, with intervals, tests and agreement of rankings."""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.cli.output import print_json
from pipeline.cli.place import DEFAULT_STORE, count, shared_store
from pipeline.config.urls import masked

FIELDS = """\
fields of the meta file:
  name, evaluations: {NAME: {year, evaluation: FILE.yaml} or {year, run: RUN, store: URL}}
  rescore: {NAME: {of: [EVALUATION], protocol, mode, settings: {}, keep: [SETTING]}}   score all of them once more
  published: [{file: TABLE.csv, columns: {OURS: THEIRS}, measures: [], set: {COLUMN: TEXT}}]
  teams, systems: {NAME: [OTHER NAME]}      measures: [MEASURE]      contrasts, revisions: [[EVALUATION, EVALUATION]]
  dev_eval: [{dev: QUERY_SET/DATASET, eval: QUERY_SET/DATASET}]
  sensitivity: {beta: [], p_target: [], tolerance_s: []}
  resampling: {replicates: 1000, seed: 13, level: 0.95, method: bca or percentile, strata: FILE.csv}
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "meta",
        help="compare evaluations",
        description="Join evaluations of one or many years into one table, and say how sure its figures are and "
        "whether rankings agree. What the store lacks is scored first; trials it holds are not read again.",
        epilog=FIELDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE.yaml", help="the meta file: a path or any fsspec URL")
    parser.add_argument(
        "--store", type=shared_store, default=DEFAULT_STORE, metavar="URL", help=f"default: {DEFAULT_STORE}"
    )
    parser.add_argument("--cluster", default=None, metavar="local|tcp://…", help="a Dask cluster (default: local)")
    parser.add_argument("--workers", type=count, default=None, metavar="N", help="of a local cluster")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.set_defaults(command=meta)


def meta(args: argparse.Namespace) -> int:
    """Do the study; 0."""
    from flows.study import run_study  # xarray and what it brings take seconds to import

    quiet = args.quiet or args.json
    summary = run_study(
        args.file, store=args.store, cluster=args.cluster, workers=args.workers, quiet=quiet, own_process=True
    )
    if args.json:
        paths = {name: masked(path) for name, path in summary.paths.items()}
        print_json({"study": summary.name, "evaluations": list(summary.evaluations), "paths": paths})
    return 0
