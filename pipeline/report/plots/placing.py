"""Names beside the points of a figure, where they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.plots.marks import Text

MOST, LONGEST = 12, 24
"""Beyond so many points none is named; longer names are cut."""
CHAR, LINE, RADIUS = 6.2, 12.0, 6.0
"""Width of a character, height of a line, and half a point with room around it, in pixels."""
Box = tuple[float, float, float, float]


def placed(points: Sequence[tuple[float, float, str, int]], within: Box) -> tuple[Text, ...]:
    """Names of points (x, y, name, style) right, left, above or below them; one that fits nowhere is left out."""
    if len(points) > MOST:
        return ()
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y, *_ in points]
    notes = []
    for x, y, name, style in points:
        text = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        width = CHAR * len(text)
        for note, left in (
            (Text(x + 8, y + 4, text, "start", style=style), x + 8),
            (Text(x - 8, y + 4, text, "end", style=style), x - 8 - width),
            (Text(x, y - 9, text, "middle", style=style), x - width / 2),
            (Text(x, y + 17, text, "middle", style=style), x - width / 2),
        ):
            box = (left, note.y - LINE + 2, left + width, note.y + 2)
            if _inside(box, within) and not any(_meet(box, other) for other in taken):
                taken.append(box)
                notes.append(note)
                break
    return tuple(notes)


def _inside(box: Box, within: Box) -> bool:
    return box[0] >= within[0] and box[1] >= within[1] and box[2] <= within[2] and box[3] <= within[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
