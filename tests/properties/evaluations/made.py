"""Small evaluations of every protocol, made up so that nothing is even: durations, counts, names, ties.

Times and scores are whole eighths: sums and differences of them are exact, so that a law about shifted times holds to
the last bit. ``model.in_decimals`` makes decimals of them. File names sort otherwise by characters than by numbers.
Excerpts of one recording do not overlap within a channel and are of one type, since KWSEval follows the order of the
ECF where they do; SPEAKER records of one channel begin at times of their own, for the same reason.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.protocols.base import Protocol
from tests.properties.evaluations.model import Evaluation, Rows
from tests.properties.evaluations.written import (
    Block,
    Clip,
    Detection,
    Example,
    Excerpt,
    Judged,
    Key,
    Keyword,
    Label,
    Likelihoods,
    Limit,
    Pronounced,
    Record,
    Scored,
    Segment,
    Spoken,
    Targ,
    Trial,
    Utterance,
    Weighed,
)

FILES = ("f10", "f2", "F3", "a_1", "Z", "f1")
CHANNELS = ("1", "2", "10")
SPEAKERS = ("S", "s2", "S10", "t_")
QUERIES = ("q10", "q2", "K1", "k-7", "Z9", "q1")
WORDS = ("a", "b", "A", "cc", "É")
NOWHERE, UNLISTED = "nowhere", "u-0"
SETTINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "detections": {
        "condition": (
            "source_type BN:bnews\nsource_type any:.*",
            "speaker W:adult_female",
            "attribute Kind\noov\nhas_targets",
        ),
        "include_no_targets": ("true",),
        "just_system_terms": ("true",),
        "pooled": ("true",),
        "ecf_filter": ("excerpt", "whole", "midpoint"),
        "excerpt_sum": ("kwseval", "channel_1", "sum"),
        "splitcts_sum": ("per_channel", "per_file"),
        "trials_rule": ("kwseval", "stdeval", "exact"),
        "score_range": ("group", "keyword", "list"),
        "noscore": ("cut", "score"),
        "map_order": ("text", "number"),
        "censor": ("query", "-2"),
        "withdrawn": (QUERIES[0],),
        "excluded_files": (FILES[1],),
        "namefile": (f"{FILES[0]}/1\n{FILES[1]}/1", f"{FILES[0]}/2\n{FILES[0]}/1"),
        "character_split": ("all",),
    },
    "documents": {"unknown_query": ("keep",), "p_target_effective": ("0.25",)},
    "events": {
        "missing_trials": ("drop", "miss"),
        "tie_order": ("against", "id_descending"),
        "conditions": ("short: ClipMD.DURATION < 9; near: JudgementMD.INSTANCE_TYPE == near",),
        "ter": ("3",),
    },
    "tokens": {
        "variant": ("cer", "ser"),
        "alignment": ("true",),
        "n_ref_rule": ("longest", "plan"),
        "case_sensitive": ("true",),
    },
    "labelled": {"n_trials": ("60",), "p_target_effective": ("0.25",)},
    "language": {"also_closed": ("true",), "other_task_languages": ("oos",), "empty_classes": ("leave_out",)},
}
SETTINGS = {**SETTINGS, "segments": {**SETTINGS["detections"], "crossing": ("drop", "extend", "merge")}}


def make(protocol: Protocol, size: int, rng: random.Random, tag: str = "", *, plain: bool = False) -> Evaluation:
    """An evaluation of a protocol with some ``size`` (0 or more) of everything.

    Names and words begin with ``tag``: evaluations of different ones share nothing. ``plain``: no settings of its own.
    """
    family = protocol.family.name
    maker = _utterances if protocol.name == "stt-trn" else MAKERS[family]
    roles = maker(size, rng, tag)
    settings = {}
    for name, values in SETTINGS[family].items():
        if not plain and rng.random() < 0.15:
            settings[name] = rng.choice(values)
    if family == "documents":
        settings["censor"] = "-2"
    if family in ("detections", "segments") and not plain and rng.random() < 0.15:
        roles["scoring_ecf"] = tuple(row._replace(dur=row.dur / 2) for row in roles["ecf"] if rng.random() < 0.8)
        roles["scoring_ecf"] += roles["ecf"][:1] if not roles["scoring_ecf"] else ()
    return Evaluation(protocol, roles, settings)


def _some(rng: random.Random, pool: tuple[str, ...], size: int, tag: str, least: int = 1) -> list[str]:
    n = min(len(pool), rng.randint(least, max(size, least)))
    return [tag + name for name in rng.sample(pool, n)]


def _eighths(rng: random.Random, low: int, high: int) -> float:
    return rng.randint(low, high) / 8


# Keyword search -------------------------------------------------------------------------------------------------------


def _search(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    excerpts, records, places = [], [], []
    for file in _some(rng, FILES, size, tag):
        kind = rng.choice(("bnews", "cts", "splitcts", "confmtg"))
        for channel in ["1", *rng.sample(CHANNELS[1:], rng.randint(0, 2))]:
            begin = _eighths(rng, 0, 16)
            for _ in range(rng.randint(1, 2)):
                excerpts.append(Excerpt(file, channel, begin, _eighths(rng, 40, 200), kind))
                begin += excerpts[-1].dur + rng.choice((0.0, 1.0))
            places.append((file, channel))
    for file, channel in places:
        records += _spoken(file, channel, size, rng, tag)
    queries = _some(rng, QUERIES, size, tag)
    keywords = [
        Keyword(
            query,
            " ".join(tag + word for word in rng.choices(("a", "b", "cc", "É"), k=rng.choice((1, 1, 2, 3)))),
            rng.choice("xy"),
        )
        for query in queries
    ]
    listed = [*queries, *([tag + UNLISTED] if rng.random() < 0.2 else [])]
    words = [row for row in records if row.kind == "LEXEME"]
    blocks = [
        Block(query, rng.choice(("0", "2", "NA")), tuple(_detections(places, words, size, rng, tag)))
        for query in listed
        if rng.random() < 0.9
    ]
    roles: dict[str, Rows] = {
        "ecf": tuple(excerpts),
        "rttm": tuple(records),
        "kwlist": tuple(keywords),
        "output": tuple(blocks),
    }
    if rng.random() < 0.3:
        roles["queries"] = tuple(Example(query, str(n), 0.1 * rng.randint(1, 9)) for query in queries for n in (1, 2))
        roles["resources"] = ()
    return roles


def _spoken(file: str, channel: str, size: int, rng: random.Random, tag: str) -> list[Record]:
    """What a channel's speakers say, words of several at one time among it, and records of other types."""
    made, begun = [], set()
    for speaker in _some(rng, SPEAKERS, size, tag):
        now, words = _eighths(rng, 0, 24), list[Record]()
        for _ in range(rng.randint(0, size + 2)):
            dur, word = _eighths(rng, 1, 6), tag + rng.choice(WORDS)
            words.append(
                Record("LEXEME", file, channel, now, dur, word, rng.choice(("lex",) * 8 + ("fp", "frag")), speaker)
            )
            now += dur + rng.choice((0.0, 0.0, 0.25, 0.5, 0.625, 2.0))
        if words and rng.random() < 0.1:
            words.insert(0, words.pop())
        if made and rng.random() < 0.15:  # the same word at the same time
            words.append(rng.choice(made)._replace(speaker=speaker))
        made += [row for row in words if row.kind == "LEXEME"]
        begin = _eighths(rng, 0, 24)
        if begin not in begun:
            begun.add(begin)
            made.append(Record("SPEAKER", file, channel, begin, _eighths(rng, 8, 80), "<NA>", "<NA>", speaker))
        made.append(Record("SPKR-INFO", file, channel, 0, 0, "", rng.choice(("adult_female", "adult_male")), speaker))
    if rng.random() < 0.3:
        made.append(
            Record("NOSCORE", file, channel, _eighths(rng, 0, 40), _eighths(rng, 8, 16), "<NA>", "<NA>", "<NA>")
        )
    return made


