"""Makes a random case odd, in what the official tools read by the order of a file or write as it stands.

Nothing here leaves a choice that the tools make at random: scores stay apart, and with segments no excerpts overlap.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from live_kws import TYPES, Case, Detection

Row = tuple[str, str, str, str, str]


def odd(random: Random, made: Case, *, overlapping: bool) -> Case:
    """The case with excerpts of several types in any order, that also overlap and repeat where ``overlapping``; with
    words that last no time or end between two rounded times, and with times and scores of -0.
    """
    excerpts = [(*row[:4], random.choice(TYPES)) for row in made.excerpts]
    if overlapping:
        excerpts = [part for row in excerpts for part in (row, *_beside(random, row))]
    random.shuffle(excerpts)
    blocks = [(name, oov, [_signed(random, row) for row in rows]) for name, oov, rows in made.blocks]
    return replace(made, excerpts=excerpts, rttm=[_timed(random, line) for line in made.rttm], blocks=blocks)


def _beside(random: Random, row: Row) -> list[Row]:
    """Up to two excerpts that repeat an excerpt, lie in it, reach out of it or touch it."""
    file, channel, begin, dur, kind = row
    begin_s, dur_s = float(begin), float(dur)
    spans = (
        (begin_s, dur_s),
        (begin_s + dur_s / 3, dur_s / 3),
        (begin_s + dur_s / 2, dur_s),
        (begin_s + dur_s, 5.0),
        (begin_s, 0.0),
    )
    chosen = random.choices(spans, k=random.choice((0, 0, 1, 1, 2)))
    return [(file, channel, f"{at:.3f}", f"{lasting:.2f}", random.choice((kind, *TYPES))) for at, lasting in chosen]


def _timed(random: Random, line: str) -> str:
    fields = line.split()
    if fields[0] == "LEXEME" and random.random() < 0.15:
        fields[3] += random.choice(("04", "006", "1"))
    return " ".join(fields)


def _signed(random: Random, row: Detection) -> Detection:
    file, channel, begin, dur, score, decision = row
    if random.random() < 0.05:
        begin = random.choice(("-0", "-0.0", "-0.00", "0"))
    return file, channel, begin, dur, score, decision
