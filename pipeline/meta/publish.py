"""Publishing a study: table, statistics and page, named by their contents; manifest and reference come
last."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pipeline.engine.result import plain
from pipeline.errors import UsageError
from pipeline.meta.analysis import AnalysedBoard, Analysis
from pipeline.meta.rows import as_csv, as_dataset, as_parquet
from pipeline.store import arrays, leases, studies
from pipeline.store.address import address, digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.noting import NotingStore

KIND = "study/1"
TABLE = f"table{arrays.ENDING}"


def publish(store: Store, analysis: Analysis, page: Callable[[Analysis, Mapping[str, str]], str]) -> dict[str, str]:
    """Write everything below ``studies/NAME/ID``, and make it the latest of its name; the paths by name.

    Equal studies write equal bytes to one place.
    """
    files = {"table.csv": as_csv(analysis.rows), "statistics.json": statistics_json(analysis)}
    with suppress(UsageError):  # no pyarrow: the CSV and the arrays hold the same
        files["table.parquet"] = as_parquet(analysis.rows)
    made_of = {name: digest_bytes(files[name]) for name in ("table.csv", "statistics.json")}
    study = analysis.study
    folder = studies.folder_of(study.name, address(KIND, source=study.source, files=made_of)[:16])
    paths = {name: f"{folder}/{name}" for name in (*files, "index.html", TABLE)}
    files["index.html"] = page(analysis, paths).encode("utf-8", "replace")
    noting = NotingStore(store.root)
    arrays.write_groups(noting, paths[TABLE], {"": as_dataset(analysis.rows)})
    for name, data in files.items():
        noting.put(paths[name], data)
    objects = {path: noting.vouched(path) for path in paths.values()}
    runs = sorted({row.run for row in analysis.rows if row.run})
    here = store.listing("resamples")
    drawn = sorted({path for board in analysis.boards for path in board.replicates if path in here})
    head = {"kind": KIND, "study": study.name, "source": study.source}
    manifest = {**head, "runs": runs, "replicates": drawn, "objects": objects}
    store.put_sealed(f"{folder}/manifest.json", json.dumps(manifest, sort_keys=True).encode())
    leases.ensure_held(store)
    studies.commit(store, study.name, f"{folder}/manifest.json")
    return {**paths, "manifest.json": f"{folder}/manifest.json"}


def statistics_json(analysis: Analysis) -> bytes:
    """Boards and tables as strict JSON: undefined figures are null, infinities the strings "inf" and "-inf"."""
    tables = {name: [_plain(row) for row in rows] for name, rows in analysis.tables.items()}
    document = {
        "study": analysis.study.name,
        "resampling": _plain(asdict(analysis.study.resampling)),
        "boards": [_board(board) for board in analysis.boards],
        **tables,
    }
    return json.dumps(document, sort_keys=True, allow_nan=False, indent=1).encode()


def _board(board: AnalysedBoard) -> Mapping[str, Any]:
    own = board.intervals
    found: dict[str, Any] = {
        "evaluation": board.evaluation,
        "query_set": own.query_set,
        "dataset": own.dataset,
        "measure": own.measure,
        "unit": own.unit,
        "intervals": {system: _plain(asdict(one)) for system, one in own.intervals.items()},
        "ranked": list(own.ranked),
        "ties": [list(run) for run in own.ties],
        "comparisons": [_plain(asdict(one)) for one in own.comparisons],
        "ranks": {
            system: {"low": low, "high": high, "share_best": best} for system, (low, high, best) in board.spread.items()
        },
        "bands": [_plain(row) for band in board.bands for row in band.rows()],
    }
    if board.difficulty is not None:
        hard = board.difficulty
        found["difficulty"] = {
            "units": [_plain(row) for row in hard.units],
            "variance": _plain(asdict(hard.split)),
            "correlation_with_length": plain(hard.with_length),
            "correlation_with_targets": plain(hard.with_targets),
        }
    return found


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, tuple | list):
        return [_value(one) for one in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return plain(value)
