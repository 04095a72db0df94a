"""``rescore convert``: from one format to another, refused where things would have to be made up."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from pipeline.cli.output import columns, note
from pipeline.engine.inputs import format_of
from pipeline.errors import Finding, InputError, PlatformError, UsageError
from pipeline.formats.convert import Given, Made, conversions, find
from pipeline.formats.streams import chunks
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import open_input


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "convert",
        help="from one format of transcripts to another",
        description="Convert a file, or a folder of Kaldi, from one format to another. Without formats, list the ways.",
        allow_abbrev=False,
    )
    parser.add_argument("source", nargs="?", metavar="FROM", help="the format there is")
    parser.add_argument("target", nargs="?", metavar="TO", help="the format that is wanted")
    parser.add_argument("input", nargs="?", metavar="INPUT", help="a file, its URL, or a folder")
    parser.add_argument("-o", "--output", metavar="PATH", help="a file, or a new folder (default: standard output)")
    for name, what in (("file", "recording"), ("channel", "channel"), ("speaker", "speaker")):
        parser.add_argument(f"--{name}", default="", metavar="NAME", help=f"the {what}, where the format names none")
    parser.set_defaults(command=convert)


def convert(args: argparse.Namespace) -> int:
    """Convert and write; 0. Without formats, list the ways."""
    if args.source is None:
        ways = conversions().values()
        print(columns(((f"{way.source} to {way.target}", way.rule) for way in ways), indent=""))
        return 0
    if args.target is None or args.input is None:
        raise UsageError("convert takes FROM, TO and INPUT. Without any of them it lists the ways.")
    way = find(args.source, args.target)
    made = way.convert(given(args.input, args.file, args.channel, args.speaker))
    for told in made.notes:
        note(told)
    _write(made, args.output)
    return 0


def given(path: str, file: str = "", channel: str = "", speaker: str = "") -> Given:
    """What lies at a path or URL; of a folder, its files. Raises ``InputError`` where it is not text in UTF-8."""
    place = Path(path)
    parts = {one.name: str(one) for one in sorted(place.iterdir()) if one.is_file()} if place.is_dir() else {"": path}
    contents = {name: _read(url) for name, url in parts.items()}
    found = Given(path, contents, file, channel, speaker)
    for name, data in contents.items():
        _check(data, found.where(name))
    return found


def converted(protocol: Protocol, inputs: Mapping[str, str]) -> dict[str, str | bytes]:
    """Inputs by role, those given as ``FORMAT:PATH`` as what they become: ``kaldi:data/test?channel=1`` for an STM.

    Raises ``UsageError`` for other options than ``file``, ``channel`` and ``speaker``, and as conversions do.
    """
    made: dict[str, str | bytes] = dict(inputs)
    for role, url in inputs.items():
        source, colon, rest = url.partition(":")
        if not colon or rest.startswith("//") or (source, format_of(protocol, role)) not in conversions():
            continue
        path, _, query = rest.partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        if unknown := sorted(set(options) - {"file", "channel", "speaker"}):
            raise UsageError(f"{url} has the options {', '.join(unknown)} (allowed: file, channel, speaker).")
        became = find(source, format_of(protocol, role)).convert(given(path, **options))
        for told in became.notes:
            note(told)
        made[role] = became.files[""]
    return made


def _read(url: str) -> bytes:
    with open_input(url) as stream:
        return b"".join(chunks(stream))


def _check(data: bytes, where: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8. Save the file as UTF-8."
        raise InputError([Finding("not_utf8", message, f"{where}:{line}")]) from error


def _write(made: Made, output: str | None) -> None:
    if output is None:
        if "" not in made.files:
            raise UsageError("this makes a folder: name a new one with -o.")
        sys.stdout.write(made.files[""].decode())
        return
    try:
        if "" in made.files:
            Path(output).write_bytes(made.files[""])
            return
        Path(output).mkdir(parents=True)
        for name, data in made.files.items():
            (Path(output) / name).write_bytes(data)
    except FileExistsError as error:
        raise UsageError(f"{output} is there already: name a new folder.") from error
    except OSError as error:
        raise PlatformError(f"{output}: cannot be written ({error.strerror}).") from error
