"""Who changes what is published is found out: by links alone where a reference is kept, by signatures always."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from flows.rescore import run_evaluation
from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.errors import DamageError, UsageError
from pipeline.grid import sweep
from pipeline.store import manifest, signing
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

REF = "refs/grid/00000001.json"


def keys(folder: Path, name: str = "key") -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    pem = serialization.Encoding.PEM
    private.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("signed")
    private, _ = keys(root)
    evaluation, store = cells.write(root), Store(str(root / "store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(signing.KEY, str(private))
        planned = plan(load_evaluation(str(evaluation)), store)
        finish(store, planned, score_here(store, planned, planned.jobs))
    return root


@pytest.fixture
def store(signed: Path, tmp_path: Path) -> Store:
    return Store(str(shutil.copytree(signed / "store", tmp_path / "store")))


def resealed(store: Store, path: str, change) -> None:
    """Change a sealed document and seal it again, as somebody would who can write to the store."""
    document = json.loads(store.get_sealed(path))
    change(document)
    store.put_sealed(path, json.dumps(document, sort_keys=True).encode())


def run_path(store: Store) -> str:
    return next(iter(store.listing("runs")))


def test_what_the_owner_signed_is_verified_and_no_key_is_kept(signed: Path, store: Store, capsys) -> None:
    assert main(["verify", "grid", "--key", str(signed / "key.pub.pem"), "--store", store.root]) == 0
    secret = (signed / "key.pem").read_text().splitlines()[1]
    assert not any(secret.encode() in path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file())


def test_the_wrong_key_verifies_nothing(tmp_path: Path, store: Store, capsys) -> None:
    _, other = keys(tmp_path, "other")
    assert main(["verify", "grid", "--key", str(other), "--store", store.root, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["faults"] == {REF: "is not signed by the owner of the key"}


def test_a_reference_that_was_sealed_anew_has_no_signature_that_fits(signed: Path, store: Store, capsys) -> None:
    resealed(store, REF, lambda document: document["work"].update(forged=True))
    assert main(["verify", "grid", "--key", str(signed / "key.pub.pem"), "--store", store.root]) == 3
    assert "is not signed" in capsys.readouterr().err


def test_a_signature_does_not_move_to_another_number_or_evaluation(signed: Path, store: Store) -> None:
    key = signing.public_key(str(signed / "key.pub.pem"))
    store.put("refs/grid/00000002.json", store.get(REF))
    store.put("refs/other/00000001.json", store.get(REF))
    assert set(manifest.chain_faults(store, "grid", key)) == {"refs/grid/00000002.json"}
    assert set(manifest.chain_faults(store, "other", key)) == {"refs/other/00000001.json"}


def test_a_manifest_that_was_sealed_anew_is_damage_to_show_gc_and_verify_and_is_made_again(
    signed: Path, store: Store, tmp_path: Path, capsys
) -> None:
    path, sound = run_path(store), store.get(run_path(store))
    resealed(store, path, lambda document: document["objects"].clear())
    assert main(["show", "grid", "--verify", "--store", store.root]) == 3
    assert f"damaged: {path}" in capsys.readouterr().out
    assert main(["verify", "grid", "--key", str(signed / "key.pub.pem"), "--store", store.root]) == 3
    with pytest.raises(DamageError, match="not the one that was committed"):
        sweep.survey(store, older_than_s=0)
    run_evaluation(str(signed / "evaluation.yaml"), store=store.root, quiet=True)
    assert store.get(path) == sound
    assert main(["show", "grid", "--verify", "--store", store.root]) == 0
    sweep.survey(store, older_than_s=0)


def test_a_commit_that_was_changed_does_not_fit_the_next(store: Store) -> None:
    entry = manifest.latest(store, "grid")
    manifest.commit(store, "grid", entry)
    resealed(store, REF, lambda document: document["work"].update(forged=True))
    assert manifest.chain_faults(store, "grid") == {"refs/grid/00000002.json": "does not follow from the one before it"}


def test_a_commit_without_a_link_may_not_follow_one_with_it(store: Store) -> None:
    store.put_sealed("refs/grid/00000002.json", json.dumps(manifest.latest(store, "grid")).encode())
    assert set(manifest.chain_faults(store, "grid")) == {"refs/grid/00000002.json"}


def test_commits_of_old_stores_have_no_links_and_are_read(store: Store) -> None:
    def unlinked(document) -> None:
        for name in ("chain", "signature", "sha256"):
            del document[name]

    resealed(store, REF, unlinked)
    assert manifest.chain_faults(store, "grid") == {}
    assert main(["show", "grid", "--verify", "--store", store.root]) == 0


def test_the_first_commits_may_be_gone_and_none_in_between(store: Store) -> None:
    for _ in range(3):
        manifest.commit(store, "grid", manifest.latest(store, "grid"))
    store.remove(REF)
    assert manifest.chain_faults(store, "grid") == {}
    store.remove("refs/grid/00000003.json")
    assert manifest.chain_faults(store, "grid") == {
        "refs/grid/00000003.json": "is missing",
        "refs/grid/00000004.json": "does not follow from the one before it",
    }


def test_where_only_the_reference_is_damaged_show_says_so_and_a_run_makes_it_again(
    signed: Path, store: Store, capsys
) -> None:
    store.put(REF, store.get(REF).replace(b'"run"', b'"ran"'))
    assert main(["show", "grid", "--store", store.root]) == 3
    assert "every commit of grid is damaged. Run it again." in capsys.readouterr().err
    with pytest.raises(DamageError):
        sweep.survey(store, older_than_s=0)
    run_evaluation(str(signed / "evaluation.yaml"), store=store.root, quiet=True)
    assert main(["show", "grid", "--verify", "--store", store.root]) == 0
    sweep.survey(store, older_than_s=0)


@pytest.mark.parametrize(
    "content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----"]
)
def test_a_key_that_is_none_is_told_without_showing_it(tmp_path: Path, monkeypatch, content: bytes) -> None:
    (tmp_path / "key.pem").write_bytes(content)
    monkeypatch.setenv(signing.KEY, str(tmp_path / "key.pem"))
    with pytest.raises(UsageError, match="RESCORE_SIGNING_KEY: no key can be read there") as told:
        signing.signature_of(b"x")
    assert "c2VjcmV0" not in str(told.value)
    with pytest.raises(UsageError, match="no public key can be read there"):
        signing.public_key(str(tmp_path / "key.pem"))
