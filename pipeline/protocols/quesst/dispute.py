"""Why the documents of a query became what they are (QUESST)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.align.documents import align_documents
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.disputes import OUTCOMES, UNSCORED, Decided, Dispute, yes_or_no
from pipeline.trials.documents import DocumentKey
from pipeline.trials.schema import Trials


def _documents(
    protocol: Protocol, trials: Trials, key: DocumentKey, reference: Reference, query: str
) -> Iterator[Decided]:
    """Every document for one query (QUESST)."""
    own = [at for at, code in enumerate(trials.query.tolist()) if trials.queries[code] == query]
    rows = {trials.files[trials.file[at]]: at for at in own}
    aligned, pairs = align_documents(trials, key), list(zip(key.query.tolist(), key.file.tolist(), strict=True))
    mapped = aligned.reference[aligned.reference >= 0].tolist()
    named = [pairs[row] for row in (*mapped, *aligned.omitted.tolist())]
    wanted = {key.files[file] for code, file in named if key.queries[code] == query}
    for document in sorted({*key.files, *rows}):
        at = rows.get(document)
        details: dict[str, Any] = {"target": document in wanted}
        if at is not None:
            details |= {"score": float(trials.score[at]), "decision": yes_or_no(bool(trials.decision[at]))}
        outcome, rule = OUTCOMES[document in wanted, at is not None and bool(trials.decision[at])]
        if query not in reference.facts.queries:
            outcome, rule = UNSCORED, "unlisted"
        elif document not in key.files:
            outcome, rule = UNSCORED, "left_out"
        elif not wanted:
            outcome, rule = UNSCORED, "no_targets"
        elif at is None:
            rule, details = "no_score", {**details, "censor": protocol.settings.censor}
        yield Decided(document, outcome, rule, details, document)


DISPUTE = Dispute(_documents)
