"""Phases that ask for some query sets on some datasets: what is handed in for others is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config.season import load_season
from pipeline.errors import ConfigError
from pipeline.season.naming import _patterned
from pipeline.season.rules import SeasonRules, rules_of
from pipeline.season.verdict import Remarks

SEASON = """\
name: tongues
protocol: sws2013
pattern: '{pattern}'
roster: roster.yaml
phases:
  eval:
    kind: eval
    evaluation: tongues-eval
    deadline: 2026-06-01T23:59-04:00
    query_sets: [zulu-q, lao-q]
    datasets: [zulu, lao]
    pairs: {pairs}
"""
PAIRS = "[[zulu-q, zulu], [lao-q, lao]]"


def season(folder: Path, pairs: str = PAIRS, pattern: str = "{query_set}_{dataset}.xml") -> SeasonRules:
    (folder / "roster.yaml").write_text("teams: {north: {name: North}}\n")
    file = folder / "season.yaml"
    file.write_text(SEASON.replace("{pairs}", pairs).replace("{pattern}", pattern))
    return load_season(str(file))[0]


def test_only_pairs_that_are_asked_for_are_taken(tmp_path: Path) -> None:
    rules = season(tmp_path)
    assert rules_of(rules.document()) == rules
    (phase,) = rules.phases
    assert phase.cells == (("zulu-q", "zulu"), ("lao-q", "lao"))
    remarks = Remarks()
    taken = _patterned(rules, phase, "north", "lao-q_lao.xml", remarks, None, True)
    assert taken is not None
    assert (taken.query_set, taken.dataset) == ("lao-q", "lao")
    assert _patterned(rules, phase, "north", "zulu-q_lao.xml", remarks, None, True) is None
    (told,) = remarks.verdict().document()
    assert told["code"] == "wrong_field"
    assert "query set zulu-q is not asked for on dataset lao" in told["message"]


def test_what_a_name_leaves_out_is_settled_by_the_pairs(tmp_path: Path) -> None:
    rules = season(tmp_path, pattern="{dataset}.xml")
    taken = _patterned(rules, rules.phases[0], "north", "lao.xml", Remarks(), None, True)
    assert taken is not None
    assert (taken.query_set, taken.dataset) == ("lao-q", "lao")


def test_contradictions_are_told_by_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        season(tmp_path, "[[zulu-q, zulu], [zulu-q, loa]]")
    told = [(finding.code, finding.where.rpartition(":")[2]) for finding in caught.value.findings]
    assert told == [("unknown_dataset", "12"), ("contradiction", "10"), ("contradiction", "11")]
