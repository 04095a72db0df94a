"""A small language recognition test as files: a key over both tasks, and outputs of any quality for any track."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.formats.lre.names import LANGUAGES, OOS, REMOVED, TRACKS, columns_of

LABELS = (*(name for names in LANGUAGES.values() for name in names), OOS)


def key_of(n_each: int = 4) -> dict[str, str]:
    """Segments with their labels: ``n_each`` of every language, twice as many out of set, one removed."""
    labels = [label for label in LABELS for _ in range(n_each * (2 if label == OOS else 1))]
    return {f"seg{at:04d}": label for at, label in enumerate([*labels, REMOVED])}


def key_text(key: dict[str, str]) -> str:
    """The key as a file."""
    return "".join(f"{segment} {label}\n" for segment, label in key.items())


def output_text(key: dict[str, str], track: str, *, strength: float = 2.0, seed: int = 0) -> str:
    """An output of one track: noise, with ``strength`` more for the true class; closed ones end with a fake score."""
    task, chosen_set = TRACKS[track]
    classes, rng = columns_of(task), np.random.default_rng(seed)
    rows = []
    for segment, label in key.items():
        scores = rng.normal(0.0, 1.0, len(classes))
        true = label if label in classes else OOS
        scores[classes.index(true)] += strength
        if chosen_set == "Closed":
            scores[-1] = 0.0
        rows.append(f"{task} {chosen_set} {segment} {' '.join(f'{score:.4f}' for score in scores)}\n")
    return "".join(rows)


def write(folder: Path, key: dict[str, str], track: str, **quality: float) -> dict[str, str]:
    """Key and one output in ``folder``, as the inputs of ``rescore score``."""
    place = folder / f"GTTS_{track}_pri.out"
    (folder / "key.txt").write_text(key_text(key))
    place.write_text(output_text(key, track, **quality))
    return {"key": str(folder / "key.txt"), "output": str(place)}
