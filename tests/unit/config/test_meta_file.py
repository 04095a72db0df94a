"""The meta file: what it means, and what is said of everything that is wrong with it, by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.config.meta_file import load_study
from pipeline.errors import ConfigError

GOOD = """\
name: years
evaluations:
  old: {year: 2012, evaluation: old.yaml}
  new: {year: 2013, run: sws-2013~1, store: s3://bucket/store}
rescore:
  at-2013: {of: [old], protocol: sws2013, keep: [tolerance_s]}
  cheap: {settings: {c_fa: 2}}
published: [{file: table.csv, columns: {system: features}, measures: [mtwv], set: {year: 2022}}]
teams: {North Lab: [NL, North Laboratory]}
measures: [atwv, cnxe]
contrasts: [[old, new], [old, old=at-2013]]
dev_eval: [{dev: dev-q/dev, eval: eval-q/eval}]
sensitivity: {beta: [10, 1e2], p_target: [0.01], tolerance_s: [0.5, 1]}
resampling: {replicates: 200, seed: 7, level: 0.9, method: bca, strata: strata.csv}
"""
WRONG = """\
name: no/slug
evaluations:
  old: {year: 2012}
  new: {run: a, evaluation: b.yaml, flavour: x}
rescore:
  none: {of: [old]}
resampling: {replicates: 7, seed: -1, method: magic}
sensitivity: {beta: [0], tolerance_s: [soon]}
"""
BETWEEN = """\
name: years
evaluations:
  old: {year: 2012}
  new: {run: a}
rescore:
  odd: {of: [older], protocol: sws1913}
  idle: {}
  tolerance_s-mine: {settings: {tolerance_s: 1}}
measures: [twaddle]
contrasts: [[old, newer]]
teams: {A: [x], B: [x]}
published: [{file: gone.csv, set: {colour: red}}]
"""


def read(folder: Path, text: str):
    (folder / "meta.yaml").write_text(text)
    return load_study(str(folder / "meta.yaml"))


def faults(folder: Path, text: str) -> dict[str, list[str]]:
    """Messages by line."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    found: dict[str, list[str]] = {}
    for finding in caught.value.findings:
        found.setdefault(finding.where.rpartition(":")[2], []).append(finding.message)
    return found


def test_a_whole_file(tmp_path):
    for name in ("old.yaml", "table.csv"):
        (tmp_path / name).touch()
    (tmp_path / "strata.csv").write_text("unit,stratum\nq1,short\nq2,long\n")
    study = read(tmp_path, GOOD)
    old, new = study.entries
    assert (old.evaluation, old.year) == (str(tmp_path / "old.yaml"), "2012")
    assert (new.run, new.store) == ("sws-2013~1", "s3://bucket/store")
    assert [(v.name, v.of, v.protocol, dict(v.settings), v.keep) for v in study.variants] == [
        ("at-2013", ("old",), "sws2013", {}, ("tolerance_s",)),
        ("cheap", ("old", "new"), "", {"c_fa": "2"}, ()),
    ]
    assert study.teams == {"NL": "North Lab", "North Laboratory": "North Lab"}
    assert study.contrasts == (("old", "new"), ("old", "old=at-2013"))
    assert (study.sensitivity.beta, study.sensitivity.tolerance_s) == ((10.0, 100.0), ("0.5", "1"))
    how = study.resampling
    assert (how.n_replicates, how.seed, how.level, how.method) == (200, 7, 0.9, "bca")
    assert how.strata == {"q1": "short", "q2": "long"}
    assert len(study.source) == 64


def test_faults_of_form_are_told_all_at_once_by_line(tmp_path):
    found = faults(tmp_path, WRONG)
    assert {line: len(told) for line, told in found.items()} == {"1": 1, "4": 1, "7": 3, "8": 2}
    assert "`name` must be a short plain name" in found["1"][0]
    assert "`evaluations.new.flavour` is unknown" in found["4"][0]
    assert any("`resampling.replicates`" in told for told in found["7"])
    assert any("must be seconds, as 0.5 (got 'soon')" in told for told in found["8"])


def test_faults_between_fields_are_told_all_at_once_by_line(tmp_path):
    found = faults(tmp_path, BETWEEN)
    assert "needs `run` or `evaluation`" in found["3"][0]
    assert any("names no evaluation (got 'older', allowed: new, old)" in told for told in found["6"])
    assert any("unknown protocol 'sws1913'" in told for told in found["6"])
    assert "needs `protocol` or `settings`" in found["7"][0]
    assert "must not begin with `tolerance_s-`" in found["8"][0]
    assert "names no measure of any protocol (got 'twaddle')" in found["9"][0]
    assert "names no evaluation (got 'newer'" in found["10"][0]
    assert "claims 'x', which 'A' has already" in found["11"][0]
    assert "names no column (got 'colour'" in found["12"][0]


def test_files_that_are_not_there(tmp_path):
    found = faults(tmp_path, "name: a\nevaluations:\n  old: {evaluation: gone.yaml}\npublished: [{file: gone.csv}]\n")
    assert all("names no file" in found[line][0] for line in ("3", "4"))
    found = faults(tmp_path, "name: a\nevaluations: {old: {run: a}}\nresampling:\n  strata: gone.csv\n")
    assert "cannot be read" in found["4"][0]


def test_the_readmes_example_is_a_meta_file(tmp_path):
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    text = next(block for block in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "dev_eval" in block)
    (tmp_path / "2012").mkdir()
    (tmp_path / "2012" / "evaluation.yaml").touch()
    (tmp_path / "published.csv").touch()
    study = read(tmp_path, text)
    assert [entry.name for entry in study.entries] == ["sws-2012", "sws-2013"]
    assert study.resampling.method == "bca"
