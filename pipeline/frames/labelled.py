"""Frames of labelled scores."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.labelled import NAMES, Labelled
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, text_column
from pipeline.frames.kws import csv_lines

COLUMNS = (
    FormColumn("document", "text", "document or trial (also trial, reference)", default=""),
    FormColumn("label", "text", "1 for a target, 0 for another trial (also target)", default=""),
    FormColumn("score", "number", "score, higher is likelier (also prediction)", default=""),
    FormColumn("query", "text", "query, where there are queries", default=""),
    FormColumn("decision", "text", "whether it was accepted, where that was decided", default=""),
)


def _write(texts: Texts, where: str) -> Written:
    """Columns that were given; the reader says what is missing."""
    del where
    return csv_lines({name: values for name, values in texts.items() if name in NAMES and any(values)})


def _frame(labelled: Labelled) -> Columns:
    rows = labelled.rows
    made: Columns = {"document": text_column(rows, "document"), "label": rows["label"], "score": rows["score"]}
    if labelled.has_queries:
        made["query"] = text_column(rows, "query")
    return made | ({"decision": rows["decision"]} if labelled.has_decisions else {})


FORMS: Mapping[str, Form] = {"labelled": Form(COLUMNS, _write, _frame, others=True)}
