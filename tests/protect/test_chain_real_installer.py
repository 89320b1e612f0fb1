"""The keeper of the chain beside linkerd's own installer, the real program.

It is not shipped here: `PODPATH_LINKERD_INSTALLER` names it, either `install-cni.sh` of
linkerd2-proxy-init (with `filter.jq` beside it; needs jq and inotify-tools) or the Go program
`cni-install` that took its place. Without it, `test_chain_installers` plays transcriptions. Root,
since the installer gets namespaces of its own: it ends every inotifywait that it sees.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.protect.folders import BRIDGE, PORTMAP, listed
from tests.protect.nodes import CniNode, Kept

PROGRAM = os.environ.get("PODPATH_LINKERD_INSTALLER", "")
SEEDS = int(os.environ.get("PODPATH_INTERLEAVINGS", "12"))
pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="PODPATH_LINKERD_INSTALLER names no installer of linkerd"
)
MEMORY = Path("/dev/shm")  # noqa: S108  # a tmpfs that the installer's own /tmp does not hide
NETWORK = "10-net.conflist"
QUIET_SECONDS = 6.0 if PROGRAM.endswith(".sh") else 2.0
"""The script takes seconds on a busy machine between reading a file and putting its own over it."""
PATIENCE = 60.0


@dataclass
class RealInstaller:
    """linkerd's installer as a process, begun anew where it ends by itself, as a kubelet would."""

    node: CniNode
    version: int = 1
    process: subprocess.Popen[bytes] | None = None
    own: Path = field(init=False)

    def __post_init__(self) -> None:
        """Lay out what its image and its pod have."""
        self.own = self.node.root / "installer"
        (self.own / "bin").mkdir(parents=True)
        (self.own / "bin" / "linkerd-cni").write_text("#!/bin/sh\n")
        (self.own / "bin" / "linkerd-cni").chmod(0o755)
        account = self.own / "account"
        account.mkdir()
        (account / "token").write_text("token")
        (account / "ca.crt").write_text("certificate")
        program = Path(PROGRAM).read_bytes()
        if PROGRAM.endswith(".sh"):
            shutil.copy(Path(PROGRAM).with_name("filter.jq"), self.own)
            program = program.replace(b"/linkerd/filter.jq", bytes(self.own / "filter.jq"))
            program = program.replace(b"{$f: $sha}", b"{($f): $sha}")  # as jq 1.6 has it
        (self.own / "program").write_bytes(program)
        (self.own / "program").chmod(0o755)

    @property
    def entry(self) -> dict[str, object]:
        """What it chains; each version has another."""
        return {"name": "linkerd-cni", "type": "linkerd-cni", "log_level": f"v{self.version}"}

    def start(self) -> None:
        """Begin it, in namespaces of its own."""
        account = "/var/run/secrets/kubernetes.io/serviceaccount"
        inside = (
            f"mount -t tmpfs none /tmp && mount -t tmpfs none /var/run/ && mkdir -p {account} && "
            f"mount --bind {self.own / 'account'} {account} && exec {self.own / 'program'}"
        )
        environment = os.environ | {
            "CONTAINER_MOUNT_PREFIX": str(self.node.root),
            "DEST_CNI_NET_DIR": "/net.d",
            "DEST_CNI_BIN_DIR": "/bin",
            "CONTAINER_CNI_BIN_DIR": str(self.own / "bin"),
            "CNI_NETWORK_CONFIG": json.dumps(self.entry),
            "KUBERNETES_SERVICE_HOST": "10.96.0.1",
            "KUBERNETES_SERVICE_PORT": "443",
        }
        enter = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        log = (self.own / "log").open("ab")
        self.process = subprocess.Popen(
            [*enter, "sh", "-c", inside], env=environment, stdout=log, stderr=log
        )
        log.close()

    def revive(self) -> None:
        """Begin it anew where it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        """End it without a word."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """Tell it to end, as the kubelet does: it takes its plugin out, if it still can."""
        process, self.process = self.process, None
        if process is None:
            return
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with suppress(ProcessLookupError, FileNotFoundError):
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()  # the grace is over
            process.wait()


@contextmanager
def beside(node: CniNode) -> Iterator[tuple[Kept, RealInstaller]]:
    """Keep the chain without an entry of its own, beside an installer."""
    installer = RealInstaller(node)
    remember = str(node.root / "remembered.json")
    with node.kept(entry="", type="linkerd-cni", remember=remember) as kept:
        try:
            yield kept, installer
        finally:
            installer.stop()


def entries(node: CniNode) -> list[dict[str, object]]:
    """Return the mesh's entries in the network; none where it is half written."""
    with suppress(ValueError, FileNotFoundError):
        plugins = json.loads((node.conf / NETWORK).read_text())["plugins"]
        return [each for each in plugins if each["type"] == "linkerd-cni"]
    return [{}]


