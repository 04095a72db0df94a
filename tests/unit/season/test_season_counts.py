"""Which of several submissions counts is a rule of the phase: the last, the best on a public board, or the chosen."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import season_files as files
from season_world import Season

from pipeline.cli import main
from pipeline.config.season import load_roster, load_season
from pipeline.errors import ConfigError, UsageError
from pipeline.grid import load_grid
from pipeline.report.board import board_rows
from pipeline.season import opening
from pipeline.season.standing import COUNTS, REPLACED
from pipeline.season.submit import Sender, choose

GOOD, POOR = files.stdlist(files.GOOD), files.stdlist(files.POOR)


def rows(season, run):
    found = board_rows(load_grid(season.store, run))
    return {row["system"]: (row["rank"], row["replaced_by"]) for row in found if not row["system"].startswith("canary")}


def rule(season, counts, **phase):
    """Enter other rules, as `rescore season open` does."""
    path = files.season(season.folder, phase={"counts": counts, **phase})
    rules, roster_url = load_season(str(path))
    roster = load_roster(roster_url)
    opening.enter(season.store, rules, roster.teams, roster.contacts, at=files.ENDS)


def test_the_best_version_counts_on_the_board_and_the_last_one_after_another_rule(tmp_path: Path) -> None:
    season = Season(tmp_path, phase={"kind": "dev", "counts": "best"})
    files.hand_in(season.store, tmp_path, "north", POOR + " ", hours=-0.5)
    first = season.run()
    assert rows(season, first) == {"north": (0, "north+v1"), "north+v1": (1, ""), "south": (2, "")}
    season.release(first, "dev", kind="dev")
    page = next((tmp_path / "store" / "public").rglob("run.html")).read_text()
    assert "of several submissions of a system the best counts" in page.lower()
    assert "+v1" in page
    made = {path.name for path in (tmp_path / "store" / "labels").iterdir()}
    rule(season, "last", kind="dev")
    assert rows(season, season.run()) == {"north": (1, ""), "south": (1, "")}
    rule(season, "best", kind="dev")
    assert rows(season, season.run()) == rows(season, first)
    assert {path.name for path in (tmp_path / "store" / "labels").iterdir()} == made


def test_a_team_chooses_until_the_deadline_and_the_organiser_after_it(tmp_path: Path) -> None:
    store = files.opened(tmp_path, phase={"counts": "chosen"})
    one = files.hand_in(store, tmp_path, "north", GOOD, -3)
    two = files.hand_in(store, tmp_path, "north", POOR, -2)
    states = lambda: [(f.submission.number, f.state) for f in files.now(store).fates]  # noqa: E731
    assert states() == [(one.number, REPLACED), (two.number, COUNTS)]
    choose(store, files.NAME, Sender("north"), one.number, at=files.ENDS - timedelta(hours=1))
    assert states() == [(one.number, COUNTS), (two.number, REPLACED)]
    assert [f.reason for f in files.now(store).fates] == ["", f"no. {one.number} is chosen"]
    with pytest.raises(UsageError, match="deadline of eval is over"):
        choose(store, files.NAME, Sender("north"), two.number, at=files.ENDS + timedelta(hours=1))
    with pytest.raises(UsageError, match=rf"has no valid submission no\. 99 in time \(eval has no\. {one.number}, "):
        choose(store, files.NAME, Sender("north"), 99, at=files.ENDS - timedelta(hours=1))
    choose(store, files.NAME, Sender("north", by="R. Chair"), two.number, at=files.ENDS + timedelta(hours=1))
    assert states() == [(one.number, REPLACED), (two.number, COUNTS)]


def test_choosing_is_a_command_of_phases_that_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = files.opened(tmp_path, phase={"counts": "chosen", "deadline": "2999-01-01T00:00Z"})
    one = files.hand_in(store, tmp_path, "north", GOOD, -3)
    given = ["choose", "--team", "north", "--submission", str(one.number), "--store", store.root]
    assert main(given) == 0
    assert f"no. {one.number} of north counts" in capsys.readouterr().out
    other = files.opened(tmp_path / "other")
    assert main([*given[:-1], other.root]) == 2
    assert "the last counts: none is chosen" in capsys.readouterr().err


@pytest.mark.parametrize("phase", [{"kind": "eval"}, {"kind": "dev", "disclosure": "own"}])
def test_the_best_counts_only_where_boards_are_public(tmp_path: Path, phase: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="its boards are not public"):
        load_season(str(files.season(tmp_path, phase={**phase, "counts": "best"})))
