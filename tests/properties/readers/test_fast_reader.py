"""The fast reader says what the parser says, or nothing: documents of every kind of oddity, read both ways.

``RESCORE_DOCUMENTS`` sets how many (``make soak`` reads a million), ``RESCORE_SEED`` from which seed on.
"""

from __future__ import annotations

import io
import os
import random
import sys
from collections import Counter

import pytest

from pipeline.errors import InputError
from pipeline.formats.kws.fast import part as fast_part
from pipeline.formats.kws.fast.compiled import Compiled
from pipeline.formats.kws.fast.kwslist import read_canonical
from pipeline.formats.kws.fast.state import Scanner
from pipeline.formats.kws.fast.vectors import Vectors
from pipeline.formats.kws.kwslist import SystemOutput, read_plain
from pipeline.formats.kws.scoretexts import ScoreTexts

DOCUMENTS = int(os.environ.get("RESCORE_DOCUMENTS", "3000"))
SEED = int(os.environ.get("RESCORE_SEED", "0"))
SPELLINGS = {
    "kwslist": ("kwslist", "detected_kwlist", "kw", "kwid", "search_time", "oov_count"),
    "stdlist": ("stdlist", "detected_termlist", "term", "termid", "term_search_time", "oov_term_count"),
}
NUMBERS = (
    *("0", "1", "0.5", "12.25", "-3.125", "-0", "-0.0", "00.50", "5.", ".5", "0.1234567890123456789", "1e3", "2E-2"),
    *("+1", "9007199254740993", "123456789012345", "1234567890123456", "0.000000000000000000000001", "1e-400"),
)
BAD_NUMBERS = ("", " ", "1,5", "nan", "inf", "-inf", "1e400", "0x1p3", "1_0", "--1", "1.2.3", "-", ".", " 1", "1 ", "é")
NAMES = ("f1", "a b", "x" * 7, "y" * 8, "z" * 9, "w" * 70, "é", "日本語", "a>b", "it's", " ", "\u00a0", "\u007f", "😀")
ODD_NAMES = ("a&amp;b", "&#65;", "&lt;", "\t", "\n", "\ufffe", "\uffff", "\u0001", "<", "&", "&unknown;", "")
JUNK = (
    *("<!-- x -->", "<![CDATA[x]]>", "<?pi x?>", "text", "<other/>", "</kwslist>", "<kwslist>", "\r", "\r\n", "\n\n\t"),
    *("\x00", "\ufeff", "&amp;", "<kw/>", "<detected_kwlist kwid='q'/>", "</detected_kwlist>", '"', "'", ">", "<"),
)
BYTES = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xf5\x80\x80\x80", b"\x85", b"\x1f")
HEADS = (
    *(
        "",
        '<?xml version="1.0"?>\n',
        '<?xml version="1.0" encoding="UTF-8"?>\r\n',
        "<?xml version='1.0'?>",
        "\n",
        "\ufeff",
    ),
    *('<?xml version="1.0" encoding="latin-1"?>', '<?xml version="1.0" encoding="us-ascii"?>', "<!-- a -->"),
    *("<!DOCTYPE kwslist>", '<!DOCTYPE kwslist [<!ENTITY unknown "x">]>', "<!-- <detected_kwlist -->", "\r\r\n"),
)


