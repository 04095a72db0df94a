"""A real browser for tests of pages: what it is started with, an open page, and waiting without a page's script."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MADE_GRID = Path(__file__).parent.parent / "unit" / "report" / "made_grid.py"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",  # containers run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


class Visit:
    """An open page, with every request and every complaint since it was opened."""

    def __init__(
        self,
        browser: Any,
        file: Path,
        *,
        size: str = "desktop",
        scheme: str = "light",
        script: bool = True,
        bypass_csp: bool = False,
    ) -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=script,
            bypass_csp=bypass_csp,
        )
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.goto(file.as_uri())

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def until(page, expression):
    """Wait for an expression to hold. Playwright's own wait is a script of the page, which its policy forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"{expression} never held")


def grave_faults(
    page: Any, scheme: str, require: Callable[[str, object, str], None]
) -> list[tuple[str, str, list[str]]]:
    """What axe finds serious or critical on a page whose policy is bypassed; in the dark, of colours alone."""
    require("browser", find_spec("axe_playwright_python"), "axe-playwright-python is not installed (extra: dev)")
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}  # all else is the same in both
    found = Axe().run(page, options=options).response["violations"]
    return [
        (fault["id"], fault["help"], [node["html"][:200] for node in fault["nodes"][:3]])
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]
