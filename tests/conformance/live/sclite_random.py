"""Random pairs of a reference and an output for sclite and ours, with odd tokens, as one seed makes them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from random import Random

from pipeline.align.tokens.rules import TokenRules
from pipeline.formats.stt.transcripts import spelled
from tests.conformance.sclite_cases import PROFILES

SPOKEN = "a b c ab ba abc cab Ab AB uh um".split()
ODD = (
    *r". , ? ! ; ;; ;t ;;w \ \\ \; \;; a;b a;b;c a\;b a\\;b a\ \a \@ @;t @* * ** *** a* a** (a*) (a;b) (a);t".split(),
    *"( ) () (()) )( (a a) @ (@) ((@)) @@ a@ a@b (a@) % # & ' \" : | = $ ` ~ ^ / a/b } a} }a".split(),
    *"<hes> (<hes>) < > <a".split(),
)
BROKEN = (
    *"- -- --- a- -a b- -b ab- -ab abc- -abc a-b (a-) (-a) (ab-) (-ab) (-) (--) (-a-) -a- --a a-- - -".split(),
    *"-( )- (- -) -@ @- -; a-;t -*".split(),
)
OPTIONAL = "(a) (b) (ab) (uh) ((a)) (A) (a)(b)".split()
SCRIPTS = (
    *"中 中文 A中b iphone手机 手机iphone 中-文 (中) (中文) (A中) (中-) 中- -中 中@ @中 中;文 中* 中文* (中*)".split(),
    *"ß é É e\u0301 Ç ç İ ı I i Ğ ğ Ж ж Ї ї ЖА Ặ ặ Đ đ 𝔸 😀 أ ا ！ ＠ ； Σς ǅ".split(),
    *("\u200dx", "a\u00a0b", "\u3000"),
)
BRACES = r"{ {a a{b {a;b} {a\;b* {a/b} {a*".split()
"""Words of a CTM with braces, which are letters there."""
LETTERS = "aabAB-()@;\\*中é/.'"
LABELS = ("", "", "<o>", "<o,f0>", "<O,F0,male>", "<o,f0", "<hes>", "<>")
IGNORE = ("IGNORE_TIME_SEGMENT_IN_SCORING", "a IGNORETIMESEGMENTINSCORING b")
PROFILE_OF = {ours: theirs for theirs, ours in PROFILES.items() if ours != "ukrainian"}
"""Profiles that Debian's sclite knows."""


DEFAULTS = {name: getattr(TokenRules(), name) for name in TokenRules.__dataclass_fields__}


@dataclass(frozen=True)
class Case:
    """One pair of files: texts, and the settings that are not those of ``DEFAULTS``."""

    name: str
    protocol: str
    reference: str
    output: str
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def options(self) -> list[str]:
        """The settings as sclite's options."""
        chosen = {**DEFAULTS, **self.settings}
        fold = str(chosen["fold"])
        options = ["-e", "utf-8", *([PROFILE_OF[fold]] if fold in PROFILE_OF else [])]
        options += [flag for flag, name in (("-D", "optional_deletion"), ("-F", "fragments")) if chosen[name]]
        options += ["-s"] if chosen["case_sensitive"] else []
        if chosen["variant"] == "cer":
            options += [
                "-c",
                *(["NOASCII"] if chosen["keep_ascii"] else []),
                *(["DH"] if chosen["drop_hyphens"] else []),
            ]
        return options


def made(seed: int, number: int) -> Case:
    """The case of a number, the same however many others there are."""
    random = Random(f"{seed}/{number}")
    make = _transcripts if random.random() < 0.25 else _timed
    return make(random, f"{seed}/{number}")


def _settings(random: Random) -> dict[str, object]:
    return {
        "variant": random.choice(("wer", "wer", "cer")),
        "optional_deletion": random.random() < 0.8,
        "fragments": random.random() < 0.8,
        "case_sensitive": random.random() < 0.15,
        "fold": random.choice(("ascii", "ascii", "ascii", *PROFILE_OF)),
        "keep_ascii": random.random() < 0.5,
        "drop_hyphens": random.random() < 0.5,
    }


class _Words:
    """Words of one case, from few pools at a time so that sides meet often."""

    def __init__(self, random: Random, settings: dict[str, object], *, alternatives: bool) -> None:
        self.random, self.alternatives = random, alternatives
        pools = [ODD, BROKEN, OPTIONAL, SCRIPTS, ()]
        mixed = [word for pool in random.sample(pools, random.randint(1, 3)) for word in pool or self._made()]
        mixed = [word for word in mixed if not _ends_sclite(word, settings, alternatives=alternatives)]
        self.pool = [*random.sample(SPOKEN, 4), *random.sample(mixed, min(len(mixed), random.choice((3, 6, 12))))]

    def _made(self) -> list[str]:
        random = self.random
        return ["".join(random.choices(LETTERS, k=random.randint(1, 4))) for _ in range(8)]

    def word(self) -> str:
        return self.random.choice(self.pool)

    def string(self) -> list[str]:
        return [self.word() for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 4, 6, 9, 25)))]

    def heard(self, words: list[str]) -> list[str]:
        """An output for a reference: words kept, changed, lost and added."""
        random, heard = self.random, list[str]()
        for word in words:
            chance = random.random()
            if chance < 0.5:
                heard.append(word)
            elif chance < 0.75:
                heard.append(self.word())
            if chance > 0.93:
                heard += [word, self.word()]
        return [*heard, self.word()] if random.random() < 0.2 else heard

    def text(self, words: list[str], depth: int = 0) -> str:
        """Words as a transcript, now and then with alternatives."""
        random, shown = self.random, list[str]()
        for word in words:
            if self.alternatives and random.random() < 0.25 and depth < 2 and not {*word} & {*"{}/"}:
                branches = [[word], *(self.string()[:2] for _ in range(random.randint(1, 2)))]
                random.shuffle(branches)
                parts = [self.text(branch, depth + 1) or random.choice("@ ") for branch in branches]
                shown.append(random.choice(("{ %s }", "{%s}")) % random.choice((" / ", "/")).join(parts))
            elif not (depth and {*word} & {*"{}/"}):
                shown.append(word)
        if self.alternatives and not depth and random.random() < 0.03:
            shown.insert(random.randint(0, len(shown)), random.choice(("{ a / b", "{", "{ { a } / b")))
        return random.choice((" ", " ", "  ", "\t")).join(shown)


