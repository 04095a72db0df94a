"""Patches of keys: rows taken out and put in, for asking what would be."""

from __future__ import annotations

from collections import Counter

from pipeline.errors import Problems


def patched(key: bytes, patch: bytes, where: str) -> bytes:
    """A key with a patch applied: ``-ROW`` takes a row out, ``+ROW`` puts one in, ``#`` begins a remark.

    New rows stand where the first row taken out just before them stood, else at the end. Raises ``InputError`` with
    every line that is no such line, and every row to take out that the key does not have.
    """
    problems = Problems(where)
    rows: list[bytes] = key.splitlines(keepends=True)
    if rows and not rows[-1].endswith(b"\n"):
        rows[-1] += b"\n"
    there = Counter(row.rstrip() for row in rows)
    place: int | None = None
    for number, line in enumerate(patch.splitlines(), 1):
        mark, row = line[:1], line[1:].rstrip()
        if not line.strip() or mark == b"#":
            continue
        if mark == b"-":
            if not there[row]:
                what = f"the key has no row {row.decode(errors='backslashreplace')[:80]!r}"
                problems.add("no_such_row", number, what, "Write the row as it stands in the key.")
                continue
            there[row] -= 1
            place = next(at for at, one in enumerate(rows) if one.rstrip() == row)
            del rows[place]
        elif mark == b"+":
            at = len(rows) if place is None else place
            rows.insert(at, row + b"\n")
            place = None if place is None else place + 1
            there[row] += 1
        else:
            what = (
                f"the line begins with {line[:1].decode(errors='backslashreplace')!r} (allowed: -ROW, +ROW, # remark)"
            )
            problems.add("bad_patch", number, what)
    problems.raise_if_any()
    return b"".join(rows)
