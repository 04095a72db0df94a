"""Frames of language recognition: the key, and an output with a column of scores for each class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.errors import Finding, InputError
from pipeline.formats.lre.key import LreKey
from pipeline.formats.lre.names import LANGUAGES, columns_of
from pipeline.formats.lre.out import LreOutput
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, constant, fields, lines, text_column

KEY = (
    FormColumn("segment", "text", "segment"),
    FormColumn("label", "text", "language, OOS, or - for one that was removed"),
)
OUTPUT = (
    FormColumn("segment", "text", "segment"),
    FormColumn("set", "text", "Closed or Open", whole=True),
    FormColumn("task", "text", "Plenty or Empty", whole=True),
)


def _key(texts: Texts, where: str) -> Written:
    fields(texts, ("segment", "label"), where)
    return lines(f"{segment} {label}\n" for segment, label in zip(texts["segment"], texts["label"], strict=True))


def _of_key(key: LreKey) -> Columns:
    return {name: text_column(key.segments, name) for name in ("segment", "label")}


def _output(texts: Texts, where: str) -> Written:
    """Beside the columns of ``OUTPUT`` one of log-likelihoods for each class of the task, by its name."""
    task = constant(texts["task"])
    classes = columns_of(task) if task in LANGUAGES else ()
    missing = [name for name in classes if name not in texts]
    if missing:
        what = f"the frame has no column {', '.join(missing)} (allowed: one of scores for each of {', '.join(classes)})"
        raise InputError([Finding("missing_column", f"{what}. Add them.", where)])
    fields(texts, ("segment",), where)
    codes = f"{task} {constant(texts['set'])}"
    scores = ([value or "nan" for value in texts[name]] for name in classes)
    return lines(f"{codes} {' '.join(row)}\n" for row in zip(texts["segment"], *scores, strict=True))


def _of_output(output: LreOutput) -> Columns:
    n = len(output.segments)
    made: Columns = {"segment": text_column(output.segments, "segment")}
    made |= {"set": np.full(n, output.chosen_set, object), "task": np.full(n, output.task, object)}
    return made | {name: output.scores[:, at] for at, name in enumerate(output.classes)}


FORMS: Mapping[str, Form] = {
    "lre_key": Form(KEY, _key, _of_key),
    "lre_out": Form(OUTPUT, _output, _of_output, others=True),
}
