"""Language recognition: the Albayzin 2012 LRE, by class, by pair and in every track.

Both modes are the same: the organisers' toolkit differs from the plan where its search stops early, and where raw
likelihoods meet its stand-in for a prior of 0; those are faults and no choices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from pipeline.align.labels import KEY, TEXT, TRIAL, Column, Labels
from pipeline.errors import Finding, Problems
from pipeline.formats.findings import quoted
from pipeline.formats.lre.key import LreKey
from pipeline.formats.lre.names import (
    FORM,
    LANGUAGES,
    OOS,
    OPEN,
    REMOVED,
    TRACKS,
    base_name,
    columns_of,
    read_name,
    track_of,
)
from pipeline.formats.lre.out import LreOutput
from pipeline.metrics.measure import Scored
from pipeline.metrics.multiclass import decisions as lre_decisions
from pipeline.metrics.multiclass import lre as measures
from pipeline.metrics.multiclass.figures import NAMES
from pipeline.metrics.multiclass.totals import CLASS_WITHOUT_SEGMENTS, LreScored, totals_of
from pipeline.partials.score_rows import ScoreRows
from pipeline.protocols.base import (
    EVERYTHING,
    Abilities,
    Boards,
    Conclusion,
    Family,
    Kind,
    Protocol,
    Reads,
    Reference,
    Role,
    Scope,
)
from pipeline.protocols.blocks import LANGUAGE_BLOCKS
from pipeline.protocols.lre.dispute import DISPUTE
from pipeline.protocols.lre.settings import LreSettings, class_of_label, given_classes, languages_of_others
from pipeline.protocols.lre.stand_ins import stand_ins
from pipeline.protocols.system_ids import SystemId
from pipeline.store.address import digest_columns
from pipeline.terms import Facts, Figure, OperatingPoint
from pipeline.trials import score_matrix
from pipeline.trials.joined import Join
from pipeline.trials.score_matrix import ScoreMatrix, SegmentLabels, SegmentList

CLOSED_CONDITION = "closed"


def refer(_protocol: Protocol, tables: Mapping[str, Any]) -> Reference[SegmentLabels, SegmentList]:
    """The key → labels of the segments, and the list of segments that every output must have."""
    key: LreKey = tables["key"]
    table = key.segments
    labels = score_matrix.labels_of(table.text("segment"), table.vocabularies["label"], table["label"])
    facts = Facts(t_audio_s=math.nan, n_trials=float(len(labels)), n_trials_exact=float(len(labels)))
    return Reference(labels, SegmentList(labels.segments), facts, key.findings)


def lay_out(
    protocol: Protocol, tables: Mapping[str, Any], segments: SegmentList
) -> tuple[ScoreMatrix, tuple[Finding, ...]]:
    """An output as a score matrix. Refused where it is of another track, lacks segments or has unknown ones."""
    output: LreOutput = tables["output"]
    table, problems = output.segments, Problems(output.where)
    _check_track(protocol.settings.track, output, problems)
    names = table.text("segment")
    known, given = set(segments.segments), set(names)
    join = Join("the output", names, "the test", segments.segments)
    told = f"; {join.told()}" if join.only_one else ""
    for name, line in zip(names, table["line"].tolist(), strict=True):
        if name not in known:
            what = f"segment {quoted(name)} is not in the key (allowed: the {len(known)} segments of the test{told})"
            problems.add("unknown_segment", line, what, "Remove the line, or correct the name (without .wav).")
    for name in sorted(known - given):
        what = f"the file ends without segment {quoted(name)} (allowed: all {len(known)} segments of the test)"
        problems.add("missing_segment", output.n_lines, what, "Add its line: results must be complete (plan 6.3).")
    problems.raise_if_any()
    codes = output.task, output.chosen_set
    return score_matrix.matrix_of(codes, output.classes, names, output.scores, table["line"]), output.findings


def _check_track(track: str, output: LreOutput, problems: Problems) -> None:
    if track != "file" and TRACKS[track] != (output.task, output.chosen_set):
        what = f"the codes are {output.task} {output.chosen_set} (allowed in track {track}: {' '.join(TRACKS[track])})"
        problems.add("wrong_track", 1, what, "Submit the file to its own track.")


def timeline_parts(settings: LreSettings, segments: SegmentList) -> dict[str, Any]:
    """The segments of the test, and the setting that decides which outputs are refused."""
    return {"track": settings.track, "segments": digest_columns({"segments": segments.segments})}


def align(
    _protocol: Protocol, trials: ScoreMatrix, key: SegmentLabels, _reference: Reference[SegmentLabels, SegmentList]
) -> Labels:
    """The label of every segment; trials and key hold the same segments in the same order."""
    columns = {
        "label": Column(TRIAL, key.label),
        "label_name": Column("label_name", np.array(key.labels, TEXT)),
    }
    return Labels(columns, {TRIAL: trials.offsets, KEY: key.offsets})


def count(
    _protocol: Protocol,
    trials: ScoreMatrix,
    labels: Labels,
    key: SegmentLabels,
    _reference: Reference[SegmentLabels, SegmentList],
) -> ScoreRows:
    """The score rows with their labels. Which labels count is decided when figures are made."""
    return ScoreRows.of(trials.classes, key.labels, labels["label"], trials.scores)


def conclude(
    protocol: Protocol, total: ScoreRows, facts: Facts, survey: Mapping[str, Any], _asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell: of its classes, of every pair of languages and, on request, of the closed set."""
    settings, (task, chosen_set) = protocol.settings, (survey["task"], survey["set"])
    meaning, n_by_label = class_of_label(settings, task), total.n_by_label()
    n_by_class, given = _n_by_class(total, task, meaning), given_classes(survey["task"], survey["set"])
    scored = whole(protocol, total, facts, survey)
    everything = _part(protocol, scored)
    parts: dict[str, Conclusion] = {}
    if settings.also_closed and chosen_set == OPEN:
        classes = _present(settings, LANGUAGES[task], n_by_class)
        parts[CLOSED_CONDITION] = _part(protocol, _scored(settings, total, classes, meaning, facts))
    for pair in combinations(LANGUAGES[task], 2):
        parts["|".join(pair)] = _part(protocol, _scored(settings, total, pair, meaning, facts), by_class=False)
    pairs = (_pair_row(pair, parts["|".join(pair)], n_by_class) for pair in combinations(LANGUAGES[task], 2))
    return replace(
        everything,
        facts={"track": track_of(task, chosen_set), **_facts(settings, task, n_by_label), **everything.facts},
        findings=tuple(_warnings(settings, given, n_by_class)),
        tables={"pairs": tuple(pairs), **lre_decisions.tables(scored)},
        conditions=parts,
    )


