"""The demo as a person runs it: from a command line, with a home of its own, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from pipeline.cli import main

LOOPBACK_ONLY = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def loopback_only_works() -> bool:
    """Whether this machine lets us take the network away."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        return False
    return subprocess.run([*LOOPBACK_ONLY, "true"], capture_output=True, check=False).returncode == 0


def test_the_demo_needs_no_network(tmp_path, require):
    require("unshare", loopback_only_works(), "this machine does not permit a process without network")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "DASK_"))}
    environment |= {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pipeline.cli", "demo", "--folder", str(tmp_path / "demo"), "--workers", "2"]
    done = subprocess.run(
        [*LOOPBACK_ONLY, *command], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "22 cells scored, 2 failed" in done.stdout
    assert "eval-q_eval.stdlist.xml:325" in done.stdout.replace("\n", "")
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if not line.startswith("Dask's pages: ")]
    assert len(told) <= 1, done.stderr  # what is about to happen, and nothing else
    assert (tmp_path / "demo" / "store").is_dir()
    assert not (tmp_path / "home" / ".prefect").exists()


def test_a_folder_with_other_things_is_not_written_over(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("all of it", encoding="utf-8")
    assert main(["demo", "--folder", str(tmp_path)]) == 2
    assert "holds no earlier demo" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_cluster_that_does_not_answer_is_a_platform_fault(
    demo_evaluation, prefect_server, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("flows.clusters.kinds.CONNECT_TIMEOUT_S", 1)
    store = tmp_path / "store"
    code = main(["run", str(demo_evaluation), "--store", str(store), "--cluster", "tcp://127.0.0.1:9", "--quiet"])
    told = capsys.readouterr()
    assert code == 3
    assert "no Dask workers at tcp://127.0.0.1:9" in told.err
    assert "Traceback" not in told.err
    assert told.out == ""
    assert not (store / "refs").exists()
