"""Objects of a run, opened for people: trials with their labels, references, the grid. All lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.engine.cell import load_result
from pipeline.errors import StoreError, UsageError
from pipeline.grid.publish import Run, load_run
from pipeline.store import arrays, batched, former
from pipeline.store.blobs import Store
from pipeline.store.groups import RAGGED
from pipeline.terms import Cell

if TYPE_CHECKING:
    import xarray as xr

LARGE = 1 << 20
"""More trials than these are opened as Dask arrays."""
_KEYS = ("query", "event", "recording")


def open_grid(store: Store, run: Run | str, group: str = "") -> xr.Dataset:
    """One group of a run's grid: ``""`` (the figures), ``queries``, ``curves``, ``load`` or ``margins``.

    ``run`` is a run or its id. Raises ``StoreError`` where there is no such run or group, ``DamageError`` where the
    grid is not what was written.
    """
    grid = _run(store, run).grid
    open_group = former.open_group if grid.endswith(former.ENDING) else arrays.open_group
    return open_group(store, grid, group)


def open_trials(store: Store, run: Run | str, cell: Cell | str) -> xr.Dataset:
    """The trials of a cell with what each of them is (``outcome``, ``target``, …), by query and time.

    ``.sel(query="q7", time=slice(0, 60))`` gives one query's trials between two times (s, both included), for which
    a bucket is asked once for each of trials and labels. Columns of more than ``LARGE`` trials are Dask arrays.
    ``cell`` is a ``Cell`` or its name, ``query_set/dataset/system``. Raises ``UsageError`` where the run has no such
    cell, ``StoreError`` where it has no trials, as a cell whose output was refused, or one scored by 0.1.0.
    """
    from pipeline.grid.keyed import keyed

    opened = batched.opened(store, _object(store, run, cell, "trials"))
    labels = batched.opened(store, _object(store, run, cell, "labels"))
    trials = opened.dataset.merge(labels.dataset, join="exact", compat="equals", combine_attrs="override")
    if trials.sizes[RAGGED] > LARGE:
        trials = trials.assign(
            {name: one.chunk({RAGGED: LARGE}) for name, one in trials.data_vars.items() if RAGGED in one.dims}
        )
    key = next((name for name in _KEYS if name in trials.dims and "first_row" in trials), None)
    return trials if key is None else keyed(trials, key, (opened.fetch, labels.fetch))


def open_reference(store: Store, run: Run | str, cell: Cell | str, group: str = "") -> xr.Dataset:
    """The reference of a cell: the key and facts (``""``), or the group ``timeline``.

    Raises as ``open_trials`` does.
    """
    return arrays.open_group(store, _object(store, run, cell, "references"), group)


def _run(store: Store, run: Run | str) -> Run:
    return load_run(store, run) if isinstance(run, str) else run


def _object(store: Store, run: Run | str, cell: Cell | str, folder: str) -> str:
    """The object of a kind that a cell's result was made from."""
    results = _run(store, run).results
    if str(cell) not in results:
        raise UsageError(f"the run has no cell {cell} (it has {', '.join(sorted(results)[:5])}, …). Name one of these.")
    made_from = load_result(store, results[str(cell)]).made_from
    found = [path for path in made_from if path.startswith(f"{folder}/") and path.endswith(arrays.ENDING)]
    if not found:
        raise StoreError(f"cell {cell} has no {folder} in {store.url('')}: it was not scored, or by 0.1.0. Run again.")
    return found[0]
