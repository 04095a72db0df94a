"""``rescore protocols``: what can be scored, and under which settings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pipeline.cli.output import columns, print_json
from pipeline.engine.result import plain
from pipeline.protocols import describe, find, names


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "protocols",
        help="list protocols, or describe one",
        description="List the protocols, or one protocol's inputs, settings and measures with their sources.",
        allow_abbrev=False,
    )
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("--mode", default="official", help="official (default) or plan")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=protocols)


def protocols(args: argparse.Namespace) -> int:
    """Print the list, or the description of one protocol."""
    if args.name is None:
        listed = [describe(find(name)) for name in names()]
        if args.json:
            keys = ("protocol", "edition", "modes", "title", "primary")
            print_json({"protocols": [{key: entry[key] for key in keys} for entry in listed]})
        else:
            print(columns(((e["protocol"], " ".join(e["modes"]), e["title"]) for e in listed), indent=""))
        return 0
    description = describe(find(args.name, mode=args.mode))
    if args.json:
        settings = [{key: plain(value) for key, value in entry.items()} for entry in description["settings"]]
        print_json({**description, "settings": settings})
    else:
        print(_text(description))
    return 0


def _text(description: Mapping[str, Any]) -> str:
    roles = (
        (role["name"], role["option"] or "", role["format"], "" if role["required"] else "optional")
        for role in description["roles"]
    )
    settings = ((s["name"], _default(s["value"]), s["allowed"], s["meaning"]) for s in description["settings"])
    measures = ((m["name"], m["unit"], m["better"], m["bounds"], m["source"]) for m in description["measures"])
    head = f"{description['protocol']} edition {description['edition']}, {description['mode']}: {description['title']}"
    return "\n\n".join(
        [
            f"{head}\nmodes: {', '.join(description['modes'])}; ranked by {description['primary']}",
            f"inputs (--input NAME=URL)\n{columns(roles)}",
            f"settings (--set NAME=VALUE): default, allowed, meaning\n{columns(settings)}",
            f"measures: unit, better, range, source\n{columns(measures)}",
        ]
    )


def _default(value: Any) -> str:
    """A setting's value as it may be given back, in full."""
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value).lower()
