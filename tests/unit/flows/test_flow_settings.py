"""Settings are read when a flow starts, and what the caller has set is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flows.settings import QUIET, Settings, check_cluster, prepare_environment, settings_for, workers_said
from pipeline.errors import UsageError
from tests.unit.engine.grid_of_cells import write


def test_defaults():
    assert settings_for(environment={}) == Settings("./rescore-store", "local", None)


def test_environment_wins_over_defaults_and_arguments_over_both():
    environment = {"RESCORE_STORE": "s3://bucket/x", "RESCORE_CLUSTER": "tcp://host:8786", "RESCORE_WORKERS": "3"}
    assert settings_for(environment=environment) == Settings("s3://bucket/x", "tcp://host:8786", 3)
    assert settings_for("here", "local", 2, environment) == Settings("here", "local", 2)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "²"])
def test_a_number_of_workers_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="RESCORE_WORKERS"):
        settings_for(environment={"RESCORE_WORKERS": text})


def test_nothing_calls_home_and_the_database_is_private(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    prepare_environment(environment)
    assert environment["DO_NOT_TRACK"] == "1"
    assert environment["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert environment["PREFECT_HOME"] == str(tmp_path / "rescore" / "prefect")
    assert "'distributed': 'warning'" in environment["DASK_LOGGING"]


def test_what_is_set_stays():
    environment = dict.fromkeys(QUIET, "mine") | {"PREFECT_HOME": "/mine", "DASK_LOGGING__DISTRIBUTED": "info"}
    before = dict(environment)
    prepare_environment(environment)
    assert environment == before


def test_a_server_of_ones_own_keeps_its_home():
    environment = {"PREFECT_API_URL": "http://server/api"}
    prepare_environment(environment)
    assert "PREFECT_HOME" not in environment


def test_a_home_that_cannot_be_written_is_replaced(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "file")}
    prepare_environment(environment)
    assert environment["PREFECT_HOME"].rpartition("/")[2].startswith("rescore-prefect-")


@pytest.mark.parametrize(
    ("cluster", "workers", "said"),
    [
        ("slurn", None, r"unknown cluster 'slurn' \(known: none, local, slurm"),
        ("slurm://host", 2, "unknown cluster"),
        ("tcp", None, "unknown cluster"),
        ("ftp://host:1", None, "unknown cluster"),
        ("slurm", None, "needs the number of workers. Say --workers N"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_refused_before_anything_is_imported(
    monkeypatch: pytest.MonkeyPatch, cluster: str, workers: int | None, said: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda command: f"/usr/bin/{command}")
    with pytest.raises(UsageError, match=said):
        check_cluster(settings_for(cluster=cluster, workers=workers, environment={}))


@pytest.mark.parametrize("arguments", [["--cluster", "slurn"], ["--cluster", "slurm"], ["--cluster", "tcp"]])
@pytest.mark.parametrize("command", ["run", "watch", "meta"])
def test_a_wrong_cluster_ends_a_command_at_once(command: str, arguments: list[str]) -> None:
    code = (
        "import sys; from pipeline.cli import main\n"
        f"code = main({[command, 'none-such.yaml', *arguments]!r})\n"
        "print(code, *{'prefect', 'distributed', 'dask'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2"]


def test_one_that_can_be_had_is_not() -> None:
    for cluster in ("none", "local", "tcp://host:8786", "tls://host:8786"):
        check_cluster(settings_for(cluster=cluster, environment={}))


def test_a_flow_that_is_to_have_no_cluster_ends_before_it_starts(tmp_path: Path) -> None:
    arguments = ["watch", str(write(tmp_path)), "--cluster", "none", "--store", str(tmp_path / "store")]
    code = (
        "import sys; from pipeline.cli import main\n"
        f"code = main({arguments!r})\n"
        "print(code, *{'prefect', 'distributed'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2"]
    assert "rescore run --cluster none" in done.stderr


def test_cells_beyond_what_sqlite_bears_share_tasks_unless_somebody_says_otherwise() -> None:
    assert settings_for(environment={}).most_tasks == 200
    assert settings_for(environment={"RESCORE_MOST_TASKS": "5000"}).most_tasks == 5000


@pytest.mark.parametrize(
    ("said", "expected"), [("4:64", (4, 64)), (8, (8, None)), ("8", (8, None)), (None, (None, None)), ("3:3", (3, 3))]
)
def test_workers_are_a_number_or_two(said: int | str | None, expected: tuple[int | None, int | None]) -> None:
    found = settings_for(workers=said, environment={})
    assert (found.workers, found.most_workers) == expected
    assert settings_for(environment={"RESCORE_WORKERS": str(said or "")}) == found
    assert settings_for(workers=workers_said(found), environment={}) == found


@pytest.mark.parametrize("said", ["64:4", ":4", "4:", "0:4", "4:x", "1:2:3"])
def test_two_that_are_no_span_are_refused(said: str) -> None:
    with pytest.raises(UsageError, match="must be"):
        settings_for(workers=said, environment={})


def test_only_clusters_that_can_grow_are_given_two() -> None:
    with pytest.raises(UsageError, match="does not grow and shrink"):
        check_cluster(settings_for(cluster="local", workers="1:4", environment={}))
