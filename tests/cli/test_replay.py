"""The round trip of a disagreement on the real kernel: a watch keeps it, the model is asked again,
and the kernel of the lab does to the packet what the node's did.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.cli.main import run
from podpath.collect.netns import inside
from tests.command import podpath

pytestmark = pytest.mark.kernel("iptables", "nft")

HOST, POD, OUT = (f"rp{os.getpid()}{name}" for name in ("host", "pod", "out"))


class NeverSeen:
    """An outcome that no walk has: a model that knows no drop."""


@pytest.fixture
def node() -> Iterator[str]:
    """Provide a node between a pod and the world, that drops the pod's questions to DNS."""
    try:
        for netns in (HOST, POD, OUT):
            subprocess.run(("ip", "netns", "add", netns), check=True)
        for netns, words in (
            (HOST, f"link add v1 type veth peer name eth0 netns {POD}"),
            (HOST, f"link add eth0 type veth peer name eth0 netns {OUT}"),
            *((netns, "link set eth0 up") for netns in (HOST, POD, OUT)),
            *((netns, "link set lo up") for netns in (HOST, POD, OUT)),
            (HOST, "link set v1 up"),
            (HOST, "addr add 10.9.1.1/24 dev v1"),
            (HOST, "addr add 192.0.2.1/24 dev eth0"),
            (POD, "addr add 10.9.1.2/24 dev eth0"),
            (POD, "route add default via 10.9.1.1"),
            (OUT, "addr add 192.0.2.2/24 dev eth0"),
        ):
            subprocess.run(("ip", "-n", netns, *words.split()), check=True)
        for line in (
            "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0",
            "iptables -A FORWARD -p udp --dport 53 -j DROP",
        ):
            subprocess.run(("ip", "netns", "exec", HOST, *line.split()), check=True)
        yield HOST
    finally:
        for netns in (HOST, POD, OUT):
            subprocess.run(("ip", "netns", "del", netns), check=False)


@pytest.fixture
def traffic(node: str) -> Iterator[str]:
    """Provide the node with questions that are dropped."""
    stop = threading.Event()

    def send() -> None:
        with inside(f"/run/netns/{POD}"):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with sender:
            while not stop.wait(0.05):
                sender.sendto(b"question", ("192.0.2.2", 53))

    thread = threading.Thread(target=send)
    thread.start()
    yield node
    stop.set()
    thread.join()


def keep_a_drop(netns: str, folder: Path) -> Path:
    """Watch the node until a drop that the model does not explain is kept: on a busy machine the
    first watches may end before one was looked into.
    """
    words = ("watch", "--node-netns", netns, "--for", "2", "--port", "53", "--save", str(folder))
    for _ in range(10):
        assert run(words) == 0
        if folder.is_dir():
            return next(folder.iterdir())
    raise AssertionError("no drop was kept")


def test_what_a_watch_keeps_is_asked_again(
    traffic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A model that knows no DROP disagrees, and keeps the drop; a whole one names the rule, and the
    kernel of the lab drops the packet for the same reason.
    """
    with monkeypatch.context() as blind:
        blind.setattr("podpath.diagnosis.freed._named_step", lambda *_: None)
        blind.setattr("podpath.diagnosis.freed.Dropped", NeverSeen)
        blind.setattr("podpath.diagnosis.freed.Rejected", NeverSeen)
        kept = keep_a_drop(traffic, tmp_path / "kept")
    capsys.readouterr()

    assert run(["lab", "replay", str(kept), "--model-only"]) == 0
    told = capsys.readouterr().out
    assert "then    the model lets it pass" in told
    assert "-A FORWARD -p udp" in told
    assert told.endswith("They agree.\n")

    done = podpath("lab", "replay", kept, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (freed,) = (line for line in done.stdout.splitlines() if line.startswith("kernel  freed: "))
    assert "NETFILTER_DROP" in freed


def test_a_node_that_was_repaired_does_not_agree(
    traffic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the saved node is another than the one that dropped it, both say so."""
    with pytest.MonkeyPatch.context() as blind:
        blind.setattr("podpath.diagnosis.freed._named_step", lambda *_: None)
        blind.setattr("podpath.diagnosis.freed.Dropped", NeverSeen)
        blind.setattr("podpath.diagnosis.freed.Rejected", NeverSeen)
        kept = keep_a_drop(traffic, tmp_path / "kept")
    for name in ("iptables-save.txt", "nft.json", "nft.txt"):
        path = kept / "bundle/netns/host" / name
        path.write_text("" if name.endswith("txt") else '{"nftables": []}', encoding="utf-8")
    capsys.readouterr()

    assert run(["lab", "replay", str(kept), "--model-only"]) == 1
    assert "THEY DIFFER" in capsys.readouterr().out
