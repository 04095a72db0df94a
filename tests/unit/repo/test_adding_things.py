"""CONTRIBUTING, a format, a protocol, a command and a kind of cluster: done to the letter in a copy of the sources."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
READ = """
import io
from pipeline.errors import InputError
from pipeline.formats import READERS
rows = READERS["prices"](io.BytesIO(b"alpha 1.5\\nbeta 2\\n"), "prices.txt").rows
print(rows.text("query"), rows["price"].tolist())
try:
    READERS["prices"](io.BytesIO(b"alpha\\nbeta two\\n"), "prices.txt")
except InputError as error:
    print(*(finding.where for finding in error.findings))
"""
STARTED = """
from distributed import Client
from flows.clusters.kinds import open_cluster
from flows.settings import Settings, check_cluster
settings = Settings(cluster="threads", workers=2)
check_cluster(settings)
with open_cluster(settings) as cluster, Client(cluster.scheduler, set_as_default=False) as client:
    print(len(client.scheduler_info(n_workers=-1)["workers"]), client.submit(sum, [1, 2]).result())
"""


def blocks(section: str) -> list[tuple[str, str]]:
    """The code of a section of the page, each block with what the text before it says."""
    text = PAGE.partition(f"\n### {section}\n")[2]
    parts = re.split(r"```(?:python)?\n", re.split(r"\n##+ ", text)[0])
    return list(zip(parts[::2], parts[1::2], strict=False))


def follow(clone: Path, section: str) -> None:
    """Write what a section has: files of their own, and lines into tables that the text before them names."""
    found = blocks(section)
    assert found
    for said, code in found:
        path = re.findall(r"`((?:pipeline|flows)/[\w/]+\.py)`", said)[-1]
        if code.startswith('"""'):
            assert not (clone / path).exists()
            (clone / path).write_text(code, encoding="utf-8")
            continue
        source = (clone / path).read_text(encoding="utf-8")
        name = re.findall(r"`([A-Z]+)` of", said)[-1]
        table = re.search(rf"^{name}\b[^\n]*= \w*[({{]+\s*[({{]?", source, re.M)
        assert table is not None, name
        source = f"{source[: table.end()]}{code.strip()} {source[table.end() :]}"
        for line in re.findall(r"`(from [\w.]+ import \w+)`", said):
            source = source.replace("import annotations\n", f"import annotations\n{line}\n", 1)
        (clone / path).write_text(source, encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The sources, without what was compiled of them."""
    for room in ("pipeline", "flows", "rescore"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def python(clone: Path, *args: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(clone)}
    done = subprocess.run(
        [sys.executable, *args], cwd=clone, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_format(clone: Path) -> None:
    follow(clone, "A format")
    assert python(clone, "-c", READ).splitlines() == ["['alpha', 'beta'] [1.5, 2.0]", "prices.txt:1 prices.txt:2"]


def test_a_protocol(clone: Path) -> None:
    follow(clone, "A protocol")
    assert "sws2014" in python(clone, "-m", "pipeline.cli", "protocols")
    described = json.loads(python(clone, "-m", "pipeline.cli", "protocols", "sws2014", "--json"))
    (tolerance,) = [setting for setting in described["settings"] if setting["name"] == "tolerance_s"]
    assert 1.0 in tolerance.values()


def test_a_command(clone: Path) -> None:
    follow(clone, "A command")
    assert "the edition of each protocol" in python(clone, "-m", "pipeline.cli", "--help")
    listed = dict(line.split() for line in python(clone, "-m", "pipeline.cli", "editions").splitlines())
    assert int(listed["openkws13"]) >= 2


def test_a_kind_of_cluster(clone: Path) -> None:
    follow(clone, "A kind of cluster")
    assert python(clone, "-c", STARTED).split() == ["2", "3"]


def test_the_files_are_as_the_project_wants_them(clone: Path) -> None:
    files = []
    for section in ("A format", "A protocol", "A command", "A kind of cluster"):
        follow(clone, section)
        files += re.findall(r"`((?:pipeline|flows)/[\w/]+\.py)`:\n\n```", PAGE.partition(f"### {section}\n")[2])[:1]
    assert len(files) == 4
    python(clone, "-m", "ruff", "check", "--no-cache", *files)
    python(clone, "-m", "ruff", "format", "--no-cache", "--check", *files)
