"""Hosts on a network of their own: network namespaces on a bridge, each with an address, whose cable can be pulled."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

NETWORK = "198.18.{net}.{host}"
"""Addresses for tests of networks (RFC 2544): no real host has one."""


def ip(*arguments: str) -> None:
    """``ip``, which must succeed."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def hosts_work() -> bool:
    """Whether this machine lets us make hosts: root, with iproute2 and the kernel's bridges."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    try:
        with network("probe", 1):
            return True
    except subprocess.CalledProcessError:
        return False


@dataclass(frozen=True)
class Host:
    """A network namespace with one address; processes in it are ended with it."""

    name: str
    address: str
    cable: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, command: Sequence[str | Path], log: Path, **options: object) -> subprocess.Popen[bytes]:
        """A process on this host; what it says goes to ``log``."""
        with log.open("ab") as said:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.name, *map(str, command)],
                stdout=said,
                stderr=subprocess.STDOUT,
                **options,  # type: ignore[call-overload]
            )
        self.processes.append(process)
        return process

    def pull_the_cable(self) -> None:
        """Nothing gets through any more, and nobody is told."""
        ip("link", "set", self.cable, "down")

    def put_the_cable_back(self) -> None:
        """As it was."""
        ip("link", "set", self.cable, "up")


@contextmanager
def network(name: str, n_hosts: int) -> Iterator[list[Host]]:
    """Hosts on one bridge, which this machine is on as well (``gateway``); gone afterwards with all that runs there."""
    net = os.getpid() % 250
    tag = f"{name[:4]}{os.getpid() % 100000}"
    bridge, hosts = f"{tag}b", list[Host]()
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("addr", "add", f"{NETWORK.format(net=net, host=1)}/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for number in range(n_hosts):
            host = Host(f"{tag}n{number}", NETWORK.format(net=net, host=number + 2), f"{tag}v{number}")
            hosts.append(host)
            _plug_in(host, bridge)
        yield hosts
    finally:
        for host in hosts:
            _end(host)
        with suppress(subprocess.CalledProcessError):
            ip("link", "del", bridge)


def gateway(host: Host) -> str:
    """This machine's address on a host's network."""
    return host.address.rpartition(".")[0] + ".1"


def _plug_in(host: Host, bridge: str) -> None:
    ip("netns", "add", host.name)
    ip("link", "add", host.cable, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    ip("link", "set", host.cable, "master", bridge, "up")
    inside: Callable[..., None] = lambda *arguments: ip("-n", host.name, *arguments)  # noqa: E731
    inside("addr", "add", f"{host.address}/24", "dev", "eth0")
    inside("link", "set", "eth0", "up")
    inside("link", "set", "lo", "up")


def _end(host: Host) -> None:
    """Kill everything in the namespace (workers are children of nannies), then remove it."""
    found = subprocess.run(["ip", "netns", "pids", host.name], capture_output=True, text=True, check=False)
    for pid in found.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), 9)
    for process in host.processes:
        process.kill()
        process.wait()
    for arguments in (("netns", "del", host.name), ("link", "del", host.cable)):
        with suppress(subprocess.CalledProcessError):
            ip(*arguments)
