from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.trials.decimals import to_decimals


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (0.30000000000000004, 0.3),
        (1.00005, 1.0001),  # its double lies above the tie
        (0.00015, 0.0001),  # its double lies below the tie; scaling first would round it up
        (0.03125, 0.0312),  # an exact tie goes to the even digit
        (-0.03125, -0.0312),
        (2.5e11 + 0.25, 2.5e11 + 0.25),
        (1e300, 1e300),
    ],
)
def test_known_values(value: float, rounded: float) -> None:
    assert to_decimals(np.array([value]), 4).tolist() == [rounded]


def test_agrees_with_formatting_near_ties() -> None:
    ties = np.arange(-20001, 20001) / 20000.0
    near = np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])
    assert to_decimals(near, 4).tolist() == [float(f"{value:.4f}") for value in near.tolist()]


def test_infinite_and_undefined_values_stay() -> None:
    result = to_decimals(np.array([np.inf, -np.inf, np.nan]), 3)
    assert result[:2].tolist() == [math.inf, -math.inf]
    assert math.isnan(result[2])


def test_three_decimals() -> None:
    assert to_decimals(np.array([0.748 / 2, 19.596000000000004]), 3).tolist() == [0.374, 19.596]
