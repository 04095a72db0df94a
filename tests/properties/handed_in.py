"""Small submissions of every protocol without a fault, and slips that participants make."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pipeline import protocols
from pipeline.protocols.base import Protocol

Texts = dict[str, bytes]
Slip = Callable[[bytes, Random], bytes]

FILES = ("F01.sph", "G02.sph")
WORDS = ("yes", "no", "good", "morning", "so")
KEYS = {
    "detections": "rttm",
    "segments": "rttm",
    "documents": "rttm",
    "events": "ref",
    "language": "key",
    "tokens": "stm",
    "labelled": "",
}
"""The role of the key, by family; none where outputs are labelled."""


@dataclass(frozen=True)
class Made:
    """Inputs by role, and the names that their files have."""

    texts: Texts
    names: Mapping[str, str]

    def write(self, folder: Path) -> dict[str, str]:
        """Paths of the files by role."""
        for role, text in self.texts.items():
            (folder / self.names[role]).write_bytes(text)
        return {role: str(folder / self.names[role]) for role in self.texts}


def made(protocol: Protocol, rng: Random) -> Made:
    """Inputs of a protocol that nothing is to be said of."""
    texts = _MAKERS[protocol.family.name](protocol, rng)
    names = {role: f"{role}.in" for role in texts}
    if protocol.family.name == "language":
        names["output"] = "north_PC_pri.out"
    return Made({role: text.encode() for role, text in texts.items()}, names)


def _ecf() -> str:
    rows = "".join(
        f'<excerpt audio_filename="{name}" channel="1" tbeg="0" dur="50" language="x" source_type="bnews"/>\n'
        for name in FILES
    )
    return f'<ecf source_signal_duration="100" language="x" version="1">\n{rows}</ecf>\n'


def _kwlist(words: Sequence[str] = WORDS) -> str:
    rows = "".join(f'<kw kwid="K{at:02d}"><kwtext>{word}</kwtext></kw>\n' for at, word in enumerate(words))
    head = 'ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize="lowercase"'
    return f"<kwlist {head}>\n{rows}</kwlist>\n"


def _keywords(_protocol: Protocol, rng: Random) -> dict[str, str]:
    """Every word is said twice in each recording, and found or not."""
    key, blocks = "", ""
    for name in FILES:
        file = name.removesuffix(".sph")
        key += f"SPEAKER {file} 1 0 50 <NA> <NA> s <NA>\n"
        for at, word in enumerate((*WORDS, *WORDS)):
            key += f"LEXEME {file} 1 {1 + 4 * at} 0.5 {word} lex s <NA>\n"
    for at, _ in enumerate(WORDS):
        rows, begins = "", rng.sample(range(1, 48), 6)
        for begin in begins:
            score = rng.randrange(1, 999)
            decision = "YES" if score >= 500 or begin == begins[0] else "NO"
            shown = max(score, 600) if begin == begins[0] else score
            file = rng.choice(FILES).removesuffix(".sph")
            rows += (
                f'<kw file="{file}" channel="1" tbeg="{begin}" dur="0.5" score="{shown / 1000}" '
                f'decision="{decision}"/>\n'
            )
        blocks += f'<detected_kwlist kwid="K{at:02d}" search_time="1" oov_count="0">\n{rows}</detected_kwlist>\n'
    output = f'<kwslist kwlist_filename="k" language="x" system_id="s">\n{blocks}</kwslist>\n'
    return {"ecf": _ecf(), "kwlist": _kwlist(), "rttm": key, "output": output}


def _documents(_protocol: Protocol, rng: Random) -> dict[str, str]:
    documents = [f"D{at:02d}" for at in range(12)]
    queries = [f"K{at:02d}" for at in range(12)]
    excerpts = "".join(
        f'<excerpt audio_filename="{name}.wav" channel="1" tbeg="0" dur="5" language="x" source_type="bnews"/>\n'
        for name in documents
    )
    ecf = f'<ecf source_signal_duration="60" language="x" version="1">\n{excerpts}</ecf>\n'
    key, blocks = "", ""
    scores = rng.sample(range(1, 1000), len(documents) * len(queries))
    for query in queries:
        for document in rng.sample(documents, 2):
            key += f"LEXEME {document} 1 0 1 {query} lex s <NA>\n"
        rows = ""
        for document in documents:
            score = scores.pop()
            decision = "YES" if score >= 100 else "NO"
            rows += (
                f'<kw file="{document}" channel="1" tbeg="0" dur="1" score="{score / 1000}" decision="{decision}"/>\n'
            )
        blocks += f'<detected_kwlist kwid="{query}" search_time="1" oov_count="0">\n{rows}</detected_kwlist>\n'
    output = f'<kwslist kwlist_filename="k" language="x" system_id="s">\n{blocks}</kwslist>\n'
    return {"ecf": ecf, "kwlist": _kwlist(queries), "rttm": key, "output": output}


def _events(_protocol: Protocol, rng: Random) -> dict[str, str]:
    trials = [(f"c{clip:02d}.E{event}", f"c{clip:02d}", f"E{event}") for event in range(1, 4) for clip in range(8)]
    index = "TrialID,ClipID,EventID\n" + "".join(f"{','.join(row)}\n" for row in trials)
    ref = "TrialID,Targ\n"
    detection = "TrialID,Score,Rank\n"
    for event in range(1, 4):
        own = [trial for trial, _, name in trials if name == f"E{event}"]
        targets = set(rng.sample(own, 3))
        ref += "".join(f"{trial},{'y' if trial in targets else 'n'}\n" for trial in own)
        scores = sorted(rng.sample(range(1, 100), len(own)), reverse=True)
        for rank, (trial, score) in enumerate(zip(rng.sample(own, len(own)), scores, strict=True), start=1):
            detection += f"{trial},{score / 100},{rank}\n"
    threshold = "EventID,DetectionThreshold,RankThreshold,DetectionTPT,EAGTPT,EMDTPT,EBGMDTPT,SEARCHMDTPT\n"
    threshold += "".join(f"E{event},0.5,3,1.5,2,3,4,5\n" for event in range(1, 4))
    return {"index": index, "ref": ref, "detection": detection, "threshold": threshold}


def _language(_protocol: Protocol, rng: Random) -> dict[str, str]:
    labels = ("Basque", "Catalan", "English", "Galician", "Portuguese", "Spanish")
    key, output = "", ""
    for at in range(24):
        key += f"seg{at:02d} {labels[at % 6]}\n"
        scores = " ".join(f"{rng.gauss(2 if k == at % 6 else 0, 1):.4f}" for k in range(6))
        output += f"Plenty Closed seg{at:02d} {scores} 0.0000\n"
    return {"key": key, "output": output}


def _tokens(protocol: Protocol, rng: Random) -> dict[str, str]:
    if protocol.name == "stt-trn":
        lines = [f"{rng.choice(WORDS)} {rng.choice(WORDS)} (spk{at % 2}-{at})\n" for at in range(8)]
        said = [line.replace("yes", "no") for line in lines]
        return {"stm": "".join(lines), "ctm": "".join(said)}
    stm, ctm = "", ""
    for file in ("f1", "f2"):
        words = [rng.choice(WORDS) for _ in range(10)]
        stm += f"{file} 1 spk 0 50 {' '.join(words)}\n"
        ctm += "".join(f"{file} 1 {1 + 4 * at} 0.5 {rng.choice((word, 'no'))} 0.9\n" for at, word in enumerate(words))
    return {"stm": stm, "ctm": ctm}


def _labelled(_protocol: Protocol, rng: Random) -> dict[str, str]:
    rows = "".join(
        f"q{at % 3},d{at},{int(at % 4 == 0 or rng.random() < 0.2)},{score / 100},{int(score > 50)}\n"
        for at, score in enumerate(rng.sample(range(100), 30))
    )
    return {"output": f"query,document,label,score,decision\n{rows}"}


_MAKERS: Mapping[str, Callable[[Protocol, Random], dict[str, str]]] = {
    "detections": _keywords,
    "segments": _keywords,
    "documents": _documents,
    "events": _events,
    "language": _language,
    "tokens": _tokens,
    "labelled": _labelled,
}


def _one(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Slip:
    """Change one of the places that fit."""

    def slip(text: bytes, rng: Random) -> bytes:
        decoded = text.decode("utf-8", "replace")
        found = list(re.finditer(pattern, decoded))
        if not found:
            return text
        chosen = rng.choice(found)
        new = by(chosen) if callable(by) else chosen.expand(by)
        return (decoded[: chosen.start()] + new + decoded[chosen.end() :]).encode()

    return slip


def _all(pattern: str, by: str) -> Slip:
    return lambda text, _: re.sub(pattern, by, text.decode("utf-8", "replace")).encode()


def _cut(text: bytes, rng: Random) -> bytes:
    return text[: rng.randrange(1, max(2, len(text)))]


def _zip(text: bytes, _: Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("output.xml", text)
    return packed.getvalue()


_ANY: Mapping[str, Slip] = {
    "cut off": _cut,
    "a zip": _zip,
    "empty": lambda *_: b"",
    "gzip": lambda text, _: gzip.compress(text),
    "half a gzip": lambda text, _: gzip.compress(text)[:-9],
    "utf-16": lambda text, _: text.decode("utf-8", "replace").encode("utf-16"),
    "a byte that is none": lambda text, rng: text[:40] + bytes([rng.randrange(128, 192)]) + text[40:],
    "windows lines": lambda text, _: text.replace(b"\n", b"\r\n"),
}
_ROW = r"<kw [^\n]*\n"
_DETECTIONS: Mapping[str, Slip] = {
    "case of the recording": _one(r'file="(\w)', lambda m: f'file="{m[1].lower()}'),
    "every extension": _all(r'file="(\w+)"', r'file="\1.wav"'),
    "an extension": _one(r'file="(\w+)"', r'file="\1.sph"'),
    "channel A": _one(r'channel="1"', 'channel="A"'),
    "channel 01": _one(r'channel="1"', 'channel="01"'),
    "beyond the end": _one(r'tbeg="\d+"', 'tbeg="4999"'),
    "before the begin": _one(r'tbeg="\d+"', 'tbeg="-3"'),
    "a query nobody asked": _one(r'kwid="K(\d+)"', r'kwid="Q\1"'),
    "a query in lower case": _one(r'kwid="K', 'kwid="k'),
    "all NO": _all(r'decision="YES"', 'decision="NO"'),
    "a NO above": _one(r'score="[\d.]+" decision="YES"', 'score="0.999" decision="NO"'),
    "both for one score": _one(_ROW, lambda m: m[0] + re.sub(r'tbeg="\d+"', 'tbeg="49"', m[0].replace("YES", "NO"))),
    "maybe": _one(r'decision="\w+"', 'decision="MAYBE"'),
    "yes in lower case": _one(r'decision="YES"', 'decision="yes"'),
    "no number": _one(r'score="[\d.]+"', 'score="nan"'),
    "infinite": _one(r'score="[\d.]+"', 'score="inf"'),
    "text for a score": _one(r'score="[\d.]+"', 'score="high"'),
    "no score": _one(r' score="[\d.]+"', ""),
    "no file": _one(r' file="\w+"', ""),
    "twice": _one(_ROW, lambda m: m[0] + m[0]),
    "negative duration": _one(r'dur="[\d.]+"', 'dur="-0.5"'),
    "an open quote": _one(r'" decision', " decision"),
    "another root": _all("kwslist ", "kwlist "),
    "a block twice": _one(r"<detected_kwlist .*?</detected_kwlist>\n(?s:)", lambda m: m[0] + m[0]),
    "no block": _one(r"<detected_kwlist [^\0]*?</detected_kwlist>\n", ""),
    "an unknown element": _one(_ROW, lambda m: m[0] + "<note/>\n"),
}
SLIPS: Mapping[str, Mapping[str, Mapping[str, Slip]]] = {
    "detections": {"output": {**_ANY, **_DETECTIONS}},
    "segments": {"output": {**_ANY, **_DETECTIONS}},
    "documents": {"output": {**_ANY, **_DETECTIONS, "a pair left out": _one(_ROW, "")}},
    "events": {
        "detection": {
            **_ANY,
            "case of a trial": _one(r"\nc(\d+)", r"\nC\1"),
            "a trial nobody asked": _one(r"\nc\d+\.", "\nx99."),
            "a trial left out": _one(r"\nc[^\n]*", ""),
            "a trial twice": _one(r"\nc[^\n]*", lambda m: m[0] + m[0]),
            "a score that is none": _one(r",0\.\d+,", ",nan,"),
            "a score above one": _one(r",0\.\d+,", ",1.7,"),
            "a rank twice": _one(r",\d+\n", ",1\n"),
            "no rank": _all(r",Rank", ",Place"),
            "a field more": _one(r",\d+\n", ",1,2\n"),
        },
        "threshold": {
            **_ANY,
            "an event left out": _one(r"\nE\d[^\n]*", ""),
            "an event nobody asked": _one(r"\nE\d", "\nE9"),
            "case of an event": _one(r"\nE(\d)", r"\ne\1"),
            "a threshold above one": _one(r",0\.5,", ",1.5,"),
            "no time": _one(r",1\.5,", ",,"),
            "a negative time": _one(r",1\.5,", ",-1.5,"),
        },
    },
    "labelled": {
        "output": {
            **_ANY,
            "no number": _one(r",0\.\d+,", ",nan,"),
            "another label": _one(r",1,", ",2,"),
            "a row twice": _one(r"\nq[^\n]*", lambda m: m[0] + m[0]),
            "a field less": _one(r",[01]\n", "\n"),
            "a NO above": _one(r",0\.\d+,1\n", ",0.99,0\n"),
            "no scores": _all(r"score", "points"),
            "no decisions": _all(r"decision", "verdict"),
        }
    },
    "language": {
        "output": {
            **_ANY,
            "a field less": _one(r" 0\.0000\n", "\n"),
            "no number": _one(r" -?\d\.\d+ ", " nan "),
            "another set": _one("Closed", "Open"),
            "another task": _one("Plenty", "Empty"),
            "a segment twice": _one(r"Plenty[^\n]*\n", lambda m: m[0] + m[0]),
            "a blank line": _one(r"\n", "\n\n"),
            "a segment nobody asked": _one(r"seg\d", "sag9"),
            "a segment left out": _one(r"Plenty[^\n]*\n", ""),
        }
    },
    "tokens": {
        "ctm": {
            **_ANY,
            "no confidence": _one(r" 0\.9\n", "\n"),
            "a confidence above one": _one(r" 0\.9\n", " 1.9\n"),
            "text for a time": _one(r" 1 \d+ ", " 1 soon "),
            "negative time": _one(r" 1 (\d+) ", r" 1 -\1 "),
            "a recording nobody recorded": _one(r"(?m)^f(\d)", r"F0\1"),
            "a recording left out": _all(r"f2 [^\n]*\n", ""),
            "two fields": _one(r" 0\.5 \w+ 0\.9\n", "\n"),
            "an open brace": _one(r"\w+ \(", "{ no ("),
            "no utterance": _one(r" \(spk\d-\d\)", ""),
            "an utterance twice": _one(r"[^\n]*\)\n", lambda m: m[0] + m[0]),
        }
    },
}


def slipped(protocol: Protocol, clean: Made, n: int, rng: Random) -> tuple[Made, tuple[str, ...]]:
    """A submission with ``n`` slips, and which."""
    by_role = SLIPS[protocol.family.name]
    chosen = rng.sample([(role, name) for role, slips in by_role.items() for name in slips], n)
    texts = dict(clean.texts)
    for role, name in chosen:
        texts[role] = by_role[role][name](texts[role], rng)
    return Made(texts, clean.names), tuple(f"{role}: {name}" for role, name in chosen)


def every() -> list[Protocol]:
    """All protocols in their modes."""
    return [protocol for _, protocol in sorted(protocols.protocols().items())]
