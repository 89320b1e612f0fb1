"""The keeper of the chain beside linkerd's and Istio's own installers, the real programs.

They are not shipped here. `PODPATH_LINKERD_INSTALLER` names linkerd's: either `install-cni.sh` of
linkerd2-proxy-init (with `filter.jq` beside it; needs jq and inotify-tools) or the Go program
`cni-install` that took its place. `PODPATH_ISTIO_INSTALLER` names a program around Istio's package
`cni/pkg/install` that calls its `Run` and, told to end, its `Cleanup`, as `install-cni` does, and
takes its `InstallConfig` from the variables in `RealIstio`. Without them, `test_chain_installers`
plays transcriptions. Root, since linkerd's gets namespaces of its own: the script ends every
inotifywait that it sees.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.protect.folders import BRIDGE, PORTMAP, listed
from tests.protect.nodes import CniNode, Kept

LINKERD = os.environ.get("PODPATH_LINKERD_INSTALLER", "")
ISTIO = os.environ.get("PODPATH_ISTIO_INSTALLER", "")
SEEDS = int(os.environ.get("PODPATH_INTERLEAVINGS", "12"))
MEMORY = Path("/dev/shm")  # noqa: S108  # a tmpfs that the installer's own /tmp does not hide
NETWORK = "10-net.conflist"
PATIENCE = 60.0


@dataclass
class RealInstaller(ABC):
    """An installer as a process, begun anew where it ends by itself, as a kubelet would."""

    node: CniNode
    version: int = 1
    process: subprocess.Popen[bytes] | None = None
    own: Path = field(init=False)

    kind = ""
    quiet = 2.0
    """Seconds in which it says and writes something, if it has anything left to do."""

    def __post_init__(self) -> None:
        """Lay out what its image and its pod have."""
        self.own = self.node.root / self.kind
        (self.own / "bin").mkdir(parents=True)
        (self.own / "bin" / self.kind).write_text("#!/bin/sh\n")
        (self.own / "bin" / self.kind).chmod(0o755)
        self.account.mkdir()
        (self.account / "token").write_text("token")
        (self.account / "ca.crt").write_text("certificate")

    @property
    def account(self) -> Path:
        """The folder of its service account."""
        return self.own / "account"

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return how it is begun."""

    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """Return what its pod tells it."""

    @abstractmethod
    def is_own(self, entry: Mapping[str, object]) -> bool:
        """Tell whether an entry is what this version of it chains."""

    def start(self) -> None:
        """Begin it."""
        environment = {
            **os.environ,
            **self.environment(),
            "KUBERNETES_SERVICE_HOST": "10.96.0.1",
            "KUBERNETES_SERVICE_PORT": "443",
        }
        with (self.own / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), env=environment, stdout=log, stderr=log)

    def revive(self) -> None:
        """Begin it anew where it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        """End it without a word, for as long as nobody begins it."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def stop(self) -> None:
        """Tell it to end, as the kubelet does: it takes its plugin out, if it still can."""
        process, self.process = self.process, None
        if process is None:
            return
        self.tell_to_end(process)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()  # the grace is over
            process.wait()

    def tell_to_end(self, process: subprocess.Popen[bytes]) -> None:
        """Send it the kubelet's signal."""
        process.terminate()

    def holds(self) -> bool:
        """Tell whether its entry, and no other of its plugin, is in the network."""
        found = entries(self.node, self.kind)
        return len(found) == 1 and self.is_own(found[0])


