"""Words as an xarray dataset, the form in which they are stored; segments and lexica as plain named columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Ints
from pipeline.errors import StoreError
from pipeline.formats.stt.glm import Glm
from pipeline.formats.stt.lexicon import Lexicon
from pipeline.formats.table import Array
from pipeline.trials.ragged import FIRST_ROW, N_ROWS
from pipeline.trials.tokens.layout import unit_name
from pipeline.trials.tokens.schema import TokenSegments, TokenTimeline, Words

if TYPE_CHECKING:
    import xarray as xr

Columns = Mapping[str, Array | tuple[str, ...]]

_NAMES = {"files": "file_name", "channels": "channel_name", "words": "word_name"}
_ROWS = {
    "word": ("word", "1", "word, as a position in word_name"),
    "file": ("file", "1", "recording, as a position in file_name"),
    "channel": ("channel", "1", "channel, as a position in channel_name"),
    "begin_s": ("begin", "s", "begin in the recording"),
    "dur_s": ("duration", "s", "duration"),
    "confidence": ("confidence", "1", "probability that the word is correct, NaN where there is none"),
    "row": ("line", "1", "source line"),
}
_BY_RECORDING = {
    "recording": ("", "file and channel of each recording, in the order of rows", "system output, CTM"),
    FIRST_ROW: ("1", "first row of the recording's words", "system output, CTM"),
    N_ROWS: ("1", "number of the recording's words, which follow one another", "system output, CTM"),
    "bucket_offset": ("1", "first row of each bucket of recordings, with the number of rows at the end", "hash"),
}
"""Units, long name and source of what is not by trial."""


def words_to_dataset(words: Words, timeline: TokenTimeline, source: Mapping[str, str | int]) -> xr.Dataset:
    """Words of one output as a dataset; ``source`` becomes its attributes.

    Dimensions ``recording`` (one channel of a file) and ``trial``: the words of a recording, by time, are the rows
    ``first_row`` up to ``first_row + n_rows``. ``bucket_offset`` over ``bucket_edge`` says where each bucket of
    recordings begins. Nothing is lost: see ``words_from_dataset``.
    """
    import xarray as xr

    data = {name: ("trial", getattr(words, field)) for field, (name, _, _) in _ROWS.items()}
    data["bucket_offset"] = ("bucket_edge", words.offsets)
    first, recordings = _recordings(words)
    data |= {FIRST_ROW: ("recording", first), N_ROWS: ("recording", np.diff(first, append=len(words)))}
    coordinates = {
        name: (name, np.array(getattr(words, field), np.dtypes.StringDType())) for field, name in _NAMES.items()
    }
    coordinates["recording"] = ("recording", np.array(recordings, np.dtypes.StringDType()))
    attributes = {"title": "words", "n_reference_recordings": len(timeline.units), **source}
    dataset = xr.Dataset(data, coordinates, attributes)
    for name, units, long_name in _ROWS.values():
        dataset[name].attrs.update(units=units, long_name=long_name, source="system output, CTM")
    for name, (units, long_name, origin) in _BY_RECORDING.items():
        dataset[name].attrs.update(units=units, long_name=long_name, source=origin)
    for name in _NAMES.values():
        dataset[name].attrs.update(units="", long_name="names, sorted", source="system output, CTM")
    return dataset


def _recordings(words: Words) -> tuple[Ints, list[str]]:
    """The first row of every channel that has words, and what the channels are called."""
    pair = words.file.astype(np.int64) * max(len(words.channels), 1) + words.channel
    first: Ints = np.flatnonzero(np.diff(pair, prepend=-1))
    places = zip(words.file[first].tolist(), words.channel[first].tolist(), strict=True)
    return first, [unit_name(words.files[file], words.channels[channel]) for file, channel in places]


def words_from_dataset(dataset: xr.Dataset, first_bucket: int, last_bucket: int) -> Words:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read."""
    offsets: Ints = dataset.variables["bucket_offset"].to_numpy()
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    stored = dataset.variables
    columns: dict[str, Any] = {field: stored[name][begin:end].to_numpy() for field, (name, _, _) in _ROWS.items()}
    columns |= {field: tuple(stored[name].to_numpy().tolist()) for field, name in _NAMES.items()}
    return Words(**columns, offsets=np.clip(offsets - begin, 0, end - begin))


def segments_to_columns(segments: TokenSegments) -> dict[str, Array | tuple[str, ...]]:
    """Every field under its name."""
    return {entry.name: getattr(segments, entry.name) for entry in fields(segments)}


def segments_from_columns(columns: Columns) -> TokenSegments:
    """The inverse of ``segments_to_columns``. Raises ``StoreError`` where columns are missing or foreign."""
    contents: dict[str, Any] = dict(columns)
    if contents.keys() != {entry.name for entry in fields(TokenSegments)}:
        raise StoreError("a stored reference is damaged: its columns are not those of segments. Remove it.")
    return TokenSegments(**contents)


def timeline_to_columns(timeline: TokenTimeline) -> dict[str, Array | tuple[str, ...]]:
    """Recordings, the lexicon's words with their pronunciations, and the text of rules where there are any.

    No part of a syllable holds a blank or a tab.
    """
    entries = timeline.lexicon.entries
    rules: dict[str, tuple[str, ...]] = {} if timeline.glm is None else {"glm": (timeline.glm.text,)}
    return {
        **rules,
        "units": timeline.units,
        "words": tuple(entries),
        "spoken": tuple(
            "\n".join("\t".join(" ".join(phones) for phones in syllables) for syllables in spoken)
            for spoken in entries.values()
        ),
    }


def timeline_from_columns(columns: Columns) -> TokenTimeline:
    """The inverse of ``timeline_to_columns``."""
    words, spoken = columns["words"], columns["spoken"]
    entries = {
        str(word): tuple(
            tuple(tuple(phones.split(" ")) for phones in syllables.split("\t")) for syllables in str(text).split("\n")
        )
        for word, text in zip(words, spoken, strict=True)
    }
    rules = [str(text) for text in columns.get("glm", ())]
    units = tuple(str(unit) for unit in columns["units"])
    return TokenTimeline(units, Lexicon(entries), Glm.of(rules[0]) if rules else None)
