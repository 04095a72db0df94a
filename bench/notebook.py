"""Keyword search scored as a notebook would: ElementTree, pandas, greedy mapping, one sort. A peer, not a reference.

Prints ATWV and MTWV of the files given: ``python -m bench.notebook ECF RTTM KWLIST OUTPUT``. Keywords are one word
long, and the mapping takes detections by falling score, so that its figures differ in the third or fourth digit.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from xml.etree.ElementTree import parse

import numpy as np
import pandas as pd

TOLERANCE_S = 0.5
BETA = 999.9


def main(argv: Sequence[str]) -> None:
    ecf, rttm, kwlist, output = argv
    n_trials = round(float(parse(ecf).getroot().get("source_signal_duration", "nan")))  # noqa: S314
    spoken = _spoken(rttm, kwlist)
    detections = _detections(output)
    detections["hit"] = _hits(detections, spoken)
    n_true = spoken.groupby("kwid").size()
    detections = detections[detections["kwid"].isin(n_true.index)]
    true = detections["kwid"].map(n_true)
    worth = np.where(detections["hit"], 1.0 / true, -BETA / (n_trials - true))
    said_yes = (detections["decision"] == "YES").to_numpy()
    atwv = worth[said_yes].sum() / len(n_true)
    score = detections["score"].to_numpy()
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.diff(score[order]) != 0, True)
    mtwv = (np.cumsum(worth[order])[ends] / len(n_true)).max()
    print(f"{atwv:.6f} {mtwv:.6f}")


def _spoken(rttm: str, kwlist: str) -> pd.DataFrame:
    words = pd.read_csv(rttm, sep=r"\s+", header=None, names=["type", "file", "channel", "begin", "dur", "word"],
                        usecols=range(6), dtype={"channel": str})  # fmt: skip
    rows = [(keyword.get("kwid"), keyword.findtext("kwtext")) for keyword in parse(kwlist).getroot()]  # noqa: S314
    return words.merge(pd.DataFrame(rows, columns=["kwid", "word"]), on="word").reset_index(names="reference")


def _detections(output: str) -> pd.DataFrame:
    rows = []
    for block in parse(output).getroot():  # noqa: S314
        rows += [{"kwid": block.get("kwid"), **detection.attrib} for detection in block]
    detections = pd.DataFrame(rows).astype({"tbeg": float, "dur": float, "score": float})
    return detections.reset_index(names="detection")


def _hits(detections: pd.DataFrame, spoken: pd.DataFrame) -> np.ndarray:
    pairs = detections.merge(spoken, on=["kwid", "file", "channel"], suffixes=("", "_spoken"))
    middle = pairs["tbeg"] + pairs["dur"] / 2
    near = (middle >= pairs["begin"] - TOLERANCE_S) & (middle <= pairs["begin"] + pairs["dur_spoken"] + TOLERANCE_S)
    taken, hit = set(), np.zeros(len(detections), bool)
    near_pairs = pairs[near].sort_values("score", ascending=False, kind="stable")
    for detection, reference in zip(near_pairs["detection"], near_pairs["reference"], strict=True):
        if not hit[detection] and reference not in taken:
            taken.add(reference)
            hit[detection] = True
    return hit


if __name__ == "__main__":
    main(sys.argv[1:])
