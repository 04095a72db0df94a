"""The settings of language recognition, and what they make of labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pipeline.errors import UsageError
from pipeline.formats.lre.names import LANGUAGES, OOS, OPEN, columns_of
from pipeline.protocols.settings import setting

PLAN = "Albayzin 2012 LRE plan"
_CLASSES = (*(name for names in LANGUAGES.values() for name in names), OOS)


@dataclass(frozen=True)
class LreSettings:
    """Every setting of the family, the plan's values as defaults. Raises ``UsageError`` for weights that are none."""

    track: Literal["file", "PC", "PO", "EC", "EO"] = setting(
        "file", "the track that outputs must be of: any, told by their codes, or this one", source=f"{PLAN} 3.3"
    )
    other_task_languages: Literal["exclude", "oos"] = setting(
        "exclude",
        "segments in target languages of the other task: left out, or segments of class OOS",
        source="rescore; the plan calls OOS all languages that are no target, and gives one list of segments for all",
    )
    empty_classes: Literal["undefined", "leave_out"] = setting(
        "undefined",
        "classes without a segment: no multiclass figure exists (eq 6 is 0/0), or the prior is flat over the others",
        source=f"{PLAN} 4.2.4; rescore",
    )
    also_closed: bool = setting(
        False, "whether open-set outputs are scored closed too, as condition `closed`", source=f"{PLAN} 4.1.1"
    )
    eta: str = setting(
        "",
        "weights of the classes for c_eta, as Basque=0.2,Catalan=0.1,…: between 0 and 1, sum 1; equal where empty",
        source=f"{PLAN} appendix A.2",
    )
    t_audio: float | None = setting(
        None, "seconds of audio in the test, for the real-time factor", source=f"{PLAN} 6.2.2", within="(0, inf)"
    )

    def __post_init__(self) -> None:
        self.weights()

    def weights(self) -> dict[str, float]:
        """The weights by class; empty where all are equal."""
        if not self.eta.strip():
            return {}
        found: dict[str, float] = {}
        for entry in self.eta.split(","):
            name, _, text = (part.strip() for part in entry.partition("="))
            try:
                weight = float(text) if "_" not in text else math.nan
            except ValueError:
                weight = math.nan
            if name not in _CLASSES or name in found or not 0.0 < weight < 1.0:
                allowed = f"CLASS=WEIGHT, each class once, weights between 0 and 1; classes: {', '.join(_CLASSES)}"
                raise UsageError(f"setting eta: {entry.strip()!r} is refused (allowed: {allowed}).")
            found[name] = weight
        if not math.isclose(math.fsum(found.values()), 1.0, abs_tol=1e-9):
            raise UsageError(f"setting eta: the weights add up to {math.fsum(found.values())!r} (allowed: 1).")
        return found


def given_classes(task: str, chosen_set: str) -> tuple[str, ...]:
    """The classes that an output scores."""
    return columns_of(task) if chosen_set == OPEN else LANGUAGES[task]


def class_of_label(settings: LreSettings, task: str) -> dict[str, str]:
    """Which class a label of the key counts as, in a task; labels that are not here are left out."""
    own = {name: name for name in columns_of(task)}
    others = languages_of_others(task) if settings.other_task_languages == "oos" else ()
    return {**own, **dict.fromkeys(others, OOS)}


def languages_of_others(task: str) -> tuple[str, ...]:
    """The languages of all tasks but one."""
    return tuple(name for other, names in LANGUAGES.items() if other != task for name in names)
