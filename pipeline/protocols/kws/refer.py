"""The organiser's side of keyword search: ECF, transcript and list → occurrences, timeline, trials, conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.errors import Finding
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.formats.kws.rttm import Rttm
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.kws.conditions import (
    BY_EXCERPT,
    at_places,
    groups,
    in_namefile,
    ledger_of,
    matches_any,
    of_types,
    parse_conditions,
    typed,
)
from pipeline.protocols.kws.places import key_findings, places_of
from pipeline.protocols.kws.settings import KwsSettings, lines_of, type_rule
from pipeline.protocols.kws.tiles import lost_occurrences
from pipeline.terms import Facts, Selection
from pipeline.trials import keywords, layout
from pipeline.trials.duration import excerpts_s
from pipeline.trials.duration import t_audio_s as audio_duration_s
from pipeline.trials.noscore import noscore_findings, without_noscore
from pipeline.trials.schema import Excerpts, Occurrences, Timeline
from pipeline.trials.tokens.transcript import STDEVAL, SearchRules

Places = tuple[tuple[str, str], ...]


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[Occurrences, Timeline]:
    """ECF, transcript and query list → occurrences, timeline and facts."""
    settings, rttm, kwlist = protocol.settings, tables["rttm"], tables["kwlist"]
    timeline, ecf_findings = _timeline(settings, tables)
    unscored = noscore_findings(timeline, rttm) if settings.noscore == "score" else ()
    if settings.noscore == "cut":
        timeline = without_noscore(timeline, rttm)
    scored = _scored_excerpts(settings, timeline.excerpts)
    t_audio_s, findings = audio_duration_s(
        replace(timeline, excerpts=scored),
        t_audio=settings.t_audio,
        excerpt_sum=settings.excerpt_sum,
        splitcts_sum=settings.splitcts_sum,
    )
    rules = _search_rules(settings, kwlist)
    occurrences, searched = keywords.find_occurrences(kwlist, rttm, rules)
    ids = tuple(kwlist.keywords.text("id"))
    facts = Facts(
        t_audio_s=t_audio_s,
        n_trials=_n_trials(t_audio_s, settings.trials_per_s, settings.trials_rule),
        n_trials_exact=t_audio_s * settings.trials_per_s,
        queries=ids,
        texts={name: _searched(text, rules) for name, text in zip(ids, kwlist.keywords.text("text"), strict=True)},
    )
    facts = replace(facts, selections=_selections(settings, kwlist, rttm, scored, facts))
    unscored = (*unscored, *speaker_findings(settings.condition, facts.selections, rttm))
    whole = layout.timeline(tables["ecf"], files=settings.files).excerpts
    facts, joined = _joined_with_ecf(settings, facts, rttm, whole, occurrences)
    read = (*ecf_findings, *rttm.findings, *kwlist.findings)
    return Reference(occurrences, timeline, facts, (*read, *joined, *findings, *searched, *unscored))


def _joined_with_ecf(
    settings: KwsSettings, facts: Facts, rttm: Rttm, ecf: Excerpts, occurrences: Occurrences
) -> tuple[Facts, tuple[Finding, ...]]:
    """The key against the whole ECF: the facts with the ECF's names and the targets that are lost, and findings."""
    there, lost = lost_occurrences(settings, ecf, occurrences)
    n_lost, is_transcript = int(np.count_nonzero(lost)), settings.search not in STDEVAL
    found = key_findings(rttm, ecf, is_transcript=is_transcript, is_filtered=settings.ecf_filter != "none")
    if n_lost:
        nowhere = int(np.count_nonzero(~there))
        message = (
            f"{n_lost} of the key's {len(occurrences)} targets are lost: {nowhere} are in recordings or on channels "
            f"that the ECF lacks, {n_lost - nowhere} outside its excerpts. Compare key and ECF."
        )
        found = (*found, Finding("targets_lost", message, "rttm"))
    known = replace(facts, places=places_of(ecf), n_key_target=len(occurrences), n_key_lost=n_lost)
    return known, found


def _timeline(settings: KwsSettings, tables: Mapping[str, Any]) -> tuple[Timeline, tuple[Finding, ...]]:
    """All recordings of the ECF, with the excerpts that are scored: the scoring ECF's where there is one, and those of
    excluded recordings left out. Recordings and offsets stay, so trials need not be laid out again.
    """
    ecf, scoring = tables["ecf"], tables.get("scoring_ecf")
    timeline, findings = layout.timeline(ecf, files=settings.files), ecf.findings
    if scoring is not None:
        restricted = layout.timeline(scoring, files=settings.files)
        timeline = replace(timeline, excerpts=restricted.excerpts, header_s=restricted.header_s)
        foreign = sorted(set(restricted.files) - set(timeline.files))
        findings = (*findings, *scoring.findings, *_foreign("scoring_ecf", "of the scoring ECF are", foreign))
        if settings.ecf_filter == "none":
            message = "ecf_filter=none: the scoring ECF changes T, and drops nothing. Set ecf_filter to drop the rest."
            findings = (*findings, Finding("scoring_ecf_unfiltered", message, "scoring_ecf"))
    excluded = lines_of(settings.excluded_files)
    if excluded:
        files = timeline.excerpts.files
        kept = np.array([name not in excluded for name in files], np.bool_)[timeline.excerpts.file]
        timeline = replace(timeline, excerpts=timeline.excerpts.take(kept))
        findings = (*findings, *_foreign("ecf", "that are excluded are", sorted(excluded - set(files))))
        if settings.t_audio == "header":
            message = "T is the header's, which excluding recordings does not change. Use t_audio=excerpts."
            findings = (*findings, Finding("header_counts_excluded", message, "ecf"))
    return timeline, findings


