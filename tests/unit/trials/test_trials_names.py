from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import UsageError
from pipeline.trials.names import ecf_file_name, output_file_name, renamed


@pytest.mark.parametrize(
    ("name", "kwseval", "stdeval"),
    [
        ("f1.sph", "f1", "f1"),
        ("f1.wav", "f1", "f1"),
        ("audio/x/f1.sph", "f1", "f1"),
        ("f1.v2.sph", "f1.v2", "f1.v2"),
        ("f1.v2", "f1", "f1.v2"),  # KWSEval takes any last extension
        ("audio/f1", "audio/f1", "f1"),  # and a name without a dot verbatim
        ("audio.d/f1", "f1", "f1"),
        ("f1", "f1", "f1"),
        ("f1.SPH", "f1", "f1.SPH"),
    ],
)
def test_recording_of_an_excerpt(name: str, kwseval: str, stdeval: str) -> None:
    assert ecf_file_name(name, "kwseval") == kwseval
    assert ecf_file_name(name, "stdeval") == stdeval


@pytest.mark.parametrize(
    ("name", "kwseval", "stdeval"),
    [
        ("f1.sph", "f1", "f1"),
        ("f1.wav", "f1.wav", "f1"),  # KWSEval knows only .sph here
        ("f1.v2.sph", "f1.v2.sph", "f1.v2"),  # and only as all that follows the first dot
        ("audio/x/f1.sph", "f1", "f1"),
        ("audio/f1", "f1", "f1"),
        ("f1.flac", "f1.flac", "f1"),
        ("F1", "F1", "F1"),
    ],
)
def test_recording_of_a_detection(name: str, kwseval: str, stdeval: str) -> None:
    assert output_file_name(name, "kwseval") == kwseval
    assert output_file_name(name, "stdeval") == stdeval


@pytest.mark.parametrize("name", [".sph", "x/", "."])
def test_a_name_never_becomes_empty(name: str) -> None:
    for files in ("kwseval", "stdeval"):
        assert ecf_file_name(name, files)
        assert output_file_name(name, files)


def test_unknown_rule_is_named() -> None:
    with pytest.raises(UsageError, match=r"'jar', allowed: kwseval \| stdeval"):
        ecf_file_name("f1", "jar")  # type: ignore[arg-type]


def test_names_that_become_equal_are_merged_and_unused_ones_dropped() -> None:
    codes = np.array([2, 0, 1], np.int32)
    names, merged = renamed(("b.sph", "a", "b", "unused"), codes, lambda name: name.removesuffix(".sph"))
    assert names == ("a", "b")
    assert merged.tolist() == [1, 1, 0]
