"""Same input, same bytes for every object: whatever order rows come in, and whatever Python makes them."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution, version
from pathlib import Path

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.grid import publish
from pipeline.grid.publish import load_run
from pipeline.store.blobs import Store
from pipeline.store.zips import Zip
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
HIGHEST, LOWEST = 20, 12
"""Minor versions of Python 3 that are looked for beside this one, the highest first."""
NEEDED = (
    *("numpy", "scipy", "pandas", "xarray", "zarr", "numcodecs", "google-crc32c", "fsspec", "s3fs"),
    *("pydantic", "pyyaml", "orjson", "jinja2", "psutil", "packaging"),
)
"""What scores cells without a cluster."""


def score(evaluation: str, root: str) -> None:
    """Score and publish an evaluation, in a store of its own."""
    store = Store(root)
    made = plan(load_evaluation(evaluation), store)
    publish(store, made, [load_result(store, score_cell(store, made, job.cell)) for job in made.jobs])


def highest() -> str | None:
    """A Python above this one: the highest that uv knows of, or that pyenv keeps; None where there is none."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(HIGHEST, max(LOWEST, sys.version_info.minor + 1) - 1, -1):
        asked = [UV, "python", "find", "--offline", "--no-project", "--system", f"3.{minor}"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
        installed = sorted(map(str, kept.glob(f"3.{minor}.*/bin/python")))
        places = [found.stdout.strip()] if found.returncode == 0 else installed
        if places:
            return places[-1]
    return None


def test_another_python_writes_the_same_bytes(tmp_path: Path, require: Callable[[str, object, str], None]) -> None:
    python = highest() if UV.exists() else None
    require("python", python, "uv knows of no Python above this one")
    evaluation, names = str(cells.write(tmp_path)), [f"--with={name}=={version(name)}" for name in NEEDED]
    about = tmp_path / "about" / Path(str(distribution("rescore")._path)).name  # type: ignore[attr-defined]
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rescore\nVersion: {version('rescore')}\n")
    code = "import sys; from tests.end_to_end.test_same_bytes import score; score(*sys.argv[1:])"
    command = [UV, "run", "-q", "--no-project", "--python", python, *names, "--with=pytest", "python", "-c", code]
    there, here = Store(str(tmp_path / "there")), Store(str(tmp_path / "here"))
    path = os.pathsep.join((str(ROOT), str(about.parent)))
    done = subprocess.run(
        [*map(str, command), evaluation, there.root],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 2 and "Failed to" in done.stderr:
        require("python", None, "uv cannot bring what the highest Python needs")
    assert done.returncode == 0, done.stderr
    score(evaluation, here.root)
    assert len(here.listing()) > 30
    assert whole_store.contents(there) == whole_store.contents(here)


def test_rows_in_another_order_are_the_same_bytes(tmp_path: Path) -> None:
    """Addresses and source lines tell of the file itself; all other bytes of trials, labels and figures are equal."""
    chunks, figures = list[list[dict[str, bytes]]](), list[list[object]]()
    for seed in (0, 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        evaluation, rng = str(cells.write(folder)), random.Random(seed)
        for path in sorted(folder.glob("out/*/*.xml")) if seed else ():
            path.write_text(_shuffled(path.read_text(), rng))
        for path in sorted(folder.glob("*.rttm")) if seed else ():
            path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
        store = Store(str(folder / "store"))
        score(evaluation, store.root)
        [run] = [path.removeprefix("runs/").removesuffix(".json") for path in store.listing("runs")]
        results = [load_result(store, address) for _, address in sorted(load_run(store, run).results.items())]
        paths = [path for result in results for path in sorted(result.made_from) if "references/" not in path]
        chunks.append([_chunks(store, path) for path in paths])
        figures.append([(result.figures, list(result.blocks), result.curve) for result in results])
    assert len(chunks[0]) == 16
    assert sum(map(len, chunks[0])) > 200
    assert chunks[0] == chunks[1]
    assert repr(figures[0]) == repr(figures[1])


def _shuffled(output: str, rng: random.Random) -> str:
    """An output with its blocks, and the rows of each, in another order."""
    head, *blocks = re.split(r"(?=<detected_termlist)", output.replace("</stdlist>\n", ""))
    mixed = []
    for block in rng.sample(blocks, len(blocks)):
        opening, *rows, closing = block.splitlines(keepends=True)
        mixed.append(opening + "".join(rng.sample(rows, len(rows))) + closing)
    assert sorted("".join(mixed)) == sorted("".join(blocks))
    return head + "".join(mixed) + "</stdlist>\n"


def _chunks(store: Store, path: str) -> dict[str, bytes]:
    """The digest of every chunk of an object, but for those of source lines."""
    entries = Zip(store, path).directory.items()
    return {name: entry.sha256 for name, entry in entries if "/c" in name and not name.startswith("line/")}
