"""Resources of a system: a mapping as its YAML file has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.errors import UsageError
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, Texts, Written


@dataclass(frozen=True)
class _Resources(Form):
    """A mapping (``{"search": {"cpu_s": 9}}``) instead of columns."""

    def written(self, value: Any, where: str) -> Written:
        """The mapping as YAML, of which JSON is a part."""
        if not isinstance(value, Mapping):
            raise UsageError(f"{where} is a {type(value).__name__} (allowed: a mapping as in a resources file).")
        return Written(json.dumps(value).encode(), lambda _: None)


def _no_columns(texts: Texts, where: str) -> Written:
    del texts
    raise UsageError(f"{where} has no columns. Give a mapping as in a resources file.")


def _no_frame(value: Any) -> Columns:
    raise UsageError(f"a {type(value).__name__} has no frame. Read its fields.")


FORMS: Mapping[str, Form] = {"resources": _Resources((), _no_columns, _no_frame)}
