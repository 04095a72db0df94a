"""The family of token strings: how references and recognisers' words become tiles, counts and error rates."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pipeline.align.labels import Labels
from pipeline.align.tokens.rules import Lexer, TokenRules
from pipeline.align.tokens.steps import align_tokens
from pipeline.arrays import summed
from pipeline.errors import Finding, InputError, Problems
from pipeline.formats.stt.lexicon import Lexicon
from pipeline.formats.stt.stm import Stm
from pipeline.formats.stt.tags import is_in_no_scored_segment, is_unscored
from pipeline.formats.stt.transcripts import AlternationError, spelled, words_of_text
from pipeline.formats.stt.trn import Trn
from pipeline.metrics.measure import Scored
from pipeline.metrics.stt import significance, wer
from pipeline.partials.stt_outcomes import COUNTS, SttOutcomes
from pipeline.protocols.base import EVERYTHING, Abilities, Conclusion, Family, Kind, Protocol, Reads, Reference, Scope
from pipeline.protocols.blocks import SPEAKER_BLOCKS
from pipeline.protocols.stt.dispute import DISPUTE
from pipeline.protocols.stt.stand_ins import stand_ins
from pipeline.protocols.stt.tables import tables
from pipeline.protocols.stt.tile import ONLY_OUTPUT, ONLY_REFERENCE, alignment_of, labels_of, outcomes
from pipeline.terms import Facts, OperatingPoint
from pipeline.trials.joined import Join
from pipeline.trials.tokens import dataset as token_dataset
from pipeline.trials.tokens import layout as token_layout
from pipeline.trials.tokens.rewritten import Rewriting, segments_rewritten, words_rewritten
from pipeline.trials.tokens.schema import MARKED, SCORED, UNTIMED, TokenSegments, TokenTimeline, Words


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[TokenSegments, TokenTimeline]:
    """Transcript (and lexicon) → segments by recording. Refuses braces that cannot be read, naming their lines."""
    source, glm, settings = tables["stm"], tables.get("glm"), protocol.settings
    tags = settings.unscored_segments == "plan"
    if glm is not None:
        passed = is_in_no_scored_segment if tags else _none
        rewriting = Rewriting(glm.reference, not settings.case_sensitive, settings.glm_split_hyphens)
        source = replace(source, segments=segments_rewritten(source.segments, rewriting, passed))
    segments = token_layout.segments_of(source, case_sensitive=settings.case_sensitive, tags=tags)
    lexicon = tables.get("lexicon", Lexicon({}))
    if settings.variant == "ser" and not lexicon.entries:
        message = "syllables need pronunciations. Give the lexicon as --input lexicon=URL."
        raise InputError([Finding("no_lexicon", message, "lexicon")])
    scored = segments.state == SCORED
    durations = (segments.end_s - segments.begin_s)[scored]
    speakers = segments.speakers
    facts = Facts(
        t_audio_s=summed(durations) if isinstance(source, Stm) else math.nan,
        n_trials=float(scored.sum()),
        n_trials_exact=float(scored.sum()),
        queries=speakers,
        texts=dict.fromkeys(speakers, ""),
    )
    units = tuple(
        sorted(
            {
                token_layout.unit_name(segments.files[file], segments.channels[channel])
                for file, channel in zip(segments.file.tolist(), segments.channel.tolist(), strict=True)
            }
        )
    )
    timeline = TokenTimeline(units, lexicon, glm)
    taken_out = _taken_out(segments) if settings.unscored_tokens == "plan" else ()
    told = (*source.findings, *lexicon.findings, *(glm.findings if glm else ()))
    findings = (*told, *_checked(segments), *taken_out)
    return Reference(segments, timeline, facts, findings)


def _checked(segments: TokenSegments) -> Iterator[Finding]:
    """Findings about the segments; raises ``InputError`` for transcripts that cannot be read."""
    yield from _braces("stm", [segments.texts[text] for text in segments.text.tolist()], segments.row.tolist())
    for state, code, what in (
        (UNTIMED, "segment_without_times", "segments have no times and are not scored"),
        (MARKED, "segment_ignored", "segments are marked as not to be scored"),
    ):
        rows = sorted(segments.row[segments.state == state].tolist())
        if rows:
            yield Finding(code, f"{len(rows)} {what} ({_lines(rows)}).", f"stm:{rows[0]}")


def _taken_out(segments: TokenSegments) -> Iterator[Finding]:
    """A finding that says which tokens of the reference are not scored."""
    scored = segments.text[segments.state == SCORED].tolist()
    words = Counter(word for text in scored for word in segments.texts[text].split(" "))
    unscored = {word: n for word, n in words.items() if is_unscored(spelled(word).lower())}
    if unscored:
        shown = ", ".join(f"{word} {n}" for word, n in sorted(unscored.items(), key=lambda one: (-one[1], one[0]))[:20])
        message = f"{sum(unscored.values())} tokens are tags or punctuation and not scored, nor in outputs: {shown}."
        yield Finding("tokens_not_scored", message, "stm")


def _braces(role: str, texts: list[str], rows: list[int]) -> Iterator[Finding]:
    """A finding where braces are left open; raises ``InputError`` for those that cannot be read, naming their lines."""
    problems = Problems(role)
    unbalanced = list[int]()
    for text, row in zip(texts, rows, strict=True):
        if "{" not in text:
            continue
        try:
            if not words_of_text(text)[1]:
                unbalanced.append(row)
        except AlternationError as error:
            what = f"{error} (allowed: {{ word / other words / @ }})"
            problems.add("bad_alternation", row, what, "Put blanks around braces and a word into each alternative.")
    problems.raise_if_any()
    if unbalanced:
        message = "a brace is not closed: the rest of the transcript from it on is not scored, as in sclite"
        yield Finding("unbalanced_braces", f"{message} ({_lines(unbalanced)}).", f"{role}:{unbalanced[0]}")


def _lines(rows: list[int]) -> str:
    shown = ", ".join(map(str, rows[:20])) + (", …" if len(rows) > 20 else "")
    return f"lines {shown}"


def _none(_: str) -> bool:
    return False


def lay_out(
    protocol: Protocol, tables: Mapping[str, Any], timeline: TokenTimeline
) -> tuple[Words, tuple[Finding, ...]]:
    """A recogniser's words by recording and time, rewritten by rules where the timeline has any.

    Refuses braces of transcripts that cannot be read.
    """
    source, settings = tables["ctm"], protocol.settings
    findings = source.findings
    if timeline.glm is not None:
        rewriting = Rewriting(timeline.glm.output, not settings.case_sensitive, settings.glm_split_hyphens)
        words, told = words_rewritten(source.words, rewriting)
        source, findings = replace(source, words=words), (*findings, *told)
    if isinstance(source, Trn):
        lines = source.utterances["line"].tolist()
        findings = (*findings, *_braces("ctm", source.utterances.text("text"), lines))
    return token_layout.words_of(source, case_sensitive=settings.case_sensitive), findings


def align(
    protocol: Protocol, words: Words, segments: TokenSegments, reference: Reference[TokenSegments, TokenTimeline]
) -> Labels:
    """The steps of every scored segment."""
    lexer = Lexer(TokenRules.of(protocol.settings), reference.timeline)
    return labels_of(words, segments, align_tokens(words, segments, lexer, segment_end=protocol.settings.segment_end))


def count(
    protocol: Protocol,
    words: Words,
    labels: Labels,
    segments: TokenSegments,
    _reference: Reference[TokenSegments, TokenTimeline],
) -> SttOutcomes:
    """Counts, log sums and confusions of aligned words."""
    return outcomes(alignment_of(words, segments, labels), segments, listed=protocol.settings.alignment)


def conclude(
    protocol: Protocol, total: SttOutcomes, facts: Facts, survey: Mapping[str, Any], _asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell from its merged outcomes."""
    settings = protocol.settings
    only = {
        prefix: {name.removeprefix(prefix): n for name, n in total.units.counts.items() if name.startswith(prefix)}
        for prefix in (ONLY_OUTPUT, ONLY_REFERENCE)
    }
    findings = tuple(_warnings(total, only[ONLY_OUTPUT], only[ONLY_REFERENCE]))
    if settings.unknown_file == "error" and only[ONLY_OUTPUT]:
        raise InputError([finding for finding in findings if finding.code == "unknown_file"])
    scored = whole(protocol, total, facts, survey)
    rules = scored.total[1]
    speakers = wer.rows_by(total, wer.speaker_of, facts.queries)
    return Conclusion(
        figures={measure.name: measure.of(scored) for measure in protocol.measures},
        blocks=tuple(wer.block(row, rules) for row in speakers),
        curve={},
        facts=_facts(scored.once(wer.overall), total, facts, survey, sum(only[ONLY_OUTPUT].values())),
        findings=findings,
        tables=tables(total, scored.once(wer.overall), speakers, rules, listed=settings.alignment),
    )


