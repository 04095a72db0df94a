"""Descriptions and resources files of a season: checked, receipted, versioned, scored with, linked and archived."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
import season_files as files
import yaml
from season_world import Season

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.grid import load_grid
from pipeline.report.seasons.packets import write_packets
from pipeline.season.archive import archive
from pipeline.season.beside import DESCRIPTION_BYTES, role_of
from pipeline.season.submit import Sender, receipt, submit

GOOD, POOR = files.stdlist(files.GOOD), files.stdlist(files.POOR)
PDF = b"%PDF-1.7\n<script>alert(1)</script>"
TEXT = """Section 1 Experiment Identifiers
north
Section 2 System Description
A system.
Section 3 Indexing Hardware Description and Runtime Computation
Section 4 Training data and knowledge sources
Section 5 References
"""
RESOURCES = b"index: {cpu_s: 50, peak_memory_bytes: 1 GB}\nsearch: {cpu_s: 2, peak_memory_bytes: 1 GB}\n"


def hand_in(store, folder, team="north", hours=-1.0, **named):
    """Hand in files by name (``__`` for the dot)."""
    place = folder / "uploads" / f"{team}{hours}{'-'.join(named)}"
    place.mkdir(parents=True)
    paths = []
    for name, data in named.items():
        paths.append(place / name.replace("__", "."))
        paths[-1].write_bytes(data if isinstance(data, bytes) else data.encode())
    return submit(store, files.NAME, Sender(team), paths, arrival=files.ENDS.replace(hour=10))


def codes(submission, level):
    return [finding.code for finding in submission.verdict.of(level)]


def test_names_say_what_a_file_is():
    known = {
        name: role_of(name) for name in ("GTTS.pdf", "a.txt", "resources.yaml", "a.resources.yml", "x.xml", "a.yaml")
    }
    assert known == {
        "GTTS.pdf": ("description", "GTTS"), "a.txt": ("description", "a"), "resources.yaml": ("resources", ""),
        "a.resources.yml": ("resources", "a"), "x.xml": None, "a.yaml": None,
    }  # fmt: skip


def test_they_are_accepted_beside_an_output_or_alone_and_the_last_counts(tmp_path: Path) -> None:
    store = files.opened(tmp_path)
    one = hand_in(store, tmp_path, q_d__stdlist__xml=GOOD, north__pdf=PDF, resources__yaml=RESOURCES)
    assert (one.accepted, [run.kind for run in one.runs]) == (True, ["outputs", "description", "resources"])
    told = receipt(files.now(store), one)
    assert [entry["name"] for entry in told["files"]] == ["q_d.stdlist.xml", "north.pdf", "resources.yaml"]
    assert told["n_runs"] == 1
    first = files.now(store).beside("eval", "north", "north")
    two = hand_in(store, tmp_path, hours=-0.5, north__txt=TEXT)
    assert codes(two, "warning") == codes(two, "error") == []
    then = files.now(store).beside("eval", "north", "north")
    assert (first["description"].name, then["description"].name) == ("north.pdf", "north.txt")
    assert first["resources"] == then["resources"]
    assert [fate.state for fate in files.now(store).fates] == ["counts", "replaced", "counts", "counts"]
    assert [run.version for run in two.runs] == [2]
    assert files.now(store).beside("eval", "south", "south") == {}


BAD = {
    "not_a_pdf": {"north__pdf": b"MZ executable"},
    "not_text": {"north__txt": b"\xff\xfe text"},
    "empty_description": {"north__txt": b"  \n"},
    "too_large": {"north__pdf": PDF + bytes(DESCRIPTION_BYTES)},
    "negative_value": {"resources__yaml": b"index: {cpu_s: -3}\n"},
}


@pytest.mark.parametrize("code", BAD)
def test_a_bad_one_refuses_an_output_only_where_the_rules_say_so(tmp_path: Path, code: str) -> None:
    store = files.opened(tmp_path)
    taken = hand_in(store, tmp_path, q_d__stdlist__xml=GOOD, **BAD[code])
    assert (taken.accepted, codes(taken, "warning")) == (True, [code, "left_out"])
    assert [run.kind for run in taken.runs] == ["outputs"]
    strict = files.opened(tmp_path / "strict", phase={"descriptions": "required", "resources": "required"})
    refused = hand_in(strict, tmp_path / "strict", q_d__stdlist__xml=GOOD, **BAD[code])
    assert not refused.accepted
    assert code in codes(refused, "error")


def test_text_binary_under_the_name_of_text_is_no_text_and_missing_sections_are_told(tmp_path: Path) -> None:
    store = files.opened(tmp_path)
    binary = hand_in(store, tmp_path, north__txt=PDF)
    assert codes(binary, "warning") == ["not_text", "left_out"]
    assert codes(binary, "error") == ["nothing_taken"], "every upload is listed with what became of it"
    some = hand_in(store, tmp_path, hours=-0.9, north__txt="1. System description\nReferences are few.\n")
    (told,) = some.verdict.of("warning")
    assert "no heading for experiment identifiers, hardware and runtime, training data" in told.message
    assert some.accepted


def test_what_is_required_may_have_come_before(tmp_path: Path) -> None:
    store = files.opened(tmp_path, phase={"descriptions": "required"})
    bare = hand_in(store, tmp_path, q_d__stdlist__xml=GOOD)
    assert codes(bare, "error") == ["missing_description"]
    assert "north.pdf or north.txt" in bare.verdict.of("error")[0].message
    assert hand_in(store, tmp_path, hours=-0.9, north__pdf=PDF).accepted
    assert hand_in(store, tmp_path, hours=-0.8, q_d__stdlist__xml=GOOD).accepted


def test_members_of_an_archive_are_taken(tmp_path: Path) -> None:
    store = files.opened(tmp_path)
    for name, data in {"q_d.stdlist.xml": GOOD.encode(), "north.pdf": PDF, "resources.yaml": RESOURCES}.items():
        (tmp_path / name).write_bytes(data)
    with tarfile.open(tmp_path / "all.tgz", "w:gz") as packed:
        for name in ("q_d.stdlist.xml", "north.pdf", "resources.yaml"):
            packed.add(tmp_path / name, f"out/{name}")
    found = submit(store, files.NAME, Sender("north"), [tmp_path / "all.tgz"], arrival=files.ENDS)
    assert [run.kind for run in found.runs] == ["outputs", "description", "resources"]


def test_expids_name_their_descriptions(tmp_path: Path) -> None:
    from pipeline.config.season import load_season
    from pipeline.season.naming import pieces
    from pipeline.season.verdict import Remarks

    path = files.season(tmp_path, protocol="openkws13", names="expid", pattern="")
    rules, _ = load_season(str(path))
    expid = "KWS13_north_babel101b-v0.4c_conv-dev_BaDev_KWS_FullLP_BaseLR_NTAR_p-a_1"
    remarks = Remarks()
    found = pieces(rules, rules.phases[0], "north", [f"{expid}.txt", f"{expid}.kwslist.xml", "GTTS.pdf"], remarks)
    assert remarks.found == []
    told = {one.name: (one.system, one.kind) for one in found}
    assert told == {
        f"{expid}.kwslist.xml": (expid, "outputs"),
        f"{expid}.txt": (expid, "description"),
        "GTTS.pdf": ("", "description"),
    }


@pytest.fixture
def scored(tmp_path: Path):
    season = Season(tmp_path, phase={"kind": "dev"})
    hand_in(season.store, tmp_path, north__pdf=PDF, resources__yaml=RESOURCES)
    return season


def test_the_ledgers_resources_are_scored_with_and_its_descriptions_linked_and_archived(scored, tmp_path: Path) -> None:
    run = scored.run()
    plan = load_plan(scored.store, run.plan)
    results = {job.cell.system: load_result(scored.store, job.address) for job in plan.jobs}
    assert results["north"].figures["isf"].value == 0.5
    assert results["south"].figures["isf"].reason == "no_resources"
    assert load_grid(scored.store, run)[""]["description"].sel(system="south").item() == ""
    (name,) = [name for name in run.reports if name.startswith("descriptions/")]
    assert scored.store.get(run.reports[name]) == PDF
    page = scored.store.get(run.reports["index.html"]).decode()
    assert page.count(f'href="{name}" download') == 2, "in the overview and on the board"
    own = next(path for path in run.reports if path.startswith("systems/") and path.endswith("north.html"))
    assert f'href="../{name}" download' in scored.store.get(run.reports[own]).decode()
    scored.release(run, "dev", kind="dev")
    write_packets(scored.store, files.NAME)
    public, packet = tmp_path / "store/public" / files.NAME, tmp_path / "store/packets" / files.NAME
    assert [path.read_bytes() for path in public.rglob("descriptions/*")] == [PDF]
    for page, base in ((public / "index.html", public), (packet / "north/index.html", packet / "north")):
        (link,) = [part.split('"')[0] for part in page.read_text().split('href="') if "descriptions/" in part[:80]]
        assert (base / link).read_bytes() == PDF
    assert not list(packet.rglob("south/**/descriptions"))
    archive(scored.store, run, tmp_path / "archive", wheels=False)
    assert (tmp_path / "archive/pages" / name).read_bytes() == PDF
    ledger = "".join(path.read_text() for path in (tmp_path / "archive/season").iterdir())
    assert "north.pdf" in ledger
    assert "resources.yaml" in ledger


def test_a_description_that_was_changed_in_the_store_is_not_shown(scored, tmp_path: Path) -> None:
    from pipeline.errors import DamageError

    (path,) = (tmp_path / "store" / "submissions").rglob("north.pdf")
    path.write_bytes(PDF + b"!")
    with pytest.raises(DamageError, match="other bytes than were handed in"):
        scored.run()


def test_a_pattern_of_resources_serves_those_who_handed_in_none(scored, tmp_path: Path) -> None:
    (tmp_path / "south.yaml").write_bytes(RESOURCES)
    document = yaml.safe_load(scored.evaluation.read_text())
    document["systems"]["resources"] = "{system}.yaml"
    scored.evaluation.write_text(yaml.safe_dump(document))
    declared = {one.name: one.resources for one in load_evaluation(str(scored.evaluation)).systems}
    assert declared["south"] == str(tmp_path / "south.yaml")
    assert declared["north"].endswith("/resources.yaml")
    document["systems"]["resources"] = "none/{system}.yaml"
    scored.evaluation.write_text(yaml.safe_dump(document))
    from pipeline.errors import ConfigError

    with pytest.raises(ConfigError, match="fits no file of any system"):
        load_evaluation(str(scored.evaluation))
