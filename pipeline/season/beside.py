"""What is handed in beside outputs: system descriptions and resources files. They are kept as they are.

A description is hostile input: known by its first bytes or as text, counted, and never parsed, unpacked or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import Finding, InputError
from pipeline.formats.resources import read_resources

OUTPUTS, DESCRIPTION, RESOURCES = "outputs", "description", "resources"
REQUIRED = "required"
RULES = {DESCRIPTION: "descriptions", RESOURCES: "resources"}
"""The field of a phase that says whether teams must hand it in, by role."""
DESCRIPTION_BYTES, RESOURCES_BYTES = 16 << 20, 1 << 20
"""The largest description and the largest resources file that are taken."""
_PDF = b"%PDF-"
_ENDINGS = {
    DESCRIPTION: re.compile(r"(?P<stem>.*?)(?:\.description)?\.(?:pdf|txt)", re.IGNORECASE),
    RESOURCES: re.compile(r"(?:(?P<stem>.*)[._-])?resources\.ya?ml", re.IGNORECASE),
}
_COMMON = {
    "experiment identifiers": "experiment identifier|expid",
    "system description": "system description",
    "hardware and runtime": "hardware",
    "training data and knowledge sources": "training data|knowledge sources",
    "references": "references",
}
_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "language": {
        "introduction": "introduction",
        "system description": "system description",
        "train and development data": "train(?:ing)? and development data",
        "processing speed": "processing speed",
        "references": "references",
    },
}
"""The sections of a description where a family's plan has others than most, and how headings call them (plans 001
section 6.2.2, 003 B.1, 004 B.3)."""


@dataclass(frozen=True)
class Looked:
    """What was found of a file beside outputs: problems, for which it is not taken, and what may be a mistake."""

    problems: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = field(default=())


def role_of(name: str) -> tuple[str, str] | None:
    """The role of a file by its name, and what stands before the ending; None for one that is an output, if anything:
    ``*.pdf`` and ``*.txt`` are descriptions, ``resources.yaml`` and ``*.resources.yaml`` resources.
    """
    for role in (RESOURCES, DESCRIPTION):
        found = _ENDINGS[role].fullmatch(name)
        if found is not None:
            return role, found["stem"] or ""
    return None


def looked_at(role: str, path: Path, name: str, family: str) -> Looked:
    """What is wrong with a file of a role. ``name`` is what messages call it."""
    n_bytes, most = path.stat().st_size, DESCRIPTION_BYTES if role == DESCRIPTION else RESOURCES_BYTES
    if n_bytes > most:
        what = f"the {role} has {n_bytes} bytes (allowed: {most}). Make it smaller."
        return Looked((Finding("too_large", what, name),))
    if role == DESCRIPTION:
        return _description(path.read_bytes(), name, family)
    try:
        with path.open("rb") as stream:
            return Looked((), read_resources(stream, name).findings)
    except InputError as error:
        return Looked(tuple(error.findings))


def _description(data: bytes, name: str, family: str) -> Looked:
    """A PDF by its first bytes, or text with the sections that the plan asks for as headings."""
    is_pdf = data.startswith(_PDF)
    if name.lower().endswith(".pdf"):
        what = f"the description begins with {data[:8]!r} (allowed: a PDF, which begins with %PDF-). Export it as PDF."
        return Looked(() if is_pdf else (Finding("not_a_pdf", what, name),))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"the description is no text in UTF-8 (byte {error.start} is not). Save it as UTF-8, or as PDF."
        return Looked((Finding("not_text", what, name),))
    if is_pdf or "\0" in text:
        what = "the description is no text (it holds binary data). Name a PDF .pdf, and text .txt."
        return Looked((Finding("not_text", what, name),))
    if not text.strip():
        return Looked((Finding("empty_description", "the description is empty. Describe the system.", name),))
    headings = [line.casefold() for line in text.splitlines() if len(line) <= 120]
    wanted = _SECTIONS.get(family, _COMMON)
    absent = [section for section, called in wanted.items() if not any(_is_heading(h, called) for h in headings)]
    if not absent:
        return Looked()
    what = f"the description has no heading for {', '.join(absent)}. The plan asks for these sections."
    return Looked((), (Finding("missing_section", what, name),))


def _is_heading(line: str, called: str) -> bool:
    """Whether a short line is a heading: a number, a mark or nothing before the words, and no full stop behind."""
    return re.match(rf"[\W\d]*(?:section\s+[\d.]+)?[\W\d]*[^.;,]*?(?:{called})[^.;]*$", line) is not None
