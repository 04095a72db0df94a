"""Laws of speech-to-text scoring: two aligners agree, and neither order nor grouping changes a bit."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.align.tokens.graph import Graph, Spoken, align_graphs
from pipeline.align.tokens.linear import Strings, align
from pipeline.align.tokens.match import Matcher, matches
from pipeline.align.tokens.rules import Token, TokenRules, token
from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.stm import read_stm
from pipeline.metrics.stt.significance import Bootstrap, mapsswe
from pipeline.partials.merge import merge_tree
from pipeline.partials.stt_outcomes import SttOutcomes
from pipeline.protocols import find
from pipeline.trials.tiles import bucket_of
from pipeline.trials.tokens.layout import unit_name
from tests.partial_bits import bits_of, sent

SPOKEN = (
    *("a", "b", "ab", "a-", "-b", "-ab", "-", "--", "-a-", "(", ""),
    *("(a)", "(a-)", "(-b)", "(-)", "(--)", "()", "(@)"),
)
RULES = TokenRules()
strings = st.lists(st.sampled_from(SPOKEN), max_size=9)
pairs = st.lists(st.tuples(strings, strings), min_size=1, max_size=6)


def _laid(texts: list[list[str]], vocabulary: dict[Token, int]) -> tuple[Strings, list[list[Token]]]:
    tokens = [[token(text, RULES) for text in words] for words in texts]
    flat = [one for words in tokens for one in words]
    codes = [vocabulary.setdefault(one, len(vocabulary)) for one in flat]
    costs = [2 if one.optional else 3 for one in flat]
    offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    return Strings(np.array(codes, np.int32), np.array(costs, np.int32), offsets), tokens


@given(pairs)
def test_strings_aligned_together_are_aligned_as_word_graphs_are(
    given_pairs: list[tuple[list[str], list[str]]],
) -> None:
    vocabulary: dict[Token, int] = {}
    references, ref_tokens = _laid([reference for reference, _ in given_pairs], vocabulary)
    outputs, out_tokens = _laid([output for _, output in given_pairs], vocabulary)
    found: dict[int, list[tuple[int, int]]] = {at: [] for at in range(len(given_pairs))}
    for path in align(references, outputs, np.arange(len(given_pairs)), Matcher(list(vocabulary))):
        for segment, ref, out in zip(path.segment.tolist(), path.reference.tolist(), path.output.tolist(), strict=True):
            ref_arc = ref - int(references.offsets[segment]) + 1 if ref >= 0 else 0
            out_arc = out - int(outputs.offsets[segment]) + 1 if out >= 0 else 0
            found[segment].append((ref_arc, out_arc))
    for at, (reference, output) in enumerate(zip(ref_tokens, out_tokens, strict=True)):
        graphs = [Graph.of([Spoken((one,)) for one in side]) for side in (reference, output)]
        assert found[at] == align_graphs(*graphs)


@given(st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=8, unique=True))
def test_the_table_of_matches_says_what_the_rule_for_two_tokens_says(texts: list[str]) -> None:
    vocabulary = [token(text, RULES) for text in texts]
    codes = np.arange(len(texts), dtype=np.int32)
    table = Matcher(vocabulary)(codes[:, None], codes[None, :])
    assert table.tolist() == [[matches(one, other) for other in vocabulary] for one in vocabulary]


BUCKETS = sorted({bucket_of(unit_name(file, "1")) for file in "fghi"})
TEXTS = ("a b", "a", "", "(a) b", "{ a / b a / @ } b", "a- b a", "IGNORE_TIME_SEGMENT_IN_SCORING")
segment = st.tuples(
    st.sampled_from("fgh"), st.sampled_from("xy"), st.sampled_from(("", "<o>", "<o,p>")), st.sampled_from(TEXTS)
)
word = st.tuples(
    st.sampled_from("fghi"), st.integers(0, 60), st.sampled_from(("a", "b", "ab", "(b)")), st.integers(0, 10)
)


def _tables(segments: list[Any], words: list[Any]) -> dict[str, Any]:
    stm = "".join(
        f"{file} 1 {speaker} {at} {at + 1} {label} {text}\n" for at, (file, speaker, label, text) in enumerate(segments)
    )
    ctm = "".join(f"{file} 1 {time / 4} 0.1 {text} {p / 10}\n" for file, time, text, p in words)
    return {"stm": read_stm(io.BytesIO(stm.encode()), "stm"), "ctm": read_ctm(io.BytesIO(ctm.encode()), "ctm")}


def _outcomes(tables: dict[str, Any], order: list[int] | None = None) -> SttOutcomes:
    """The outcomes of the given buckets, each a tile of its own, merged in that order; in one piece without."""
    protocol = find("stt13", overrides={"alignment": "true"})
    family = protocol.family
    reference = family.refer(protocol, tables)
    laid, _ = family.lay_out(protocol, tables, reference.timeline)
    words = laid.whole()
    if order is None:
        made: SttOutcomes = family.counted(protocol, words, reference.key, reference)
        return made
    tiles = [
        family.counted(protocol, words.tiles(at, at + 1), reference.key.tiles(at, at + 1), reference) for at in order
    ]
    return merge_tree(tiles, SttOutcomes())


@settings(max_examples=25)
@given(st.lists(segment, min_size=1, max_size=8), st.lists(word, max_size=12, unique_by=lambda w: w[:2]), st.randoms())
def test_recordings_in_any_order_and_grouping_give_identical_bytes(
    segments: list[Any], words: list[Any], shuffle: random.Random
) -> None:
    order = list(BUCKETS)
    shuffle.shuffle(order)
    made = _outcomes(_tables(segments, words))
    whole = bits_of(made)
    assert bits_of(_outcomes(_tables(segments, words), order)) == whole
    assert bits_of(sent(made)) == whole
    shuffled = shuffle.sample(words, len(words))
    assert bits_of(_outcomes(_tables(segments, shuffled))) == whole


@given(st.lists(segment, min_size=1, max_size=6), st.lists(word, max_size=10, unique_by=lambda w: w[:2]))
def test_every_word_and_every_token_is_accounted_for(segments: list[Any], words: list[Any]) -> None:
    tables = _tables(segments, words)
    outcomes = _outcomes(tables)
    counts = dict(
        zip(("seg", "wrong", "c", "s", "d", "i", "fr", "fo"), outcomes.counts.sum(axis=0).tolist(), strict=False)
    )
    unmatched = sum(n for name, n in outcomes.units.counts.items() if name.startswith("only_output/"))
    ignored = int(outcomes.counts.sum(axis=0)[-2])
    assert len(words) == counts["c"] - counts["fr"] + counts["s"] + counts["i"] + unmatched + ignored
    assert outcomes.segments.step.size == counts["c"] + counts["s"] + counts["d"] + counts["i"]


step_strings = st.lists(st.sampled_from((0, 1, 2)), max_size=12)


@given(step_strings, st.data())
def test_stretches_of_two_systems_swap_with_the_systems_and_hold_all_errors(
    first: list[int], data: st.DataObject
) -> None:
    second = data.draw(st.lists(st.sampled_from((0, 1, 2)), min_size=len(first), max_size=len(first)))
    forward, backward = mapsswe(first, second), mapsswe(second, first)
    assert forward == replace(
        backward, sum_d=-backward.sum_d, sum_errors_1=backward.sum_errors_2, sum_errors_2=backward.sum_errors_1
    )
    assert forward.sum_errors_1 == sum(step > 0 for step in first)


@given(
    st.dictionaries(st.text("ab", min_size=1, max_size=3), st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6)
)
def test_bootstrap_parts_add_up_to_the_whole(counts: dict[str, tuple[int, int]]) -> None:
    def part(names: list[str]) -> Bootstrap:
        return Bootstrap.of({name: [counts[name]] for name in names}, n_systems=1, n_replicates=20, seed=1)

    names = sorted(counts)
    whole, halves = part(names), part(names[1::2]) + part(names[::2])
    assert np.array_equal(whole.errors, halves.errors)
    assert np.array_equal(whole.n_ref, halves.n_ref)
