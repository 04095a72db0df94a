"""Golden results of every protocol on small inputs of ours: what an edition stands for.

``python tests/unit/protocols/golden.py`` freezes them anew; do so after raising the edition of each protocol whose
figures have changed on purpose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline import protocols
from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.protocols.base import Protocol

DATA = Path(__file__).parents[2] / "data" / "golden"
FROZEN = DATA / "editions.json"
DIGITS = 9
"""Significant digits that are the same on every processor; what differs beyond is rounding."""

FILES: Mapping[str, Mapping[str, str]] = {
    "detections": {
        "ecf": "kws/ecf.xml",
        "rttm": "kws/key.rttm",
        "kwlist": "kws/kwlist.xml",
        "output": "kws/output.xml",
        "queries": "kws/queries.csv",
        "resources": "kws/resources.yaml",
    },
    "documents": {role: f"quesst/{role}.xml" for role in ("ecf", "rttm", "kwlist", "output")},
    "events": {
        **{role: f"med/{role}.csv" for role in ("ref", "index", "detection", "threshold", "clipmd", "eventdb")},
        "resources": "med/resources.yaml",
    },
    "tokens": {"stm": "stt/key.stm", "ctm": "stt/output.ctm", "lexicon": "stt/lexicon.txt"},
    "labelled": {"output": "detection/scores.csv"},
    "language": {"key": "lre/key.txt", "output": "lre/golden_PO_pri.out"},
}
FILES = {**FILES, "segments": FILES["detections"]}
OTHERS = {"stt-trn": {"stm": "stt/key.trn", "ctm": "stt/output.trn"}}
"""Protocols that read other files than the rest of their family."""


def inputs_of(protocol: Protocol) -> dict[str, str]:
    """Golden inputs of a protocol, by role. Raises ``KeyError`` for a family that has none yet."""
    chosen = OTHERS.get(protocol.name) or FILES[protocol.family.name]
    roles = {role.name for role in protocol.roles}
    return {role: str(DATA / path) for role, path in chosen.items() if role in roles}


def golden(protocol: Protocol) -> dict[str, Any]:
    """Edition, figures (nine digits), and the digest of figures, blocks, tables and facts."""
    result = document(score_files(protocol, inputs_of(protocol)), curve=True)
    for told in ("warnings", "n_warnings", "signature"):  # what is said about figures is none of them
        result.pop(told)
    rounded = _rounded(result)
    text = json.dumps(rounded, sort_keys=True)
    figures = {name: entry["value"] for name, entry in rounded["measures"].items()}
    return {
        "edition": protocol.edition,
        "figures": figures,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value


def every_protocol() -> dict[str, Protocol]:
    """All protocols by ``name/mode``."""
    return {f"{name}/{mode}": protocol for (name, mode), protocol in sorted(protocols.protocols().items())}


if __name__ == "__main__":
    frozen = {name: golden(protocol) for name, protocol in every_protocol().items()}
    FROZEN.write_text(json.dumps(frozen, indent=1, sort_keys=True) + "\n")
