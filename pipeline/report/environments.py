"""Templates of pages: escaped, and strict about names."""

from __future__ import annotations

import math

import jinja2

from pipeline.report import words


def new_environment() -> jinja2.Environment:
    """Templates with what every page needs: everything is escaped, an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(printable=words.printable, short=words.short, label=words.label, reason_text=words.reason_text)
    made.tests["nan"] = math.isnan
    return made
