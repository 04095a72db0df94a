"""The names of MED experiments (EXP-ID) by year, as data: which fields, in which order, with which values.

Sources: MED 2011 plan, appendix B; F4DE DEVA/data/TV1[1-7]MED-SubmissionChecker_conf.perl.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.protocols.system_ids import SystemId, by_sysid

BOARD = ("task", "medtype", "traintype", "sys", "eventset", "ektype", "smghw")
"""The fields whose values part submissions into boards; MEDFull and MEDPart are never compared (MED 2011 plan)."""

_WORD = r"[^_]+"
_VERSION = r"[1-9]\d*"


@dataclass(frozen=True)
class Grammar:
    """One year's rule: fields between underscores, each with a regular expression its whole text must fit."""

    year: str
    fields: Mapping[str, str]

    def read(self, name: str) -> dict[str, str]:
        """The fields of ``name``; empty where it does not follow the rule."""
        parts = name.split("_")
        fitting = len(parts) == len(self.fields)
        if not fitting or not all(
            re.fullmatch(rule, part) for part, rule in zip(parts, self.fields.values(), strict=True)
        ):
            return {}
        return dict(zip(self.fields, parts, strict=True))

    def board(self, fields: Mapping[str, str]) -> str:
        """The board a submission belongs to: what of its conditions must not be compared with others."""
        return "+".join(fields[name] for name in BOARD if name in fields)

    def faults(self, name: str) -> list[str]:
        """Parts of ``name`` that do not follow the rule, for people; empty where all do."""
        parts = name.split("_")
        form = "_".join(f"<{field.upper()}>" for field in self.fields)
        if len(parts) != len(self.fields):
            return [f"{name!r} has {len(parts)} fields (allowed: {form})"]
        return [
            f"<{field.upper()}> is {part!r} (allowed: {rule})"
            for part, (field, rule) in zip(parts, self.fields.items(), strict=True)
            if not re.fullmatch(rule, part)
        ]


def _later(year: str, search: str, eventset: str, ektype: str) -> Grammar:
    return Grammar(
        year,
        {
            "team": _WORD,
            "tag": f"MED{year}",
            "search": search,
            "eventset": eventset,
            "ektype": ektype,
            "smghw": "SML|MED|LRG",
            "sysid": r"[pc]-[a-zA-Z\d]+",
            "version": _VERSION,
        },
    )


_SEARCH_15 = "MED{y}DRYRUN|MED{y}EvalSub|MED{y}EvalFull"
GRAMMARS: tuple[Grammar, ...] = (
    Grammar(
        "11",
        {
            "team": _WORD,
            "tag": "MED11",
            "data": "DRYRUN|DEVT|MED11TEST",
            "medtype": "MEDFull|MEDPart",
            "eag": "AutoEAG|SemiAutoEAG",
            "sysid": r"[pc]-[^_]+",
            "version": r"[1-9]|1\d",
        },
    ),
    Grammar(
        "12",
        {
            "team": _WORD,
            "tag": "MED12",
            "data": "MED12DRYRUN|MED12TEST",
            "task": "PS|AH",
            "medtype": "MEDFull|MEDPart",
            "traintype": "EKFull|EK10Ex",
            "eag": "AutoEAG|SemiAutoEAG",
            "sysid": r"[pc]-[^_]+",
            "version": _VERSION,
        },
    ),
    Grammar(
        "13",
        {
            "team": _WORD,
            "tag": "MED13",
            "sys": "FullSys|OCRSys|ASRSys|VisualSys|AudioSys",
            "search": "MED13DRYRUN|PROGSub|PROGAll",
            "eventset": "PS|AH",
            "ektype": "100Ex|10Ex|0Ex",
            "version": _VERSION,
        },
    ),
    _later("15", _SEARCH_15.format(y=15), "PS|AH|iAH", "100Ex|10Ex|0Ex"),
    _later("16", _SEARCH_15.format(y=16), "PS|AH|iAH", "100Ex|10Ex|0Ex"),
    _later("17", "MED17DRYRUN|MED17EvalFull", "PS|AH", "10Ex"),
)
"""MED 2014 has no working grammar: its checker refuses its own configuration."""


def identify(name: str) -> dict[str, str]:
    """The fields of an EXP-ID of any year with its ``board``; empty where the name follows none of the rules."""
    for grammar in GRAMMARS:
        fields = grammar.read(name)
        if fields:
            board = grammar.board(fields)
            return {**fields, "board": board} if board else fields
    return {}


def standing(name: str) -> SystemId:
    """Whether a system is primary, and which version, by its EXP-ID or SYSID."""
    return by_sysid(name, identify(name))
