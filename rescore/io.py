"""Files of every format as columns, and columns as files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pipeline.engine.given import Read, read_as
from pipeline.frames import PLACES, form_of
from rescore.tables import Frame, frame

FORMATS = tuple(PLACES)
"""The names of the formats: ``kwslist``, ``rttm``, ``ecf``, …"""


def read(format: str, source: Any) -> Frame:  # noqa: A002  # what it is
    """A file of a format as a frame, with the columns that ``rescore.score`` takes.

    ``source`` is a path, URL, bytes, open file, or a frame that is checked by this. Raises ``InputError`` for what the
    format refuses, ``UsageError`` for a format that there is not.

    ```python
    detections = rescore.io.read("kwslist", "system.stdlist.xml")
    ```
    """
    form = form_of(format)
    made: Read = read_as(format, "input", source)
    return frame(form.frame(made.table))


def write(format: str, source: Any, path: str | os.PathLike[str] | None = None) -> bytes:  # noqa: A002
    """A frame as the file of a format, which its reader has checked; written to ``path`` where there is one.

    Raises ``InputError``, naming rows, for what the reader would refuse: then nothing is written.
    """
    text = form_of(format).written(source, "input").text
    read_as(format, "input", source)
    if path is not None:
        Path(path).write_bytes(text)
    return text
