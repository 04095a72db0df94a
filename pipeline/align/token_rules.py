"""What counts as one token: case, tags, optional words, fragments, characters (SCTK sclite; plan 004 section 4.3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from pipeline.formats.ctm import ALT, ALT_BEGIN, ALT_END
from pipeline.formats.lexicon import is_tag
from pipeline.trials.token_schema import TokenTimeline

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

    @classmethod
    def of(cls, settings: Any) -> TokenRules:
        """Those among a protocol's settings."""
        return cls(**{name: getattr(settings, name) for name in cls.__dataclass_fields__})


class Token(NamedTuple):
    """One token: as it is shown, as it is compared, and whether it may be left out or stands for a beginning."""

    shown: str
    text: str
    optional: bool = False
    fragment: bool = False


Alternatives = tuple[tuple[Token, ...], ...]
"""The token strings that a word may stand for: one for most words; several pronunciations give several."""


def fold(text: str, rules: TokenRules) -> str:
    """``text`` without the differences of case that play no part."""
    if rules.case_sensitive:
        return text
    if rules.fold == "unicode":
        return unicodedata.normalize("NFC", text).casefold()
    return text.translate(FOLDS[rules.fold])


def spelled(word: str) -> str:
    """A word up to its tags, which an unescaped ``;`` begins, without backslashes and without one ``*`` at the end."""
    if ";" in word or "\\" in word:
        word = _UNTAGGED.match(word)[0].replace("\\", "")  # type: ignore[index]  # matches the empty string
    return word[:-1] if len(word) > 1 and word.endswith("*") else word


_UNTAGGED = re.compile(r"(?:\\.|[^;\\])*")
_CHARACTERS = re.compile(r".", re.DOTALL)
_ASCII_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def token(text: str, rules: TokenRules) -> Token:
    """The token of a word that is spelled and folded."""
    optional = rules.optional_deletion and len(text) > 1 and text.startswith("(") and text.endswith(")")
    bare = text[1:-1] if optional else text
    fragment = rules.fragments and (text.startswith("-") or bare.endswith("-"))
    return Token(text, bare, optional, fragment)


class Lexer:
    """Words as they stand in files → the token strings they may stand for."""

    def __init__(self, rules: TokenRules, timeline: TokenTimeline) -> None:
        self.rules = rules
        self._known: dict[tuple[str, bool], Alternatives] = {}
        self._spoken = _folded_lexicon(timeline, rules) if rules.variant == "ser" else {}

    def alternatives(self, word: str, *, first_only: bool) -> Alternatives:
        """The strings of one word. A word that comes to nothing gives one empty string.

        ``first_only``: a reference takes the first pronunciation alone, so that it is the same for every system.
        """
        key = (word, first_only and bool(self._spoken))
        if key not in self._known:
            self._known[key] = self._made(word, first_only=first_only)
        return self._known[key]

    def _made(self, word: str, *, first_only: bool) -> Alternatives:
        whole = token(fold(spelled(word), self.rules), self.rules)
        if not whole.shown:
            return ((),)
        if self.rules.variant == "wer":
            return ((whole,),)
        if self.rules.variant == "cer":
            return (characters(whole, self.rules),)
        spoken = () if whole.fragment else self._spoken.get(whole.text, ())
        strings = dict.fromkeys(
            tuple(_piece(syllable, optional=whole.optional) for syllable in syllables)
            for syllables in (spoken[:1] if first_only else spoken)
        )
        return tuple(strings) or ((whole,),)

    def is_unknown(self, word: str) -> bool:
        """Whether syllables are asked for and the lexicon lacks the word."""
        whole = token(fold(spelled(word), self.rules), self.rules)
        return self.rules.variant == "ser" and (whole.fragment or whole.text not in self._spoken)


def characters(whole: Token, rules: TokenRules) -> tuple[Token, ...]:
    """A word longer than one byte by characters; pieces are made anew, so a fragment's mark is lost (sclite -c)."""
    if len(whole.text.encode()) <= 1:
        return (whole,)
    text = whole.text.replace("-", "") if rules.drop_hyphens else whole.text
    pieces = (_ASCII_RUNS if rules.keep_ascii else _CHARACTERS).findall(text)
    return tuple(_piece(spelled(piece), optional=whole.optional) for piece in pieces)


def _piece(text: str, *, optional: bool) -> Token:
    return Token(f"({text})" if optional else text, text, optional)


def _folded_lexicon(timeline: TokenTimeline, rules: TokenRules) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Folded words → their pronunciations in lexicon order, each as syllables with their phones joined."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for word, spoken in timeline.lexicon.entries.items():
        joined = tuple(tuple(_joined(phones, rules) for phones in syllables) for syllables in spoken)
        name = fold(word, rules)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *joined)))
    return found


def _joined(phones: tuple[str, ...], rules: TokenRules) -> str:
    """A syllable as one token, folded like all text."""
    return fold("".join(phone for phone in phones if rules.syllable_tags or not is_tag(phone)), rules)
