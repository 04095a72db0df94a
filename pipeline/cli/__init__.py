"""The command line: ``rescore score | compare | validate | protocols | run | runs | show | diff | …``.

Each command has a module with ``register(subparsers)``, which ``COMMANDS`` names; it is imported when it is asked for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from gc import freeze, set_threshold  # `gc` here is the command
from importlib.metadata import version
from typing import Any, NoReturn

from pipeline.cli.output import error_document, finding_document, note, note_findings, print_json
from pipeline.config.urls import masked
from pipeline.errors import Finding, InputError, RescoreError, UsageError

COMMANDS = {
    "score": "pipeline.cli.score",
    "compare": "pipeline.cli.compare",
    "quesst-lines": "pipeline.cli.quesst_lines",
    "validate": "pipeline.cli.validate",
    "protocols": "pipeline.cli.protocols",
    "run": "pipeline.cli.evaluation",
    "runs": "pipeline.cli.runs",
    "show": "pipeline.cli.runs",
    "diff": "pipeline.cli.diff",
    "verify": "pipeline.cli.verify",
    "gc": "pipeline.cli.gc",
    "watch": "pipeline.cli.watch",
    "publish": "pipeline.cli.watch",
    "meta": "pipeline.cli.meta",
    "submit": "pipeline.cli.seasons.submit",
    "withdraw": "pipeline.cli.seasons.submit",
    "choose": "pipeline.cli.seasons.submit",
    "season": "pipeline.cli.seasons.command",
    "explain": "pipeline.cli.explain",
    "whatif": "pipeline.cli.whatif",
    "plan": "pipeline.cli.readiness",
    "archive": "pipeline.cli.archive",
    "reproduce": "pipeline.cli.archive",
    "convert": "pipeline.cli.convert",
    "demo": "pipeline.cli.demo",
}

EXIT_CODES = "exit codes: 0 scored (undefined figures included), 1 refused input, 2 usage, 3 platform fault"
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Tables of results are many small objects without cycles: looking for some took a fifth of publishing a run."""
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command in process and return its exit code. ``argv`` is without the program's name."""
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    return code


def run() -> None:
    """The entry point of the ``rescore`` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name in any script prints on any terminal
    set_environment()
    set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    code = main()
    if (server := sys.modules.get("flows.server")) is not None and server.is_lost():
        from flows.guard import leave  # Prefect would go on telling its server of events, for minutes

        leave(code)
    freeze()  # Python's last look for garbage would go through every module there is, for half a second
    sys.exit(code)


def set_environment() -> None:
    """Set variables that libraries read on import. Those that are set already stay."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # matrices are small here: threads that wait for each other only cost
    # A column is written once and read once or twice: huge pages gain little, and where memory is fragmented, making
    # them took a fifth of the time of a large cell.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or what parses one command; others are not imported then.

    A parsed call carries its command as ``args.command(args) -> exit code``.
    """
    parser = MaskingParser(
        prog="rescore",
        description="Score the participants of a detection evaluation, exactly.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rescore {version('rescore')}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=MaskingParser)
    for module in dict.fromkeys([COMMANDS[command]] if command in COMMANDS else COMMANDS.values()):
        importlib.import_module(module).register(subparsers)
    return parser


class MaskingParser(argparse.ArgumentParser):
    """A parser whose messages show no credentials."""

    prepare: Callable[[argparse.ArgumentParser, Sequence[str]], None] | None = None
    """Adds what depends on the words that are to be parsed, before they are."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, once options that depend on others are added."""
        if self.prepare is not None and args is not None:
            self.prepare(self, args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print usage and message on stderr and leave with code 2."""
        super().error(masked(message))


def _run(argv: Sequence[str] | None) -> int:
    """Parse and run; every deliberate error becomes its exit code."""
    args = argparse.Namespace()
    try:
        words = sys.argv[1:] if argv is None else argv
        build_parser(words[0] if words else None).parse_args(words, args)
        return int(args.command(args))
    except SystemExit as leaving:  # argparse, after --help and on wrong usage
        return leaving.code if isinstance(leaving.code, int) else 2
    except InputError as error:
        if getattr(args, "json", False):
            print_json(error_document(error))
        note_findings(error)
        return error.exit_code
    except RescoreError as error:
        _tell(args, str(error), "usage" if isinstance(error, UsageError) else "platform_fault")
        return error.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except OSError as error:
        _tell(args, f"{type(error).__name__}: {error}", "platform_fault")
        return RescoreError.exit_code
    except Exception:  # noqa: BLE001 - a fault of the program: told in full, and never taken for refused input
        _tell(args, traceback.format_exc(), "program_fault")
        return RescoreError.exit_code


def _tell(args: argparse.Namespace, message: str, code: str) -> None:
    """Print an error on stderr, and as a document on stdout where documents are asked for."""
    if getattr(args, "json", False):
        print_json({"errors": [finding_document(Finding(code, message, ""))], "n_errors": 1})
    note(message)


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain of the closed pipe."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # stdout is not a file here
        return
