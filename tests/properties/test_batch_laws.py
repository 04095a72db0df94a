"""Trials and labels in batches say what they say as one object, for every family and however they are cut."""

from __future__ import annotations

import io
import os
import random
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.align.labels import Labels
from pipeline.engine.counting import aligned, counted
from pipeline.engine.inputs import format_of
from pipeline.engine.stored import labelstore, trialstore
from pipeline.errors import RescoreError
from pipeline.formats import READERS
from pipeline.protocols.base import Protocol
from pipeline.store import batched
from pipeline.store.blobs import Store
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import batches
from tests.partial_bits import bits_of
from tests.properties.evaluations import made
from tests.properties.evaluations.written import WRITERS

NAMES = ("sws2013", "openkws13", "openkws13-segments", "quesst", "med13", "stt13", "albayzin-lre12")
EXAMPLES = {"ci": 15, "soak": 500}
PATH, LABELS = "trials/x.zarr.zip", "labels/x.zarr.zip"
laws = settings(max_examples=EXAMPLES.get(os.environ.get("HYPOTHESIS_PROFILE", "ci"), 15))


def cell_of(name: str, size: int, seed: int) -> tuple[Protocol, Any, Any]:
    """Protocol, reference and trials of an evaluation that is not refused."""
    evaluation = made.make(protocols.find(name), size, random.Random(seed), plain=True)
    protocol = protocols.find(name, mode=evaluation.protocol.mode, overrides=evaluation.settings)
    tables = {}
    try:
        for role, rows in evaluation.roles.items():
            kind = format_of(protocol, role)
            text = WRITERS[kind.removesuffix("_texts")](rows)
            tables[role] = READERS[kind](io.BytesIO(text.encode()), role)
        reference = protocol.family.refer(protocol, tables)
        laid, _ = protocol.family.lay_out(protocol, tables, reference.timeline)
    except RescoreError:
        assume(False)
    return protocol, reference, laid.whole()


def same(one: Labels, other: Labels) -> bool:
    return (
        one.columns.keys() == other.columns.keys()
        and all(np.array_equal(one[name], other[name]) for name in one.columns)
        and all(one[name].dtype == other[name].dtype for name in one.columns)
        and all(np.array_equal(one.offsets[dim], other.offsets[dim]) for dim in one.offsets)
    )


@pytest.mark.parametrize("name", NAMES)
@laws
@given(
    size=st.integers(2, 6),
    seed=st.integers(0, 2**32),
    n=st.integers(3, 9),
    wanted=st.tuples(st.integers(0, 64), st.integers(0, 64)),
)
def test_batches_say_what_one_object_says(name: str, size: int, seed: int, n: int, wanted: tuple[int, int]) -> None:
    protocol, reference, trials = cell_of(name, size, seed)
    kind, key, store = protocol.family.kind, reference.key, Store(f"memory://{uuid4().hex}")
    whole = kind.to_dataset(trials, reference.timeline, {"title": "trials"})
    first, last = min(wanted), max(wanted)
    with patch.object(trialstore, "ROWS_PER_BATCH", n):
        trialstore._put(store, PATH, whole)
    opened = batched.opened(store, PATH)
    assert isinstance(opened, batched.Batched) == (len(trials) > n)
    assert opened.dataset.load().identical(whole)
    batched.verify(store, PATH)
    cuts = trialstore.cuts_of(store, PATH)
    if not cuts:
        return
    assert cuts == tuple(batches(trials.offsets, np.zeros_like(trials.offsets), n))
    labels, written = aligned(protocol, trials, key, reference), []
    for ends in cuts:
        rows = kind.from_dataset(opened.dataset, *ends)
        own = aligned(protocol, rows, key.tiles(*ends), reference)
        written.append(labelstore.write_batch(store, LABELS, ends, own, int(key.offsets[ends[0]]), {}))
    labelstore.write_index(store, LABELS, written[::-1], {})
    assert batched.opened(store, LABELS).dataset.load().identical(labelstore.to_dataset(labels, {}))
    assert same(labelstore.load(store, LABELS, 0, N_BUCKETS), labels)
    assert same(labelstore.load(store, LABELS, first, last), labels.tiles(first, last))
    part = kind.from_dataset(opened.dataset, first, last)
    again = counted(
        protocol, part, key.tiles(first, last), reference, labelstore.load(store, LABELS, first, last)
    ).partial
    once = counted(protocol, trials.tiles(first, last), key.tiles(first, last), reference).partial
    assert bits_of(again) == bits_of(once)
    batched.verify(store, LABELS)
    for path in store.listing():
        store.remove(path)
    trialstore._opened.cache_clear()
