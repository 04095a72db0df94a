"""The submissions that the official checker was shown, made from the names of its cases."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

CLIPS = [f"{number:06d}" for number in range(1, 9)]
TEAM = "testTEAM"


Members = dict[str, str | None]
"""Text by name; None is a folder."""


def exp_id(
    team: str = TEAM,
    data: str = "DRYRUN",
    medtype: str = "MEDPart",
    eag: str = "AutoEAG",
    sysid: str = "p-RandomSys",
    version: str = "1",
) -> str:
    return f"{team}_MED11_{data}_{medtype}_{eag}_{sysid}_{version}"


def events(count: int) -> list[str]:
    return [f"E{number:03d}" for number in range(1, count + 1)]


def index(count: int = 3) -> str:
    rows = [f"{clip}.{event},{clip},{event}" for event in events(count) for clip in CLIPS]
    return "\n".join(["TrialID,ClipID,EventID", *rows, ""])


def trials(count: int = 3) -> dict[str, str]:
    names = [f"{clip}.{event}" for event in events(count) for clip in CLIPS]
    return {name: f"{(37 * at) % 100 / 100 + 0.001:.3f}" for at, name in enumerate(names)}


def run(name: str, count: int = 3, **changed: str | None) -> Members:
    """The members of one experiment; ``changed`` are texts by suffix, None leaves a file out."""
    detection = "\n".join(["TrialID,Score", *(f"{trial},{score}" for trial, score in trials(count).items()), ""])
    rows = [f"{event},0.500,1.5" for event in events(count)]
    threshold = "\n".join(["EventID,DetectionThreshold,DetectionTPT", *rows, ""])
    texts: dict[str, str | None] = {"txt": "a system\n", "detection": detection, "threshold": threshold, **changed}
    suffixes = {"txt": ".txt", "detection": ".detection.csv", "threshold": ".threshold.csv"}
    found: Members = {f"output/{name}/": None}
    for part, text in texts.items():
        if text is not None:
            found[f"output/{name}/{name}{suffixes[part]}"] = text
    return found


def _replaced(part: str, old: str, new: str, count: int = 3) -> Members:
    members = run(exp_id(), count)
    name = next(member for member in members if f".{part}." in member)
    text = members[name] or ""
    assert old in text
    return {**members, name: text.replace(old, new)}


def _without(part: str, *gone: str) -> Members:
    members = run(exp_id())
    name = next(member for member in members if f".{part}." in member)
    lines = (members[name] or "").splitlines(keepends=True)
    return {**members, name: "".join(line for line in lines if not line.startswith(gone))}


def _renamed(old: str, new: str) -> Members:
    return {member.replace(old, new): text for member, text in run(exp_id()).items()}


def members(case: str) -> Members:
    """What is in the archive of a case."""
    base = f"output/{exp_id()}"
    expid = {
        "expid_wrong_team": {"team": "other"},
        "expid_wrong_data": {"data": "MED11TEST"},
        "expid_bad_medtype": {"medtype": "MEDHalf"},
        "expid_bad_eag": {"eag": "ManualEAG"},
        "expid_sysid_no_prefix": {"sysid": "RandomSys"},
        "expid_sysid_underscore": {"sysid": "p-Random_Sys"},
        "expid_version_0": {"version": "0"},
        "expid_version_20": {"version": "20"},
        "only_contrastive": {"sysid": "c-RandomSys"},
        "regex_in_expid": {"eag": "Auto..."},
        "medfull_three_events_dryrun": {"medtype": "MEDFull"},
        "medfull_three_events_test": {"medtype": "MEDFull", "data": "MED11TEST"},
    }
    if case in expid:
        return run(exp_id(**expid[case]))
    special = {
        "ok_two_runs": lambda: {**run(exp_id()), **run(exp_id(sysid="c-Other"))},
        "root_not_output": lambda: {name.replace("output/", "results/"): text for name, text in run(exp_id()).items()},
        "file_in_output": lambda: {**run(exp_id()), "output/readme.txt": "x"},
        "empty_output": lambda: {"output/x/": None},
        "expid_missing_part": lambda: run(exp_id(sysid="p-x").removesuffix("_1")),
        "two_primaries": lambda: {**run(exp_id()), **run(exp_id(sysid="p-Other"))},
        "five_runs": lambda: {
            name: text
            for sysid in ("p-RandomSys", "c-a", "c-b", "c-c", "c-d")
            for name, text in run(exp_id(sysid=sysid)).items()
        },
        "no_txt": lambda: run(exp_id(), txt=None),
        "txt_wrong_name": lambda: {**run(exp_id(), txt=None), f"{base}/readme.txt": "x"},
        "empty_txt": lambda: run(exp_id(), txt=""),
        "extra_csv": lambda: {**run(exp_id()), f"{base}/{exp_id()}.other.csv": "a\n1\n"},
        "extra_file": lambda: {**run(exp_id()), f"{base}/notes.md": "x"},
        "subdirectory": lambda: {**run(exp_id()), f"{base}/deep/": None},
        "no_threshold": lambda: run(exp_id(), threshold=None),
        "csv_wrong_name": lambda: _renamed(f"{exp_id()}.detection.csv", "other.detection.csv"),
        "missing_trials": lambda: _without("detection", "000006.E001", "000002.E003"),
        "unknown_trials": lambda: _replaced("detection", "TrialID,Score\n", "TrialID,Score\nzz.E001,0.5\n"),
        "missing_threshold_row": lambda: _without("threshold", "E003"),
        "unknown_threshold_row": lambda: _replaced("threshold", "E001,", "E777,0.5,1.5\nE001,"),
        "score_out_of_range": lambda: _replaced("detection", "000002.E003,0", "000002.E003,3"),
        "dup_trial": lambda: _replaced("detection", "TrialID,Score\n", "TrialID,Score\n000001.E001,0.5\n"),
        "medfull_ten_events_test": lambda: run(exp_id(medtype="MEDFull", data="MED11TEST"), 10),
        "medpart_ten_events": lambda: run(exp_id(), 10),
    }
    return special[case]() if case in special else run(exp_id())


def pack(folder: Path, name: str, content: Members) -> Path:
    """An archive of the given name."""
    path = folder / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, text in content.items():
                archive.writestr(member, text or "")
        return path
    mode = {"bz2": "w:bz2", "tgz": "w:gz", "xz": "w:xz"}.get(name.rsplit(".", 1)[1], "w:")
    with tarfile.open(path, mode) as archive:
        for member, text in content.items():
            info = tarfile.TarInfo(member.rstrip("/"))
            if text is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            info.size = len((text or "").encode())
            archive.addfile(info, io.BytesIO((text or "").encode()))
    return path
