"""Installed scorers of the organisers: where their programs are and how they are started, for benches and tests.

None comes with this project. A path is given by option (``--kwseval PATH``) or by variable (``RESCORE_KWSEVAL=PATH``):
the program itself, or the folder of its installation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

IN_ORDER = {"PERL_PERTURB_KEYS": "0", "PERL_HASH_SEED": "0"}
"""What F4DE's programs want of Perl."""


@dataclass(frozen=True)
class Installed:
    """One tool by its name: where its program is in the folder ``of`` an installation."""

    name: str
    of: str
    places: tuple[str, ...]

    @property
    def option(self) -> str:
        """The bench's option that gives the path."""
        return f"--{self.name.lower()}"

    @property
    def variable(self) -> str:
        """The variable of the environment that gives the path."""
        return f"RESCORE_{self.name.upper()}"


KWSEVAL = Installed("KWSEval", "F4DE", ("KWSEval", "KWSEval.pl", "bin/KWSEval", "KWSEval/tools/KWSEval/KWSEval.pl"))
STDEVAL = Installed("STDEval", "STDEval", ("STDEval", "STDEval.pl", "src/STDEval.pl"))
DEVA = Installed("DEVA", "F4DE", ("DEVA_cli", "DEVA_cli.pl", "bin/DEVA_cli", "DEVA/tools/DEVA_cli/DEVA_cli.pl"))
KALDI = Installed("Kaldi", "Kaldi", ("compute-atwv", "src/kwsbin/compute-atwv", "kwsbin/compute-atwv"))
JAR = Installed("JAR", "the QUESST 2015 scoring tool", ("MediaEvalQUESST2015.jar",))
ALL = (KWSEVAL, STDEVAL, DEVA, KALDI, JAR)


def command(tool: Installed, path: str | None, environment: Mapping[str, str] = os.environ) -> tuple[str, ...] | str:
    """The words that start a tool, from a path or its variable; or why it cannot be started."""
    given = path or environment.get(tool.variable)
    if not given:
        return f"not given ({tool.option} PATH or {tool.variable})"
    program = program_in(Path(given).expanduser().absolute(), tool.places)
    if program is None:
        return f"not found where {tool.option if path else tool.variable} says"
    return (*_interpreter(program), str(program))


def program_in(path: Path, places: Sequence[str]) -> Path | None:
    """The program itself, or the first of its usual places in a folder."""
    for candidate in [path] if not path.is_dir() else [path / place for place in places]:
        if candidate.is_file() and (candidate.suffix in (".pl", ".jar") or os.access(candidate, os.X_OK)):
            return candidate
    return None


def _interpreter(program: Path) -> tuple[str, ...]:
    """F4DE's programs begin as shell scripts that start Perl: ``-x`` goes to where Perl begins."""
    if program.suffix == ".pl":
        return ("perl", "-x", "-I", str(program.parent))
    return ("java", "-Xmx2g", "-jar") if program.suffix == ".jar" else ()
