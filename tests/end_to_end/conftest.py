"""The made-up evaluation and its run, made once for the session: two worker processes, a store on disk."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, MADE_GRID, QUIET

from flows.rescore import RunSummary, run_evaluation
from pipeline.demo.evaluation import write_evaluation
from pipeline.store.blobs import Store


@dataclass(frozen=True)
class DemoRun:
    """A finished run and where it is."""

    evaluation: Path
    store: Store
    summary: RunSummary


@pytest.fixture(scope="session")
def demo_evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the made-up evaluation's file. Nobody changes what is there."""
    return write_evaluation(tmp_path_factory.mktemp("evaluation"))


@pytest.fixture(scope="session")
def demo_run(demo_evaluation: Path, tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> DemoRun:
    """The made-up evaluation scored on two workers. Nobody changes the store but by running again."""
    store = Store(str(tmp_path_factory.mktemp("store") / "two"))
    summary = run_evaluation(str(demo_evaluation), store=store.root, workers=2, quiet=True)
    return DemoRun(demo_evaluation, store, summary)


@pytest.fixture
def replaced() -> object:
    """``with replaced(path, text):`` gives a file other contents for a while."""

    @contextmanager
    def replace(path: Path, text: str) -> Iterator[None]:
        before = path.read_bytes()
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(before)

    return replace


@pytest.fixture(scope="module")  # while it is open, Prefect takes this thread for one that runs an event loop
def browser(require: Any) -> Iterator[Any]:
    require("browser", find_spec("playwright"), "playwright is not installed (extra: dev)")
    require("browser", Path(CHROMIUM).exists(), f"{CHROMIUM} is not installed (Debian: chromium, fonts-dejavu-core)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def made() -> dict[str, Any]:
    return runpy.run_path(str(MADE_GRID))
