"""``python -m tests.fuzz.guided FORMAT [libFuzzer options]``: one reader under atheris, which follows what it covers.

Needs ``pip install atheris``, which is no part of the lock file: it has no build for every Python. Without it this says
so and ends with 0, as a skipped test does; with ``RESCORE_REQUIRE=atheris`` it ends with 1.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path


def main(argv: list[str]) -> int:
    """Fuzz until libFuzzer ends the process; 2 for a call that names no format."""
    try:
        import atheris
    except ImportError as error:
        print(f"skipped: atheris is not installed here ({error})", file=sys.stderr)
        return int("atheris" in os.environ.get("RESCORE_REQUIRE", "").split(","))
    with atheris.instrument_imports(include=["pipeline"]):
        from pipeline.errors import RescoreError
        from pipeline.formats import READERS
        from tests.fuzz.targets import seeds_of
    if len(argv) < 2 or argv[1] not in READERS:
        print(f"give a format: {', '.join(READERS)}", file=sys.stderr)
        return 2
    form = argv[1]
    READERS[form](io.BytesIO(seeds_of(form)[0]), "f")  # what it imports is instrumented as well

    def read(data: bytes) -> None:
        try:
            READERS[form](io.BytesIO(data), "f")
        except RescoreError:
            return

    with tempfile.TemporaryDirectory(prefix="rescore-corpus-") as corpus:
        for at, seed in enumerate(seeds_of(form)):
            (Path(corpus) / str(at)).write_bytes(seed)
        atheris.Setup([argv[0], *argv[2:], corpus], read)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
