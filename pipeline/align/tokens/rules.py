"""Rules of tokens: case, tags, optional words, fragments, characters (SCTK sclite; plan 004 section 4.3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from pipeline.formats.stt.ctm import ALT, ALT_BEGIN, ALT_END
from pipeline.formats.stt.lexicon import is_tag
from pipeline.formats.stt.tags import HESITATION, is_unscored
from pipeline.formats.stt.transcripts import spelled, starless
from pipeline.trials.tokens.schema import TokenTimeline

NULL = "@"
"""The null word: costs next to nothing and vanishes from the alignment."""
MARKS = frozenset({ALT_BEGIN, ALT, ALT_END})

_ASCII = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_VIETNAMESE = "ÀÁÂÃÈÉÊÌÍÒÓÔÕÙÚÝĂĐĨŨƠƯẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤỦỨỪỬỮỰỲỴỶỸ"  # every capital of the alphabet
_UKRAINIAN = "АБВГҐДЕЄЖЗИІЇЙКЛМНОПРСТУФХЦЧШЩЬЮЯ"


def _profile(capitals: str, **others: str) -> Mapping[int, str | int]:
    table: dict[int, str | int] = {**_ASCII, **{ord(letter): letter.lower() for letter in capitals}}
    return MappingProxyType({**table, **{ord(letter): small for letter, small in others.items()}})


FOLDS: Mapping[str, Mapping[int, str | int]] = MappingProxyType(
    {
        "ascii": MappingProxyType({**_ASCII}),
        "turkish": _profile("ÇĞÖŞÜ", I="ı", İ="i"),
        "vietnamese": _profile(_VIETNAMESE),
        "ukrainian": _profile(_UKRAINIAN),
    }
)
"""Letters that a language profile of sclite lowers, and to what."""


@dataclass(frozen=True)
class TokenRules:
    """Every choice that turns a word into tokens. The names are those of the protocol's settings."""

    variant: str = "wer"
    optional_deletion: bool = True
    fragments: bool = True
    case_sensitive: bool = False
    fold: str = "ascii"
    keep_ascii: bool = True
    drop_hyphens: bool = True
    syllable_tags: bool = True
    fragments_in: str = "both"
    optional_tokens: str = "bracketed"
    unscored_tokens: str = "none"

    @classmethod
    def of(cls, settings: Any) -> TokenRules:
        """Those among a protocol's settings."""
        return cls(**{name: getattr(settings, name) for name in cls.__dataclass_fields__})


class Token(NamedTuple):
    """One token: as it is shown, as it is compared, and whether it may be left out, breaks off, or is the null word."""

    shown: str
    text: str
    optional: bool = False
    fragment: bool = False
    null: bool = False


Alternatives = tuple[tuple[Token, ...], ...]
"""The token strings that a word may stand for: one for most words; several pronunciations give several."""


def fold(text: str, rules: TokenRules) -> str:
    """``text`` without the differences of case that play no part."""
    if rules.case_sensitive:
        return text
    if rules.fold == "unicode":
        return unicodedata.normalize("NFC", text).casefold()
    if rules.fold == "ascii" and text.isascii():
        return text.lower()
    return text.translate(FOLDS[rules.fold])


_CHARACTERS = re.compile(r".", re.DOTALL)
_ASCII_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def token(text: str, rules: TokenRules) -> Token:
    """The token of a word that is spelled and folded; the word may be empty.

    ``-`` alone has a fragment's mark but goes on as nothing: with it, the other side alone decides (sclite).
    """
    optional = rules.optional_deletion and len(text) > 1 and text.startswith("(") and text.endswith(")")
    bare = text[1:-1] if optional else text
    fragment = rules.fragments and (text.startswith("-") or bare.endswith("-"))
    return Token(text, bare, optional, fragment, text == NULL)


