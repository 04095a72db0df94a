"""Templates of pages: escaped, and strict about names."""

from __future__ import annotations

import math
import re

import jinja2
import jinja2.meta
from markupsafe import Markup, escape

from pipeline.protocols import signature_short
from pipeline.report import words
from pipeline.report.plots import marks

LONG = 24
"""Longer names break where their words end, as far as they may."""


def new_environment() -> jinja2.Environment:
    """Templates with what every page needs: everything is escaped, an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        printable=words.printable,
        breakable=breakable,
        short=words.short,
        label=words.label,
        reason_text=words.reason_text,
        style=marks.style,
        cited=signature_short,
    )
    made.tests["nan"] = math.isnan
    return made


def compile_before(made: jinja2.Environment, name: str) -> None:
    """Compile a template and those that it refers to, which rendering it would otherwise do."""
    left, done = [name], set[str]()
    while left:
        one = left.pop()
        done.add(one)
        made.get_template(one)
        loader = made.loader
        source = "" if loader is None else loader.get_source(made, one)[0]
        named = set(filter(None, jinja2.meta.find_referenced_templates(made.parse(source))))
        left += named - done - set(left)


def breakable(text: str) -> Markup:
    """Escaped text; where it is long, lines may break after signs that join words."""
    if len(text) <= LONG:
        return escape(text)
    return Markup("<wbr>").join(re.split(r"(?<=[_./:-])(?=\w)", text))
