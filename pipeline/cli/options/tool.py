"""Options of the organisers' tools on our command line: what each of them is here.

A tool's options are one table (``kws_options``, ``med_options``, ``stt_options``). Each one is taken as a setting or an
input, or told to have no effect, or refused by its name with what to use instead. Which table holds depends on the
protocol, so options are added to the parser once ``--protocol`` is known.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import Finding, UsageError
from pipeline.protocols.base import Protocol

Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Option:
    """One option of a tool. Its effect is ``settings`` or ``inputs``, or a word on why it has none."""

    names: tuple[str, ...]
    meaning: str = ""
    shown: str = ""
    nargs: int | str | None = None
    settings: Callable[[Sequence[str]], Pairs] | None = None
    inputs: Callable[[Sequence[str]], Pairs] | None = None
    ignored: str = ""
    refused: str = ""
    fields: tuple[str, ...] = ()
    """The settings it is short for: a protocol that lacks one of them refuses the option."""


@dataclass(frozen=True)
class GivenOption:
    """An option as it stood on the command line."""

    option: Option
    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Tool:
    """A tool by its name, with all its options. ``check`` looks at those given together: it raises ``UsageError``, or
    tells what is odd about them."""

    name: str
    options: tuple[Option, ...]
    check: Callable[[Sequence[GivenOption], Protocol], Iterable[str]] = lambda _given, _protocol: ()


def value(names: str, field: str, meaning: str, *, shown: str = "X", form: str = "{}") -> Option:
    """An option whose value is that of a setting."""
    return Option(
        tuple(names.split()), meaning, shown, fields=(field,), settings=lambda words: [(field, form.format(words[0]))]
    )


def flag(names: str, field: str, worth: str, meaning: str) -> Option:
    """An option without a value that gives a setting one."""
    return Option(tuple(names.split()), meaning, nargs=0, fields=(field,), settings=lambda _: [(field, worth)])


def file(names: str, role: str) -> Option:
    """An option that names an input."""
    return Option(tuple(names.split()), f"same as --input {role}=URL", "URL", inputs=lambda words: [(role, words[0])])


def ignored(names: str, why: str, *, nargs: int | str | None = 0) -> Option:
    """An option that changes no figure and asks for nothing."""
    return Option(tuple(names.split()), nargs=nargs, ignored=why)


def refused(names: str, instead: str) -> Option:
    """An option that asks for what is not had by it."""
    return Option(tuple(names.split()), nargs="*", refused=instead)


class _InOrderGiven(argparse.Action):
    """Keeps an option with its words, in the order of the command line."""

    def __init__(self, *names: Any, option: Option, **others: Any) -> None:
        super().__init__(*names, **others)
        self._option = option

    def __call__(self, _parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        words = (values,) if isinstance(values, str) else tuple(values or ())
        before = getattr(namespace, self.dest, None) or []
        setattr(namespace, self.dest, [*before, GivenOption(self._option, str(option_string), words)])


def add_options(parser: argparse.ArgumentParser, tool: Tool, protocol: Protocol | None) -> None:
    """Add a tool's options; those that only say why they are refused stand in no help."""
    group = parser.add_argument_group(f"options of {tool.name}")
    parser.conflict_handler = "resolve"  # sclite's -h names a file; --help stays
    group.conflict_handler = "resolve"
    for option in tool.options:
        known = _known(option, protocol)
        first, *others = known.names
        longer = [name[1:] for name in others if name.startswith("--")]  # as Getopt::Long has them
        shown = argparse.SUPPRESS if known.ignored or known.refused else known.meaning
        for names, meaning in (([first], shown), ([*others, *longer], argparse.SUPPRESS)):
            if names:
                group.add_argument(
                    *names,
                    dest="options",
                    action=_InOrderGiven,
                    option=known,
                    nargs=known.nargs,
                    metavar=known.shown or None,
                    help=meaning,
                )


def _known(option: Option, protocol: Protocol | None) -> Option:
    """The option as a protocol takes it: refused where there is no setting for it."""
    if protocol is None or not option.fields:
        return option
    lacking = [name for name in option.fields if not hasattr(protocol.settings, name)]
    if not lacking:
        return option
    why = f"{protocol.name} has no setting {lacking[0]}. Leave it out."
    return dataclasses.replace(option, nargs="*", settings=None, refused=why)


def refuse(given: Sequence[GivenOption], tool: Tool) -> None:
    """Raise ``UsageError`` that names every option which is not taken, with what to use instead."""
    told = [f"{tool.name}'s {one.name} is not taken here: {one.option.refused}" for one in given if one.option.refused]
    if told:
        raise UsageError("\n".join(dict.fromkeys(told)))


def without_effect(given: Sequence[GivenOption]) -> list[Finding]:
    """Remarks on options that change nothing."""
    told = {one.name: f"{one.name} has no effect: {one.option.ignored}" for one in given if one.option.ignored}
    return [Finding("ignored_option", message, "") for message in told.values()]
