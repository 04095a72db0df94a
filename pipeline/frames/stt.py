"""Frames of speech-to-text: segments of a reference, words of an output, transcripts, lexica."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.formats.stt.ctm import Ctm
from pipeline.formats.stt.lexicon import Lexicon
from pipeline.formats.stt.stm import Stm
from pipeline.formats.stt.trn import Trn
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, fields, lines, text_column

_FILE = FormColumn("file", "text", "recording")
_CHANNEL = FormColumn("channel", "text", "channel", default="1")
STM = (
    _FILE,
    _CHANNEL,
    FormColumn("speaker", "text", "speaker"),
    FormColumn("begin", "number", "begin, s; nothing where the segment has no times"),
    FormColumn("end", "number", "end, s"),
    FormColumn("label", "text", "label such as <o,f0,male>", default=""),
    FormColumn("text", "text", "transcript, words between blanks", default=""),
)
CTM = (
    _FILE,
    _CHANNEL,
    FormColumn("begin", "number", "begin, s; nothing for marks of alternations"),
    FormColumn("duration", "number", "duration, s"),
    FormColumn("word", "text", "word"),
    FormColumn("confidence", "number", "confidence between 0 and 1, nothing where there is none", default="nan"),
)
TRN = (
    FormColumn("utterance", "text", "utterance"),
    FormColumn("text", "text", "transcript, words between blanks", default=""),
)
LEXICON = (
    FormColumn("word", "text", "word"),
    FormColumn("pronunciation", "text", "phones between blanks, syllables between dots; a row for each"),
)


def _stm(texts: Texts, where: str) -> Written:
    fields(texts, ("file", "channel", "speaker"), where)
    fields({"label": [value for value in texts["label"] if value]}, ("label",), where)
    times = ([_NONE.get(time, time) for time in texts[name]] for name in ("begin", "end"))
    begin, end = times
    words = map(" ".join, map(str.split, texts["text"]))
    rows = zip(texts["file"], texts["channel"], texts["speaker"], begin, end, texts["label"], words, strict=True)
    return lines(" ".join(filter(None, row)) + "\n" for row in rows)


_NONE = {"nan": "NA", "": "NA"}


def _of_stm(stm: Stm) -> Columns:
    table = stm.segments
    made = {name: text_column(table, name) for name in ("file", "channel", "speaker", "label", "text")}
    return {**made, "begin": table["begin_s"], "end": table["end_s"]}


def _ctm(texts: Texts, where: str) -> Written:
    fields(texts, ("file", "channel", "word"), where)
    begin, duration = ([_UNTIMED.get(time, time) for time in texts[name]] for name in ("begin", "duration"))
    sure = [_NONE.get(value, value) for value in texts["confidence"]]
    rows = zip(texts["file"], texts["channel"], begin, duration, texts["word"], sure, strict=True)
    return lines(" ".join(row) + "\n" for row in rows)


_UNTIMED = {"nan": "*", "": "*"}


def _of_ctm(ctm: Ctm) -> Columns:
    table = ctm.words
    made = {name: text_column(table, name) for name in ("file", "channel", "word")}
    return {**made, "begin": table["begin_s"], "duration": table["dur_s"], "confidence": table["confidence"]}


def _trn(texts: Texts, where: str) -> Written:
    fields(texts, ("utterance",), where)
    rows = zip(texts["text"], texts["utterance"], strict=True)
    return lines(f"{' '.join([*words.split(), f'({utterance})'])}\n" for words, utterance in rows)


def _of_trn(trn: Trn) -> Columns:
    return {name: text_column(trn.utterances, name) for name in ("utterance", "text")}


def _lexicon(texts: Texts, where: str) -> Written:
    fields(texts, ("word",), where)
    said = (" ".join(value.split()) for value in texts["pronunciation"])
    return lines(f"{word}\t{phones}\n" for word, phones in zip(texts["word"], said, strict=True))


def _of_lexicon(lexicon: Lexicon) -> Columns:
    rows = [
        (word, " . ".join(" ".join(syllable) for syllable in syllables))
        for word, spoken in lexicon.entries.items()
        for syllables in spoken
    ]
    made = np.array(rows, object).reshape(-1, 2)
    return {"word": made[:, 0], "pronunciation": made[:, 1]}


FORMS: Mapping[str, Form] = {
    "stm": Form(STM, _stm, _of_stm),
    "ctm": Form(CTM, _ctm, _of_ctm),
    "trn": Form(TRN, _trn, _of_trn),
    "lexicon": Form(LEXICON, _lexicon, _of_lexicon),
}
