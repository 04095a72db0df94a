"""Random rule files with texts that they bear on: contexts, brackets, quotes, comments, regions, settings."""

from __future__ import annotations

from random import Random

WORDS = (
    "UH",
    "UM",
    "GOIN",
    "GONNA",
    "O",
    "CAN'T",
    "TWO-WAY",
    "A-B-C",
    "TH-",
    "-ING",
    "E",
    "ÉTÉ",
    "下",
    "AB",
    "ABC",
    "B",
)
TARGETS = (*WORDS, "GOING TO", "{CAN'T / CAN NOT}", "{A / B C / D}", "(UH)", "(UH UM)", "ONE TWO THREE", "%HES", "X/Y")


def rules(random: Random, n: int = 20, *, regions: bool = True) -> str:
    """A file of ``n`` rules."""
    lines = [";; rules that were made up", '* name "made up"', f"* case_sensitive = '{random.choice('TTTF')}'"]
    for _ in range(n):
        if regions and random.random() < 0.1:
            where = random.choice(["ctm", "stm", "ref|hyp", "(STM|hyp)", "ctm|stm", "nobody", "^h"])
            lines.append(f';; INPUT_DEPENDENT_APPLICATION = "{where}"')
        lines.append(random.choice(["", "", "", ";; a comment => no rule", _rule(random)]) or _rule(random))
    return "\n".join(lines) + "\n"


def _rule(random: Random) -> str:
    source, target = random.choice(WORDS), random.choice(TARGETS)
    source = random.choice([source, source.lower(), f"{source} {random.choice(WORDS)}", f"[{source}]", f'" {source} "'])
    if source.startswith('"'):
        target = f'" {random.choice(WORDS)} "'  # a slash in it would take the blank that parts text and label
    elif random.random() < 0.5:
        target = f"[{target}]"
    line = f"{source}{random.choice([' ', '  '])}=> {target}"
    if random.random() < 0.6:
        sides = ("[ ]", "", "A", f"[{random.choice(WORDS)} ]", f"[ {random.choice(WORDS)}]")
        line += f" / {random.choice(sides)} __ {random.choice(sides)}".rstrip()
    return line + random.choice(["", "", " ;; why", "  "])


def text(random: Random, n_most: int = 12) -> str:
    """Words, some in brackets alone or in groups."""
    made = []
    for _ in range(random.randint(1, n_most)):
        word = random.choice(WORDS)
        word = random.choice([word, word, word.lower()])
        kind = random.random()
        made.append(f"({word})" if kind < 0.1 else f"({word} {random.choice(WORDS)})" if kind < 0.15 else word)
    return " ".join(made)


def stm(random: Random, n: int = 40) -> str:
    """Segments, with labels or without."""
    labels = ("<o,f0> ", "", "<O> ")
    rows = [f"f 1 s{at % 3} {at}.25 {at + 1}.25 {random.choice(labels)}{text(random)}" for at in range(n)]
    return "\n".join([";; a comment", *rows]) + "\n"


def ctm(random: Random, n: int = 60) -> str:
    """Words of an output, with confidences or without."""
    confidence = random.choice([" 0.5", " 0.25", ""])
    rows = [f"f 1 {at / 3:.4f} 0.3333 {_word(random)}{confidence}" for at in range(n)]
    return "\n".join([";; a comment", *rows]) + "\n"


def _word(random: Random) -> str:
    word = random.choice(WORDS)
    return random.choice([word, word.lower(), f"({word})"])
