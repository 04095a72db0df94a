"""Speech-to-text of OpenKWS13: word, character and syllable error rates as sclite computes them, and as the plan says.

``official`` is sclite with ``-D -F``. ``plan`` divides by the reference's own tokens, reckons the cross entropy by the
output's words and leaves those without a confidence out of it, keeps segment ends in double precision, and follows
sections 4.3 and 4.4: tags and punctuation are no tokens, fragments and hesitations of the reference may be left out
without brackets, only fragments of the reference match what goes on from them, and segments with overlapping,
unintelligible or prompting speech are not scored.

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
    nce_rule: Literal["sclite", "plan"] = setting(
        "sclite",
        "correct words of the cross entropy: with optional words that the output left out, or those of the output",
        source=f"{SCLITE} scores; {PLAN_004} 6.4.1",
    )
    fragments_in: Literal["both", "reference"] = setting(
        "both",
        "whose fragments match words that go on from them: of both sides, or of the reference alone",
        source=f"{SCLITE} -F; {PLAN_004} 4.3",
        only={"fragments": (True,)},
    )
    optional_tokens: Literal["bracketed", "plan"] = setting(
        "bracketed",
        "which words may be left out: those in brackets, or also fragments and <hes> of the reference",
        source=f"{SCLITE} -D; {PLAN_004} 4.3",
        only={"optional_deletion": (True,)},
    )
    unscored_tokens: Literal["none", "plan"] = setting(
        "none",
        "taken out of both sides: nothing, or tags of sounds, noises, code and speaker changes, and punctuation",
        source=f"{PLAN_004} 4.3; table C.2",
    )
    unscored_segments: Literal["marked", "plan"] = setting(
        "marked",
        "not scored: segments marked so (IGNORE_TIME…), or also those with <overlap>, (()), <prompt>, <untranscribed>",
        source=f"{SCLITE} stm2ctm; {PLAN_004} 4.4",
    )
    glm_split_hyphens: bool = setting(
        False, "rules (role glm): whether words are split at hyphens after them", source="SCTK csrfilt -dh"
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
    Role("glm", "glm", required=False),
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
    edition=3,
    settings=replace(
        SttSettings(),
        n_ref_rule="plan",
        missing_confidence="exclude",
        segment_end="float64",
        nce_rule="plan",
        fragments_in="reference",
        optional_tokens="plan",
        unscored_tokens="plan",
        unscored_segments="plan",
    ),
)
STT_TRN = replace(
    STT13,
    name="stt-trn",
    title="Speech-to-text by utterance, from transcripts without times",
    roles=(Role("stm", "trn", option="-r"), Role("ctm", "trn", option="-s"), ROLES[2]),
)
PROTOCOLS = (STT13, STT13_PLAN, STT_TRN)