def whole(protocol: Protocol, total: ScoreRows, facts: Facts, survey: Mapping[str, Any]) -> LreScored:
    """The cell as its measures see it; see ``Abilities.whole``."""
    meaning = class_of_label(protocol.settings, survey["task"])
    n_by_class = _n_by_class(total, survey["task"], meaning)
    classes = _present(protocol.settings, given_classes(survey["task"], survey["set"]), n_by_class)
    return _scored(protocol.settings, total, classes, meaning, facts)


def _n_by_class(total: ScoreRows, task: str, meaning: Mapping[str, str]) -> dict[str, int]:
    """Segments of each class of a task."""
    n_by_label, n_by_class = total.n_by_label(), dict.fromkeys(columns_of(task), 0)
    for label, name in meaning.items():
        n_by_class[name] += n_by_label.get(label, 0)
    return n_by_class


def _present(settings: LreSettings, classes: tuple[str, ...], n_by_class: Mapping[str, int]) -> tuple[str, ...]:
    if settings.empty_classes == "undefined":
        return classes
    return tuple(name for name in classes if n_by_class[name])


def _scored(
    settings: LreSettings,
    total: ScoreRows,
    classes: tuple[str, ...],
    meaning: Mapping[str, str],
    facts: Facts,
) -> LreScored:
    """The segments of ``classes`` with what figures need beside them."""
    eta, t_audio_s = settings.weights(), math.nan if settings.t_audio is None else settings.t_audio
    rows = totals_of(total, classes, meaning, eta=eta, t_audio_s=t_audio_s)
    return Scored(rows, facts, OperatingPoint())


def _part(protocol: Protocol, scored: LreScored, *, by_class: bool = True) -> Conclusion:
    """The conclusion of segments of some classes, with a row for each class where asked for."""
    return Conclusion(
        figures={measure.name: measure.of(scored) for measure in protocol.measures},
        blocks=lre_decisions.blocks(scored, measures.offsets(scored)) if by_class else (),
        curve={},
        facts={
            "n_classes": len(scored.total.classes),
            "n_segments_scored": int(scored.total.n_segments.sum()),
        },
    )


