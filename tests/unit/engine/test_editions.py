"""Whatever edition is raised, a store that was there gives what an empty one gives: nothing made by an older rule."""

from __future__ import annotations

import ast
import io
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.steps import score_here
from pipeline import protocols
from pipeline.align.labels import CORRECT_REJECTION, FALSE_ALARM, HIT, Labels
from pipeline.config import load_evaluation
from pipeline.engine import editions, inputs
from pipeline.engine.cell import load_result
from pipeline.engine.plan import Plan, missing, plan
from pipeline.engine.recompute import recompute
from pipeline.engine.stored import references
from pipeline.engine.work import RINGS, Work, total
from pipeline.errors import PlatformError, StoreError
from pipeline.formats import READERS
from pipeline.meta import resamples
from pipeline.meta.intervals import Resampling
from pipeline.protocols.base import AnyFamily, Conclusion, Protocol
from pipeline.store.blobs import Store

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "data" / "golden"


@dataclass(frozen=True)
class Case:
    """A protocol of a family on the golden files, and another rule of each stage that moves its primary figure."""

    protocol: str
    dataset: str
    outputs: str
    key_reads: tuple[str, bytes, bytes]
    """The format of the key, and what another reader takes for what in it."""
    output_reads: tuple[str, bytes, bytes]
    aligns: Callable[[Labels], Labels]
    """What another aligner makes of the labels."""
    query_set: str = "{}"


def relabelled(labels: Labels, **changed: Any) -> Labels:
    columns = {name: replace(labels.columns[name], values=values) for name, values in changed.items()}
    return replace(labels, columns={**labels.columns, **columns})


def one_mapped_less(labels: Labels) -> Labels:
    """The first trial that is mapped is not."""
    outcome, target = labels["outcome"].copy(), labels["target"].copy()
    mapped = np.flatnonzero(target >= 0)[:1]
    outcome[mapped] += FALSE_ALARM - HIT
    target[mapped] = -1
    return relabelled(labels, outcome=outcome, target=target)


DETECTIONS = Case(
    protocol="sws2013",
    dataset="{ecf: kws/ecf.xml, rttm: kws/key.rttm}",
    query_set="{kwlist: kws/kwlist.xml}",
    outputs="{output: kws/output.xml}",
    key_reads=("rttm", b" alpha lex", b" omega lex"),
    output_reads=("kwslist", b'"YES"', b'"NO"'),
    aligns=one_mapped_less,
)
CASES = (
    DETECTIONS,
    replace(DETECTIONS, protocol="openkws13-segments", output_reads=("kwslist_texts", *DETECTIONS.output_reads[1:])),
    Case(
        protocol="quesst",
        dataset="{ecf: quesst/ecf.xml, rttm: quesst/rttm.xml}",
        query_set="{kwlist: quesst/kwlist.xml}",
        outputs="{output: quesst/output.xml}",
        key_reads=("rttm", b" q0 lex", b" q1 lex"),
        output_reads=("kwslist", b'score="2', b'score="-2'),
        aligns=one_mapped_less,
    ),
    Case(
        protocol="med11",
        dataset="{ref: med/ref.csv, index: med/index.csv}",
        outputs="{detection: med/detection.csv, threshold: med/threshold.csv}",
        key_reads=("med_ref", b"c01.E1,y", b"c01.E1,n"),
        output_reads=("med_detection", b",0.7", b",0.1"),
        aligns=one_mapped_less,
    ),
    Case(
        protocol="albayzin-lre12",
        dataset="{key: lre/key.txt}",
        outputs="{output: lre/golden_PO_pri.out}",
        key_reads=("lre_key", b"seg0001 Basque", b"seg0001 Spanish"),
        output_reads=("lre_out", b" -", b" "),
        aligns=lambda labels: relabelled(labels, label=np.roll(labels["label"], 1)),
    ),
    Case(
        protocol="stt13",
        dataset="{stm: stt/key.stm}",
        outputs="{ctm: stt/output.ctm}",
        key_reads=("stm", b"delta", b"theta"),
        output_reads=("ctm", b"sigma", b"kappa"),
        aligns=lambda labels: relabelled(labels, step=np.zeros_like(labels["step"])),
    ),
    Case(
        protocol="detection",
        dataset="{}",
        outputs="{output: detection/scores.csv}",
        key_reads=("labelled", b",0,1", b",1,1"),
        output_reads=("labelled", b",0\n", b",1\n"),
        aligns=lambda labels: relabelled(labels, outcome=labels["outcome"] % CORRECT_REJECTION),
    ),
)
PROTOCOL = "protocol"
"""The edition that stands beside those of the stages."""


def changed_reader(monkeypatch: pytest.MonkeyPatch, name: str, *words: bytes) -> None:
    read = READERS[name]

    def other(stream: Any, where: str) -> Any:
        data = stream.read()
        assert words[0] in data
        return read(io.BytesIO(data.replace(*words)), where)

    monkeypatch.setattr(inputs, "READERS", {**READERS, name: other})


