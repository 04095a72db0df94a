"""Entries of seasons and references of studies follow from each other and are signed, as commits of runs are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pipeline.cli import main
from pipeline.season import ledger
from pipeline.store import signing, studies
from pipeline.store.blobs import Store

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whatever is written now is signed; where the key lies that checks it."""
    key, pem = Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(secret)
    known = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "public.pem").write_bytes(known)
    monkeypatch.setenv(signing.KEY, str(tmp_path / "key.pem"))
    return str(tmp_path / "public.pem")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def changed(store: Store, path: str, field: str, value: object) -> None:
    """Change a record and seal it again, as somebody would who can write to the store."""
    document = {**json.loads(store.get_sealed(path)), field: value}
    store.put_sealed(path, json.dumps(document, sort_keys=True).encode())


def begun(store: Store) -> None:
    for number in range(3):
        ledger.append(store, "spring", ledger.ROSTER, NOON, "me", lambda before: {"n": len(before)})
        store.put_sealed(f"studies/years/{number}/manifest.json", json.dumps({"n": number}).encode())
        studies.commit(store, "years", f"studies/years/{number}/manifest.json")


def verified(store: Store, name: str, public: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    code = main(["verify", name, "--key", public, "--store", store.root, "--json"])
    found: dict[str, str] = json.loads(capsys.readouterr().out)["faults"]
    assert code == (3 if found else 0)
    return found


def test_what_nobody_changed_is_verified(store: Store, public: str, capsys: pytest.CaptureFixture[str]) -> None:
    begun(store)
    assert verified(store, "spring", public, capsys) == verified(store, "years", public, capsys) == {}
    assert [entry.body for entry in ledger.entries(store, "spring")] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_who_changes_an_entry_of_a_season_is_found_out(
    store: Store, public: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(store)
    changed(store, "seasons/spring/00000002.json", "by", "them")
    assert verified(store, "spring", public, capsys) == {
        "seasons/spring/00000002.json": "is not signed by the owner of the key",
        "seasons/spring/00000003.json": "does not follow from the one before it",
    }


def test_an_entry_of_another_season_does_not_fit(store: Store, public: str) -> None:
    begun(store)
    store.put("seasons/other/00000001.json", store.get("seasons/spring/00000001.json"))
    assert set(ledger.chain_faults(store, "other")) == {"seasons/other/00000001.json"}


def test_who_changes_a_study_or_what_it_names_is_found_out(
    store: Store, public: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(store)
    changed(store, "studies/years/1/manifest.json", "n", 7)
    assert verified(store, "years", public, capsys) == {"studies/years/1/manifest.json": "is not what was committed"}
    changed(store, "studies/years/refs/00000003.json", "manifest", "studies/years/0/manifest.json")
    assert set(verified(store, "years", public, capsys)) == {"studies/years/refs/00000003.json"}


def test_records_of_before_there_were_links_are_read(store: Store, public: str) -> None:
    begun(store)
    for number in (1, 2, 3):
        path = f"seasons/spring/{number:08d}.json"
        document = json.loads(store.get_sealed(path))
        bare = {name: value for name, value in document.items() if name not in ("chain", "signature")}
        store.put_sealed(path, json.dumps(bare, sort_keys=True).encode())
    assert ledger.chain_faults(store, "spring") == {}
    assert len(ledger.entries(store, "spring")) == 3
