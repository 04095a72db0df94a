"""The options that name input files and settings, shared by ``score`` and ``compare``; ``validate`` has the files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.cli.options.kws import COMMON, KWSEVAL, STDEVAL
from pipeline.cli.options.med import DEVA
from pipeline.cli.options.stt import SCLITE
from pipeline.cli.options.tool import GivenOption, Tool, add_options, refuse, without_effect
from pipeline.errors import Finding, UsageError
from pipeline.protocols import modes
from pipeline.protocols.base import Protocol

if TYPE_CHECKING:
    from pipeline.cli import MaskingParser

SHORT_INPUTS = {"-e": "ecf", "-r": "rttm", "-t": "kwlist", "-s": "output"}
"""The organisers' options for files. Where a protocol gives an option to one of its roles, that role is meant."""

TOOLS = {tool.name: tool for tool in (KWSEVAL, STDEVAL, DEVA, SCLITE)}
ANY_TOOL = Tool("the organisers' tools", COMMON)
"""What protocols take whose tool has no options of its own."""

LINES = ("condition", "namefile")
"""Settings of several lines: what is given more than once adds up."""


def add_inputs(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add ``--input ROLE=URL``."""
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        type=_pair,
        metavar="ROLE=URL",
        help="an input file by its role: a path, any fsspec URL, or - for standard input (score)",
    )
    return group


def add_short_inputs(parser: argparse.ArgumentParser) -> None:
    """Add ``--input ROLE=URL`` and the organisers' short forms, whatever the protocol."""
    group = add_inputs(parser)
    for option, role in SHORT_INPUTS.items():
        group.add_argument(
            option,
            dest="inputs",
            action="append",
            type=_as(option),
            metavar="URL",
            help=f"same as --input {role}=URL",
        )


def add_settings(parser: MaskingParser) -> None:
    """Add ``--mode``, ``--set FIELD=VALUE`` and, once the protocol is known, the options of the organisers' tool."""
    add_named_settings(parser)
    parser.prepare = add_tool_options


def add_named_settings(parser: argparse.ArgumentParser) -> None:
    """Add ``--mode`` and ``--set FIELD=VALUE``."""
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
    parser.set_defaults(options=[])


def add_tool_options(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the tool whose evaluation ``--protocol`` among ``words`` names; KWSEval's without one."""
    protocol = _protocol_in(words)
    add_options(parser, KWSEVAL if protocol is None else tool_of(protocol), protocol)


def tool_of(protocol: Protocol) -> Tool:
    """The organisers' tool of a protocol, with its options."""
    return TOOLS.get(protocol.tool, ANY_TOOL)


def _protocol_in(words: Sequence[str]) -> Protocol | None:
    found = None
    for at, word in enumerate(words):
        name, equals, rest = word.partition("=")
        if name == "--protocol":
            found = rest if equals else words[at + 1] if at + 1 < len(words) else None
    return next(iter(modes(found).values()), None) if found else None


def roles_of(args: argparse.Namespace, protocol: Protocol) -> dict[str, str]:
    """The inputs by role. Raises ``UsageError`` for a role the protocol has not, or one given twice."""
    return _once(_named(args, protocol), "input")


def outputs_of(args: argparse.Namespace, protocol: Protocol) -> list[dict[str, str]]:
    """The inputs by role, once for each system's output that is given. Raises as ``roles_of`` does."""
    named, main = _named(args, protocol), protocol.family.outputs[0]
    outputs = [url for role, url in named if role == main]
    if len(outputs) < 2:
        return [_once(named, "input")]
    rest = _once([(role, url) for role, url in named if role != main], "input")
    return [{**rest, main: url} for url in dict.fromkeys(outputs)]


def from_stdin(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with what stands on standard input in the place of ``-``. Raises ``UsageError`` where two are."""
    asked = [role for role, url in inputs.items() if url == "-"]
    if len(asked) > 1:
        raise UsageError(f"standard input is one file (seen: - for {', '.join(asked)}). Give paths for the others.")
    return {role: sys.stdin.buffer.read() if role in asked else url for role, url in inputs.items()}


def _named(args: argparse.Namespace, protocol: Protocol) -> list[tuple[str, str]]:
    """Roles with their URLs, in the order given."""
    allowed = [role.name for role in protocol.roles]
    own_options = {role.option: role.name for role in protocol.roles if role.option}
    by_option = [
        (role if role in allowed else own_options.get(one.option.names[0], role), url)
        for one in _options(args)
        if one.option.inputs
        for role, url in one.option.inputs(one.words)
    ]
    given = [(own_options.get(role, SHORT_INPUTS.get(role, role)), url) for role, url in args.inputs]
    named = [*given, *by_option]
    unknown = [role for role, _ in named if role not in allowed]
    if unknown:
        raise UsageError(f"{protocol.name} has no input {', '.join(unknown)} (allowed: {', '.join(allowed)}).")
    return named


def _options(args: argparse.Namespace) -> list[GivenOption]:
    return getattr(args, "options", [])


def settings_of(args: argparse.Namespace) -> tuple[dict[str, str], list[Finding]]:
    """The overrides by setting, and what to say of options that change nothing.

    Raises ``UsageError`` for options that are not taken here, by their names, for those that do not go together, and
    for a setting given twice, unless its values are lines.
    """
    given = _options(args)
    known = _protocol_in(["--protocol", args.protocol])
    tool = KWSEVAL if known is None else tool_of(known)
    refuse(given, tool)
    notes = without_effect(given)
    if known is not None:
        notes += [Finding("odd_options", message, "") for message in tool.check(given, known)]
    pairs = [*args.settings]
    for one in given:
        pairs += one.option.settings(one.words) if one.option.settings else ()
    lines: dict[str, str] = {}
    single, prefilters = [], set[str]()
    for name, value in pairs:
        if name in LINES:
            lines[name] = "\n".join(filter(None, (lines.get(name), value)))
        elif name == "-x":
            prefilters.add(value)
        else:
            single.append((name, value))
    split, unsplit = _prefiltered(prefilters)
    return {**_once([*single, *split], "setting"), **lines}, [*notes, *unsplit]


def _prefiltered(given: set[str]) -> tuple[list[tuple[str, str]], list[Finding]]:
    """The settings of ``-x``, whatever their order. Without charsplit, notASCII does nothing (KWSEval)."""
    pairs = [("delete_hyphens", "true")] if "deletehyphens" in given else []
    if "charsplit" in given:
        return [*pairs, ("character_split", "not_ascii" if "notascii" in given else "all")], []
    if "notascii" not in given:
        return pairs, []
    message = "-x notASCII has no effect without -x charsplit, as in KWSEval: words are not split."
    return pairs, [Finding("ignored_option", message, "")]


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


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value
