"""Settings are read when a flow starts, and what the caller has set is left alone."""

from __future__ import annotations

import pytest

from flows.settings import QUIET, Settings, prepare_environment, settings_for
from pipeline.errors import UsageError


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
