"""Hostile archives: nothing leaves the folder, nothing grows without bound, everything is told."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from pipeline.season.archives import ArchiveBounds, unpack
from pipeline.season.verdict import Remarks

BOUNDS = ArchiveBounds(n_members=50, n_bytes=200_000, ratio=20.0, free_bytes=20_000)


def opened(path: Path, into: Path, bounds: ArchiveBounds = BOUNDS) -> tuple[dict[str, Path], list[str]]:
    into.mkdir()
    remarks = Remarks()
    found = unpack(path, path.name, into, remarks, bounds)
    outside = [other for other in into.parent.rglob("*") if other.is_file() and into not in other.parents]
    assert outside == [path], "nothing is written anywhere else"
    return found, [finding.code for finding in remarks.verdict().of("error")]


def tar(path: Path, *infos: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info, data in infos:
            info.size = len(data) if info.isreg() else info.size
            archive.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a/./x", "a\\x", "c:x", "a\nx", "a/" * 9 + "x"])
def test_a_name_that_leaves_the_folder_is_refused_in_tar_and_zip(name, tmp_path):
    (tmp_path / "t").mkdir()
    path = tar(tmp_path / "t" / "a.tgz", (member(name), b"x"), (member("ok"), b"y"))
    found, codes = opened(path, tmp_path / "t" / "out")
    assert codes == ["unsafe_path"]
    assert [name for name in found if found[name].read_bytes() == b"y"] == ["ok"], "the rest is looked at"
    (tmp_path / "z").mkdir()
    path = tmp_path / "z" / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("x")
        info.filename = name
        archive.writestr(info, "x")
    assert opened(path, tmp_path / "z" / "out")[1] == ["unsafe_path"]


@pytest.mark.parametrize(
    "info",
    [
        member("l", tarfile.SYMTYPE, "/etc/passwd"), member("h", tarfile.LNKTYPE, "ok"), member("d", tarfile.CHRTYPE),
        member("b", tarfile.BLKTYPE), member("f", tarfile.FIFOTYPE),
    ],
    ids=["symbolic", "hard", "character", "block", "pipe"],
)  # fmt: skip
def test_links_and_devices_are_refused(info, tmp_path):
    found, codes = opened(tar(tmp_path / "a.tgz", (member("ok"), b"y"), (info, b"")), tmp_path / "out")
    assert codes == ["unsafe_member"]
    assert list(found) == ["ok"]


def test_a_symbolic_link_of_a_zip_is_refused(tmp_path):
    info = zipfile.ZipInfo("l")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert opened(tmp_path / "a.zip", tmp_path / "out")[1] == ["unsafe_member"]


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_a_member_without_a_name_is_refused(ending, tmp_path):
    (tmp_path / "t").mkdir()
    path = tmp_path / "t" / f"a.{ending}"
    if ending == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo(""), b"x")
    else:
        tar(path, (member(""), b"x"))
    assert opened(path, tmp_path / "t" / "out") == ({}, ["unsafe_path"])


def test_bombs_are_cut_short(tmp_path):
    for name in ("size", "ratio", "count"):
        (tmp_path / name).mkdir()
    zeros = b"\0" * 5_000_000
    path = tar(tmp_path / "size" / "a.tgz", (member("z"), zeros))
    assert opened(path, tmp_path / "size" / "out", ArchiveBounds(n_bytes=1_000_000, free_bytes=10**9))[1] == [
        "archive_too_large"
    ]
    path = tmp_path / "ratio" / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("z", zeros)
    found, codes = opened(path, tmp_path / "ratio" / "out", ArchiveBounds(ratio=20.0, free_bytes=20_000))
    assert codes == ["archive_too_large"]
    assert not found
    path = tar(tmp_path / "count" / "a.tgz", *[(member(f"f{at}"), b"") for at in range(60)])
    assert opened(path, tmp_path / "count" / "out", ArchiveBounds(n_members=50))[1] == ["too_many_members"]


def test_a_header_that_claims_gigabytes_is_refused_before_they_are_held(tmp_path):
    info = member("././@PaxHeader", tarfile.XHDTYPE)
    info.size = 1 << 32
    block = info.tobuf(format=tarfile.USTAR_FORMAT)
    (tmp_path / "a.tar").write_bytes(block + b"\0" * 10240)
    assert opened(tmp_path / "a.tar", tmp_path / "out")[1] == ["bad_archive"]


def test_damage_encryption_and_twins_are_told(tmp_path):
    for name in ("cut", "twin", "none", "locked"):
        (tmp_path / name).mkdir()
    whole = tar(tmp_path / "cut" / "a.tgz", (member("a"), bytes(range(256)) * 40)).read_bytes()
    (tmp_path / "cut" / "a.tgz").write_bytes(whole[: len(whole) // 2])
    assert opened(tmp_path / "cut" / "a.tgz", tmp_path / "cut" / "out")[1] == ["bad_archive"]
    path = tar(tmp_path / "twin" / "a.tgz", (member("a"), b"1"), (member("./a"), b"2"))
    assert opened(path, tmp_path / "twin" / "out")[1] == ["duplicate_member"]
    (tmp_path / "none" / "a.zip").write_bytes(b"not an archive")
    assert opened(tmp_path / "none" / "a.zip", tmp_path / "none" / "out")[1] == ["bad_archive"]
    path = tmp_path / "locked" / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "x")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert opened(path, tmp_path / "locked" / "out")[1] == ["encrypted"]
