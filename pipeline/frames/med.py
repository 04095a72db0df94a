"""Frames of multimedia event detection: its tables, by the names of their columns in the files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.formats.med.csv import MedTable
from pipeline.formats.med.threshold import THRESHOLDS, TIMES
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, text_column
from pipeline.frames.kws import csv_lines

_TRIAL = FormColumn("TrialID", "text", "trial")
_CLIP = FormColumn("ClipID", "text", "clip")
_EVENT = FormColumn("EventID", "text", "event")


def _csv(texts: Texts, where: str) -> Written:
    del where
    return csv_lines({name: values for name, values in texts.items() if any(values) or name in _REQUIRED})


_REQUIRED = ("TrialID", "ClipID", "EventID", "Targ")


def _frame(read: MedTable) -> Columns:
    table = read.table
    return {
        name: text_column(table, name) if name in table.vocabularies else np.asarray(table[name]) for name in read.names
    }


def _limits(name: str) -> FormColumn:
    if name in THRESHOLDS:
        return FormColumn(name, "number", "threshold", default="")
    return FormColumn(name, "text", "wall-clock time, h", default="")


FORMS: Mapping[str, Form] = {
    "med_index": Form((_TRIAL, _CLIP, _EVENT), _csv, _frame),
    "med_ref": Form((_TRIAL, FormColumn("Targ", "text", "y for a target, n for another trial")), _csv, _frame),
    "med_clipmd": Form((_CLIP,), _csv, _frame, others=True),
    "med_eventdb": Form((_EVENT,), _csv, _frame, others=True),
    "med_judgement": Form((_CLIP, _EVENT), _csv, _frame, others=True),
    "med_detection": Form(
        (
            _TRIAL,
            FormColumn("Score", "number", "score, higher is likelier", default=""),
            FormColumn("Rank", "text", "rank from 1, from 2014 on", default=""),
            FormColumn("Decision", "text", "y or n", default=""),
        ),
        _csv,
        _frame,
    ),
    "med_threshold": Form((_EVENT, *map(_limits, (*THRESHOLDS, *TIMES))), _csv, _frame),
}
"""Every format, by its name."""