def whole(protocol: Protocol, total: SttOutcomes, facts: Facts, _survey: Mapping[str, Any]) -> Scored[wer.Total]:
    """The cell as its measures see it; see ``Abilities.whole``."""
    settings = protocol.settings
    rules = wer.SttRules(settings.n_ref_rule, settings.missing_confidence, settings.nce_rule)
    return Scored((total, rules), facts, OperatingPoint())


def _facts(
    row: wer.WordCounts, total: SttOutcomes, facts: Facts, survey: Mapping[str, Any], n_unmatched: int
) -> dict[str, float | str]:
    names = (
        *("n_segments", "n_segments_ignored", "n_segments_untimed", "forgiven_reference", "forgiven_output"),
        *("n_words_ignored", "n_words_gap", "n_confidences", "n_out_of_range"),
    )
    return {
        "t_audio_s": facts.t_audio_s,
        "n_speakers": len(facts.queries),
        "n_words": survey.get("n_rows", float("nan")),
        "n_words_unmatched": n_unmatched,
        **{name: row[name] for name in names},
        "n_confidences_missing": row["n_missing_correct"] + row["n_missing_incorrect"],
        "n_ref_max": row["n_longest"],
        "n_unknown_reference": total.units["unknown_reference"],
        "n_unknown_output": total.units["unknown_output"],
        **facts.counts,
    }


