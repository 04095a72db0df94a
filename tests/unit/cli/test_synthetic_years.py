"""Three made-up years: files that a study can be made of, the same for everyone, that share what they are said to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.config import load_evaluation
from pipeline.config.meta_file import load_study
from pipeline.demo.evaluation import write_evaluation
from pipeline.demo.years import write_years


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("years")
    write_years(place)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def texts(folder: Path, year: str) -> set[str]:
    return set(re.findall("<termtext>(.*?)</termtext>", (folder / year / "queries/eval-q.tlist.xml").read_text()))


def test_the_study_and_its_evaluations_are_sound(folder):
    study = load_study(str(folder / "meta.yaml"))
    found = [load_evaluation(entry.evaluation) for entry in study.entries]
    assert [one.name for one in found] == ["made-up-2011", "made-up-2012", "made-up-2013", "made-up-2013-corrected"]
    assert [one.protocol for one in found] == ["sws2011", "sws2012", "sws2013", "sws2013"]


def test_years_share_what_they_should(folder):
    assert len(texts(folder, "2012") & texts(folder, "2013")) == 8
    assert not texts(folder, "2011") & texts(folder, "2013")
    keys = [folder / f"2013/datasets/eval{kind}.rttm" for kind in ("", ".corrected")]
    key, corrected = (path.read_text().splitlines() for path in keys)
    assert 10 <= len(key) - len(corrected) <= 14
    assert set(corrected) <= set(key)


def test_the_last_year_is_the_demo(folder, tmp_path):
    write_evaluation(tmp_path)
    demo = contents(tmp_path)
    assert {name: data for name, data in contents(folder / "2013").items() if name in demo} == demo
