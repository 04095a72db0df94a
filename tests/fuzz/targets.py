"""What mutated bytes go through: every reader, packed or not, scoring, ``validate``, and files of settings.

A target takes a case's bytes or makes them itself, and says how the case ended: ``read`` or ``refused``. Anything else
that comes out of it is a fault of the program.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import shutil
import tarfile
import tempfile
import traceback
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pipeline import protocols
from pipeline.config import load_evaluation
from pipeline.config.meta_file import load_study
from pipeline.config.season import load_roster, load_season
from pipeline.engine.inputs import format_of
from pipeline.engine.result import document
from pipeline.engine.score import score_tables
from pipeline.errors import RescoreError
from pipeline.formats import READERS
from pipeline.formats.packed import unpacked
from pipeline.season.archives import ArchiveBounds, unpack
from pipeline.season.verdict import Remarks
from tests import peak
from tests.fuzz.mutate import MEMORY_BYTES_AT_MOST, mutated
from tests.fuzz.mutate import large as grown_large
from tests.fuzz.seeds import CONFIGS, VALID
from tests.properties.evaluations import made
from tests.properties.evaluations.written import WRITERS

READ, REFUSED = _ENDS = "read", "refused"
LARGEST: dict[str, tuple[int, float]] = {}
"""The bytes that each reader took at most for a large file, and the processor time of it."""
Outcome = tuple[str, int]
"""How a case ended, and the bytes that it had."""
Target = Callable[[random.Random], Outcome]
N_EVALUATIONS = 40
"""Made-up evaluations of each protocol that scoring begins with."""


@cache
def evaluation(name: str, mode: str, number: int) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of a made-up cell by role, and its settings."""
    rng = random.Random(f"{name} {mode} {number}")
    protocol = protocols.find(name, mode=mode)
    cell = made.make(protocol, rng.randint(1, 4), rng)
    texts = {}
    for role, rows in cell.roles.items():
        texts[role] = WRITERS[format_of(protocol, role).removesuffix("_texts")](rows).encode()
    return texts, dict(cell.settings)


@cache
def seeds_of(form: str) -> tuple[bytes, ...]:
    """Valid files of a format: the smallest one, and those of made-up evaluations."""
    found = [VALID[form]]
    for (name, mode), protocol in protocols.protocols().items():
        texts, _ = evaluation(name, mode, 0)
        found += [text for role, text in texts.items() if format_of(protocol, role) == form]
    return tuple(dict.fromkeys(found))


_ALL = tuple(VALID.values())


def reader(rng: random.Random) -> Outcome:
    """One reader over a mutated file of its format."""
    form = rng.choice(tuple(READERS))
    own = seeds_of(form)
    data = mutated(rng.choice(own), (*own, *_ALL), rng)
    return _ended(lambda: READERS[form](io.BytesIO(data), "f")), len(data)


def packed(rng: random.Random) -> Outcome:
    """A compressed file, damaged before or after it was compressed."""
    form = rng.choice(tuple(READERS))
    plain = rng.choice(seeds_of(form))
    data = gzip.compress(mutated(plain, _ALL, rng) if rng.random() < 0.5 else plain, 1)
    data = mutated(data, _ALL, rng) if rng.random() < 0.7 else data
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[type-var]
    return _ended(lambda: READERS[form](unpacked(stream, "f"), "f")), len(data)


def large(rng: random.Random) -> Outcome:
    """One reader over a file of 1 to 10 MB, in a child of its own whose memory and time are bounded."""
    form = rng.choice(tuple(READERS))
    seed = rng.choice(seeds_of(form))
    data = grown_large(mutated(seed, (seed, *_ALL), rng) if rng.random() < 0.3 else seed, rng)
    READERS[form](io.BytesIO(VALID[form]), "f")  # what it imports is the parent's
    held = peak.resident_bytes()
    child = os.fork()
    if not child:
        ended = 2
        try:
            ended = _ENDS.index(_ended(lambda: READERS[form](io.BytesIO(data), "f")))
        finally:
            if ended > 1:
                traceback.print_exc()
            os._exit(ended)
    _, status, used = os.wait4(child, 0)
    ended, taken = os.waitstatus_to_exitcode(status), (used.ru_maxrss << 10) - held
    if ended not in (0, 1):
        raise AssertionError(f"the reader of {form} ended with {ended} on {len(data)} bytes")
    if taken > MEMORY_BYTES_AT_MOST:
        raise AssertionError(f"the reader of {form} took {taken >> 20} MiB for {len(data)} bytes")
    LARGEST[form] = max(LARGEST.get(form, (0, 0.0)), (taken, used.ru_utime + used.ru_stime))
    return _ENDS[ended], len(data)


