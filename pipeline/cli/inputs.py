"""The options that name input files and settings, shared by ``score`` and ``validate``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol

SHORT_INPUTS = {"-e": "ecf", "-r": "rttm", "-t": "kwlist", "-s": "output"}
"""The organisers' options for files. Where a protocol gives an option to one of its roles, that role is meant."""

SHORT_SETTINGS = {
    "-S": ("tolerance_s", "how far a mid point may lie outside an occurrence"),
    "-F": ("word_gap_s", "largest gap between two words of an occurrence"),
    "-k": ("c_fa", "cost of a false alarm"),
    "-K": ("c_miss", "cost of a miss, the value of a correct detection"),
    "-p": ("p_target", "prior probability of a target"),
    "-n": ("trials_per_s", "trials per second of audio"),
}
"""The organisers' options for settings. ``-S`` is the tolerance and ``-F`` the gap, as the tools have them."""

SHORT_LINES = {
    "-N": ("namefile", "{}", "FILE/CHAN", "score these recordings and channels only; may be repeated"),
    "-Y": ("condition", "source_type {}", "NAME:TYPE,…", "score these source types too; may be repeated"),
    "-T": ("condition", "query {}", "NAME:PATTERN,…", "score these queries too; may be repeated"),
    "-q": ("condition", "attribute {}", "ATTRIBUTE", "score the groups of this attribute too; may be repeated"),
}
"""The organisers' options that add a line to a setting."""

SHORT_FLAGS = {
    "-w": ("condition", "oov", "score queries with and without out-of-vocabulary words too"),
    "-G": ("condition", "has_targets", "score queries with and without occurrences too"),
    "-j": ("just_system_terms", "true", "leave out listed queries that the output has no block for"),
    "-P": ("pooled", "true", "score all queries as one"),
    "-inc": ("include_no_targets", "true", "count queries without occurrences in the means"),
    "-E": ("ecf_filter", "whole", "drop what does not lie wholly inside one excerpt, as STDEval"),
}
"""The organisers' options without a value."""

_PREFILTERS = {
    "charsplit": {"character_split": "all"},
    "notascii": {"character_split": "not_ascii"},
    "deletehyphens": {"delete_hyphens": "true"},
}
"""What ``-x`` takes, lower-cased: later ones add to earlier ones."""

LINES = ("condition", "namefile")
"""Settings of several lines: what is given more than once adds up."""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add ``--input ROLE=URL`` and the organisers' short forms."""
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        type=_pair,
        metavar="ROLE=URL",
        help="an input file by its role: a path or any fsspec URL",
    )
    for option, role in SHORT_INPUTS.items():
        group.add_argument(
            option,
            dest="inputs",
            action="append",
            type=_as(option),
            metavar="URL",
            help=f"same as --input {role}=URL",
        )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add ``--mode``, ``--set FIELD=VALUE`` and the organisers' short forms."""
    group = parser.add_argument_group("settings")
    group.add_argument(
        "--mode",
        default="official",
        help="official (as the organisers' tool, the default) or plan (as the text of the evaluation plan)",
    )
    group.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        type=_pair,
        metavar="FIELD=VALUE",
        help="override a setting; 'rescore protocols NAME' lists them",
    )
    for option, (name, meaning) in SHORT_SETTINGS.items():
        group.add_argument(
            option,
            dest="settings",
            action="append",
            type=_as(name),
            metavar="X",
            help=f"same as --set {name}=X: {meaning}",
        )
    for option, (name, form, shown, meaning) in SHORT_LINES.items():
        group.add_argument(
            option, dest="settings", action="append", type=_line(name, form), metavar=shown, help=meaning
        )
    for option, (name, value, meaning) in SHORT_FLAGS.items():
        group.add_argument(option, dest="settings", action="append_const", const=(name, value), help=meaning)
    group.add_argument(
        "-x",
        dest="settings",
        action="append",
        type=_as("-x"),
        metavar="PREFILTER",
        help="charsplit, notASCII or deleteHyphens, of transcript and keywords; may be repeated",
    )


def roles_of(given: Iterable[tuple[str, str]], protocol: Protocol) -> dict[str, str]:
    """The inputs by role. Raises ``UsageError`` for a role the protocol has not, or one given twice."""
    own_options = {role.option: role.name for role in protocol.roles if role.option}
    named = [(own_options.get(role, SHORT_INPUTS.get(role, role)), url) for role, url in given]
    allowed = [role.name for role in protocol.roles]
    unknown = [role for role, _ in named if role not in allowed]
    if unknown:
        raise UsageError(f"{protocol.name} has no input {', '.join(unknown)} (allowed: {', '.join(allowed)}).")
    return _once(named, "input")


def settings_of(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The overrides by setting. Raises ``UsageError`` for one given twice, unless its values are lines."""
    lines: dict[str, str] = {}
    single = []
    for name, value in given:
        if name in LINES:
            lines[name] = "\n".join(filter(None, (lines.get(name), value)))
        elif name == "-x":
            lines |= _prefilter(value)
        else:
            single.append((name, value))
    return {**_once(single, "setting"), **lines}


def _prefilter(value: str) -> dict[str, str]:
    if value.lower() not in _PREFILTERS:
        raise UsageError(f"-x takes charsplit, notASCII or deleteHyphens (got {value!r}).")
    return _PREFILTERS[value.lower()]


def _once(pairs: Iterable[tuple[str, str]], what: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in values:
            raise UsageError(f"{what} {name} is given twice ({values[name]} and {value}). Give it once.")
        values[name] = value
    return values


def _as(name: str) -> Callable[[str], tuple[str, str]]:
    """A type for argparse that pairs the value with ``name``."""
    return lambda value: (name, value)


def _line(name: str, form: str) -> Callable[[str], tuple[str, str]]:
    """A type for argparse that makes a line of a setting."""
    return lambda value: (name, form.format(value))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value