def with_family(monkeypatch: pytest.MonkeyPatch, name: str, **functions: Any) -> None:
    known = protocols.protocols()[name, "official"]
    changed = replace(known, family=replace(known.family, **functions))
    monkeypatch.setitem(protocols.protocols(), (name, "official"), changed)  # type: ignore[arg-type]


def other_output(monkeypatch: pytest.MonkeyPatch, case: Case, _family: AnyFamily) -> None:
    changed_reader(monkeypatch, *case.output_reads)


def other_key(monkeypatch: pytest.MonkeyPatch, case: Case, _family: AnyFamily) -> None:
    changed_reader(monkeypatch, *case.key_reads)


def other_aligner(monkeypatch: pytest.MonkeyPatch, case: Case, family: AnyFamily) -> None:
    def align(*rows: Any) -> Labels:
        return case.aligns(family.align(*rows))

    with_family(monkeypatch, case.protocol, align=align)


def other_figures(monkeypatch: pytest.MonkeyPatch, case: Case, family: AnyFamily) -> None:
    def conclude(protocol: Protocol, *rest: Any) -> Conclusion:
        made = family.conclude(protocol, *rest)
        primary = made.figures[protocol.primary]
        halved = replace(primary, value=primary.value / 2)
        return replace(made, figures={**made.figures, protocol.primary: halved})

    with_family(monkeypatch, case.protocol, conclude=conclude)


CHANGES: Mapping[str, tuple[Callable[[pytest.MonkeyPatch, Case, AnyFamily], None], ...]] = {
    "reading": (other_output, other_key),
    "aligning": (other_aligner,),
    "figures": (other_figures,),
}
"""What another rule of each stage may be."""


def raised(monkeypatch: pytest.MonkeyPatch, edition: str, name: str) -> None:
    if edition == PROTOCOL:
        known = protocols.protocols()[name, "official"]
        changed = replace(known, edition=known.edition + 1)
        monkeypatch.setitem(protocols.protocols(), (name, "official"), changed)  # type: ignore[arg-type]
    else:
        monkeypatch.setitem(editions.EDITIONS, edition, editions.EDITIONS[edition] + 1)  # type: ignore[arg-type,index]


def evaluation(folder: Path, case: Case) -> Path:
    shutil.copytree(GOLDEN, folder)
    path = folder / "evaluation.yaml"
    path.write_text(
        f"name: golden\nprotocol: {case.protocol}\ndatasets: {{d: {case.dataset}}}\n"
        f"query_sets: {{q: {case.query_set}}}\nsystems: {{s: {{outputs: {case.outputs}}}}}\n"
    )
    return path


def run(file: Path, store: Store) -> tuple[Plan, Work]:
    """Plan and score as a new process would."""
    references.load.cache_clear()
    planned = plan(load_evaluation(str(file)), store)
    return planned, total([planned.work, score_here(store, planned, missing(planned.jobs, store))])


def figure(store: Store, planned: Plan) -> float:
    result = load_result(store, planned.jobs[0].address)
    assert result.failed is None, result.findings
    return result.figures[planned.protocol.primary].value


def objects(store: Store) -> dict[str, bytes]:
    return {path: store.get(path) for path in store.listing() if path.partition("/")[0] in RINGS}


CHANGED = [(stage, change) for stage, changes in CHANGES.items() for change in changes]


@pytest.mark.parametrize("by", ["stage", "protocol"])
@pytest.mark.parametrize("change", CHANGED, ids=lambda change: change[1].__name__)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.protocol)
def test_a_raised_edition_leaves_nothing_of_the_older_rule(
    tmp_path: Path, case: Case, change: tuple[str, Callable[..., None]], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, store, clean = evaluation(tmp_path / "e", case), Store(str(tmp_path / "st")), Store(str(tmp_path / "clean"))
    before, _ = run(file, store)
    older = objects(store)
    stage, make = change
    make(monkeypatch, case, protocols.protocols()[case.protocol, "official"].family)
    assert not run(file, store)[1].made, "without an edition nobody can know"
    raised(monkeypatch, stage if by == "stage" else PROTOCOL, case.protocol)
    after, work = run(file, store)
    clean_plan, clean_work = run(file, clean)
    assert after.address == clean_plan.address
    assert figure(store, after) == figure(clean, clean_plan) != figure(store, before)
    newer = objects(store)
    assert {path: newer[path] for path in older} == older
    assert {path: newer.get(path) for path in objects(clean)} == objects(clean)
    assert not work.damaged
    if by == "protocol" or stage == "reading":
        assert work.made.keys() == clean_work.made.keys()
    [job] = after.jobs
    assert recompute(after, job) == store.get_sealed(job.path)
    [old] = before.jobs
    assert recompute(before, old) != store.get_sealed(old.path), "what was made before is told from what is made now"


def test_every_stage_has_a_changed_rule() -> None:
    assert CHANGES.keys() == editions.EDITIONS.keys()


def test_every_family_has_a_case() -> None:
    families = {protocols.find(case.protocol).family.name for case in CASES}
    assert families == {known.family.name for known in protocols.protocols().values()}


def test_a_lost_reference_of_another_edition_is_told_and_not_taken_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path / "st"))
    planned, _ = run(evaluation(tmp_path / "e", DETECTIONS), store)
    [job] = planned.jobs
    raised(monkeypatch, "reading", "sws2013")
    references.load.cache_clear()
    store.remove(references.path_of(job.reference))
    with pytest.raises(PlatformError, match="of another edition .* Run the evaluation again") as told:
        references.sound(store, planned.protocol, job.reference, job.inputs)
    assert not isinstance(told.value, StoreError)