def _ended(run: Callable[[], object]) -> str:
    try:
        run()
    except RescoreError as error:
        if not str(error).strip():
            raise AssertionError("a refusal says nothing") from error
        return REFUSED
    return READ


def _cell(rng: random.Random) -> tuple[str, str, dict[str, bytes], dict[str, str]]:
    """A cell of any protocol with one or two of its files mutated."""
    name, mode = rng.choice(tuple(protocols.protocols()))
    texts, settings = evaluation(name, mode, rng.randrange(N_EVALUATIONS))
    texts = dict(texts)
    for role in rng.sample(sorted(texts), min(len(texts), rng.choice((1, 1, 1, 2)))):
        texts[role] = mutated(texts[role], (*texts.values(), *_ALL), rng)
    return name, mode, texts, settings


def score(rng: random.Random) -> Outcome:
    """Scoring in memory, to the document that is printed."""
    name, mode, texts, settings = _cell(rng)

    def run() -> None:
        protocol = protocols.find(name, mode=mode, overrides=settings)
        forms = {role: format_of(protocol, role) for role in texts}
        tables = {role: READERS[forms[role]](io.BytesIO(text), role) for role, text in texts.items()}
        document(score_tables(protocol, tables, ()), curve=True)

    return _ended(run), sum(map(len, texts.values()))


@cache
def scratch() -> Path:
    """A folder of this process, in memory where there is such a place."""
    shared = Path("/dev/shm")  # noqa: S108  # a place in memory, with a name of its own below
    folder = Path(tempfile.mkdtemp(prefix="rescore-fuzz-", dir=shared if os.access(shared, os.W_OK) else None))
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("e.xml", "r.rttm", "k.xml", "q.csv", "t.csv", "s.csv", "e.yaml", "out/a/p_d.xml", "out/w-1/p_d.xml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"unit,stratum\nq1,a\n" if name == "s.csv" else b"")
    (folder / "roster.yaml").write_bytes(CONFIGS["roster"])
    return folder


def validate(rng: random.Random) -> Outcome:
    """``rescore validate`` with the files of a cell, as it is called."""
    from pipeline.cli import main

    name, _, texts, _ = _cell(rng)
    folder = scratch() / "cell"
    folder.mkdir(exist_ok=True)
    line = ["validate", "--protocol", name, "--json"]
    for role, text in texts.items():
        (folder / role).write_bytes(text)
        line += ["--input", f"{role}={folder / role}"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
        code = main(line)
    if code not in (0, 1):
        raise AssertionError(f"validate ended with {code}: {told.getvalue()[-500:]}")
    return REFUSED if code else READ, sum(map(len, texts.values()))


def settings(rng: random.Random) -> Outcome:
    """An evaluation, study, season or roster file."""
    kind = rng.choice(tuple(CONFIGS))
    load = {"evaluation": load_evaluation, "study": load_study, "season": load_season, "roster": load_roster}[kind]
    data = mutated(CONFIGS[kind], (*CONFIGS.values(), VALID["resources"]), rng)
    path = scratch() / f"{kind}-mutated.yaml"
    path.write_bytes(data)
    return _ended(lambda: load(str(path))), len(data)


def archive(rng: random.Random) -> Outcome:
    """A participant's archive."""
    kind = rng.choice(("zip", "tar", "tar.gz"))
    data = mutated(_archives()[kind], tuple(_archives().values()), rng)
    path, into = scratch() / f"a.{kind}", scratch() / "into"
    path.write_bytes(data)
    into.mkdir()
    remarks = Remarks()
    try:
        unpack(path, path.name, into, remarks, ArchiveBounds(n_bytes=8 << 20))
    finally:
        shutil.rmtree(into)
    return READ if remarks.verdict().accepted else REFUSED, len(data)


@cache
def _archives() -> dict[str, bytes]:
    texts = {"a/x.csv": VALID["med_detection"], "a/y.csv": VALID["med_threshold"], "b.xml": VALID["kwslist"]}
    zipped, plain, small = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in texts.items():
            out.writestr(name, data)
    for stream, how in ((plain, "w"), (small, "w:gz")):
        with tarfile.open(fileobj=stream, mode=how) as packed:  # type: ignore[call-overload]
            for name, data in texts.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                packed.addfile(info, io.BytesIO(data))
    return {"zip": zipped.getvalue(), "tar": plain.getvalue(), "tar.gz": small.getvalue()}


TARGETS: dict[str, tuple[Target, int]] = {
    "reader": (reader, 70),
    "packed": (packed, 5),
    "score": (score, 12),
    "validate": (validate, 4),
    "settings": (settings, 7),
    "archive": (archive, 2),
    "large": (large, 0),
}
"""Every target, and its share of the cases in per cent; large files are asked for by ``--only large``."""
