"""Tags of Babel transcripts, by what becomes of them in scoring (plan 004, sections 4.3 and 4.4 and table C.2)."""

from __future__ import annotations

import unicodedata

HESITATION = "<hes>"
"""A filled pause: it may be left out."""
SOUNDS = frozenset({"<laugh>", "<breath>", "<lipsmack>", "<cough>"})
"""What a speaker does without speaking: NON-LEX in RTTM, by the tag's name."""
NOISES = frozenset({"<sta>", "<click>", "<ring>", "<dtmf>", "<int>"})
"""Noises of the place and the line: NON-SPEECH in RTTM, ``<sta>`` as noise and the rest as other."""
CODE_SWITCH = "<foreign>"
SPEAKER_CHANGES = frozenset({"<male-to-female>", "<female-to-male>"})
NO_SPEECH, TRUNCATED = "<no-speech>", "~"
UNINTELLIGIBLE = "(())"
OF_SEGMENTS = frozenset({"<overlap>", "<prompt>", "<untranscribed>", UNINTELLIGIBLE})
"""What keeps the whole segment that holds it from being scored. In RTTM the first two are NON-SPEECH, other."""
UNSCORED = frozenset({*SOUNDS, *NOISES, CODE_SWITCH, *SPEAKER_CHANGES, NO_SPEECH, TRUNCATED, *OF_SEGMENTS})
"""Tokens that are taken out of both sides before they are aligned."""
TAGS = UNSCORED | {HESITATION}
_NULL = "@"
"""The null word, which looks like punctuation and is none."""


def is_unscored(word: str) -> bool:
    """Whether a word, spelled and in lower case, in brackets or not, is punctuation or a tag that is not scored."""
    bare = word[1:-1] if len(word) > 1 and word.startswith("(") and word.endswith(")") else word
    return {word, bare} & UNSCORED != set() or (
        bare not in ("", _NULL) and all(unicodedata.category(letter).startswith("P") for letter in bare)
    )


def is_in_no_scored_segment(text: str) -> bool:
    """Whether a transcript holds what keeps its segment from being scored, in brackets or not, in any case of A-Z."""
    return any(tag in text.lower() for tag in OF_SEGMENTS)
