"""Segments and words for tests of alignment, from short texts."""

from __future__ import annotations

import io
from typing import Any

from pipeline.align.tokens.rules import Lexer, TokenRules
from pipeline.align.tokens.steps import TokenAlignment, align_tokens
from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.stm import read_stm
from pipeline.trials.tokens.layout import segments_of, words_of
from pipeline.trials.tokens.schema import TokenTimeline

LETTERS = "CSDICC"


def align_text(stm: str, ctm: str, *, segment_end: str = "float32", **rules: Any) -> TokenAlignment:
    """The alignment of two files given as text."""
    segments = segments_of(read_stm(io.BytesIO(stm.encode()), "stm"), case_sensitive=False)
    words = words_of(read_ctm(io.BytesIO(ctm.encode()), "ctm"), case_sensitive=False)
    return align_tokens(words, segments, Lexer(TokenRules(**rules), TokenTimeline()), segment_end=segment_end)


def one_segment(reference: str, output: str, **rules: Any) -> list[tuple[str, str, str]]:
    """The steps of one segment: letter, reference and output token, empty where a side has none."""
    rows = "".join(f"f 1 {at} 0.5 {word}\n" for at, word in enumerate(output.split()))
    return steps(align_text(f"f 1 s 0 1000 {reference}\n", rows, **rules))


def steps(aligned: TokenAlignment) -> list[tuple[str, str, str]]:
    """All steps as text."""
    words = [token.shown for token in aligned.vocabulary]
    return [
        (LETTERS[kind], words[ref] if ref >= 0 else "", words[out] if out >= 0 else "")
        for kind, ref, out in zip(
            aligned.step.tolist(), aligned.reference.tolist(), aligned.output.tolist(), strict=True
        )
    ]
