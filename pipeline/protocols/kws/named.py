"""Keyword search and spoken term detection: STD 2006, MediaEval SWS 2011 to 2013, OpenKWS13.

One family of frozen values. Each difference between two protocols, or between the organisers' tool (``official``) and
the text (``plan``), is one field of ``KwsSettings``; each protocol's docstring lists its own.
"""

from __future__ import annotations

from dataclasses import replace

from pipeline.metrics import load
from pipeline.metrics.entropy import calibration, cxe
from pipeline.metrics.kws import ranking, twv
from pipeline.protocols.base import Protocol, Role
from pipeline.protocols.kws.detections import DETECTIONS
from pipeline.protocols.kws.settings import KwsSettings

__all__ = ["MEASURES", "PROTOCOLS", "ROLES", "KwsSettings"]

ROLES = (
    Role("ecf", "ecf", option="-e"),
    Role("rttm", "rttm", option="-r"),
    Role("kwlist", "kwlist", option="-t"),
    Role("output", "kwslist", option="-s"),
    Role("scoring_ecf", "ecf", required=False),
    Role("queries", "queries", required=False),
    Role("resources", "resources", required=False),
)
MEASURES = (
    *(*twv.MEASURES, *ranking.MEASURES, *cxe.MEASURES, cxe.CXE_SUBMITTED),
    *(*calibration.MEASURES, *load.MEASURES),
)

OPENKWS13 = Protocol(
    name="openkws13",
    edition=2,
    mode="official",
    title="OpenKWS13 keyword search, occurrence scoring",
    family=DETECTIONS,
    roles=ROLES,
    settings=KwsSettings(),
    measures=MEASURES,
    primary="atwv",
    leads=("mtwv", "mtwv_threshold", "p_miss", "p_fa", "cnxe", "min_cnxe_affine", "min_cnxe_pav"),
    tool="KWSEval",
)
"""KWSEval of F4DE 3.5.0, whose rules are the defaults of ``KwsSettings``. Against the plan (004):

* ``search=kwseval``: filled pauses and fragments begin no occurrence, words follow within one speaker and in the order
  of the file, the first word is compared as ``compareNormalize`` says and later ones without case;
* ``trials_rule=kwseval``: round(T / n_tps) trials; ``reject_all_point=false``: MTWV may be negative and below ATWV;
* ``splitcts_sum=per_file``: half the duration of a file's channels together;
* ``noscore=score``, ``ecf_filter=excerpt``: only the ECF says what is left out, by whole detections and first words;
* ``score_range=group`` with ``score_range_floor=1e-5``: range of query, file and channel, or the header's;
* ``files=kwseval``: directories are stripped only from names with an extension;
* ``no_targets_trials=once``, ``duplicate_blocks=repeat``, ``namefile_detections=with_references``,
  ``repeated_groups=repeat``; ``map_order=text``: average precision ranks scores as text.
"""

OPENKWS13_PLAN = replace(
    OPENKWS13,
    mode="plan",
    settings=replace(
        OPENKWS13.settings,
        trials_rule="exact",
        splitcts_sum="per_channel",
        noscore="cut",
        ecf_filter="midpoint",
        files="stdeval",
        search="plan",
        score_range="keyword",
        score_range_floor=1e-4,
        reject_all_point=True,
        no_targets_trials="twice",
        duplicate_blocks="merge",
        namefile_detections="all",
        repeated_groups="once",
        map_order="number",
    ),
)
"""The OpenKWS13 evaluation plan (004), sections 3.2 to 5.1:

* ``search=plan``: words of any subtype, neighbours in time on one file and channel whoever speaks, without case;
* ``trials_rule=exact``: n_tps T, not rounded; ``reject_all_point=true``: a system that outputs nothing has 0;
* ``splitcts_sum=per_channel``: half the duration of each channel;
* ``noscore=cut``, ``ecf_filter=midpoint``: NOSCORE regions leave T, and what has its mid point in one is not scored;
* ``score_range=keyword`` with ``score_range_floor=1e-4``: range of the query in the whole output;
* ``files=stdeval``: names without path, and without one of the extensions .flac, .sph, .wav;
* ``no_targets_trials=twice``: N_NT - N_true where queries without occurrences count (5.1.3.3);
* ``duplicate_blocks=merge``, ``namefile_detections=all``, ``repeated_groups=once``.

Gap and tolerance are those of the text: 0.5 s between words, 0.5 s around an occurrence.
"""

