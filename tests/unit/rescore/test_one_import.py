"""``import rescore``: what it exports is frozen, what it costs is next to nothing, what it ships is typed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rescore

ROOT = Path(__file__).parents[3]
EXPORTS = """
Comparison ConfigError Evaluation InputError PlatformError RescoreError Result UsageError cells_df compare io
measures_df open_grid open_reference open_store open_trials protocols queries_df run runs_df score trials_df validate
"""
"""A name goes only with an entry in the changelog."""
SCRIPT = """
from pathlib import Path
import rescore
from rescore import Result, io

def best(result: Result) -> float:
    return result["mtwv"]

result = rescore.score("sws2013", ecf=Path("a.xml"), rttm="a.rttm", kwlist=b"", output={"query": []}, tolerance_s=1)
print(best(result), result.signature, rescore.protocols())
text: bytes = io.write("ecf", {"file": ["a"]})
store = rescore.open_store("store")
grid = rescore.open_grid(store, rescore.run("evaluation.yaml").run_id)
problems = rescore.validate("sws2013", output=text).problems
print(problems[0].message.upper(), grid.sizes)
"""
WRONG = """
import rescore
rescore.score("sws2013", measures=7)
rescore.open_stores()
"""


def test_what_it_exports_is_frozen():
    assert sorted(rescore.__all__) == sorted(EXPORTS.split())
    assert set(rescore.__all__) <= set(dir(rescore))
    for name in rescore.__all__:
        assert getattr(rescore, name) is not None
        assert getattr(rescore, name).__doc__
    assert rescore.__version__


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rescore.nothing


def test_importing_it_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import rescore; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not [name for name in loaded if name.split(".")[0] in ("pipeline", "flows", "numpy", "pandas", "typing")]


def test_as_a_module_it_is_the_command():
    done = subprocess.run([sys.executable, "-m", "rescore", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rescore ")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel in it, and what this one has beside."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    [wheel] = folder.glob("*.whl")
    [packages] = (folder / "venv" / "lib").glob("*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    beside = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "beside.pth").write_text(beside + "\n", encoding="utf-8")
    return folder


def test_the_wheel_has_it_and_its_types(installed):
    [wheel] = installed.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"rescore/__init__.py", "rescore/py.typed", "pipeline/py.typed"} <= set(names)
    code = "import rescore; print(rescore.__file__, rescore.score)"
    python = installed / "venv/bin/python"
    done = subprocess.run([python, "-c", code], cwd=installed, capture_output=True, text=True, check=False)
    assert str(installed) in done.stdout, done.stderr


@pytest.mark.parametrize(("script", "n_errors"), [(SCRIPT, 0), (WRONG, 2)], ids=["right", "wrong"])
def test_a_script_of_a_user_is_checked_strictly(installed, script, n_errors):
    (installed / "script.py").write_text(script, encoding="utf-8")
    checker = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed / "venv/bin/python"]
    done = subprocess.run([*checker, "script.py"], cwd=installed, capture_output=True, text=True, check=False)
    assert done.stdout.count("script.py:") - done.stdout.count(": note:") == n_errors, done.stdout + done.stderr
    assert ("Success" in done.stdout) == (n_errors == 0), done.stdout
