"""A tiny MED evaluation: two events, six clips, every figure can be done by hand."""

from __future__ import annotations

from pathlib import Path

INDEX = "TrialID,ClipID,EventID\n" + "".join(f"{c}.{e},{c},{e}\n" for e in ("E1", "E2") for c in "abcdef")
REF = "TrialID,Targ\n" + "".join(
    f"{c}.{e},{'y' if c in targets else 'n'}\n" for e, targets in (("E1", "ab"), ("E2", "f")) for c in "abcdef"
)
SCORES = {
    "E1": {"a": 0.9, "b": 0.4, "c": 0.6, "d": 0.4, "e": 0.1, "f": 0.1},
    "E2": {"a": 0.5, "b": 0.2, "c": 0.2, "d": 0.2, "e": 0.2, "f": 0.8},
}
CLIPMD = "ClipID,MEDIA_FILE,DURATION\n" + "".join(f"{c},{c}.mp4,{600 * n}\n" for n, c in enumerate("abcdef", 1))
"""21 units of ten minutes: 3.5 hours."""
EVENTDB = 'EventID,EventName\nE1,"Making a ""sandwich"""\nE2,Parade\n'
THRESHOLD = "EventID,DetectionThreshold,DetectionTPT\nE1,0.4,7\nE2,0.5,3.5\n"
RESOURCES = "index: {wall_s: 25200, cores: 4}\n"
"""Seven hours of wall-clock time for metadata generation."""


def detection(scores: dict[str, dict[str, float]] = SCORES) -> str:
    """A detection file of scores by event and clip."""
    rows = [f"{clip}.{event},{score}" for event, clips in scores.items() for clip, score in clips.items()]
    return "\n".join(["TrialID,Score", *rows, ""])


def files(**changed: str | None) -> dict[str, str]:
    """The texts of all inputs by role, some changed or (``None``) left out."""
    texts: dict[str, str | None] = {
        "index": INDEX, "ref": REF, "detection": detection(), "threshold": THRESHOLD,
        "clipmd": CLIPMD, "eventdb": EVENTDB, "resources": RESOURCES, **changed,
    }  # fmt: skip
    return {role: text for role, text in texts.items() if text is not None}


def written(folder: Path, **changed: str | None) -> dict[str, str]:
    """The paths of all inputs by role, written to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for role, text in files(**changed).items():
        path = folder / f"{role}.{'yaml' if role == 'resources' else 'csv'}"
        path.write_text(text)
        paths[role] = str(path)
    return paths