class Lexer:
    """Words as they stand in files → the token strings they may stand for."""

    def __init__(self, rules: TokenRules, timeline: TokenTimeline) -> None:
        self.rules = rules
        self._known: dict[tuple[str, bool], Alternatives] = {}
        self._spoken = _folded_lexicon(timeline, rules) if rules.variant == "ser" else {}
        self._sides_differ = bool(self._spoken) or rules.fragments_in != "both" or rules.optional_tokens != "bracketed"

    def alternatives(self, word: str, *, of_reference: bool) -> Alternatives:
        """The strings of one word. One that comes to nothing, as of hyphens or not scored, gives one empty string.

        Of a reference the first pronunciation is taken alone, so that it is the same for every system.
        """
        key = (word, of_reference and self._sides_differ)
        if key not in self._known:
            self._known[key] = self._made(word, of_reference=of_reference)
        return self._known[key]

    def _made(self, word: str, *, of_reference: bool) -> Alternatives:
        whole = token(fold(spelled(word), self.rules), self.rules)
        if self._is_unscored(whole):
            return ((),)
        if of_reference and self._is_optional(whole):
            whole = whole._replace(optional=True)
        if not of_reference and self.rules.fragments_in == "reference":
            whole = whole._replace(fragment=False)
        if self.rules.variant == "wer":
            return ((whole,),)
        if self.rules.variant == "cer":
            return (characters(whole, self.rules),)
        spoken = self._pronunciations(whole)
        strings = dict.fromkeys(
            tuple(_part(syllable, optional=whole.optional) for syllable in syllables)
            for syllables in (spoken[:1] if of_reference else spoken)
        )
        return tuple(strings) or ((whole,),)

    def is_cut(self, word: str) -> bool:
        """Whether characters are asked for and the word is made anew of them, if only without a hyphen."""
        whole = token(fold(spelled(word), self.rules), self.rules)
        return self.rules.variant == "cer" and all(piece is not whole for piece in characters(whole, self.rules))

    def is_unknown(self, word: str) -> bool:
        """Whether syllables are asked for and the lexicon lacks the word."""
        whole = token(fold(spelled(word), self.rules), self.rules)
        return self.rules.variant == "ser" and not self._is_unscored(whole) and not self._pronunciations(whole)

    def _is_unscored(self, whole: Token) -> bool:
        return self.rules.unscored_tokens == "plan" and is_unscored(whole.shown.lower())

    def _is_optional(self, whole: Token) -> bool:
        """Whether a word of a reference may be left out though it stands in no brackets (plan 004 section 4.3)."""
        return (
            self.rules.optional_tokens == "plan"
            and self.rules.optional_deletion
            and ((whole.fragment and len(whole.text) > 1) or whole.text.lower() == HESITATION)
        )

    def _pronunciations(self, whole: Token) -> tuple[tuple[str, ...], ...]:
        """Those of the lexicon; a fragment has none."""
        return () if whole.fragment and len(whole.text) > 1 else self._spoken.get(whole.text, ())


def characters(whole: Token, rules: TokenRules) -> tuple[Token, ...]:
    """A word longer than one byte by characters (sclite -c).

    Pieces are made anew: they lose a ``*`` at the end, and a fragment that is cut loses its mark. A word that stays
    whole, as a run of ASCII does where these are kept, stays as it is. Brackets of optional words count for the length
    and are no pieces. Where sclite gives up or reads anew, this does not: hyphens that are dropped may leave nothing,
    and braces are characters like others.
    """
    if len(whole.shown.encode()) <= 1:
        return (whole,)
    text = whole.text.replace("-", "") if rules.drop_hyphens else whole.text
    pieces = (_ASCII_RUNS if rules.keep_ascii else _CHARACTERS).findall(text)
    if pieces == [whole.shown]:
        return (whole,)
    return tuple(_part(part, optional=whole.optional, null=part == NULL) for part in map(starless, pieces))


def _part(text: str, *, optional: bool, null: bool = False) -> Token:
    """A character or syllable of a word. Optional ones are no null words, nor is a syllable that is spelled ``@``."""
    return Token(f"({text})" if optional else text, text, optional, null=null and not optional)


def _folded_lexicon(timeline: TokenTimeline, rules: TokenRules) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Folded words → their pronunciations in lexicon order, each as syllables with their phones joined.

    A syllable of tags alone is none where tags are left out.
    """
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for word, spoken in timeline.lexicon.entries.items():
        joined = (tuple(filter(None, (_joined(phones, rules) for phones in syllables))) for syllables in spoken)
        name = fold(word, rules)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *filter(None, joined))))
    return found


def _joined(phones: tuple[str, ...], rules: TokenRules) -> str:
    """A syllable as one token, folded like all text."""
    return fold("".join(phone for phone in phones if rules.syllable_tags or not is_tag(phone)), rules)
