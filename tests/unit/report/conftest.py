from __future__ import annotations

import pytest
import xarray as xr
from made_grid import make_grid

from pipeline.engine.result import Result
from pipeline.report.page import render_page

Made = tuple[dict[str, xr.Dataset], list[Result]]


@pytest.fixture(scope="session")
def made() -> Made:
    """A grid with hostile names, and its results. Tests that change it copy it first."""
    return make_grid()


@pytest.fixture(scope="session")
def page(made: Made) -> str:
    return render_page(*made)