STD2006 = replace(
    OPENKWS13,
    name="std2006",
    title="NIST 2006 spoken term detection",
    tool="STDEval",
    settings=replace(
        OPENKWS13.settings,
        c_miss=10.0,
        c_fa=1.0,
        trials_rule="stdeval",
        excerpt_sum="channel_1",
        ecf_filter="none",
        files="stdeval",
        search="stdeval",
        score_range="list",
        score_range_floor=0.0,
        reject_all_point=True,
        duplicate_blocks="last",
        namefile_detections="all",
        repeated_groups="once",
        repeated_texts="again",
        map_order="number",
        source_type_of="last",
    ),
)
"""STDEval without ``-E``. Against the text: ``trials_rule=stdeval`` rounds n_tps T, ``excerpt_sum=channel_1`` adds the
excerpts of channel 1 only, ``search=stdeval`` scans greedily with letters lowered (0.7; ``stdeval_0.6`` those of ASCII
only), ``score_range=list`` scales scores by the whole output, ``duplicate_blocks=last``, ``repeated_texts=again``,
``source_type_of=last``. ``ecf_filter=whole`` is the tool's ``-E``. The costs are those of plan 000 section 2.5 (10 and
1: C/V = 0.1); the tool's ``-k`` takes its partner ``-K`` for granted, so give both."""

STD2006_PLAN = replace(
    STD2006,
    mode="plan",
    settings=replace(
        STD2006.settings, trials_rule="exact", excerpt_sum="sum", duplicate_blocks="merge", repeated_texts="once"
    ),
)
"""``trials_rule=exact`` and ``excerpt_sum=sum``: n_tps T of all excerpts, not rounded; ``duplicate_blocks=merge``,
``repeated_texts=once``. On the alignment the texts say no more than the tool does."""


def _sws(base: Protocol, name: str, title: str, **values: object) -> Protocol:
    return replace(base, name=name, title=title, settings=replace(base.settings, **values))


_TITLE_2011 = "MediaEval SWS 2011, spoken web search"
SWS2011 = _sws(STD2006, "sws2011", _TITLE_2011, tolerance_s=20.0, word_gap_s=20.0)
"""As ``std2006`` official, with ``tolerance_s=20`` and ``word_gap_s=20`` (002 table 1): places are approximate."""
SWS2011_PLAN = _sws(STD2006_PLAN, "sws2011", _TITLE_2011, tolerance_s=20.0, word_gap_s=20.0)
"""As ``std2006`` plan, with 20 s each."""

_TITLE_2012 = "MediaEval SWS 2012, spoken web search"
_POINT_2012 = {"c_miss": 1.0, "c_fa": 1.0, "p_target": "empirical", "tolerance_s": 1.0, "word_gap_s": 0.5}
SWS2012 = _sws(STD2006, "sws2012", _TITLE_2012, **_POINT_2012)
"""As ``std2006`` official; ``p_target=empirical``: beta = (n_tps T - N_true) / (``fa_per_miss`` N_true) for each query
set and dataset (002 eq 2, 000 eq 17-18), with T as it is: STDEval rounds its trials and nothing else, and is given beta
as ``-k``, which it does not round either. ``k_table`` takes beta from tables 2 and 3 of 002 instead.
``tolerance_s=1``, ``word_gap_s=0.5`` are those of the African data; the Indian data have 20 s each, as a dataset's
``settings`` in an evaluation file. Table 1 of 002 swaps the meanings of "similarity" (-S, the tolerance) and "find"
(-F, the gap); the tool's are taken in both modes."""
SWS2012_PLAN = _sws(STD2006_PLAN, "sws2012", _TITLE_2012, **_POINT_2012)
"""As ``std2006`` plan, at the point of ``sws2012``: beta is made of N_true and T as they are in both modes."""

_TITLE_2013 = "MediaEval SWS 2013, spoken web search"
SWS2013 = _sws(STD2006, "sws2013", _TITLE_2013, c_miss=100.0, c_fa=1.0, p_target=1.5e-4)
"""As ``std2006`` official, with costs 100 and 1 and prior 0.00015: beta = 0.99985 / 0.015 (000 eq 21)."""
SWS2013_PLAN = _sws(STD2006_PLAN, "sws2013", _TITLE_2013, c_miss=100.0, c_fa=1.0, p_target=1.5e-4)
"""As ``std2006`` plan, with the costs and prior of ``sws2013``."""

PROTOCOLS = (
    OPENKWS13,
    OPENKWS13_PLAN,
    STD2006,
    STD2006_PLAN,
    SWS2011,
    SWS2011_PLAN,
    SWS2012,
    SWS2012_PLAN,
    SWS2013,
    SWS2013_PLAN,
)
