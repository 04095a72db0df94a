"""Segments adapted to occurrences: no occurrence spans a border (plan 004, section 5.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Span = tuple[float, float, bool]
"""Begin and end in seconds, and whether it is speech."""
Block = tuple[float, float]


def adapt(segments: Sequence[Span], occurrences: Iterable[Block], crossing: str) -> list[Span]:
    """The segments of one excerpt, end to end, after each crossing occurrence has one segment to itself.

    ``occurrences`` are sorted by begin. ``extend``: the speech segment with the largest share of an occurrence (the
    earliest of equals; any segment where none is speech) is extended over it, its neighbours lose what it gains and
    vanish where nothing is left. ``merge``: all segments that an occurrence touches become one, speech if any is.
    """
    rest = list(reversed(segments))
    done: list[Span] = []
    for block in _united(occurrences):
        while rest and rest[-1][1] <= block[0]:
            done.append(rest.pop())
        touched = []
        while rest and rest[-1][0] < block[1]:
            touched.append(rest.pop())
        if len(touched) > 1:
            touched = _merged(touched) if crossing == "merge" else _extended(touched, block)
        if touched:
            rest.append(touched.pop())  # the next occurrence may touch it too
        done += touched
    return done + rest[::-1]


def _united(occurrences: Iterable[Block]) -> Iterator[Block]:
    """Occurrences that overlap as one; abutting ones stay two."""
    current: Block | None = None
    for begin, end in occurrences:
        if current is not None and begin < current[1]:
            current = (current[0], max(current[1], end))
            continue
        if current is not None:
            yield current
        current = (begin, end)
    if current is not None:
        yield current


def _merged(touched: list[Span]) -> list[Span]:
    return [(touched[0][0], touched[-1][1], any(speech for _, _, speech in touched))]


def _extended(touched: list[Span], block: Block) -> list[Span]:
    def share(index: int) -> tuple[bool, float, int]:
        begin, end, speech = touched[index]
        return speech, min(end, block[1]) - max(begin, block[0]), -index

    owner = max(range(len(touched)), key=share)
    last = len(touched) - 1
    begin = touched[0][0] if owner == 0 else block[0]
    end = touched[-1][1] if owner == last else block[1]
    before = [(touched[0][0], block[0], touched[0][2])] if owner > 0 and touched[0][0] < block[0] else []
    after = [(block[1], touched[-1][1], touched[-1][2])] if owner < last and block[1] < touched[-1][1] else []
    return [*before, (begin, end, touched[owner][2]), *after]