def _pair_row(pair: tuple[str, str], part: Conclusion, n_by_class: Mapping[str, int]) -> dict[str, Any]:
    """A pair's figures in one row, with its recalibration."""
    minimum: Figure = part.figures["c_min"]
    return {
        "id": "|".join(pair),
        "n_first": n_by_class[pair[0]],
        "n_second": n_by_class[pair[1]],
        **{name: part.figures[name].value for name in NAMES},
        "reason": minimum.reason,
        "status": minimum.status,
        **{name: minimum.detail.get(name, math.nan) for name in ("scale", "offset_1", "offset_2")},
    }


def _facts(settings: LreSettings, task: str, n_by_label: Mapping[str, int]) -> dict[str, float | str]:
    return {
        "task": task,
        "n_segments": sum(n_by_label.values()),
        "n_removed": n_by_label.get(REMOVED, 0),
        "n_oos": n_by_label.get(OOS, 0),
        "n_other_task": sum(n_by_label.get(name, 0) for name in languages_of_others(task)),
        "other_task_languages": settings.other_task_languages,
    }


def _warnings(settings: LreSettings, classes: tuple[str, ...], n_by_class: Mapping[str, int]) -> Iterator[Finding]:
    empty = [name for name in classes if not n_by_class[name]]
    if empty:
        effect = "no multiclass figure exists; pairs of other languages do"
        if settings.empty_classes == "leave_out":
            effect = "the figures are of the other classes, and not those of the plan"
        message = f"the key has no segment of {', '.join(empty)}: {effect}."
        yield Finding(CLASS_WITHOUT_SEGMENTS, message, "key")


def name_slips(name: str) -> tuple[Finding, ...]:
    """A warning where the name of an output's file breaks the rule of submissions. Systems have names without dots."""
    if "." not in name or read_name(base_name(name)) is not None:
        return ()
    return (
        Finding(
            "bad_file_name", f"the name is {quoted(base_name(name))} (allowed: {FORM}). Rename the file.", "output"
        ),
    )


def identify(name: str) -> dict[str, str]:
    """Team and kind of a system that is named ``GROUP_pri``, ``GROUP_con1`` …, with its track in between or not."""
    group, _, system = name.rpartition("_")
    read = read_name(f"{group}_PC_{system}.out") if group else None
    if read is None:
        return {}
    team, _, track = group.rpartition("_")
    named = {"team": team, "track": track} if team and track in TRACKS else {"team": group}
    return {**named, "system_id": system}


def standing(name: str) -> SystemId:
    """Whether a system is primary, by the end of its name."""
    fields = identify(name)
    return SystemId(fields["system_id"] == "pri" if fields else None)


SCORED_SEGMENTS = Kind(
    name="score_matrix",
    to_dataset=score_matrix.to_dataset,
    from_dataset=score_matrix.from_dataset,
    timeline_parts=timeline_parts,
    key_columns=score_matrix.to_columns,
    key_from_columns=score_matrix.labels_from_columns,
    timeline_columns=score_matrix.to_columns,
    timeline_from_columns=score_matrix.list_from_columns,
    survey=score_matrix.survey,
)
LANGUAGE: Family[ScoreMatrix, SegmentLabels, SegmentList, ScoreRows] = Family(
    name="language",
    kind=SCORED_SEGMENTS,
    outputs=("output",),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=ScoreRows,
    conclude=conclude,
    reads=Reads((), ("other_task_languages", "empty_classes", "also_closed", "eta", "t_audio")),
    boards=Boards(identify=identify, standing=standing, name_slips=name_slips),
    can=Abilities(
        stand_ins=stand_ins,
        refused=frozenset({"bad_file_name"}),
        blocks=LANGUAGE_BLOCKS,
        whole=whole,
        dispute=DISPUTE,
    ),
)
ALBAYZIN = Protocol(
    name="albayzin-lre12",
    edition=2,
    mode="official",
    title="Albayzin 2012 language recognition",
    family=LANGUAGE,
    roles=(
        Role("key", "lre_key", option="-r"),
        Role("output", "lre_out", option="-s"),
        Role("resources", "resources", required=False),
    ),
    settings=LreSettings(),
    measures=measures.MEASURES,
    primary="f_act",
    leads=("f_dis", "f_cal", "c_mce", "c_def", "c_min"),
)
PROTOCOLS = (ALBAYZIN, replace(ALBAYZIN, mode="plan"))
