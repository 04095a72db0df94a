"""sclite's cases: their inputs, options as settings, and figures as sclite rounds them."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("RESCORE_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance")
"""The conformance cases, present or not: tests are made from their index when they are collected."""
PROFILES = {"babel_turkish": "turkish", "babel_vietnamese": "vietnamese", "ukrainian": "ukrainian"}


def cases(folder: Path) -> dict[str, Any]:
    """The index of cases by name."""
    index: dict[str, Any] = json.loads((folder / "stt" / "index.json").read_text())["cases"]
    return index


def runs(folder: Path) -> list[tuple[str, str]]:
    """Every (case, run) that sclite could score."""
    if not (folder / "stt" / "index.json").is_file():
        return []
    known = cases(folder).items()
    return [(name, run) for name, case in known for run, entry in case["runs"].items() if "overall" in entry]


def arguments(folder: Path, name: str, run: str) -> list[str]:
    """The command line of one run: sclite's options as ours."""
    case = cases(folder)[name]
    hypothesis = case["hypothesis"] if isinstance(case["hypothesis"], str) else case["hypothesis"][run]
    options = case["runs"][run]["options"].split()
    place = folder / "stt" / name
    settings = {
        "variant": "cer" if "-c" in options else "wer",
        "optional_deletion": "-D" in options,
        "fragments": "-F" in options,
        "case_sensitive": "-s" in options,
        "keep_ascii": "NOASCII" in options,
        "drop_hyphens": "DH" in options,
        "fold": next((PROFILES[word] for word in options if word in PROFILES), "ascii"),
        "alignment": True,
    }
    protocol = "stt-trn" if case["formats"] == ["trn", "trn"] else "stt13"
    files = ["--input", f"stm={place / case['reference']}", "--input", f"ctm={place / hypothesis}"]
    chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return ["score", "--protocol", protocol, *files, *chosen, "--json"]


def wanted_alignment(folder: Path, name: str, run: str) -> Counter[str]:
    """sclite's alignments of segments, each as text with its recording (its speaker where it has none)."""
    listed = json.loads((folder / "stt" / name / cases(folder)[name]["runs"][run]["alignment"]).read_text())
    return Counter(json.dumps([file, channel, utterance, steps]) for file, channel, utterance, steps in listed)


def seen_alignment(document: dict[str, Any]) -> Counter[str]:
    """Our alignments in the same form."""
    trn = document["protocol"] == "stt-trn"
    return Counter(
        json.dumps(
            [
                "" if trn else row["file"],
                "" if trn else row["channel"],
                f"({row['file']})" if trn else row["id"],
                [step[:3] for step in row["steps"]],
            ]
        )
        for row in document["alignment"]
    )


def rounded(value: float) -> float:
    """One decimal, half away from zero, as sclite does it (sctk.h, F_ROUND): in double precision, cut after adding."""
    return (1 if value >= 0 else -1) * int(abs(value) * 10 + 0.5) / 10
