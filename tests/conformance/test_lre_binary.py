"""Binary cross-entropy and word-confidence cases of the K-class core, at 1e-12, statuses equal."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.metrics.entropy.crossentropy import cross_entropy, prior_entropy
from pipeline.metrics.entropy.trial_set import trial_set
from pipeline.partials.ledger import Ledger
from tests.plain_entropies import binary_log_cost, confidence_nce, normalized_cross_entropy

CASES = "b01 b02 b04 b06 b07".split()


def _case(conformance: Path, prefix: str) -> dict[str, Any]:
    [path] = (conformance / "lre" / "binary").glob(f"{prefix}_*.json")
    return json.loads(path.read_text())


def _close(seen: float, expected: Any) -> None:
    assert math.isclose(seen, float(expected), rel_tol=1e-12, abs_tol=1e-12), (seen, expected)


@pytest.mark.parametrize("prefix", CASES)
def test_cnxe_and_its_minimum(conformance: Path, prefix: str) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    target, nontarget = case["tar"], case["non"]
    llr = np.array([*target, *nontarget])
    is_target = np.arange(llr.size) < len(target)
    multiplicity = np.ones(llr.size)
    if "n_tar_missing" in case:
        lowest = float(llr.min())
        llr = np.append(llr, [lowest, lowest])
        is_target = np.append(is_target, [True, False])
        multiplicity = np.append(multiplicity, [case["n_tar_missing"], case["n_non_missing"]])
    prior = float(Fraction(expected["P_tar"]))
    found = normalized_cross_entropy(llr, is_target, prior, multiplicity)
    _close(found["cxe"].value, expected["C_xe_bits"])
    _close(prior_entropy(prior) / math.log(2), expected["C_xe_prior_bits"])
    _close(found["cnxe"].value, expected["C_nxe"])
    _close(found["cnxe_min"].value, expected["C_nxe_min"])
    assert found["cnxe_min"].status == expected["status"]
    detail = found["cnxe_min"].detail
    if expected["gamma"] is None:
        assert math.isnan(detail["gamma"])
    else:
        _close(detail["gamma"], expected["gamma"])
    if "delta" in expected:
        _close(detail["delta"], expected["delta"])


@pytest.mark.parametrize("prefix", ["b01", "b02", "b04"])
def test_a_ledger_of_the_same_trials_says_the_same(conformance: Path, prefix: str) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    score = np.array([*case["tar"], *case["non"]])
    target = np.arange(score.size) < len(case["tar"])
    omitted = np.zeros(case.get("n_tar_missing", 0), np.int64)
    ledger = Ledger.of(("q",), np.zeros(score.size, np.int64), score, target, target, omitted)
    trials = trial_set(ledger, float(expected["N_true"] + expected["N_false"]))
    prior = float(Fraction(expected["P_tar"]))
    nats = cross_entropy(trials, prior, math.log(prior / (1 - prior)))
    _close(nats / prior_entropy(prior), expected["C_nxe"])


def test_normalized_cross_entropy_of_confidences(conformance: Path) -> None:
    case = _case(conformance, "n01")
    expected = case["expected"]
    confidence, correct = np.array(case["conf"]), np.array(case["correct"], bool)
    found = confidence_nce(confidence, correct, floor=case["clamp"])
    _close(found.value, expected["NCE"])
    _close(found.detail["h_max_bits"], expected["H_max_bits"])
    share, low = expected["n"] / expected["N"], case["clamp"]
    logit = np.log(np.maximum(confidence, low)) - np.log(np.maximum(1 - confidence, low))
    cost = binary_log_cost(logit - math.log(share / (1 - share)), correct, share)
    assert 1 - cost.mean() / prior_entropy(share) == pytest.approx(
        float(expected["one_minus_Cnxe_at_Ptar_eq_pc"]), abs=1e-7
    )
    found = normalized_cross_entropy(logit - math.log(share / (1 - share)), correct, share)
    assert 1 - found["cnxe"].value == pytest.approx(confidence_nce(confidence, correct, floor=low).value, abs=1e-6)
