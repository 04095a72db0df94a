"""Uploads of any order: the right one counts, and all of them are listed with reasons and receipts."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import season_files as files
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.config.season import load_roster, load_season
from pipeline.errors import ConfigError, StoreError, UsageError
from pipeline.season import ledger, opening
from pipeline.season.standing import COUNTS, LATE, REFUSED, REPLACED, WITHDRAWN
from pipeline.season.submit import Sender, receipt, withdraw

GOOD, OLD, POOR = files.stdlist(files.GOOD), files.stdlist(files.SILENT), files.stdlist(files.POOR)


def states(store):
    return [(fate.submission.number, fate.state) for fate in files.now(store).fates]


def test_of_five_uploads_the_good_one_counts_and_all_are_listed(tmp_path):
    store = files.opened(tmp_path)
    old = files.hand_in(store, tmp_path, "north", OLD, -50)
    invalid = files.hand_in(store, tmp_path, "north", "<stdlist", -40)
    gone = files.hand_in(store, tmp_path, "north", POOR, -30)
    withdraw(store, files.NAME, Sender("north"), "wrong model", submission=gone.number, at=files.ENDS)
    good = files.hand_in(store, tmp_path, "north", GOOD, -20)
    late = files.hand_in(store, tmp_path, "north", POOR + " ", 5)
    standing = files.now(store)
    assert [(fate.submission.number, fate.state) for fate in standing.fates] == [
        (old.number, REPLACED), (invalid.number, REFUSED), (gone.number, WITHDRAWN), (good.number, COUNTS),
        (late.number, LATE),
    ]  # fmt: skip
    reasons = {fate.submission.number: fate.reason for fate in standing.fates}
    assert reasons[gone.number] == "wrong model"
    assert "1 problem" in reasons[invalid.number]
    receipts = [receipt(standing, one) for one in standing.submissions]
    assert len({one["receipt"] for one in receipts}) == 5
    assert [one["accepted"] for one in receipts] == [True, False, True, True, True]
    assert receipts[4]["late"]
    assert receipts[0]["deadline"] == files.DEADLINE
    assert [one["runs"][0]["version"] for one in receipts if one["runs"]] == [1, 2, 3, 4]


KINDS = ("old", "invalid", "late", "withdrawn", "good")


@settings(max_examples=25)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=7))
def test_whatever_the_order_the_latest_valid_one_in_time_counts(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("order")
    store = files.opened(folder)
    valid, late = [], []
    for at, kind in enumerate(order):
        text = "<stdlist" if kind == "invalid" else GOOD + "\n" * at
        one = files.hand_in(store, folder, "north", text, (1 if kind == "late" else -100) + at)
        if kind == "withdrawn":
            withdraw(store, files.NAME, Sender("north"), "x", submission=one.number, at=files.ENDS)
        elif kind in ("old", "good"):
            valid.append(one.number)
        elif kind == "late":
            late.append(one.number)
    expected = (valid or late)[-1:]
    standing = files.now(store)
    assert [fate.submission.number for fate in standing.counting("eval")] == expected
    assert [fate.submission.number for fate in standing.fates] == [one.number for one in standing.submissions]
    assert all(fate.reason or fate.state == COUNTS for fate in standing.fates)


def test_what_arrives_at_the_deadline_is_in_time_and_a_moment_later_is_late(tmp_path):
    store = files.opened(tmp_path)
    assert not files.hand_in(store, tmp_path, "north", GOOD, 0).late
    assert files.hand_in(store, tmp_path, "south", GOOD, 1e-6).late


def test_late_submissions_can_be_refused(tmp_path):
    store = files.opened(tmp_path, phase={"late": "refuse"})
    late = files.hand_in(store, tmp_path, "north", GOOD, 1)
    assert [finding.code for finding in late.verdict.of("error")] == ["late"]


def test_a_withdrawn_submission_leaves_the_one_before(tmp_path):
    store = files.opened(tmp_path)
    files.hand_in(store, tmp_path, "north", OLD, -3)
    last = files.hand_in(store, tmp_path, "north", GOOD, -2)
    withdraw(store, files.NAME, Sender("north"), "why", submission=last.number)
    assert [state for _, state in states(store)] == [COUNTS, WITHDRAWN]
    withdraw(store, files.NAME, Sender("north"), "all of it")
    assert [state for _, state in states(store)] == [WITHDRAWN, WITHDRAWN]
    with pytest.raises(UsageError, match="nothing of that name"):
        withdraw(store, files.NAME, Sender("south"), "why")


def test_run_limits_and_second_primaries_are_told(tmp_path):
    store = files.opened(tmp_path, phase={"most_runs": "2"})
    assert files.hand_in(store, tmp_path, "north", GOOD).accepted
    second = files.hand_in(store, tmp_path, "north", GOOD, system="b")
    assert [finding.code for finding in second.verdict.of("error")] == ["second_primary"]
    assert files.hand_in(store, tmp_path, "north", GOOD, system="b", primary=False).accepted
    third = files.hand_in(store, tmp_path, "north", GOOD, system="c", primary=False)
    assert [finding.code for finding in third.verdict.of("error")] == ["too_many_runs"]
    assert files.hand_in(store, tmp_path, "north", POOR, system="b", primary=False).accepted, "it replaces its own"


def test_racing_uploads_are_all_in_the_ledger_and_one_primary_wins(tmp_path):
    store = files.opened(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(files.hand_in, store, tmp_path, "north", GOOD, -10 + at / 10, system=f"s{at}")
            for at in range(8)
        ]
        made = [job.result() for job in jobs]
    assert sorted(one.number for one in made) == list(range(3, 11))
    assert sum(one.accepted for one in made) == 1, "a second primary is refused even where both came at once"


def test_contact_data_is_nowhere_but_in_its_folder(tmp_path):
    store = files.opened(tmp_path)
    files.hand_in(store, tmp_path, "north", GOOD)
    having = [path for path in store.listing() if b"x.example" in store.get(path)]
    assert having == [f"contacts/{files.NAME}/00000002.json"]


def test_saying_the_same_rules_again_enters_nothing_and_changed_ones_a_version(tmp_path):
    store = files.opened(tmp_path)
    rules, roster_url = load_season(str(tmp_path / "season.yaml"))
    roster = load_roster(roster_url)
    assert opening.enter(store, rules, roster.teams, roster.contacts) == ()
    rules, _ = load_season(str(files.season(tmp_path, phase={"most_runs": "4"})))
    assert [entry.kind for entry in opening.enter(store, rules, roster.teams, roster.contacts)] == [ledger.RULES]
    assert files.now(store).rules.phase("eval").most_runs == 4


def test_an_entry_that_is_gone_or_changed_is_an_error(tmp_path):
    store = files.opened(tmp_path)
    files.hand_in(store, tmp_path, "north", GOOD)
    path = f"seasons/{files.NAME}/00000003.json"
    data = store.get(path)
    store.put(path, data.replace(b"north", b"south"))
    with pytest.raises(StoreError, match="damaged"):
        files.now(store)
    store.put(path, data)
    store.remove(f"seasons/{files.NAME}/00000001.json")
    with pytest.raises(StoreError, match="missing"):
        files.now(store)


def test_an_unregistered_team_cannot_submit(tmp_path):
    with pytest.raises(UsageError, match=r"no team 'west' \(registered: east, north, south\)"):
        files.hand_in(files.opened(tmp_path), tmp_path, "west", GOOD)


def test_every_problem_of_a_season_file_is_told(tmp_path):
    path = files.season(
        tmp_path, phase={"deadline": "2026-06-01T12:00", "inputs": {"rttm": "key.rttm"}, "late": "never"}, pattern="{x}"
    )
    with pytest.raises(ConfigError) as caught:
        load_season(str(path))
    text = str(caught.value)
    assert "no time zone" in text
    assert "late" in text
    path = files.season(tmp_path, phase={"inputs": {"rttm": "key.rttm"}}, pattern="{x}", protocol="none-such")
    with pytest.raises(ConfigError) as caught:
        load_season(str(path))
    assert {finding.code for finding in caught.value.findings} == {"key_in_season", "bad_pattern", "unknown_protocol"}


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2012-09-24T24:00+01:00", "2012-09-24T23:00"),
        ("2012-09-24 24:00 Europe/Madrid", "2012-09-24T22:00"),
        ("2012-09-24T23:59:30Z", "2012-09-24T23:59"),
        ("2012-12-24T12:00 America/New_York", "2012-12-24T17:00"),
    ],
)
def test_deadlines_have_zones(text, utc):
    from datetime import UTC

    from pipeline.season.times import parse

    assert parse(text).astimezone(UTC).isoformat()[:16] == utc


def test_a_receipt_is_json_and_says_what_counts(tmp_path):
    store = files.opened(tmp_path)
    one = files.hand_in(store, tmp_path, "north", GOOD)
    standing = files.now(store)
    document = json.loads(json.dumps(receipt(standing, one)))
    assert document["files"][0]["sha256"] in document["runs"][0]["outputs"][0]["path"]
    assert document["states"] == [{"system": "north", "kind": "outputs", "state": COUNTS, "reason": ""}]
    assert one.moment == files.ENDS - timedelta(hours=1)
