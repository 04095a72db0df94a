"""Random keyword search evaluations, small and awkward, as files of KWSEval (KWSList) and of STDEval (STDList)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from xml.sax.saxutils import quoteattr

WORDS = ("yes", "no", "Good", "day", "new-york", "a", "straße", "ÉTÉ", "été", "到", "听到", "co-op", "ДОМ", "дом")
TYPES = ("bnews", "cts", "splitcts", "confmtg")
SUBTYPES = ("lex",) * 6 + ("fp", "frag", "un-lex", "for-lex")

Detection = tuple[str, str, str, str, str, str]
"""File, channel, begin, duration, score, decision."""


@dataclass(frozen=True)
class Case:
    """One evaluation, with numbers as their texts."""

    excerpts: list[tuple[str, str, str, str, str]]
    rttm: list[str]
    keywords: list[tuple[str, str, str]]
    blocks: list[tuple[str, str, list[Detection]]]
    normalize: str
    header: str


def case(random: Random, *, off_borders: bool = False) -> Case:
    """A case of one to three recordings, some of two channels and with holes, and one to six keywords.

    With ``off_borders`` no mid point lies on a border of segments, where KWSEval -g takes one or both at random.
    """
    places = [(f"f{file}", channel) for file in range(random.randint(1, 3)) for channel in _channels(random)]
    words = random.sample(WORDS, k=random.randint(2, 5))
    excerpts = [row for place in places for row in _excerpts(random, place)]
    spoken, rttm = _transcript(random, places, words)
    keywords = [
        (f"K{number}", " ".join(random.choices(words, k=random.choice((1, 1, 1, 2, 2, 3)))), random.choice("123"))
        for number in range(1, random.randint(2, 6) + 1)
    ]
    blocks = _blocks(random, keywords, spoken, places)
    if off_borders:
        blocks = [(name, oov, [(*row[:2], f"{row[2]}3", *row[3:]) for row in rows]) for name, oov, rows in blocks]
    return Case(
        excerpts,
        rttm,
        keywords,
        blocks,
        random.choice(("", "lowercase")),
        random.choice(("", "", ' min_score="-1" max_score="2"')),
    )


def _channels(random: Random) -> tuple[str, ...]:
    return random.choice((("1",), ("1",), ("1", "2")))


def _excerpts(random: Random, place: tuple[str, str]) -> list[tuple[str, str, str, str, str]]:
    kind = random.choice(TYPES)
    if random.random() < 0.6:
        return [(*place, "0.000", f"{random.randint(20, 60)}.{random.randint(0, 9)}", kind)]
    first, gap = random.randint(5, 20), random.randint(1, 5)
    return [(*place, "0.00", f"{first}.00", kind), (*place, f"{first + gap}.5", f"{random.randint(5, 20)}.25", kind)]


def _transcript(
    random: Random, places: list[tuple[str, str]], words: list[str]
) -> tuple[list[tuple[str, str, float, float, str]], list[str]]:
    spoken, lines = [], []
    for file, channel in places:
        at = random.uniform(0, 1)
        for speaker in random.sample(("A", "B"), k=random.randint(1, 2)):
            rows = []
            begin = at
            for _ in range(random.randint(2, 14)):
                dur = random.randint(10, 90) / 100
                word = random.choice(words)
                word = random.choice((word, word, word.upper(), word.capitalize()))
                rows.append((file, channel, round(at, 2), dur, word))
                at = round(at, 2) + dur + random.choice((0, 0, 0.05, 0.3, 0.5, 0.6, 2.5))
            lines.append(f"SPEAKER {file} {channel} {begin:.2f} {at - begin:.2f} <NA> <NA> {speaker} <NA>")
            lines += [f"LEXEME {f} {c} {b:.2f} {d:.2f} {w} {random.choice(SUBTYPES)} {speaker} <NA>"
                      for f, c, b, d, w in rows]  # fmt: skip
            spoken += rows
            at += random.choice((0, 0.2, 3))
    return spoken, lines


def _blocks(
    random: Random,
    keywords: list[tuple[str, str, str]],
    spoken: list[tuple[str, str, float, float, str]],
    places: list[tuple[str, str]],
) -> list[tuple[str, str, list[Detection]]]:
    threshold, used = random.uniform(0.2, 0.8), set[str]()
    blocks = []
    for keyword, text, _ in keywords:
        if random.random() < 0.15:
            continue
        first, rows = text.split()[0].lower(), list[Detection]()
        n_words = len(text.split())
        near = [row for row in spoken if row[4].lower() == first]
        for file, channel, begin, dur, _ in [*near, *random.choices(spoken, k=random.randint(0, 3))]:
            for _ in range(random.choice((0, 1, 1, 1, 2))):
                score = _score(random, used)
                decision = "YES" if float(score) >= threshold else "NO"
                at = max(begin + random.choice((0, 0, 0.01, -0.07, 0.45, 0.9, -0.6)), 0)
                length = max(dur * n_words + random.uniform(-0.05, 0.4), 0.05)
                rows.append((file, channel, f"{at:.2f}", f"{length:.2f}", score, decision))
        if random.random() < 0.1:
            rows.append((random.choice(places)[0], "9", "1.0", "0.5", _score(random, used), "NO"))
        random.shuffle(rows)
        blocks.append((keyword, random.choice(("0", "0", "1", "2", "NA")), rows))
    if all(decision == "NO" for _, _, rows in blocks for *_, decision in rows):
        return [(keyword, oov, [(*row[:5], "YES") for row in rows]) for keyword, oov, rows in blocks]
    return _one_threshold(blocks, threshold)


def _one_threshold(
    blocks: list[tuple[str, str, list[Detection]]], threshold: float
) -> list[tuple[str, str, list[Detection]]]:
    """KWSEval scores no others with -o."""
    return [
        (keyword, oov, [(*row[:5], "YES" if float(row[4]) >= threshold else "NO") for row in rows])
        for keyword, oov, rows in blocks
    ]


def _score(random: Random, used: set[str]) -> str:
    """One that no other detection has: the tools choose at random among equal ones."""
    while True:
        score = f"{random.random():.{random.choice((3, 4, 6))}f}"
        if score not in used and float(score) not in map(float, used):
            used.add(score)
            return score


def write_kws(made: Case, place: Path) -> dict[str, str]:
    """The four files that KWSEval reads; their paths by option."""
    keywords = "".join(
        f"<kw kwid={quoteattr(name)}><kwtext>{text}</kwtext><kwinfo><attr><name>Level</name><value>{level}</value>"
        "</attr></kwinfo></kw>\n"
        for name, text, level in made.keywords
    )
    head = f'ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize="{made.normalize}"'
    blocks = "".join(
        f'<detected_kwlist kwid="{name}" search_time="1.0" oov_count="{oov}">\n'
        + "".join(f"<kw {_place(row)}/>\n" for row in rows)
        + "</detected_kwlist>\n"
        for name, oov, rows in made.blocks
    )
    texts = {
        "-e": ("e.ecf.xml", _ecf(made)),
        "-r": ("r.rttm", "".join(f"{line}\n" for line in made.rttm)),
        "-t": ("k.kwlist.xml", f'<?xml version="1.0" encoding="UTF-8"?>\n<kwlist {head}>\n{keywords}</kwlist>\n'),
        "-s": ("s.kwslist.xml",
               f'<kwslist kwlist_filename="k" language="x" system_id="s"{made.header}>\n{blocks}</kwslist>\n'),
    }  # fmt: skip
    return _written(place, texts)


def write_std(made: Case, place: Path) -> dict[str, str]:
    """The four files that STDEval reads; their paths by option."""
    terms = "".join(
        f"<term termid={quoteattr(name)}><termtext>{text}</termtext></term>\n" for name, text, _ in made.keywords
    )
    blocks = "".join(
        f'<detected_termlist termid="{name}" term_search_time="1.0" oov_term_count="{oov}">\n'
        + "".join(f"<term {_place(row)}/>\n" for row in rows)
        + "</detected_termlist>\n"
        for name, oov, rows in made.blocks
    )
    head = 'termlist_filename="t" indexing_time="1.0" language="x" index_size="1" system_id="s"'
    texts = {
        "-e": ("e.ecf.xml", _ecf(made, 'language="x" ')),
        "-r": ("r.rttm", "".join(f"{line}\n" for line in made.rttm)),
        "-t": ("t.tlist.xml", f'<termlist ecf_filename="e" version="1" language="x">\n{terms}</termlist>\n'),
        "-s": ("s.stdlist.xml", f"<stdlist {head}>\n{blocks}</stdlist>\n"),
    }
    return _written(place, texts)


def _ecf(made: Case, of_stdeval: str = "") -> str:
    excerpts = "".join(
        f'<excerpt audio_filename="audio/{file}.sph" channel="{channel}" tbeg="{begin}" dur="{dur}" {of_stdeval}'
        f'source_type="{kind}"/>\n'
        for file, channel, begin, dur, kind in made.excerpts
    )
    return f'<ecf source_signal_duration="100.0" language="x" version="1">\n{excerpts}</ecf>\n'


def _place(row: Detection) -> str:
    names = ("file", "channel", "tbeg", "dur", "score", "decision")
    return " ".join(f'{name}="{value}"' for name, value in zip(names, row, strict=True))


def _written(place: Path, texts: dict[str, tuple[str, str]]) -> dict[str, str]:
    for name, text in texts.values():
        (place / name).write_text(text, encoding="utf-8")
    return {option: str(place / name) for option, (name, _) in texts.items()}
