"""Pages of runs are looked at elsewhere: here an empty one stands for them, and each run costs a second less."""

from __future__ import annotations

import pytest

import pipeline.report.write


@pytest.fixture(autouse=True)
def _plain_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.report.write, "render_page", lambda *_, **__: "<!doctype html><title>run</title>")