class Writer:
    """Documents from one stream of random numbers: mostly canonical, each oddity now and then."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.odd = self.random.choice((0.0, 0.0, 0.02, 0.2))

    def strange(self) -> bool:
        return self.random.random() < self.odd

    def pick(self, usual: tuple[str, ...], odd: tuple[str, ...]) -> str:
        return self.random.choice(odd if self.strange() else usual)

    def number(self) -> str:
        if self.random.random() < 0.7:
            return f"{self.random.uniform(0, 9):.{self.random.randrange(1, 7)}f}"
        return self.pick(NUMBERS, BAD_NUMBERS)

    def tag(self, name: str, values: dict[str, str], *, empty: bool) -> str:
        pairs = list(values.items())
        if self.strange():
            self.random.shuffle(pairs)
        if self.strange() and pairs:
            pairs.append(self.random.choice([*pairs, ("extra", "1")]))
        if self.strange() and pairs:
            pairs.pop(self.random.randrange(len(pairs)))
        quote = "'" if self.strange() else '"'
        gap = self.random.choice(("  ", "\n", "\t")) if self.strange() else " "
        written = "".join(f"{gap}{key}={quote}{value}{quote}" for key, value in pairs)
        end = self.random.choice(("/>", " />")) if empty else self.pick((">",), (" >", "/>", ""))
        return f"<{name}{written}{end}"

    def row(self, element: str) -> str:
        values = {"file": self.pick(NAMES, ODD_NAMES), "channel": self.pick(("1", "2"), ODD_NAMES)}
        values |= {"tbeg": self.number(), "dur": self.number(), "score": self.number()}
        values["decision"] = self.pick(("YES", "NO"), ("yes", "", "YESS", "N", "MAYBE"))
        tag = self.tag(element, values, empty=True)
        return tag[:-2] + f"></{element}>" if self.strange() else tag

    def text(self) -> str:
        root, block, element, *names = SPELLINGS[self.random.choice(tuple(SPELLINGS))]
        gap = self.random.choice(("", "\n", "\r\n", "\n  ", " \t"))
        attributes = {"system_id": self.pick(NAMES, ODD_NAMES)}
        if self.random.random() < 0.2:
            attributes |= {"min_score": self.pick(("-9", "0"), BAD_NUMBERS), "max_score": "9"}
        parts = [self.pick(HEADS[:6], HEADS), self.tag(root, attributes, empty=False), gap]
        for number in range(self.random.randrange(4)):
            values = dict(zip(names, (f"q{number}", self.pick(("1.5", "0", ""), ("-1", "x")), "0"), strict=True))
            if self.strange():
                values[names[0]] = self.pick(NAMES, ODD_NAMES)
            parts += [self.tag(block, values, empty=False), gap]
            parts += [self.row(element) + gap for _ in range(self.random.randrange(5))]
            parts += [f"</{block}>", gap]
        parts += [f"</{root}>", self.pick(("", "\n"), (*JUNK, "<kwslist/>"))]
        if self.strange():
            parts.insert(self.random.randrange(len(parts)), self.random.choice(JUNK))
        if self.strange():
            parts.pop(self.random.randrange(len(parts)))
        return "".join(parts)

    def document(self) -> bytes:
        data = bytearray(self.text().encode("utf-16" if self.random.random() < self.odd / 20 else "utf-8", "replace"))
        if self.strange() and data:
            data[self.random.randrange(len(data)) :] = b""
        if self.strange() and data:
            at = self.random.randrange(len(data))
            data[at : at + self.random.randrange(2)] = self.random.choice(BYTES)
        return bytes(data)


def as_read(output: SystemOutput) -> tuple[object, ...]:
    """All that an output holds, in a form that compares: numbers by their bits."""
    tables = []
    for table in (output.blocks, output.detections):
        columns = {name: (column.dtype.str, column.tobytes()) for name, column in table.columns.items()}
        tables.append((columns, table.vocabularies))
    return output.attributes, tables, output.findings


@pytest.mark.timeout(0)
@pytest.mark.parametrize("buffer_bytes", [1 << 16, 700], ids=["whole", "in-pieces"])
@pytest.mark.parametrize("scanner", [Compiled, Vectors])
def test_what_the_fast_reader_accepts_the_parser_reads_alike(
    monkeypatch: pytest.MonkeyPatch, scanner: type[Scanner], buffer_bytes: int
) -> None:
    monkeypatch.setattr(scanner, "buffer_bytes", buffer_bytes)
    monkeypatch.setattr(fast_part, "HEAD_BYTES_AT_MOST", buffer_bytes)
    accepted = Counter[bool]()
    for seed in range(SEED, SEED + DOCUMENTS):
        data = Writer(seed).document()
        texts = seed % 2 == 1
        fast = read_canonical(io.BytesIO(data), "x.xml", scanner, texts=texts)
        accepted[fast is not None] += 1
        if fast is not None:
            try:
                plain = read_plain(io.BytesIO(data), "x.xml", ScoreTexts() if texts else None)
            except InputError as error:
                pytest.fail(f"seed {seed}: accepted, but {error}\n{data!r}")
            assert as_read(fast) == as_read(plain), f"seed {seed}: {data!r}"
    sys.stdout.write(f"{DOCUMENTS} documents from seed {SEED}, {accepted[True]} of them accepted\n")  # for `make soak`
    assert min(accepted.values()) > DOCUMENTS / 5  # both ways are really taken
