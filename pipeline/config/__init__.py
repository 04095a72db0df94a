"""The evaluation file (YAML) and how it becomes an ``Evaluation``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.terms import Evaluation


def load_evaluation(uri: str) -> Evaluation:
    """The evaluation described by the YAML file at ``uri``, a path or any fsspec URL.

    Relative paths are taken from the file's own folder, and patterns are resolved to the outputs found there.
    Raises ``ConfigError`` with every problem by line and field, ``PlatformError`` when a folder cannot be listed.
    """
    from pipeline.config.load import load  # pydantic and yaml cost 0.2 s, which scoring one cell need not pay

    return load(uri)
