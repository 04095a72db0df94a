"""A site without internet: workers, store and run in a network of loopback only; and what a run leaves behind."""

from __future__ import annotations

import os
import pickletools
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
from tests.conftest import ROOT
from tests.end_to_end.test_offline_demo import LOOPBACK_ONLY, loopback_only_works
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

BIN = Path(sys.executable).parent
ON_EXECUTION = ("refs", "performance")
SITE = """\
set -eu
export PATH="$BIN:$PATH" DASK_CONFIG="$DASK"
if python -c 'import socket; socket.create_connection(("192.0.2.1", 80), 1)' 2>/dev/null; then exit 9; fi
dask scheduler --port 8786 --host 127.0.0.1 --no-dashboard &
for worker in 1 2; do dask worker tcp://127.0.0.1:8786 --nthreads 1 --no-dashboard --local-directory "$PLACE" & done
code=0
rescore run "$EVALUATION" --store "$PLACE/store" --cluster tcp://127.0.0.1:8786 --json >"$PLACE/out.json" || code=$?
kill $(jobs -p)
wait || true
exit $code
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run at such a site: ``store``, ``prefect`` (its home), ``undisturbed`` (a run in one process)."""
    place = tmp_path_factory.mktemp("site")
    evaluation = cells.write(place)
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "DASK_", "RESCORE_"))
    }
    environment = clean | {
        "BIN": str(BIN),
        "DASK": str(ROOT / "deploy" / "dask.yaml"),
        "PLACE": str(place),
        "EVALUATION": str(evaluation),
        "PREFECT_HOME": str(place / "prefect"),
        "HOME": str(place / "home"),
    }
    command = [*LOOPBACK_ONLY, "bash", "-c", SITE] if loopback_only_works() else ["false"]
    done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=False)
    (place / "said").write_text(f"{done.returncode}\n{done.stderr}")
    return place


def need(site: Path, require: object) -> None:
    """Skip where the network cannot be taken away; fail where the run did."""
    require("unshare", loopback_only_works(), "this machine does not permit a process without network")  # type: ignore[operator]
    assert (site / "said").read_text().startswith("0\n"), (site / "said").read_text()[-3000:]


def test_a_site_without_internet_has_the_bytes_of_every_other(site, require):
    need(site, require)
    store = Store(str(site / "undisturbed"))
    planned = plan(load_evaluation(str(site / "evaluation.yaml")), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    found = whole_store.contents(Store(str(site / "store")), *ON_EXECUTION)
    assert found == whole_store.contents(store, *ON_EXECUTION)
    assert not (site / "home" / ".prefect").exists()


def is_pickle(data: bytes) -> bool:
    """Whether bytes are a pickle that makes or calls anything: protocol 2 or later, and nothing behind it."""
    if data[:1] != b"\x80":
        return False
    try:
        *_, (last, _, end) = pickletools.genops(data)
    except (ValueError, IndexError):
        return False
    return last.name == "STOP" and end == len(data) - 1


def database_values(path: Path) -> Iterable[bytes]:
    """Every value of every table, as bytes."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - the database's own names
                for value in row:
                    yield value if isinstance(value, bytes) else str(value).encode()
    database.close()


def test_nothing_pickled_is_kept(site, require):
    import base64
    import pickle

    need(site, require)
    assert is_pickle(pickle.dumps({"a": 1}))
    kept = [path for folder in ("store", "prefect") for path in (site / folder).rglob("*") if path.is_file()]
    assert len(kept) > 20
    assert [path for path in kept if is_pickle(path.read_bytes())] == []
    storage = site / "prefect" / "storage"
    assert not storage.exists() or list(storage.iterdir()) == []

    serialized = base64.b64encode(pickle.dumps(Path("x"))).rstrip(b"=")[:6]  # how Prefect would put one into JSON
    values = list(database_values(site / "prefect" / "prefect.db"))
    assert any(b"grid" in value for value in values)  # the run is there
    assert [value[:80] for value in values if is_pickle(value) or serialized in value] == []
    texts = [path.read_bytes() for path in kept if path.suffix in (".json", "")]
    assert not any(serialized in text or b'"serializer"' in text for text in texts)
