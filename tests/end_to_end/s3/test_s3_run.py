"""An evaluation in a bucket, inputs, outputs and store: the same bytes as on disk, and no credentials in them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import xarray as xr
import zstandard

from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import faults, latest
from pipeline.grid.publish import load_grid, load_run
from pipeline.store.blobs import Store
from tests.end_to_end.deaths.nights import database, until
from tests.s3_faults import after, spoiling
from tests.s3_server import KEY, SECRET, S3Server, environment
from tests.unit.engine import grid_of_cells as cells

# Prefect leaves the socket of a client that has done its part to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BIN = Path(sys.executable).parent
_ZSTD = b"\x28\xb5\x2f\xfd"


@pytest.fixture
def place(tmp_path: Path, s3_here: S3Server) -> str:
    """The URL of a folder of a bucket with the small evaluation in it; a copy lies in ``tmp_path / "local"``."""
    local = tmp_path / "local"
    local.mkdir()
    cells.write(local)
    bucket = s3_here.bucket()
    for path in local.rglob("*"):
        if path.is_file():
            s3_here.client().pipe_file(f"{bucket}/eval/{path.relative_to(local)}", path.read_bytes())
    return f"s3://{bucket}/eval"


def scored(evaluation: str, store: Store) -> str:
    """Score what is missing in this process, publish; the run's id."""
    planned = plan(load_evaluation(evaluation), store)
    return finish(store, planned, score_here(store, planned, planned.jobs)).id


def figures(store: Store) -> dict[str, bytes]:
    """Results by path."""
    return {path: store.get(path) for path in store.listing("results")}


def grid(store: Store, run: str) -> dict[str, dict[str, object]]:
    """The groups of a run's grid, without the run's id and its plan's address, which tells the inputs' URLs."""
    return {name: group_of(group) for name, group in load_grid(store, load_run(store, run)).items()}


def group_of(group: xr.Dataset) -> dict[str, object]:
    """Arrays of a group by name, to the last bit, and what is said of them."""
    told = {name: value for name, value in group.attrs.items() if name not in ("run", "plan")}
    found: dict[str, object] = {"": told}
    for name, array in group.variables.items():
        values = array.to_numpy()
        bits = values.tolist() if values.dtype.kind in "TO" else values.tobytes()
        found[str(name)] = (array.dims, array.shape, array.attrs, bits)
    return found


