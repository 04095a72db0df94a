"""``disclose`` of a dataset: what the evaluation file may say, and that it comes through to plan and grid."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from evaluation_files import FOUND, HEAD, Folder

from pipeline.config import load_evaluation
from pipeline.grid.disclosure import Disclosure, parse

Faults = Callable[[str], list[tuple[str, int, str]]]
KEY = "rttm: keys/indian.rttm"


def disclosing(text: str) -> str:
    return HEAD.replace(KEY, f"{KEY}, disclose: {text}") + FOUND


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("everything", Disclosure()),
        ("no_key", Disclosure("no_key")),
        ("held", Disclosure("held")),
        ("[atwv]", Disclosure("selection", ("atwv",))),
        ("[atwv, mtwv]", Disclosure("selection", ("atwv", "mtwv"))),
    ],
)
def test_every_level_is_read_for_its_dataset_alone(folder: Folder, text: str, level: Disclosure) -> None:
    african, indian = load_evaluation(folder.write(disclosing(text))).datasets
    assert parse(african.disclose) == Disclosure()
    assert parse(indian.disclose) == level


@pytest.mark.parametrize("text", ["no-key", "[]", "[atwv, {a: b}]", "true", "{level: held}", "''", "HELD"])
def test_what_is_no_level_is_refused_and_never_shows_everything(faults: Faults, text: str) -> None:
    ((code, line, message),) = faults(disclosing(text))
    assert (code, line) == ("bad_setting", 5)
    assert "everything, no_key, held, or a list of measures" in message


def test_a_selection_names_measures_of_the_protocol(faults: Faults) -> None:
    ((code, line, message),) = faults(disclosing("[atwv, wer]"))
    assert (code, line) == ("bad_setting", 5)
    assert "'wer'" in message
    assert "cnxe" in message
