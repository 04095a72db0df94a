"""Random rules and lines against csrfilt and rfilter1 of SCTK, where they are installed."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import glm_random as made
import pytest

from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.glm import Glm, read_glm
from pipeline.formats.stt.stm import read_stm
from pipeline.formats.table import Table
from pipeline.trials.tokens.rewritten import Rewriting, segments_rewritten, words_rewritten

FILES, N_RULES = 26, 40
HERE = Path("/usr/lib/sctk/bin")


@pytest.fixture(autouse=True)
def _sctk(require: Callable[[str, object, str], None]) -> None:
    require("sctk", (HERE / "rfilter1").exists(), "csrfilt is not where Debian puts it (apt-get install sctk)")


def program(name: str, *arguments: str, given: str) -> str:
    environment = {**os.environ, "PATH": f"{HERE}:{os.environ['PATH']}", "LC_ALL": "C"}
    command = [str(HERE / name), *arguments]
    done = subprocess.run(command, input=given.encode(), capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return done.stdout.decode()


def rows(table: Table, *names: str) -> list[tuple[Any, ...]]:
    """Rows as tuples; NaN as None."""
    columns = [table.text(name) if name in table.vocabularies else table[name].tolist() for name in names]
    return [tuple(None if str(value) == "nan" else value for value in row) for row in zip(*columns, strict=True)]


def read(text: str) -> Glm:
    return read_glm(io.BytesIO(text.encode()), "rules.glm")


@pytest.mark.parametrize("seed", range(FILES))
def test_rfilter1_rewrites_lines_alike(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    path = tmp_path / "rules.glm"
    path.write_text(made.rules(random, N_RULES, regions=False))
    lines = [" " * 40 + made.text(random) + "  " for _ in range(40)]
    theirs = program("rfilter1", str(path), given="\n".join(lines) + "\n")
    rules = read(path.read_text()).reference
    assert len(rules.rules) >= N_RULES // 2
    assert [rules.rewritten(line) for line in lines] == theirs.split("\n")[:-1]


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("seed", range(FILES))
def test_csrfilt_rewrites_segments_and_words_alike(seed: int, split: bool, tmp_path: Path) -> None:
    random = Random(1000 + seed)
    path = tmp_path / "rules.glm"
    path.write_text(made.rules(random, N_RULES))
    glm, stm, ctm = read(path.read_text()), made.stm(random), made.ctm(random)
    options = [*(["-dh"] if split else []), "-t"]

    theirs = program("csrfilt.sh", "-i", "stm", *options, "ref", str(path), given=stm)
    names = ("file", "channel", "speaker", "label", "begin_s", "end_s", "text")
    wanted = rows(read_stm(io.BytesIO(theirs.encode()), "theirs").segments, *names)
    table = read_stm(io.BytesIO(stm.encode()), "r.stm").segments
    ours = segments_rewritten(table, Rewriting(glm.reference, split_hyphens=split), lambda _: False)
    assert rows(ours, *names) == wanted

    theirs = program("csrfilt.sh", "-i", "ctm", *options, "hyp", str(path), given=ctm)
    names = ("file", "channel", "word", "begin_s", "dur_s", "confidence")
    wanted = rows(read_ctm(io.BytesIO(theirs.encode()), "theirs").words, *names)
    table = read_ctm(io.BytesIO(ctm.encode()), "h.ctm").words
    assert rows(words_rewritten(table, Rewriting(glm.output, split_hyphens=split))[0], *names) == wanted
