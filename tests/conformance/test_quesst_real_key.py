"""The published QUESST 2015 development key with a made-up system on it: 5.2 million trials."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cli import main

SHARED = Path(os.environ.get("RESCORE_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance").parent
KEY = SHARED / "data" / "groundtruth_quesst2015_dev.tgz"
SYSTEM = SHARED / "tools" / "quesst_synthetic_system.py"
FIGURES = {
    "atwv": 0.688861649,
    "mtwv": 0.837512229,
    "mtwv_threshold": 0.2421,
    "cnxe": 0.4766318987,
    "min_cnxe_pav": 0.2067851164,
    "min_cnxe_affine": 0.238731327723,
}
PRINTED = {"atwv": 0.68886167, "mtwv": 0.83751225, "cnxe": 0.4766319, "min_cnxe_pav_input_order": 0.20651102}
"""By the organisers' scorer, in float32."""


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str, object, str], None]) -> list[str]:
    """The arguments of ``rescore score`` for the key and its made-up system."""
    require("data", KEY.is_file() and SYSTEM.is_file(), f"{KEY.name} or {SYSTEM.name} is not beside the project")
    folder = tmp_path_factory.mktemp("quesst2015")
    with tarfile.open(KEY) as archive:
        archive.extractall(folder, filter="data")
    key, output = folder / "groundtruth_quesst2015_dev", folder / "out.xml"
    subprocess.run([sys.executable, SYSTEM, key, output, "200000", "1"], check=True, capture_output=True)
    assert hashlib.md5(output.read_bytes(), usedforsecurity=False).hexdigest() == "17ba8e6666d30871cd8c091f45f9046e"
    return [
        *("--protocol", "quesst", "--set", "censor=-10", "--set", "p_target_effective=0.0741289", "--json"),
        *("-e", f"{key}/quesst2015.ecf.xml", "-r", f"{key}/quesst2015_dev.rttm"),
        *("-t", f"{key}/quesst2015_dev.tlist.xml", "-s", str(output)),
    ]


def test_figures_of_the_real_key(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    for name, expected in FIGURES.items():
        assert found["measures"][name]["value"] == pytest.approx(expected, rel=1e-9), name
    for name, expected in PRINTED.items():
        assert found["measures"][name]["value"] == pytest.approx(expected, abs=5.3e-8), name
    assert found["measures"]["mtwv_threshold"]["jar_threshold"] == 0.242
    affine = found["measures"]["min_cnxe_affine"]
    assert affine["gamma"] == pytest.approx(0.57371534, abs=5e-9)
    assert affine["delta"] == pytest.approx(2.94901586, abs=5e-9)
    facts = found["facts"]
    assert (facts["n_documents"], facts["n_queries_scored"], facts["n_target"]) == (11_662, 444, 3_803)
    assert (facts["n_pairs"], facts["n_detections"]) == (5_177_928, 203_099)
