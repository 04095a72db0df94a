"""The analysis of variance by ranks over speakers against sc_stats of SCTK, where it is installed."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import sclite_live

from pipeline.engine.compare import paired_tests
from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.stm import read_stm
from pipeline.meta.in_memory import opened
from pipeline.protocols import find


@pytest.fixture(autouse=True)
def _sctk(require: Callable[[str, object, str], None]) -> None:
    require("sctk", sclite_live.command(), "sclite is not on the path (Debian: apt-get install sctk)")


@pytest.mark.parametrize("seed", range(12))
def test_the_statistic_over_speakers_is_that_of_sc_stats(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    names, n_speakers = "abcd"[: 3 + seed % 2], 5 + seed % 5
    spoken = [[f"w{random.randrange(30)}" for _ in range(20)] for _ in range(n_speakers)]
    reference = "".join(f"f{at} 1 s{at} 0 100 <o> {' '.join(own)}\n" for at, own in enumerate(spoken))
    (tmp_path / "r.stm").write_text(reference)
    told, partials, protocol = b"", {}, find("stt13")
    for name in names:
        rows = [
            f"f{at} 1 {place} 0.5 {'x' if random.random() < 0.2 else word}\n"
            for at, own in enumerate(spoken)
            for place, word in enumerate(own)
        ]
        (tmp_path / f"{name}.ctm").write_text("".join(rows))
        options = ["-r", "r.stm", "stm", "-h", f"{name}.ctm", "ctm", name, *"-D -F -o sgml stdout".split()]
        told += subprocess.run(["sctk", "sclite", *options], cwd=tmp_path, capture_output=True, check=True).stdout
        tables = {
            "stm": read_stm(io.BytesIO(reference.encode()), "r.stm"),
            "ctm": read_ctm(io.BytesIO("".join(rows).encode()), name),
        }
        partials[name] = opened(protocol, tables).partial
    command = ["sctk", "sc_stats", *"-p -t anovar -v -u -n -".split()]
    report = subprocess.run(command, cwd=tmp_path, input=told, capture_output=True, check=True).stdout.decode()
    wanted = re.findall(r"X2_r = +([0-9.]+)", report)[0]
    assert f"{paired_tests(protocol, partials).of_all['anova'].detail['statistic']:.3f}" == wanted
