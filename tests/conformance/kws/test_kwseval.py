"""Cases with KWSEval's own figures at full precision, through the command line, at relative 1e-11.

Where we differ on purpose:

* A keyword's best threshold (Optimum) is null where accepting nothing is best; the tool prints the keyword's highest
  score, which accepts something. In conditions its threshold may belong to other counts than those it prints beside
  it (TEST-13 of BNEWS: 4 hits are counted, 2 are accepted at 0.99541), so there only the figures are compared.
* Where no query has an occurrence, TWV is undefined everywhere; the tool prints the first point as its maximum.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import arguments, close, det_points, differences, index

from pipeline.cli import main

GENERATED = (
    "base ties collar unicode_lower unicode_nonorm multichan_holes duplicates dense_minmax just_system sws2012 sws2011 "
    "sws2013 cond_source cond_attr cond_oov cond_target namefile tps all_no medium"
)
F4DE = (
    "test2b test6_plain test6a test7b test7c test7e test9_occ test3 test3_scoring_ecf bn_cts_mtg bn_cts_mtg_cond "
    "bn_cts_mtg_noinc bn_cts_mtg_just"
)
CASES = [("generated", name) for name in GENERATED.split()] + [("f4de", name) for name in F4DE.split()]


def _case(conformance: Path, family: str, name: str) -> dict[str, Any]:
    [case] = [case for case in index(conformance, family) if case["case"] == name]
    return case


def _score(argv: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(argv) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_every_case_of_occurrence_scoring_is_listed(conformance: Path) -> None:
    for family in ("generated", "f4de"):
        cases = {case["case"] for case in index(conformance, family) if case["options"]["mode"] == "occurrence"}
        assert cases == {name for owner, name in CASES if owner == family}


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_figure_of_a_case(conformance: Path, capsys: pytest.CaptureFixture[str], family: str, name: str) -> None:
    case = _case(conformance, family, name)
    seen = _score(arguments(conformance, family, case), capsys)
    det = det_points(conformance / "kws" / family / case["outputs"]["det.csv"])
    optimum = case["optimum_reliable"]
    assert differences(seen, case["expected"]["main"], optimum=optimum, det=det) == []
    groups = case["expected"]["groups"]
    assert set(seen.get("conditions", {})) == set(groups)
    for group, wanted in groups.items():
        part = seen["conditions"][group]
        assert differences(part, wanted, optimum=optimum, det=wanted.get("det"), own_thresholds=False) == [], group


def test_the_order_of_the_output_does_not_matter(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = _case(conformance, "generated", "ties")
    argv = arguments(conformance, "generated", case)
    path = Path(argv[argv.index("-s") + 1])
    head, *blocks = re.split(r"(?=<detected_kwlist)", path.read_text().removesuffix("</kwslist>\n"))
    shuffled = [re.sub(r"(\s*<kw [^>]*>)+", lambda rows: "".join(_reversed_rows(rows[0])), b) for b in blocks[::-1]]
    (tmp_path / "out.xml").write_text(f"{head}{''.join(shuffled)}</kwslist>\n")
    straight = _score(argv, capsys)
    argv[argv.index("-s") + 1] = str(tmp_path / "out.xml")
    turned = _score(argv, capsys)
    assert (tmp_path / "out.xml").read_text() != path.read_text()
    for part in ("facts", "measures", "blocks", "curve"):
        assert turned[part] == straight[part]


def _reversed_rows(rows: str) -> list[str]:
    return re.findall(r"\s*<kw [^>]*>", rows)[::-1]


def test_a_case_in_a_process_of_its_own(conformance: Path) -> None:
    case = _case(conformance, "generated", "base")
    command = [sys.executable, "-m", "pipeline.cli", *arguments(conformance, "generated", case)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)["measures"]["atwv"]["value"]
    assert close(seen, case["expected"]["main"]["actual"]["twv"])
