"""Words of an output aligned with the segments of a reference, token by token (SCTK sclite; plan 004 section 6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.align.tokens.chop import Chopped, chop
from pipeline.align.tokens.graph import Graph, align_graphs
from pipeline.align.tokens.linear import GAP, OPTIONAL_GAP, Path, Strings, align
from pipeline.align.tokens.match import Matcher
from pipeline.align.tokens.rules import MARKS, NULL, Alternatives, Lexer, Token
from pipeline.align.tokens.trees import tree_of_rows, tree_of_words
from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.columns import Vocabulary
from pipeline.formats.stt.transcripts import words_of_text
from pipeline.trials.tokens.schema import SCORED, TokenSegments, Words

CORRECT, SUBSTITUTED, DELETED, INSERTED, FORGIVEN_REFERENCE, FORGIVEN_OUTPUT = range(6)
STEPS = ("correct", "substituted", "deleted", "inserted", "forgiven_reference", "forgiven_output")
"""The kinds of steps of an alignment. Forgiven: an optional token left out, or put in; both count as correct."""


@dataclass(frozen=True)
class TokenAlignment:
    """Steps of all scored segments, in the order of segments and of time."""

    vocabulary: tuple[Token, ...]
    segment: Ints
    """Row of the segment of each step."""
    step: NDArray[np.uint8]
    reference: Codes
    """Token as a position in ``vocabulary``, -1 where the side has none; ``output`` likewise."""
    output: Codes
    word: Ints
    """Row of the output's word, -1 where there is none."""
    confidence: Floats
    """Of that word; NaN where there is none."""
    n_longest: Ints
    """For each segment, tokens on the longest path through its reference; 0 where it is not scored."""
    n_unknown: tuple[Ints, Ints]
    """For each segment, words that the lexicon lacks, of reference and output (syllables only)."""
    n_confident: int
    """Words of the output that have a confidence, scored or not."""
    chopped: Chopped


def align_tokens(words: Words, segments: TokenSegments, lexer: Lexer, *, segment_end: str) -> TokenAlignment:
    """Align every scored segment with the words whose mid points fall to it. The ``lexer`` may have seen others.

    Raises ``ValueError`` for transcripts whose braces cannot be read: check them when the reference is made.
    """
    chopped = chop(words, segments, segment_end=segment_end)
    scored = segments.state == SCORED
    given = np.flatnonzero(chopped.segment >= 0)
    rows = given[scored[chopped.segment[given]]]
    return _Tile(words, segments, lexer, chopped, rows).aligned()


class _Side:
    """One side's words: distinct words with what they stand for, and for each segment its codes into them."""

    def __init__(self, names: list[str], codes: Codes, offsets: Ints, lexer: Lexer, *, of_reference: bool) -> None:
        self.names, self.codes, self.offsets = names, codes, offsets
        self.strings: list[Alternatives] = [lexer.alternatives(name, of_reference=of_reference) for name in names]
        unknown = [lexer.is_unknown(name) for name in names] if lexer.rules.variant == "ser" else [False] * len(names)
        self.n_unknown = self._by_segment(unknown)
        branching = [
            len(strings) > 1 or name in MARKS or (NULL in name and any(token.null for token in strings[0]))
            for name, strings in zip(names, self.strings, strict=True)
        ]
        self.needs_graph = self._by_segment(branching) > 0

    def _by_segment(self, counts: list[bool]) -> Ints:
        """How many words of each segment are ones that count."""
        at = np.flatnonzero(np.array(counts, np.bool_)[self.codes]) if any(counts) else np.zeros(0, np.int64)
        segment = np.searchsorted(self.offsets, at, side="right") - 1
        return np.bincount(segment, minlength=self.offsets.size - 1).astype(np.int64)

    def strings_in(self, vocabulary: dict[Token, int]) -> tuple[Strings, Ints]:
        """Tokens laid end to end, and for each the position of its word among ``codes``."""
        first = [strings[0] for strings in self.strings]
        counts = np.array(list(map(len, first)), np.int64)
        flat = np.array(
            [vocabulary.setdefault(token, len(vocabulary)) for tokens in first for token in tokens], np.int32
        )
        costs = np.array([OPTIONAL_GAP if token.optional else GAP for tokens in first for token in tokens], np.int32)
        per_word = counts[self.codes] if self.codes.size else np.zeros(0, np.int64)
        place = np.repeat(np.arange(self.codes.size), per_word)
        first_piece = np.cumsum(per_word) - per_word
        begin = (np.cumsum(counts) - counts)[self.codes] if self.codes.size else first_piece
        source = np.repeat(begin - first_piece, per_word) + np.arange(place.size)
        edges = np.concatenate([[0], np.cumsum(per_word)])[self.offsets]
        return Strings(flat[source], costs[source], edges), place