def _warnings(total: SttOutcomes, only_output: dict[str, int], only_reference: dict[str, int]) -> Iterator[Finding]:
    """Warnings: recordings of one side alone, words that fall between segments, confidences."""
    both = Join("the output", only_output, "the reference", only_reference).told()
    if only_output:
        n = sum(only_output.values())
        yield Finding(
            "unknown_file",
            f"{n} words are in recordings (file channel) that the reference lacks and are not scored: {both}. "
            "Compare the spelling of names and channels.",
            "ctm",
        )
    if only_reference:
        n = sum(only_reference.values())
        yield Finding(
            "missing_file",
            f"{len(only_reference)} recordings (file channel) of the reference have no words in the output; their {n} "
            f"tokens count as deleted: {both}.",
            "ctm",
        )
    sums = dict(zip(COUNTS, total.counts.sum(axis=0).tolist(), strict=True))
    missing = sums["n_missing_correct"] + sums["n_missing_incorrect"]
    if missing and sums["n_confidences"]:
        yield Finding("confidence_missing", f"{missing} scored words have no confidence while others have one.", "ctm")
    if sums["n_words_gap"]:
        message = f"{sums['n_words_gap']} scored words have their mid points outside every segment's times"
        yield Finding("word_in_gap", f"{message}; they are scored with the segment that follows, or the last.", "ctm")


def timeline_parts(settings: Any, timeline: TokenTimeline) -> dict[str, Any]:
    """The part of a timeline that words depend on: the folding of file and channel names, and rules."""
    folding = {"case_sensitive": settings.case_sensitive}
    if timeline.glm is None:
        return folding
    rules = hashlib.sha256(timeline.glm.text.encode()).hexdigest()
    return {**folding, "glm": rules, "glm_split_hyphens": settings.glm_split_hyphens}


def _timeline_columns(timeline: TokenTimeline) -> dict[str, Any]:
    return dict(token_dataset.timeline_to_columns(timeline))


SPOKEN = Kind(
    name="tokens",
    to_dataset=token_dataset.words_to_dataset,
    from_dataset=token_dataset.words_from_dataset,
    timeline_parts=timeline_parts,
    key_columns=token_dataset.segments_to_columns,
    key_from_columns=token_dataset.segments_from_columns,
    timeline_columns=_timeline_columns,
    timeline_from_columns=token_dataset.timeline_from_columns,
)
TOKENS: Family[Words, TokenSegments, TokenTimeline, SttOutcomes] = Family(
    name="tokens",
    kind=SPOKEN,
    outputs=("ctm",),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=SttOutcomes,
    conclude=conclude,
    reads=Reads(
        ("case_sensitive", "glm_split_hyphens", "unscored_segments", "unscored_tokens", "variant"),
        ("alignment", "n_ref_rule", "missing_confidence", "nce_rule", "unknown_file"),
    ),
    can=Abilities(
        stand_ins=stand_ins,
        blocks=SPEAKER_BLOCKS,
        whole=whole,
        compare=significance.compare,
        among=significance.among,
        dispute=DISPUTE,
    ),
)
