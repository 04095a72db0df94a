"""A command that fails as it is told, registered like any other."""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.errors import ConfigError, Finding, InputError, StoreError, UsageError

LEAK = "s3://ID:HUSH@bucket/x.xml"
RAISED: dict[str, BaseException] = {
    "input": InputError([Finding("bad_score", "not a number", f"{LEAK}:3")], 7),
    "config": ConfigError([Finding("bad_name", "not a name", "e.yaml:1")]),
    "usage": UsageError(f"no such thing as {LEAK}"),
    "store": StoreError(f"cannot write {LEAK}"),
    "os": PermissionError(13, "denied", LEAK),
    "bug": ZeroDivisionError("oh"),
    "interrupt": KeyboardInterrupt(),
    "pipe": BrokenPipeError(),
}


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("fail")
    parser.add_argument("kind", choices=[*RAISED, "none"])
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(command=fail)


def fail(args: argparse.Namespace) -> int:
    if args.kind in RAISED:
        raise RAISED[args.kind]
    return 0