def _detections(
    places: list[tuple[str, str]], words: list[Record], size: int, rng: random.Random, tag: str
) -> list[Detection]:
    made = list[Detection]()
    for _ in range(rng.randint(0, size + 2)):
        file, channel = rng.choice(places)
        begin, dur, score = _eighths(rng, 0, 160), _eighths(rng, 1, 16), _eighths(rng, -4, 8)
        if words and rng.random() < 0.7:
            near = rng.choice(words)
            file, channel, begin = near.file, near.channel, max(near.begin + _eighths(rng, -2, 2), 0.0)
        if rng.random() < 0.05:
            file = tag + NOWHERE
        decision = ("YES" if score > 0.5 else "NO") if rng.random() < 0.9 else rng.choice(("YES", "NO"))
        made.append(Detection(file, channel, begin, dur, score, decision))
        if rng.random() < 0.1:  # another one that differs in one thing, or in none
            other = rng.choice(({}, {"decision": "NO"}, {"dur": dur / 2}, {"score": score - 0.5}))
            made.append(made[-1]._replace(**other))
    return made


def _documents(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    files, queries = _some(rng, FILES, size + 1, tag, 2), _some(rng, QUERIES, size, tag)
    targets = [Label(file, query) for query in queries for file in files if rng.random() < 0.3]
    blocks = []
    for query in queries:
        scored = [file for file in files if rng.random() < 0.9]
        rows = [Detection(file, "1", 0.0, 1.0, _eighths(rng, -8, 8), rng.choice(("YES", "NO"))) for file in scored]
        blocks.append(Block(query, "0", tuple(rng.sample(rows, len(rows)))))
    return {
        "ecf": tuple(Excerpt(file, "1", 0.0, _eighths(rng, 8, 80), "bnews") for file in files),
        "rttm": tuple(targets) or (Label(files[0], queries[0]),),
        "kwlist": tuple(Keyword(query, "w", "x") for query in queries),
        "output": tuple(blocks),
    }


# Events, words, languages ---------------------------------------------------------------------------------------------


def _events(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    clips = [f"{tag}c{n}" for n in rng.sample(range(120), size + 4)]
    events = _some(rng, QUERIES, size, tag)
    trials = [Trial(f"{clip}.{event}", clip, event) for event in events for clip in clips if rng.random() < 0.9]
    trials = trials or [Trial(f"{clips[0]}.{events[0]}", clips[0], events[0])]
    scored = []
    for event in events:
        own = [trial for trial in trials if trial.query == event]
        ranks = rng.sample(range(1, len(own) + 1), len(own))
        scored += [Scored(t.trial, rng.randint(0, 8) / 8, rank) for t, rank in zip(own, ranks, strict=True)]
    return {
        "index": tuple(trials),
        "ref": tuple(Targ(trial.trial, rng.choice("ynn")) for trial in trials if rng.random() < 0.97),
        "detection": tuple(scored),
        "threshold": tuple(
            Limit(event, rng.randint(0, 8) / 8, rng.randint(1, 5), rng.randint(1, 9) / 4) for event in events
        ),
        "clipmd": tuple(Clip(clip, 0.1 * rng.randint(30, 150)) for clip in clips),
        "judgement": tuple(
            Judged(rng.choice(clips), rng.choice([*events, "NULL"]), rng.choice(("near", "no"))) for _ in clips
        ),
    }


TEXTS = ("a b", "a", "", "(a) cc b", "{{ a / b a / @ }} b", "a- b a", "É cc", "IGNORE_TIME_SEGMENT_IN_SCORING", "A -b")
LEXICON = tuple(
    Pronounced(word, f"{phones} .")
    for word, phones in {"a": "a", "b": "b . a", "A": "a", "cc": "c . c", "a-": "a", "-b": "b", "É": "e"}.items()
)
OUTPUTS = (("a",), ("b",), ("A",), ("cc",), ("a-",), ("(b)",), ("É",), ("<ALT_BEGIN>", "a", "<ALT>", "b", "<ALT_END>"))


def _tokens(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    segments, spoken = [], []
    speakers = _some(rng, SPEAKERS, size, tag)
    for file in _some(rng, FILES, size, tag):
        for channel in rng.sample(CHANNELS, rng.randint(1, 2)):
            now = _eighths(rng, 0, 8)
            for _ in range(rng.randint(0, size + 1)):
                dur = _eighths(rng, 4, 24)
                text = rng.choice(TEXTS).format()
                segments.append(
                    Segment(file, channel, rng.choice(speakers), now, now + dur, rng.choice(("", "<o>", "<o,p>")), text)
                )
                now += dur + rng.choice((0.0, 0.0, 1.0))
            times = rng.sample(range(int(now * 8) + 16), rng.randint(0, 2 * size + 2))
            spoken += [Spoken(file, channel, n / 8, rng.choice(OUTPUTS), rng.randint(0, 8) / 8) for n in times]
    segments = segments or [Segment(tag + FILES[0], "1", speakers[0], 0.0, 1.0, "", "a")]
    spoken = spoken or [Spoken(tag + FILES[0], "1", 0.25, ("a",), 0.5)]
    return {"stm": tuple(segments), "ctm": tuple(spoken), "lexicon": LEXICON}


def _utterances(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    said = [
        (s, str(n)) for s in _some(rng, ("S", "s2", "S10", "t"), size, tag) for n in range(rng.randint(1, size + 2))
    ]
    texts = [text.format() for text in TEXTS[:7]]
    return {
        "stm": tuple(Utterance(*one, rng.choice(texts)) for one in said),
        "ctm": tuple(Utterance(*one, rng.choice(texts)) for one in said if rng.random() < 0.9),
        "lexicon": LEXICON,
    }


LANGUAGES = ("French", "German", "Greek", "Italian", "OOS", "-", "Basque")


def _languages(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    codes = rng.choice(("Empty Closed", "Empty Open"))
    segments = [f"{tag}s{n}" for n in rng.sample(range(120), 2 * size + 6)]
    labels = [*LANGUAGES[:5], *(rng.choice(LANGUAGES) for _ in segments)]
    return {
        "key": tuple(Key(segment, label) for segment, label in zip(segments, labels, strict=False)),
        "output": tuple(Likelihoods(s, codes, tuple(_eighths(rng, -16, 16) for _ in range(5))) for s in segments),
    }


def _labelled(size: int, rng: random.Random, tag: str) -> dict[str, Rows]:
    rows = list[Weighed]()
    for query in _some(rng, QUERIES, size, tag):
        for file in _some(rng, FILES, size + 2, tag):
            score = _eighths(rng, -8, 16)
            decision = int(score > 0.5 if rng.random() < 0.9 else rng.random() < 0.5)
            rows.append(Weighed(query, file, int(rng.random() < 0.3), score, decision))
    return {"output": tuple(rows)}


MAKERS: Mapping[str, Callable[[int, random.Random, str], dict[str, Rows]]] = {
    "detections": _search,
    "segments": _search,
    "documents": _documents,
    "events": _events,
    "tokens": _tokens,
    "language": _languages,
    "labelled": _labelled,
}


def names_of(evaluation: Evaluation) -> tuple[str, ...]:
    """The kinds of names that a family's figures may not depend on."""
    kinds: dict[str, tuple[str, ...]] = {
        "detections": ("file", "channel", "query", "speaker"),
        "segments": ("file", "channel", "query", "speaker"),
        "documents": ("file", "query"),
        "events": ("clip", "query"),
        "tokens": ("file", "channel", "speaker"),
        "language": ("segment",),
        "labelled": ("file", "query"),
    }
    return kinds[evaluation.protocol.family.name]


def settings_of(evaluation: Evaluation) -> dict[str, Any]:
    """The settings of the protocol as this evaluation has them, as text where it has its own."""
    return {**vars(evaluation.protocol.settings), **evaluation.settings}