def _ends_sclite(word: str, settings: dict[str, object], *, alternatives: bool) -> bool:
    """Whether no character of a word is left, or it is optional and may be an alternative: faults of sclite -c."""
    text = spelled(word)
    optional = bool(settings["optional_deletion"]) and len(text) > 1 and text[0] == "(" and text[-1] == ")"
    left = text[1:-1] if optional else text
    nothing = len(text) > 1 and not (left.strip("-") if settings["drop_hyphens"] else left)
    return settings["variant"] == "cer" and (nothing or (optional and alternatives))


def _transcripts(random: Random, name: str) -> Case:
    settings = _settings(random)
    words = _Words(random, settings, alternatives=random.random() < 0.4)
    references, outputs = list[str](), list[str]()
    for speaker, number in itertools.product(("s1", "S_2", "ann")[: random.randint(1, 3)], range(random.randint(1, 3))):
        spoken, utterance = words.string(), f"({speaker}-{number:03d})"
        references.append(f" {words.text(spoken)} {utterance}\n")  # a blank: no word begins a comment
        outputs.append(f" {words.text(words.heard(spoken))} {utterance}\n")
    random.shuffle(outputs)
    return Case(name, "stt-trn", "".join(references), "".join(outputs), settings)


def _timed(random: Random, name: str) -> Case:
    settings = _settings(random)
    words = _Words(random, settings, alternatives=random.random() < 0.3)
    braces = BRACES if settings["variant"] == "wer" and random.random() < 0.1 else []
    confidences = random.choice(("none", "all", "some", "wide"))
    references, outputs = list[str](), list[str]()
    files = sorted(random.sample(("f1", "f2", "g"), random.randint(1, 3)))
    for file, channel in itertools.product(files, ("1", "a")[: random.randint(1, 2)]):
        rows, heard = _recording(random, words, f"{file} {channel}", confidences, braces)
        references += rows
        outputs += heard if random.random() < 0.95 else []
    if not outputs:
        outputs = [f"{files[0]} 1 0.5 0.1 a\n"]
    references.insert(0, f"{files[0]} 1 s1 0 0 a\n")  # sclite needs a scored segment
    return Case(name, "stt13", "".join(references), "".join(outputs), settings)


def _recording(
    random: Random, words: _Words, unit: str, confidences: str, braces: list[str]
) -> tuple[list[str], list[str]]:
    rows, heard, at_s = list[str](), list[str](), 0.0
    for _ in range(random.randint(1, 4)):
        begin_s, at_s = at_s, round(at_s + random.choice((0.3, 1.0, 2.5, 10.0)), 3)
        spoken = words.string()
        text = random.choice(IGNORE) if random.random() < 0.06 else words.text(spoken)
        times = f"{begin_s} {at_s}" if random.random() < 0.9 else f"{begin_s} {round(at_s + 0.2, 3)}"
        rows.append(f"{unit} {random.choice(('s1', 'S1', 'ann'))} {times} {random.choice(LABELS)} {text}\n")
        spoken = [random.choice(braces) if braces and random.random() < 0.2 else word for word in words.heard(spoken)]
        heard += _output(random, words, unit, spoken, (begin_s, at_s), confidences)
        at_s = round(at_s + random.choice((0.0, 0.0, 0.5)), 3)
    return rows, heard


def _output(
    random: Random, words: _Words, unit: str, heard: list[str], span: tuple[float, float], confidences: str
) -> list[str]:
    begin_s, end_s = span
    rows = list[str]()
    begins = sorted(round(random.uniform(begin_s, end_s), random.choice((1, 2))) for _ in heard)
    for word, at_s in zip(heard, begins, strict=True):
        dur_s = random.choice((0.1, 0.2, 0.05, 0.4))
        if not words.alternatives or random.random() < 0.8:
            rows.append(f"{unit} {at_s} {dur_s} {word}{_confidence(random, confidences)}\n")
            continue
        mark = f"{unit} {at_s} 0" if random.random() < 0.5 else f"{unit} * *"
        rows.append(f"{mark} <ALT_BEGIN>\n")
        branches = [[word], *(words.string()[:2] or ["a"] for _ in range(random.randint(1, 2)))]
        branches += [[]] if random.random() < 0.3 else []
        for number, branch in enumerate(branches):
            rows += [f"{mark} <ALT>\n"] if number else []
            rows += [f"{unit} {at_s} {dur_s} {other}{_confidence(random, confidences)}\n" for other in branch]
        rows.append(f"{mark} <ALT_END>\n")
    return rows


def _confidence(random: Random, confidences: str) -> str:
    chance = random.random()
    if confidences == "none" or (confidences == "some" and chance < 0.3):
        return random.choice(("", "", " NA")) if confidences == "some" else ""
    return f" {random.uniform(-0.2, 1.2) if confidences == 'wide' else chance:.4f}"