def score(folder: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What ``rescore score`` says of one output, its inputs read from ``folder``."""
    roles = {"ecf": "d.ecf.xml", "rttm": "d.rttm", "kwlist": "p.tlist.xml", "output": "out/good/p_d.xml"}
    inputs = [word for role, name in roles.items() for word in ("--input", f"{role}={folder}/{name}")]
    capsys.readouterr()
    assert main(["score", "--protocol", "sws2013", *inputs, "--json"]) == 0
    text = capsys.readouterr().out
    assert KEY not in text
    assert SECRET not in text
    return json.loads(text.replace(f"{folder}/", "FOLDER/"))


def alignments(evaluation: str, store: Store) -> dict[str, bytes]:
    """The organisers' tables of every cell, made by ``rescore run --alignments``."""
    assert main(["run", evaluation, "--store", store.root, "--alignments", "--json"]) == 0
    return {name: store.get(path) for name, path in latest(store, "grid").reports.items() if "alignment" in name}


def found_in(where: bytes, *secrets: str) -> list[str]:
    """The secrets in some bytes, looked for in what is compressed too."""
    texts = [where]
    for at in range(len(where)):
        at = where.find(_ZSTD, at)  # noqa: PLW2901 - from one magic number to the next
        if at < 0:
            break
        try:
            texts.append(zstandard.ZstdDecompressor().decompressobj().decompress(where[at:]))
        except zstandard.ZstdError:
            continue
    return [secret for secret in secrets if any(secret.encode() in text for text in texts)]


def test_a_bucket_gives_what_the_disk_gives(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefect_server: None
) -> None:
    from flows.watch import watch

    local, there = Store(str(tmp_path / "store")), Store(f"{place}-store")
    evaluation = str(tmp_path / "local/evaluation.yaml")
    first = scored(f"{place}/evaluation.yaml", there)
    assert grid(there, first) == grid(local, scored(evaluation, local)) != {}
    assert figures(there) == figures(local) != {}
    capsys.readouterr()
    assert main(["watch", f"{place}/evaluation.yaml", "--store", there.root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "unchanged"
    n_results, key = len(figures(there)), tmp_path / "local/d.rttm"
    key.write_text(key.read_text().replace("a 1 10.0 1 alpha", "a 1 11.0 1 alpha"))
    Store(place).put("d.rttm", key.read_bytes())
    staged, again = watch(f"{place}/evaluation.yaml", there.root, publish=False), scored(evaluation, local)
    assert (staged.state, latest(there, "grid").id) == ("staged", first)
    second = staged.run
    assert main(["publish", second, "--store", there.root]) == 0
    assert latest(there, "grid").id == second != first
    assert grid(there, second) == grid(local, again) != {}
    assert len(figures(there)) > n_results
    assert figures(there) == figures(local)
    assert faults(there, second) == []
    assert score(place, capsys) == score(str(tmp_path / "local"), capsys)
    capsys.readouterr()
    assert main(["diff", first, second, "--store", there.root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert main(["gc", "--delete", "--older-than", "0", "--keep", "1", "--store", there.root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objects"]
    assert latest(there, "grid").id == second
    assert faults(there, second) == []
    assert main(["verify", "p/d/good", "--run", second, "--store", there.root]) == 0
    assert alignments(f"{place}/evaluation.yaml", there) == alignments(evaluation, local) != {}


def rescore_run(place: str, folder: Path, **environment: str) -> subprocess.Popen[bytes]:
    """``rescore run`` on the evaluation in the bucket, on the tests' Prefect server, all else that it writes here."""
    from prefect.settings import PREFECT_API_URL

    own = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
        "PREFECT_HOME": str(folder / "prefect"),
        "DASK_TEMPORARY_DIRECTORY": str(folder / "dask"),
        "RESCORE_LOG": "json",
        "TMPDIR": str(folder / "tmp"),
    }
    (folder / "tmp").mkdir()
    command = [BIN / "rescore", "run", f"{place}/evaluation.yaml", "--store", f"{place}-store", "--workers", "1"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env={**own, **environment}, stdout=pipe, stderr=pipe)


def dump(evaluation: str) -> bytes:
    """Prefect's database as SQL, once it has heard that the flow run of this evaluation file is done."""
    from prefect.settings import PREFECT_API_URL

    api = PREFECT_API_URL.value()
    runs = httpx.post(f"{api}/flow_runs/filter", json={"sort": "START_TIME_DESC"}).json()
    [run] = [one for one in runs if one["parameters"].get("evaluation") == evaluation]
    done = {"event": {"name": ["prefect.flow-run.Completed"]}, "resource": {"id": [f"prefect.flow-run.{run['id']}"]}}
    until(lambda: httpx.post(f"{api}/events/filter", json={"filter": done}).json()["total"], "the end of the flow run")
    with closing(sqlite3.connect(f"file:{database()}?mode=ro", uri=True)) as connection:
        return "\n".join(connection.iterdump()).encode()


def test_a_run_outlives_its_server_and_writes_no_credentials(
    place: str, tmp_path: Path, s3_here: S3Server, prefect_server: None
) -> None:
    store, local = Store(f"{place}-store"), Store(str(tmp_path / "store"))
    run = rescore_run(place, tmp_path)
    until(lambda: store.listing("trials") or run.poll() is not None, "trials")
    assert run.poll() is None
    s3_here.restart()
    said = run.communicate(timeout=240)
    assert run.returncode == 0, said
    there = latest(store, "grid").id
    assert faults(store, there) == []
    assert grid(store, there) == grid(local, scored(str(tmp_path / "local/evaluation.yaml"), local)) != {}
    assert figures(store) == figures(local) != {}
    written = {path: store.get(path) for path in store.listing()}
    written |= {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written |= {"output": b"\n".join(said), "database": dump(f"{place}/evaluation.yaml")}
    assert {name: found for name, data in written.items() if (found := found_in(data, KEY, SECRET))} == {}
    assert b'"logger": "rescore"' in written["output"]


def test_keys_withdrawn_under_a_run_are_told_and_nothing_is_published(
    place: str, tmp_path: Path, s3_here: S3Server, prefect_server: None
) -> None:
    store = Store(f"{place}-store")
    with spoiling(s3_here.endpoint) as proxy:
        proxy.fault = after(2, "AccessDenied", "PUT", "/results/")
        run = rescore_run(place, tmp_path, **environment(proxy.endpoint))
        _, said = run.communicate(timeout=240)
    assert (run.returncode, proxy.spoiled["AccessDenied"] > 0) == (3, True)
    assert b"these keys are refused" in said
    assert store.listing("trials")
    assert latest(store, "grid") is None


def test_the_search_finds_what_is_planted(tmp_path: Path) -> None:
    import numpy as np

    from pipeline.store import arrays

    store = Store(str(tmp_path))
    arrays.write_groups(store, "trials/x.zarr.zip", {"": xr.Dataset({"note": ("n", np.array([f"a{SECRET}b"] * 50))})})
    assert found_in(store.get("trials/x.zarr.zip"), SECRET) == [SECRET]
    assert found_in(f"x{KEY}y".encode(), KEY, SECRET) == [KEY]
    assert found_in(b"nothing" + _ZSTD, KEY, SECRET) == []
