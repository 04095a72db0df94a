"""The fuzzer begins with what is valid, ends every case as planned, and finds out what is broken."""

from __future__ import annotations

import io
import json
import math
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pipeline import protocols
from pipeline.config import load_evaluation
from pipeline.config.meta_file import load_study
from pipeline.config.season import load_roster, load_season
from pipeline.formats import READERS
from pipeline.metrics.med.rtf import execution_factors
from pipeline.protocols.med.family import _video_s
from pipeline.season.archives import unpack
from pipeline.season.verdict import Remarks
from tests.fuzz import __main__ as fuzz
from tests.fuzz import targets
from tests.fuzz.mutate import mutated
from tests.fuzz.seeds import CONFIGS, VALID

LOADERS = {"evaluation": load_evaluation, "study": load_study, "season": load_season, "roster": load_roster}


@pytest.mark.parametrize("form", READERS)
def test_every_seed_of_a_format_is_read(form: str) -> None:
    read = [READERS[form](io.BytesIO(data), "f") for data in targets.seeds_of(form)]
    assert read
    assert None not in read


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_seed_of_settings_is_accepted(kind: str) -> None:
    path = targets.scratch() / f"{kind}.yaml"
    path.write_bytes(CONFIGS[kind])
    assert LOADERS[kind](str(path)) is not None


def test_most_seeds_of_cells_are_scored() -> None:
    """Before mutation; evaluations without a single row are refused."""
    ended = []
    for name, mode in protocols.protocols():
        texts, settings = targets.evaluation(name, mode, 1)
        protocol = protocols.find(name, mode=mode, overrides=settings)
        forms = {role: targets.format_of(protocol, role) for role in texts}

        def run(protocol=protocol, forms=forms, texts=texts) -> None:
            tables = {role: READERS[forms[role]](io.BytesIO(text), role) for role, text in texts.items()}
            targets.score_tables(protocol, tables, ())

        ended.append(targets._ended(run))
    assert ended.count(targets.READ) > 0.7 * len(ended)


def test_a_mutation_is_the_same_for_the_same_seed() -> None:
    data, others = VALID["ecf"], tuple(VALID.values())
    made = [mutated(data, others, random.Random(seed)) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("target", [name for name, (_, share) in targets.TARGETS.items() if share])
def test_mutated_inputs_are_read_or_refused(target: str, tmp_path) -> None:
    report = tmp_path / "report.json"
    ended = fuzz.main(["--cases", "0:200", "--only", target, "--report", str(report)])
    told = json.loads(report.read_text())
    assert (ended, told["faults"]) == (0, [])
    assert all(told["counts"].get(f"{target} {outcome}", 0) >= 5 for outcome in (targets.READ, targets.REFUSED))


def test_large_files_are_read_in_bounded_memory(tmp_path) -> None:
    report = tmp_path / "report.json"
    line = [sys.executable, "-m", "tests.fuzz", "--cases", "0:6", "--only", "large", "--report", str(report)]
    subprocess.run(line, check=True, cwd=Path(__file__).parents[2])
    told = json.loads(report.read_text())
    assert (told["n_cases"], told["faults"]) == (6, [])
    assert 16 << 20 < max(taken for taken, _ in told["large_peak_bytes_and_cpu_s"].values()) < 512 << 20


def test_a_reader_that_breaks_is_found_out(monkeypatch, tmp_path) -> None:
    broken = {**READERS, "ecf": lambda stream, _where: 1 // len(stream.read(0))}
    monkeypatch.setattr(targets, "READERS", broken)
    report = tmp_path / "report.json"
    assert fuzz.main(["--cases", "0:60", "--only", "reader", "--report", str(report)]) == 1
    assert "ZeroDivisionError" in json.loads(report.read_text())["faults"][0]["what"]


# What was found -----------------------------------------------------------------------------------------------------


def test_a_time_beyond_single_precision_is_infinite_and_no_warning() -> None:
    """Seed 25, cases 79054 and 487163: a warning of NumPy from an STM that ends at 1e308 s."""
    tables = {
        "stm": READERS["stm"](io.BytesIO(b"f 1 s 0 1e308 <o> a\n"), "stm"),
        "ctm": READERS["ctm"](io.BytesIO(b"f 1 0.5 0.25 a\n"), "ctm"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = targets.score_tables(protocols.find("stt13"), tables, ())
    assert result.figures["wer"].value == 0.0


def test_hours_over_next_to_no_video_are_infinite_and_no_warning() -> None:
    """Seed 25, cases 38378, 129267, 222392 and 263487: the same from a DetectionTPT of 1e308 hours."""
    total = SimpleNamespace(submitted=np.array([True, False]), hours=np.array([1e308, 1.0]))
    scored = SimpleNamespace(facts=SimpleNamespace(t_audio_s=1e-3), total=total)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factors = execution_factors(scored)
    assert np.isposinf(factors[0])
    assert np.isnan(factors[1])


def test_a_member_of_a_zip_without_a_name_is_told(tmp_path) -> None:
    """Seed 27, case 317557: an IndexError of the library."""
    path, remarks = tmp_path / "a.zip", Remarks()
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("x", "1")
        out.infolist()[0].filename = ""
    (tmp_path / "into").mkdir()
    assert unpack(path, "a.zip", tmp_path / "into", remarks) == {}
    (told,) = (str(remark.finding) for remark in remarks.verdict().remarks)
    assert told.startswith("a.zip: the member '' has an unsafe name (allowed: names below the archive's own folder).")


def test_durations_beyond_doubles_add_up_to_infinity() -> None:
    """Seed 27, case 367073: an OverflowError of clips that last 1e308 s each."""
    data = b"ClipID,DURATION\na,1e308\nb,1e308\n"
    assert _video_s(READERS["med_clipmd"](io.BytesIO(data), "f")) == math.inf
    steps = b"search: {steps: [{cpu_s: 1e308}, {cpu_s: 1e308}]}\n"
    assert READERS["resources"](io.BytesIO(steps), "f").only()["search"].phase.cpu_s == math.inf
