"""How figures, names and codes read to people: numbers, measure labels, reason texts. Escaping is not done here."""

from __future__ import annotations

import math
import unicodedata
from functools import cache

from pipeline import protocols
from pipeline.metrics.entropy import ape
from pipeline.metrics.label import Label

UNDEFINED = "—"
MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # Indic and Persian names need them
_UNSHOWN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


REASONS = {
    "missing_output": "the system submitted no output for this cell",
    "unreadable_output": "what the system submitted for this cell cannot be read",
    "refused_input": "an input file was refused",
    "worker_died": "the worker died while scoring this cell",
    "no_targets": "the key has no occurrence of any scored query",
    "no_nontarget_trials": "no trial is left that could be a false alarm",
    "more_targets_than_trials": "a query has more occurrences than trials",
    "no_scores": "the output has no detection of a scored query",
    "no_target_submitted": "no detection of the output is an occurrence",
    "no_nontarget_submitted": "every detection of the output is an occurrence",
    "reject_all": "no threshold does better than to accept nothing",
    "not_submitted": "the system processed no event",
    "no_crossing": "no curve meets the line of the target error ratio",
    "no_clip_durations": "the durations of the clips are not among the inputs",
    "no_execution_times": "the system declared no execution times",
    "no_wall_time": "the resources file gives no wall-clock time",
    "no_operating_point": "costs and prior are undefined for this cell",
    "no_default_cost": "the cost without a system is zero",
    "no_resources": "the system declared no resources for this phase",
    "no_peak_memory": "the system declared no peak memory",
    "no_query_durations": "the durations of the query examples are not known",
    "no_audio": "the dataset has no audio",
    "no_confidences": "no scored word has a confidence",
    "all_correct": "every word is correct: there is nothing to tell apart",
    "no_reference_words": "the reference has no word to score",
    "no_systems": "no system has this figure",
    "class_without_segments": "a class has no segments",
    "too_few_classes": "fewer than two classes have segments",
    "weights_of_other_classes": "the weights are given for other classes",
    "no_audio_duration": "how much audio was processed is not known (setting t_audio)",
    "not_made": "the run was made before this measure came",
    "no_such_cell": "the evaluation does not ask for the query set on the dataset",
    "no_cost_at_all": "there was no cost to begin with",
}


def short(value: float, decimals: int = 4) -> str:
    """A number for a table: four decimals, powers of ten where those would hide it, ∞, or — for NaN."""
    if math.isnan(value):
        return UNDEFINED
    sign = MINUS if value < 0 else ""
    size = abs(value)
    if math.isinf(size):
        return f"{sign}∞"
    if size and not 1e-3 <= size < 1e6:
        mantissa, exponent = f"{size:.2e}".split("e")
        return f"{sign}{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    return f"{sign}{size:.{decimals}f}"


def measured(value: float, unit: str) -> str:
    """A figure in its unit: counts without decimals, others as ``short`` has them."""
    return fact(value) if unit in {"tokens", "segments"} else short(value)


def fact(value: float | str) -> str:
    """A fact about a cell: text as it is, whole numbers as counts, others as figures."""
    if isinstance(value, str):
        return printable(value)
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", "\N{NARROW NO-BREAK SPACE}").replace("-", MINUS)
    return short(value)


def exact(value: float) -> str:
    """A number that reads back to the same bits: ``0.1``, ``inf``, ``nan``."""
    return repr(float(value))


def printable(text: str) -> str:
    """Untrusted text without control, bidirectional-override and surrogate characters (each becomes U+FFFD)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _UNSHOWN and c not in _JOINERS else c for c in text
    )


def label(measure: str) -> Label:
    """The typeset name of a measure or column; one that nobody declares is spelled as it is, without underscores."""
    return _labels().get(measure) or Label(measure.replace("_", " "))


@cache
def _labels() -> dict[str, Label]:
    """Labels of measures by those who declare them: protocols, their blocks, and the table of calibration."""
    kinds = (protocol.family.can.blocks for protocol in protocols.protocols().values())
    return {
        **{blocks.mapped: blocks.label for blocks in kinds if blocks is not None},
        **{measure.name: measure.label for measure in (*ape.MEASURES, *protocols.measures().values())},
    }


def reason_text(code: str) -> str:
    """A reason code in words."""
    return REASONS.get(code) or code.replace("_", " ")


def unit_text(unit: str) -> str:
    """A unit as printed beside a label: nothing for dimensionless figures and for scores."""
    return "" if unit in {"", "1", "score"} else unit
