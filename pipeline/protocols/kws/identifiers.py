"""Names of OpenKWS13 submissions: their fields are coordinates of the grid (plan 004, appendix B)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pipeline.errors import Finding
from pipeline.formats.findings import quoted
from pipeline.protocols.system_ids import SystemId, by_sysid

BOARD = ("lp", "lr", "aud")
"""The fields whose values part submissions into boards: build pack, language resources, re-use of the test audio."""

_FIELDS: Mapping[str, tuple[str, str]] = {
    "team": (r"[A-Za-z0-9]+", "TEAM"),
    "corpus": (r"[A-Za-z0-9.-]+", "CORPUSID"),
    "partition": (r"conv-dev|conv-eval", "PARTITION"),
    "scase": (r"BaDev|BaEval|BaSurp", "SCASE"),
    "task": (r"KWS|STT", "TASK"),
    "lp": (r"FullLP|LimitedLP", "LP"),
    "lr": (r"BaseLR|BabelLR|OtherLR", "LR"),
    "aud": (r"NTAR|TAR", "AUD"),
    "sysid": (r"[pc]-[A-Za-z0-9]+", "SYSID"),
    "version": (r"[1-9][0-9]*", "VERSION"),
}
"""The fields in their order: what they may be, and what the plan calls them."""
_NAME = re.compile("KWS13_" + "_".join(f"(?P<{name}>{pattern})" for name, (pattern, _) in _FIELDS.items()))
_EXTENSIONS = (".kwslist.xml", ".ctm")
_SLIP = ".kwslst.xml"
_EXTENSION = re.compile(r"\.(?:[A-Za-z]+\.)?[A-Za-z]+")
_CORPUS_HELP = (
    "(allowed: the id of the audio's corpus, such as babel101b-v0.4c). Section B.1 of the plan calls this field "
    "<CORPUS> in its pattern and <CORPUSID> where it defines it: they are one field. Write the corpus id there."
)


def identify(name: str) -> Mapping[str, str]:
    """The fields of an identifier by name, with ``board`` naming its conditions; empty for any other name.

    ``KWS13_<TEAM>_<CORPUSID>_<PARTITION>_<SCASE>_<TASK>_<LP>_<LR>_<AUD>_<SYSID>_<VERSION>``, with or without the
    extension of a submitted file. ``.kwslst.xml`` counts as one; ``identifier_slips`` tells of it.
    """
    for extension in (*_EXTENSIONS, _SLIP):
        name = name.removesuffix(extension)
    match = _NAME.fullmatch(name)
    if match is None:
        return {}
    fields = match.groupdict()
    return {**fields, "board": "+".join(fields[part] for part in BOARD)}


def standing(name: str) -> SystemId:
    """Whether a system is primary, and which version, by its EXPID or SYSID."""
    return by_sysid(name, identify(name))


def identifier_slips(name: str) -> tuple[Finding, ...]:
    """Faults of the name of an output that means to be an identifier (``KWS13_…``), and how to mend it."""
    if not name.startswith("KWS13_"):
        return ()
    return tuple(Finding("identifier_slip", message, "output") for message in _slips(name))


def _slips(name: str) -> Iterator[str]:
    *parts, last = name.removeprefix("KWS13_").split("_")
    found = _EXTENSION.search(last)
    extension = last[found.start() :] if found else ""
    if extension == _SLIP:
        mended = name.removesuffix(_SLIP) + _EXTENSIONS[0]
        yield (
            f"the file ends in {_SLIP}, a slip of the commands in sections B.4 and B.5 of the plan (allowed: "
            f"{_EXTENSIONS[0]}, section B.2). Rename it to {mended}."
        )
    elif extension and extension not in _EXTENSIONS:
        yield f"the file ends in {quoted(extension)} (allowed: {', '.join(_EXTENSIONS)}). Rename it."
    values = [*parts, last.removesuffix(extension)]
    if len(values) != len(_FIELDS):
        wanted = "_".join(f"<{field}>" for _, field in _FIELDS.values())
        yield (
            f"the name has {len(values)} fields behind KWS13 (allowed: {len(_FIELDS)}, KWS13_{wanted}). Give every "
            "field once, none with an underscore; <CORPUS> of the plan's pattern is <CORPUSID>."
        )
        return
    for value, (field, (pattern, called)) in zip(values, _FIELDS.items(), strict=True):
        placeholder = field == "corpus" and value in ("CORPUS", "CORPUSID")
        if placeholder or not re.fullmatch(pattern, value):
            help_ = _CORPUS_HELP if field == "corpus" else f"(allowed: {pattern}). Correct it."
            yield f"the field {called} is {quoted(value)} {help_}"