class RealLinkerd(RealInstaller):
    """linkerd's, in namespaces of its own."""

    kind = "linkerd-cni"
    quiet = 6.0 if LINKERD.endswith(".sh") else 2.0
    """The script takes seconds on a busy machine between reading a file and putting its own over
    it.
    """

    def __post_init__(self) -> None:
        """Lay out the program, too."""
        super().__post_init__()
        program = Path(LINKERD).read_bytes()
        if LINKERD.endswith(".sh"):
            shutil.copy(Path(LINKERD).with_name("filter.jq"), self.own)
            program = program.replace(b"/linkerd/filter.jq", bytes(self.own / "filter.jq"))
            program = program.replace(b"{$f: $sha}", b"{($f): $sha}")  # as jq 1.6 has it
        (self.own / "program").write_bytes(program)
        (self.own / "program").chmod(0o755)

    def command(self) -> Sequence[str]:
        """Return how it is begun."""
        account = "/var/run/secrets/kubernetes.io/serviceaccount"
        inside = (
            f"mount -t tmpfs none /tmp && mount -t tmpfs none /var/run/ && mkdir -p {account} && "
            f"mount --bind {self.account} {account} && exec {self.own / 'program'}"
        )
        enter = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        return [*enter, "sh", "-c", inside]

    def environment(self) -> Mapping[str, str]:
        """Return what its pod tells it."""
        entry = {"name": self.kind, "type": self.kind, "log_level": f"v{self.version}"}
        return {
            "CONTAINER_MOUNT_PREFIX": str(self.node.root),
            "DEST_CNI_NET_DIR": "/net.d",
            "DEST_CNI_BIN_DIR": "/bin",
            "CONTAINER_CNI_BIN_DIR": str(self.own / "bin"),
            "CNI_NETWORK_CONFIG": json.dumps(entry),
        }

    def is_own(self, entry: Mapping[str, object]) -> bool:
        """Tell whether an entry is what this version of it chains."""
        return entry == {"name": self.kind, "type": self.kind, "log_level": f"v{self.version}"}

    def tell_to_end(self, process: subprocess.Popen[bytes]) -> None:
        """Send the signal to the program within its namespaces."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with suppress(ProcessLookupError, FileNotFoundError):
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGTERM)


class RealIstio(RealInstaller):
    """Istio's."""

    kind = "istio-cni"
    quiet = 2.5
    """It waits for a second where it was called within the last five."""

    def command(self) -> Sequence[str]:
        """Return how it is begun."""
        return [ISTIO]

    def environment(self) -> Mapping[str, str]:
        """Return what its pod tells it."""
        return {
            "MOUNTED_CNI_NET_DIR": str(self.node.conf),
            "CNI_AGENT_RUN_DIR": str(self.own),
            "CNI_BIN_SOURCE_DIR": str(self.own / "bin"),
            "CNI_BIN_TARGET_DIRS": str(self.node.bin),
            "SERVICE_ACCOUNT_PATH": str(self.account),
            "PLUGIN_LOG_LEVEL": f"v{self.version}",
        }

    def is_own(self, entry: Mapping[str, object]) -> bool:
        """Tell whether an entry is what this version of it chains."""
        return entry.get("plugin_log_level") == f"v{self.version}" and "pod_namespace" in entry


MESHES = {"linkerd": (RealLinkerd, LINKERD), "istio": (RealIstio, ISTIO)}


@contextmanager
def beside(node: CniNode, meshes: Sequence[str]) -> Iterator[Beside]:
    """Keep the chain without an entry of its own, beside installers."""
    with ExitStack() as stack:
        installers = [MESHES[mesh][0](node) for mesh in meshes]
        keepers = []
        for each in installers:
            remember = str(node.root / f"{each.kind}.json")
            kept = node.kept(entry="", type=each.kind, remember=remember)
            keepers.append(stack.enter_context(kept))
        for each in installers:
            stack.callback(each.stop)
        yield Beside(node, installers, keepers)


@dataclass
class Beside:
    """A node with installers and a keeper for each."""

    node: CniNode
    installers: Sequence[RealInstaller]
    keepers: Sequence[Kept]

    def wait_installed(self) -> None:
        """Wait until each installer's entry is what stands there; who ended over half a file of the
        vendor's is begun anew.
        """

        def installed() -> bool:
            for each in self.installers:
                each.revive()
            return all(each.holds() for each in self.installers)

        self.keepers[0].wait(installed)

    def settle(self) -> None:
        """Wait until nobody has written or said anything for a while; fail where that never is."""
        over, since = time.monotonic() + PATIENCE, time.monotonic()
        watched = [self.node.conf / NETWORK, *(each.own / "log" for each in self.installers)]
        quiet = max(each.quiet for each in self.installers)
        before: list[int] = []
        while time.monotonic() - since < quiet:
            assert time.monotonic() < over, "somebody writes for ever"
            time.sleep(0.05)
            for each in self.installers:
                each.revive()
            with suppress(FileNotFoundError):
                now = [path.stat().st_mtime_ns for path in watched]
                since, before = (since, before) if now == before else (time.monotonic(), now)

    def check(self, number: int | None = None) -> None:
        """Hold what stands there against what each installer chains, and against the vendor's last
        word.
        """
        assert all(each.holds() for each in self.installers)
        if number is not None:
            check_vendor(self.node, number)