class _Tile:
    def __init__(self, words: Words, segments: TokenSegments, lexer: Lexer, chopped: Chopped, rows: Ints) -> None:
        self.words, self.segments, self.lexer, self.chopped, self.rows = words, segments, lexer, chopped, rows
        edges = np.arange(len(segments) + 1)
        used, codes = np.unique(words.word[rows], return_inverse=True)
        self.output = _Side(
            [words.words[code] for code in used.tolist()],
            codes.astype(np.int32),
            np.searchsorted(chopped.segment[rows], edges),
            lexer,
            of_reference=False,
        )
        self.texts = segments.texts
        self.scored = segments.state == SCORED
        self.reference = self._reference()
        braces = np.array(["{" in text for text in segments.texts] or [False], np.bool_)
        self.graphs: Bools = self.scored & (
            braces[segments.text] | self.reference.needs_graph | self.output.needs_graph
        )
        self.vocabulary: dict[Token, int] = {}

    def _reference(self) -> _Side:
        """The words of scored transcripts without braces; the others are read as trees."""
        plain = [text if "{" not in text else "" for text in self.texts]
        counts = np.array([text.count(" ") + 1 if text else 0 for text in plain] or [0], np.int64)
        rows = np.flatnonzero(self.scored & (counts[self.segments.text] > 0))
        spoken = " ".join([plain[text] for text in self.segments.text[rows].tolist()])
        known = Vocabulary()
        codes = np.array([known[word] for word in spoken.split(" ")] if spoken else [], np.int32)
        offsets = np.concatenate([[0], np.cumsum(np.where(self.scored, counts[self.segments.text], 0))])
        return _Side(list(known), codes, offsets, self.lexer, of_reference=True)

    def aligned(self) -> TokenAlignment:
        reference, _ = self.reference.strings_in(self.vocabulary)
        output, place = self.output.strings_in(self.vocabulary)
        n_longest = np.where(self.scored, reference.lengths, 0)
        paths = list(self._graph_paths(n_longest))
        matcher = Matcher(list(self.vocabulary))
        linear = np.flatnonzero(self.scored & ~self.graphs)
        paths += [self._coded(path, reference, output, place) for path in align(reference, output, linear, matcher)]
        segment, ref, out, source = (np.concatenate(columns) for columns in zip(_NOTHING, *paths, strict=True))
        order = np.argsort(segment, kind="stable")
        segment, ref, out, source = segment[order], ref[order], out[order], source[order]
        confidence = np.where(source >= 0, self.words.confidence[source] if self.rows.size else np.nan, np.nan)
        return TokenAlignment(
            vocabulary=tuple(self.vocabulary),
            segment=segment,
            step=_steps(list(self.vocabulary), ref, out, matcher),
            reference=ref.astype(np.int32),
            output=out.astype(np.int32),
            word=source,
            confidence=confidence,
            n_longest=n_longest,
            n_unknown=(self.reference.n_unknown, self.output.n_unknown),
            n_confident=int(np.isfinite(self.words.confidence).sum()),
            chopped=self.chopped,
        )

    def _coded(self, path: Path, reference: Strings, output: Strings, place: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Positions → codes, and the row of the output's word."""

        def at(values: NDArray[np.integer], positions: Ints) -> Ints:
            if not values.size:
                return np.full(positions.size, -1, np.int64)
            return np.where(positions >= 0, values[positions], -1).astype(np.int64)

        rows = self.rows[place] if self.rows.size else place
        return path.segment, at(reference.codes, path.reference), at(output.codes, path.output), at(rows, path.output)

    def _graph_paths(self, n_longest: Ints) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        """Alignments of segments with alternatives on either side, one by one; notes their longest references."""
        for segment in np.flatnonzero(self.graphs).tolist():
            spoken, _ = words_of_text(self.texts[self.segments.text[segment]])
            reference = Graph.of(tree_of_words(spoken, self.lexer))
            mine = slice(int(self.output.offsets[segment]), int(self.output.offsets[segment + 1]))
            codes, rows = self.output.codes[mine].tolist(), self.rows[mine].tolist()
            output = Graph.of(tree_of_rows([self.output.names[code] for code in codes], rows, self.lexer))
            n_longest[segment] = reference.longest
            steps = align_graphs(reference, output)
            code = self.vocabulary
            ref = [code.setdefault(reference.items[i][0], len(code)) if i else -1 for i, _ in steps]
            out = [code.setdefault(output.items[j][0], len(code)) if j else -1 for _, j in steps]
            source = [output.items[j][1] if j else -1 for _, j in steps]
            columns = (np.array(side, np.int64) for side in ([segment] * len(steps), ref, out, source))
            yield next(columns), next(columns), next(columns), next(columns)


_NOTHING = (np.zeros(0, np.int64),) * 4


def _steps(vocabulary: list[Token], reference: Ints, output: Ints, match: Matcher) -> NDArray[np.uint8]:
    """The kind of each step."""
    if not reference.size:
        return np.zeros(0, np.uint8)
    optional = np.array([token.optional for token in vocabulary], np.bool_)
    ref, out = np.maximum(reference, 0), np.maximum(output, 0)
    same = match(ref.astype(np.int32), out.astype(np.int32))
    steps = np.where(same, CORRECT, SUBSTITUTED)
    steps[output < 0] = np.where(optional[ref], FORGIVEN_REFERENCE, DELETED)[output < 0]
    steps[reference < 0] = np.where(optional[out], FORGIVEN_OUTPUT, INSERTED)[reference < 0]
    return steps.astype(np.uint8)
