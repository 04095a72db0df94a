"""System outputs read with the texts of their scores, for those who sort scores as text (KWSEval's MAP)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.kws.kwslist import SystemOutput, read_kwslist
from pipeline.formats.kws.scoretexts import ScoreTexts


def read_kwslist_texts(stream: BinaryIO, where: str) -> SystemOutput:
    """As ``read_kwslist``; ``detections`` has a column score_text* too, where texts sort differently from numbers."""
    return read_kwslist(stream, where, texts=ScoreTexts())
