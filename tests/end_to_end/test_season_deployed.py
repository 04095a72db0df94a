"""The season's deployment: declared to a server by the command of its README, and run as the server has it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectAlreadyExists
from prefect.flows import load_flow_from_entrypoint
from prefect.settings import PREFECT_API_URL

from pipeline.config.season import load_roster, load_season
from pipeline.season import opening
from pipeline.season.standing import standing
from pipeline.store.blobs import Store

ROOT = Path(__file__).parent.parent.parent
SEASON = """\
name: tiny-2026
protocol: sws2013
pattern: "{query_set}_{dataset}.stdlist.xml"
roster: roster.yaml
phases:
  eval: {kind: eval, evaluation: tiny-eval, deadline: "2099-06-01T24:00+02:00", query_sets: [q], datasets: [d]}
"""
OUTPUT = """\
<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">
<detected_termlist termid="a" term_search_time="1" oov_term_count="0"></detected_termlist></stdlist>
"""


@pytest.fixture
def opened(tmp_path: Path) -> Store:
    """A store with a season, and a drop folder beside it with one good upload and one that is none."""
    (tmp_path / "season.yaml").write_text(SEASON)
    (tmp_path / "roster.yaml").write_text("teams: {north: {name: North}, south: {name: South}}\n")
    store = Store(str(tmp_path / "store"))
    rules, roster_url = load_season(str(tmp_path / "season.yaml"))
    assert roster_url is not None
    opening.enter(store, rules, load_roster(roster_url).teams, {})
    for team, text in (("north", OUTPUT), ("south", "<stdlist")):
        path = tmp_path / "drop" / "eval" / team / "q_d.stdlist.xml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        os.utime(path, (1.7e9, 1.7e9))
    return store


def test_the_drop_folder_is_collected_as_deployed(
    opened: Store, tmp_path: Path, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = yaml.safe_load((ROOT / "deploy/prefect-season.yaml").read_text())["deployments"][0]
    with get_client(sync_client=True) as client:
        with suppress(ObjectAlreadyExists):
            client.create_work_pool(WorkPoolCreate(name=declared["work_pool"]["name"], type="process"))
        environment = os.environ | {
            "PREFECT_API_URL": str(PREFECT_API_URL.value()),
            "RESCORE_SEASON": "tiny-2026",
            "RESCORE_DROP": str(tmp_path / "drop"),
        }
        command = ["prefect", "--no-prompt", "deploy", "--prefect-file", "deploy/prefect-season.yaml", "--all"]
        call = [sys.executable, "-m", *command]
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found = client.read_deployment_by_name("rescore-collect/collect-tiny-2026")
    [schedule] = found.schedules
    assert (schedule.schedule.interval.total_seconds(), schedule.active) == (300, True)
    assert found.global_concurrency_limit.limit == 1
    monkeypatch.setenv("RESCORE_STORE", opened.root)
    taken = load_flow_from_entrypoint(found.entrypoint)(**found.parameters)
    assert [(one.team, one.accepted) for one in taken.submissions] == [("north", True), ("south", False)]
    assert [one.number for one in standing(opened, "tiny-2026").submissions] == [3, 4]
    assert "accepted" in opened.get("packets/tiny-2026/north/index.html").decode()
    assert "refused" in opened.get("packets/tiny-2026/south/index.html").decode()
    again = load_flow_from_entrypoint(found.entrypoint)(**found.parameters)
    assert again.submissions == ()
