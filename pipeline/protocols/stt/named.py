"""Speech-to-text of OpenKWS13: word, character and syllable error rates as sclite computes them, and as the plan says.

``official`` is sclite with ``-D -F``; ``plan`` divides by the reference's own tokens, leaves words without a
confidence out of the cross entropy and keeps segment ends in double precision.

Figures, counts and alignments are those of sclite, ties included. Read otherwise, where sclite gives up or loses words:
recordings that the reference lacks are unscored and named; utterances of transcripts that the output lacks count as
deleted, as recordings of a CTM do; an alternative without words is a null word wherever it stands; only the four marks
<ALT…> are marks; the mark of ignored segments is one in any case of A-Z; and of characters (``cer``), braces of an
output's words are characters, words of which none is left have no tokens, and optional words may be alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pipeline.metrics.stt import wer
from pipeline.protocols.base import Protocol, Role
from pipeline.protocols.settings import setting
from pipeline.protocols.stt.family import TOKENS

PLAN_004 = "OpenKWS13 evaluation plan"
SCLITE = "SCTK sclite"


@dataclass(frozen=True)
class SttSettings:
    """Every setting of the family, with the official values as defaults."""

    variant: Literal["wer", "cer", "ser"] = setting(
        "wer", "tokens are words, characters, or syllables of a lexicon", source=f"{PLAN_004} 6.3, 6.4.2, 6.4.3"
    )
    optional_deletion: bool = setting(
        True, "words in brackets may be left out, or put in, without penalty", source=f"{SCLITE} -D; {PLAN_004} 4.3"
    )
    fragments: bool = setting(
        True, "a word that begins or ends with - matches words that go on from it", source=f"{SCLITE} -F"
    )
    case_sensitive: bool = setting(False, "whether case counts, in words and in names", source=f"{SCLITE} -s")
    fold: Literal["ascii", "turkish", "vietnamese", "ukrainian", "unicode"] = setting(
        "ascii",
        "which letters lose their case: A-Z, a language's letters, or all after composing (NFC)",
        source=f"{SCLITE} -e utf-8",
        only={"case_sensitive": (False,)},
    )
    keep_ascii: bool = setting(
        True,
        "characters: runs of ASCII stay one token",
        source=f"{SCLITE} -c NOASCII; {PLAN_004} 6.4.2",
        only={"variant": ("cer",)},
    )
    drop_hyphens: bool = setting(
        True, "characters: hyphens are removed first", source=f"{SCLITE} -c DH", only={"variant": ("cer",)}
    )
    syllable_tags: bool = setting(
        True,
        "syllables: tone and stress marks belong to them",
        source=f"{PLAN_004} 6.4.3; language pack lexicon",
        only={"variant": ("ser",)},
    )
    segment_end: Literal["float32", "float64"] = setting(
        "float32", "precision in which a segment's end is held against mid points", source=f"{SCLITE} stm2ctm"
    )
    n_ref_rule: Literal["sclite", "plan", "longest"] = setting(
        "sclite",
        "denominator of rates: with optional words of the output, without them, or the longest references",
        source=f"{SCLITE} scores; {PLAN_004} 6.3 footnote 10",
    )
    missing_confidence: Literal["zero", "exclude"] = setting(
        "zero", "words without a confidence where others have one: p = 0, or left out", source=f"{SCLITE} scores"
    )
    unknown_file: Literal["keep", "error"] = setting(
        "keep",
        "recordings of the output that the reference lacks: unscored with a warning, or refused",
        source="rescore",
    )
    alignment: bool = setting(False, "whether results list every segment's alignment", source="rescore")


ROLES = (
    Role("stm", "stm", option="-r"),
    Role("ctm", "ctm", option="-s"),
    Role("lexicon", "lexicon", required=False),
)

STT13 = Protocol(
    name="stt13",
    edition=2,
    mode="official",
    title="OpenKWS13 speech-to-text",
    family=TOKENS,
    roles=ROLES,
    settings=SttSettings(),
    measures=wer.MEASURES,
    primary="wer",
    leads=("sub", "del", "ins", "corr", "n_ref", "seg_err", "nce"),
    tool="sclite",
)
STT13_PLAN = replace(
    STT13,
    mode="plan",
    settings=replace(SttSettings(), n_ref_rule="plan", missing_confidence="exclude", segment_end="float64"),
)
STT_TRN = replace(
    STT13,
    name="stt-trn",
    title="Speech-to-text by utterance, from transcripts without times",
    roles=(Role("stm", "trn", option="-r"), Role("ctm", "trn", option="-s"), ROLES[2]),
)
PROTOCOLS = (STT13, STT13_PLAN, STT_TRN)