def write_network(node: CniNode, number: int, draw: random.Random) -> None:
    """Let the vendor write its network anew, by renaming or in place, without any mesh."""
    text = listed({**BRIDGE, "mtu": 1400 + number}, PORTMAP)
    if draw.random() < 0.5:
        node.write(NETWORK, text)
    else:
        (node.conf / NETWORK).write_text(text)


def settle(node: CniNode, installer: RealInstaller) -> None:
    """Wait until nobody has written or said anything for a while; fail where that never is."""
    over, since = time.monotonic() + PATIENCE, time.monotonic()
    watched = (node.conf / NETWORK, installer.own / "log")
    before: list[int] = []
    while time.monotonic() - since < QUIET_SECONDS:
        assert time.monotonic() < over, "somebody writes for ever"
        time.sleep(0.05)
        installer.revive()
        with suppress(FileNotFoundError):
            now = [path.stat().st_mtime_ns for path in watched]
            since, before = (since, before) if now == before else (time.monotonic(), now)


def check_vendor(node: CniNode, number: int) -> None:
    """Hold the network's first plugin against the vendor's last word."""
    plugins = json.loads((node.conf / NETWORK).read_text())["plugins"]
    assert 1400 + number == plugins[0]["mtu"]
    assert ["bridge", "portmap"] == [each["type"] for each in plugins[:2]]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_real_installer_is_not_fought(seed: int) -> None:
    """Installed, overwritten by the vendor, upgraded, and overwritten while it is away: its last
    version stands once and the vendor's last word with it; uninstalled, nothing is left of it.
    """
    draw = random.Random(seed)
    with TemporaryDirectory(dir=MEMORY) as root:
        node = CniNode(Path(root))
        (node.bin / "linkerd-cni").unlink()
        write_network(node, 0, draw)
        with beside(node) as (kept, installer):
            installer.start()
            kept.wait(lambda: entries(node) == [installer.entry])
            check_vendors_writes(node, kept, installer, draw)
            check_upgrade(node, kept, installer, draw)
            check_absence(node, kept, installer, draw)
            installer.stop()
            kept.wait(lambda: not entries(node))
            assert not (node.bin / "linkerd-cni").exists()
            check_vendor(node, 5)


def check_vendors_writes(
    node: CniNode, kept: Kept, installer: RealInstaller, draw: random.Random
) -> None:
    """Let the vendor write beside the installer; of writes close to each other the installer itself
    may lose some.
    """
    for number in range(1, 3):
        time.sleep(draw.random() * 0.3)
        write_network(node, number, draw)
    kept.wait(lambda: entries(node) == [installer.entry])
    settle(node, installer)
    write_network(node, 3, draw)
    kept.wait(lambda: entries(node) == [installer.entry])
    settle(node, installer)
    assert [installer.entry] == entries(node)
    check_vendor(node, 3)


def check_upgrade(node: CniNode, kept: Kept, installer: RealInstaller, draw: random.Random) -> None:
    """Replace the installer by its next version, perhaps while the vendor writes."""
    installer.stop()
    time.sleep(draw.choice([0.0, 0.2, 3.0]))
    installer.version = 2
    installer.start()
    if draw.random() < 0.5:
        write_network(node, 4, draw)
    kept.wait(lambda: entries(node) == [installer.entry])
    settle(node, installer)
    assert [installer.entry] == entries(node)


def check_absence(node: CniNode, kept: Kept, installer: RealInstaller, draw: random.Random) -> None:
    """Kill the installer, so that it takes nothing out, let the vendor write, and begin it anew."""
    installer.kill()
    write_network(node, 5, draw)
    kept.wait_ready()
    kept.wait(lambda: entries(node) == [installer.entry])
    check_vendor(node, 5)
    installer.start()
    settle(node, installer)