# One place for each edition, and no name without it.

SOURCES = {str(path.relative_to(ROOT)): path for room in ("pipeline", "flows") for path in (ROOT / room).rglob("*.py")}
PARSED = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}
CARRIED = {("pipeline/engine/result.py", "Result"), ("pipeline/meta/rows.py", "Row")}
"""What says by which edition of its protocol it was made."""
BY_CONTENT = {
    ("pipeline/engine/plan.py", "plan"): "a plan names results, which have editions",
    ("pipeline/engine/plan.py", "result"): "of a job that was given up, by the address it would have had",
    ("pipeline/grid/publish.py", "run"): "by its plan and results",
    ("flows/steps.py", "reports"): "by the run before and what is lost; ends the name of a run's folder",
    ("pipeline/meta/publish.py", "KIND"): "by the bytes of what it consists of",
}
"""Addresses that need no edition of their own, and why."""


def nodes(kind: type[ast.AST]) -> list[tuple[str, Any]]:
    return [(name, node) for name, tree in PARSED.items() for node in ast.walk(tree) if isinstance(node, kind)]


def test_editions_stand_in_one_place() -> None:
    names = {(name, node.id) for name, node in nodes(ast.Name) if isinstance(node.ctx, ast.Store)}
    assert {(name, word) for name, word in names if "EDITION" in word} == {("pipeline/engine/editions.py", "EDITIONS")}
    fields = {
        (name, node.name)
        for name, node in nodes(ast.ClassDef)
        for entry in node.body
        if isinstance(entry, ast.AnnAssign) and "edition" in ast.unparse(entry.target).lower()
    }
    assert fields == {("pipeline/protocols/base.py", "Protocol"), *CARRIED}


def test_no_other_address_is_without_editions() -> None:
    calls = {
        (name, node.args[0].value if isinstance(node.args[0], ast.Constant) else ast.unparse(node.args[0]))
        for name, node in nodes(ast.Call)
        if ast.unparse(node.func).rpartition(".")[2] == "address" and node.args
    }
    assert calls - {("pipeline/engine/editions.py", "kind")} == BY_CONTENT.keys()


def test_contributing_names_every_edition() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(f"`{stage}`" in text for stage in editions.EDITIONS)
    assert "`Protocol.edition`" in text
    assert "`pipeline/engine/editions.py`" in text


@pytest.mark.parametrize("edition", [*editions.EDITIONS, PROTOCOL])
def test_a_raised_edition_is_in_the_names_of_its_stage_and_all_after_it(
    edition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names() -> dict[str, str]:
        found = protocols.find("sws2013")
        return {stage: editions.named(stage, "x", found, part=1) for stage in editions.EDITIONS}  # type: ignore[arg-type]

    before = names()
    raised(monkeypatch, edition, "sws2013")
    after, stages = names(), list(editions.EDITIONS)
    first = 0 if edition == PROTOCOL else stages.index(edition)
    assert [before[stage] == after[stage] for stage in stages] == [at < first for at in range(len(stages))]


def test_protocols_that_share_trials_share_editions(monkeypatch: pytest.MonkeyPatch) -> None:
    def name(protocol: str, mode: str = "official") -> str:
        return editions.named("reading", "x", protocols.find(protocol, mode=mode))

    same = ("sws2012", "sws2013", "openkws13", "openkws13-segments")
    before = name("sws2013")
    assert {name(protocol, mode) for protocol in same for mode in ("official", "plan")} == {before}
    other = name("quesst")
    raised(monkeypatch, PROTOCOL, "openkws13-segments")
    [after] = {name(protocol, mode) for protocol in same for mode in ("official", "plan")}
    assert after != before
    assert name("quesst") == other
    fresh = replace(protocols.find("sws2013"), name="sws2026", edition=1)
    monkeypatch.setitem(protocols.protocols(), ("sws2026", "official"), fresh)  # type: ignore[arg-type]
    assert name("sws2013") == after, "a new protocol leaves what there is"


@pytest.mark.parametrize("edition", [*editions.EDITIONS, PROTOCOL])
def test_replicates_are_drawn_again(tmp_path: Path, edition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, store, how = evaluation(tmp_path / "e", DETECTIONS), Store(str(tmp_path / "st")), Resampling(10, 7)

    def drawn() -> int:
        planned, _ = run(file, store)
        return sum(resamples.work(store, draw, how) for draw in resamples.draws(planned, ("atwv",), how))

    assert (drawn(), drawn()) == (10, 0)
    raised(monkeypatch, edition, "sws2013")
    assert (drawn(), drawn()) == (10, 0)