def _foreign(role: str, which: str, files: list[str]) -> tuple[Finding, ...]:
    if not files:
        return ()
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    message = f"recordings {which} not in the ECF: {', '.join(files[:5])}{more}. Check their names."
    return (Finding("unknown_recording", message, role),)


def _searched(text: str, rules: SearchRules) -> str:
    """A query's text as it is searched for: split as the character rules have it."""
    return " ".join(rules.words_of(text)) if rules.splits else text


def _search_rules(settings: KwsSettings, kwlist: KeywordList) -> SearchRules:
    return SearchRules(
        search=settings.search,
        word_gap_s=settings.word_gap_s,
        normalize=kwlist.attributes.get("compareNormalize", ""),
        character_split=settings.character_split,
        delete_hyphens=settings.delete_hyphens,
        repeated_texts=settings.repeated_texts,
    )


def _scored_excerpts(settings: KwsSettings, excerpts: Excerpts) -> Excerpts:
    if not settings.namefile:
        return excerpts
    named = in_namefile(excerpts.files, excerpts.channels, settings.namefile)
    return excerpts.take(named[excerpts.file, excerpts.channel])


def _selections(
    settings: KwsSettings, kwlist: KeywordList, rttm: Rttm, scored: Excerpts, facts: Facts
) -> tuple[Selection, ...]:
    """The conditions of the settings, by name; those that pick excerpts with trials of their own."""
    found: dict[str, Selection] = {}
    for condition in parse_conditions(settings.condition):
        t_audio_s, n_trials = facts.t_audio_s, facts.n_trials
        places = speaker_places(rttm, condition.patterns) if condition.kind == "speaker" else None
        if condition.kind in BY_EXCERPT:
            own = typed(scored, type_rule(settings))
            held = of_types(own, condition.patterns) if places is None else at_places(scored, frozenset(places))
            part = scored.take(held)
            t_audio_s = excerpts_s(part, settings.excerpt_sum, settings.splitcts_sum)
            n_trials = _n_trials(t_audio_s, settings.trials_per_s, settings.trials_rule)
        for name, listed in groups(condition, kwlist).items():
            found[name] = Selection(
                name=name,
                kind=condition.kind,
                t_audio_s=t_audio_s,
                n_trials=n_trials,
                n_trials_exact=t_audio_s * settings.trials_per_s,
                ledger=ledger_of(condition),
                queries=_joined(settings, found.get(name), listed),
                places=places,
            )
    return tuple(found.values())


def _joined(settings: KwsSettings, earlier: Selection | None, listed: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The queries of a group that an earlier line may have named already."""
    if earlier is None or listed is None:
        return listed
    queries = (*(earlier.queries or ()), *listed)
    return queries if settings.repeated_groups == "repeat" else tuple(dict.fromkeys(queries))


def _n_trials(t_audio_s: float, trials_per_s: float, rule: str) -> float:
    """Trials per query. Both tools round half to even; KWSEval divides where STDEval and the plans multiply."""
    if rule == "kwseval":
        return float(round(t_audio_s / trials_per_s))
    exact = t_audio_s * trials_per_s
    return float(round(exact)) if rule == "stdeval" else exact


def speaker_places(rttm: Rttm, patterns: tuple[str, ...]) -> Places:
    """Sorted (recording, channel) whose SPKR-INFO records all have a subtype that matches one of ``patterns``.

    A detection names no speaker, so a channel shared by speakers of several types is in no one's condition, and neither
    is one without SPKR-INFO.
    """
    subtypes: dict[tuple[str, str], set[str]] = defaultdict(set)
    speakers = rttm.speakers
    for file, channel, subtype in zip(*map(speakers.text, ("file", "channel", "subtype")), strict=True):
        subtypes[file, channel].add(subtype)
    return tuple(
        sorted(
            place
            for place, found in subtypes.items()
            if all(matches_any(subtype, patterns, "condition") for subtype in found)
        )
    )


def speaker_findings(text: str, selections: tuple[Selection, ...], rttm: Rttm) -> Iterator[Finding]:
    """A warning for every condition by speaker that holds nothing."""
    empty = {selection.name for selection in selections if selection.places == ()}
    for condition in parse_conditions(text):
        if condition.kind == "speaker" and condition.name in empty:
            seen = ", ".join(sorted(set(rttm.speakers.text("subtype")))) or "none"
            message = (
                f"the condition {condition.name!r} is empty: no recording has SPKR-INFO records that are all "
                f"{' or '.join(condition.patterns)} (subtypes in the transcript: {seen}). Compare the spelling."
            )
            yield Finding("no_such_speakers", message, "rttm")
