"""The language recognition cases as tests read them: files, expected figures, and how near is near enough."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pipeline.cli import main

NAMES = "C_mce C_def C_min F_mce F_def F_min F_act F_dis F_cal ln_F_act".split()
_OF_THE_MINIMUM = {"C_min", "F_min", "F_dis"}


def folder_of(conformance: Path, prefix: str) -> tuple[Path, dict[str, Any]]:
    """The folder of a case and what is expected of it."""
    [folder] = (conformance / "lre").glob(f"{prefix}_*")
    return folder, json.loads((folder / "expected.json").read_text())


def inputs_of(folder: Path) -> list[str]:
    """The arguments of ``rescore score`` for a case."""
    [output] = folder.glob("*.out")
    return ["--protocol", "albayzin-lre12", "--input", f"key={folder / 'key.txt'}", "--input", f"output={output}"]


def scored(folder: Path, capsys: Any, *options: str) -> dict[str, Any]:
    """The JSON document of a case, through the command line in this process."""
    assert main(["score", *inputs_of(folder), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def unequal(seen: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What of ``seen`` (value by lower-case name) is not what is expected; costs at 1e-12, minima at 1e-11.

    F_cal is a difference over F_dis, as near as both of them are; a logarithm is compared by its distance.
    """
    wrong = []
    for name in NAMES:
        value, want = number(seen[name.lower()]), float(expected[name])
        relative = 1e-11 if name in _OF_THE_MINIMUM else 1e-12
        absolute = 1e-290
        if name == "F_cal" and math.isfinite(want):
            absolute = 1e-11 * (1.0 + want)
        if name == "ln_F_act":
            absolute = 1e-12
        both_undefined = math.isnan(value) and math.isnan(want)
        if not both_undefined and not math.isclose(value, want, rel_tol=relative, abs_tol=absolute):
            wrong.append(f"{name}: {value!r}, expected {want!r}")
    return wrong


def number(value: float | str | None) -> float:
    """A number of a JSON document."""
    return math.nan if value is None else float(value)
