"""Dask's own report of what the workers did, kept beside the run: one HTML file that needs no network."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, performance_report

from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store

FOLDER = "performance"
_LOG = logging.getLogger("rescore")


@dataclass
class Performance:
    """Where the report is: ``path`` in the store, or None."""

    path: str | None = None


@contextmanager
def kept_performance(client: Client, store: Store, *, wanted: bool = True) -> Iterator[Performance]:
    """Watch the cluster while the context lasts, then write the report to ``performance/<digest>.html``.

    It is named by its content, and no result knows of it. A cluster that cannot report costs the report, not the run.
    There is none where it is not ``wanted``: it takes a second to draw, which is longer than some runs.
    """
    found = Performance()
    if not wanted:
        yield found
        return
    with tempfile.TemporaryDirectory(prefix="rescore-dask-") as folder:
        file = Path(folder) / "report.html"
        report = performance_report(filename=str(file), mode="inline")
        is_watching = _attempt(client, report.__enter__)
        yield found
        if is_watching and _attempt(client, lambda: report.__exit__(None, None, None)):
            data = file.read_bytes()
            found.path = f"{FOLDER}/{digest_bytes(data)}.html"
            store.put(found.path, data)


def _attempt(client: Client, step: object) -> bool:
    """Whether a step of the report went well."""
    try:
        with client.as_current():
            step()  # type: ignore[operator]
    except (OSError, ImportError, RuntimeError, ValueError, TypeError, KeyError) as error:
        _LOG.warning("there is no report of the cluster's performance (%s: %s)", type(error).__name__, error)
        return False
    return True
