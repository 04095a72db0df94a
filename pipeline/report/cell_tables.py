"""The organisers' tables of every cell of a run, for those who ask for them: alignment, ``sum`` and ``bsum`` as CSV."""

from __future__ import annotations

from pipeline.engine.alignments import align_cell
from pipeline.engine.cell import load_result
from pipeline.engine.plan import Job, Plan
from pipeline.errors import UsageError
from pipeline.protocols.kws.settings import KwsSettings
from pipeline.report.kwseval.alignment import alignment_csv
from pipeline.report.kwseval.tables import tables
from pipeline.store.blobs import Store


def write_cell_tables(store: Store, plan: Plan, prefix: str) -> dict[str, str]:
    """Write ``<prefix>/<query set>/<dataset>/<system>/`` for every scored cell of a plan whose results are there.

    Returns file → path in the store. Tiles that were aligned for such tables before are not aligned again. Cells of
    datasets whose keys reports may not show have none. Raises ``UsageError`` where the protocol has no such tables,
    ``StoreError`` when the store does not take them.
    """
    if not has_tables(plan):
        raise UsageError(f"{plan.protocol.name} has no alignment table. Leave --alignments out.")
    written = {}
    for job in plan.jobs:
        for name, text in cell_files(store, plan, job).items():
            path = f"{prefix.rstrip('/')}/{job.cell}/{name}"
            store.put(path, text.encode("utf-8", "replace"))
            written[f"{job.cell}/{name}"] = path
    return written


def has_tables(plan: Plan) -> bool:
    """Whether the protocol has such tables."""
    return plan.protocol.family.can.explain is not None and isinstance(plan.protocol.settings, KwsSettings)


def cell_files(store: Store, plan: Plan, job: Job) -> dict[str, str]:
    """The files of one cell by name; none where it has no figures or may not show its key, or there are no tables."""
    if not has_tables(plan) or job.cell.dataset in plan.disclose:
        return {}
    result = load_result(store, job.address)
    if result.failed is not None:
        return {}
    files = {"alignment.csv": alignment_csv(align_cell(store, plan, job.cell))}
    settings = plan.protocol_of(job).settings
    for name in ("sum", "bsum"):
        main, conditions = tables(result, settings, by_query=name == "bsum", text=False)
        files[f"{name}.csv"] = main
        if conditions is not None:
            files[f"cond.{name}.csv"] = conditions
    return files
