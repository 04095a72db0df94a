"""What must not stand in the project's files, and what its package must hold."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOT = r"\."
FORBIDDEN = {
    "host of a package index": rf"py(pi|thonhosted){DOT}org|npmjs{DOT}(org|com)|deb{DOT}debian{DOT}org",
    "path of one machine": r"(^|[^A-Za-z0-9_.])/(work|farm|home/\w+)/",
}


def project_files() -> list[Path]:
    """Tracked and new files as git sees them; the whole tree where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode == 0:
        paths = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        paths = [path for path in ROOT.rglob("*") if not {".venv", ".git"} & set(path.relative_to(ROOT).parts)]
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names_a(what):
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    found = {str(path.relative_to(ROOT)): hit[0] for path in project_files() if (hit := pattern.search(text_of(path)))}
    assert not found


def test_the_forbidden_patterns_find_what_they_are_for():
    assert re.search(FORBIDDEN["host of a package index"], "files.python" + "hosted.org")
    assert re.search(FORBIDDEN["path of one machine"], "cd /" + "work/main")


def test_test_files_have_unique_names():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_the_lock_pins_every_requirement_by_hash():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==\S+(.*)$", lock, re.MULTILINE)
    assert len(pinned) > 50
    assert all(tail.endswith("\\") for _, tail in pinned), "a requirement without hashes"


def test_every_dependency_is_locked_and_says_why_its_bound_is_needed():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").lower()
    for requirement in project["dependencies"] + project["optional-dependencies"]["dev"]:
        name = re.split(r"[\[><=]", requirement)[0].lower()
        assert re.search(rf"^{re.escape(name)}(\[\w+\])?==", lock, re.MULTILINE), f"{name} is not in requirements.lock"
    for requirement in project["dependencies"]:
        line = next(line for line in text.splitlines() if f'"{requirement}"' in line)
        assert "# " in line, f"{requirement} does not say why"


def test_the_distribution_holds_pipeline_and_flows_and_no_tests():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["pipeline", "flows", "rescore"]


def test_the_architecture_page_names_files_that_are_there_and_at_most_ten_on_the_way_to_a_board():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:pipeline|flows|tests)/[\w/.]+)`", page)
    assert [name for name in named if not (ROOT / name).exists()] == []
    way = page.partition("## From a file to a board")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| \d+ \| `pipeline/", way, re.MULTILINE)) <= 10
    rooms = page.partition("```\n")[2].partition("```")[0].split()
    folders = {path.parent.name for path in (ROOT / "pipeline").glob("*/__init__.py")}
    assert folders - set(rooms) == set()