def entries(node: CniNode, kind: str) -> list[dict[str, object]]:
    """Return a mesh's entries in the network; an empty one where it is half written."""
    with suppress(ValueError, FileNotFoundError):
        plugins = json.loads((node.conf / NETWORK).read_text())["plugins"]
        return [each for each in plugins if each["type"] == kind]
    return [{}]


def write_network(node: CniNode, number: int, draw: random.Random) -> None:
    """Let the vendor write its network anew, by renaming or in place, without any mesh."""
    text = listed({**BRIDGE, "mtu": 1400 + number}, PORTMAP)
    if draw.random() < 0.5:
        node.write(NETWORK, text)
    else:
        (node.conf / NETWORK).write_text(text)


def check_vendor(node: CniNode, number: int) -> None:
    """Hold the network's first plugin against the vendor's last word."""
    plugins = json.loads((node.conf / NETWORK).read_text())["plugins"]
    assert 1400 + number == plugins[0]["mtu"]
    assert ["bridge", "portmap"] == [each["type"] for each in plugins[:2]]


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("meshes", [("linkerd",), ("istio",), ("linkerd", "istio")], ids="+".join)
def test_the_real_installer_is_not_fought(meshes: Sequence[str], seed: int) -> None:
    """Installed, overwritten by the vendor, upgraded, and overwritten while it is away: its last
    version stands once and the vendor's last word with it; uninstalled, nothing is left of it.
    """
    missing = [f"PODPATH_{mesh.upper()}_INSTALLER" for mesh in meshes if not MESHES[mesh][1]]
    if missing:
        pytest.skip(f"{' and '.join(missing)} names no installer")
    draw = random.Random(seed)
    with TemporaryDirectory(dir=MEMORY) as root:
        node = CniNode(Path(root))
        (node.bin / "linkerd-cni").unlink()
        write_network(node, 0, draw)
        with beside(node, meshes) as world:
            for each in world.installers:
                each.start()
            world.wait_installed()
            check_vendors_writes(world, draw)
            check_upgrade(world, draw)
            check_absence(world, draw)
            for each in world.installers:
                each.stop()
                check_uninstalled(world, each)
            check_vendor(node, 5)


def check_vendors_writes(world: Beside, draw: random.Random) -> None:
    """Let the vendor write beside the installer; of writes close to each other the installer itself
    may lose some.
    """
    for number in range(1, 3):
        time.sleep(draw.random() * 0.3)
        write_network(world.node, number, draw)
    world.wait_installed()
    world.settle()
    write_network(world.node, 3, draw)
    world.wait_installed()
    world.settle()
    world.check(3)


def check_upgrade(world: Beside, draw: random.Random) -> None:
    """Replace each installer by its next version, perhaps while the vendor writes."""
    for each in world.installers:
        each.stop()
        time.sleep(draw.choice([0.0, 0.2, 3.0]))
        each.version = 2
        each.start()
        if draw.random() < 0.5:
            write_network(world.node, 4, draw)
        world.wait_installed()
        world.settle()
        world.check()


def check_absence(world: Beside, draw: random.Random) -> None:
    """Kill the installers, so that they take nothing out, let the vendor write, and begin them
    anew.
    """
    for each in world.installers:
        each.kill()
    write_network(world.node, 5, draw)
    for kept in world.keepers:
        kept.wait_ready()
    world.wait_installed()
    check_vendor(world.node, 5)
    for each in world.installers:
        each.start()
    world.settle()
    world.check(5)


def check_uninstalled(world: Beside, gone: RealInstaller) -> None:
    """Wait until neither entry nor program is left of it."""
    world.keepers[0].wait(lambda: not entries(world.node, gone.kind))
    assert not (world.node.bin / gone.kind).exists()
