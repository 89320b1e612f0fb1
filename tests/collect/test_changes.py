"""What the kernel announces of changes in a node's namespace and in those that it knows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing

import pytest

from podpath.collect.changes import ChangeListener, join_aspects
from podpath.collect.netns import NetnsError
from podpath.collect.netns_files import NetnsAspect

NODE, POD = (f"ch{os.getpid()}{name}" for name in ("node", "pod"))
RULES, ROUTES, WHOLE = NetnsAspect.RULES, NetnsAspect.ROUTES, NetnsAspect.WHOLE
CHANGES = (
    ("@node iptables-nft -A INPUT -j ACCEPT", None, RULES),
    ("@node nft add table ip admin", None, RULES),
    ("@pod iptables-nft -A OUTPUT -j ACCEPT", 0, RULES),
    ("@node ip route add blackhole 192.0.2.0/24", None, ROUTES),
    ("@pod ip rule add pref 5 lookup 9", 0, ROUTES),
    ("@node ip link set v0 mtu 1400", None, WHOLE),
    ("@node sysctl -qw net.ipv4.ip_forward=1", None, WHOLE),
    ("@pod sysctl -qw net.ipv4.conf.eth0.rp_filter=1", 0, WHOLE),
)


def run(words: str) -> None:
    """Run a command in one of the namespaces."""
    place, *command = words.split()
    netns = {"@node": NODE, "@pod": POD}[place]
    subprocess.run(("ip", "netns", "exec", netns, *command), check=True, capture_output=True)


@pytest.fixture
def listener() -> Iterator[ChangeListener]:
    """Provide one in a node with a pod."""
    try:
        for name in (NODE, POD):
            subprocess.run(("ip", "netns", "add", name), check=True)
        run(f"@node ip link add v0 type veth peer name eth0 netns {POD}")
        with closing(ChangeListener(f"/run/netns/{NODE}")) as opened:
            yield opened
    finally:
        for name in (NODE, POD):
            subprocess.run(("ip", "netns", "del", name), check=False)


@pytest.mark.kernel("iptables", "nft")
def test_what_changed_is_heard_with_its_namespace(listener: ChangeListener) -> None:
    """Rules and routes by themselves, everything else as the whole namespace; each once."""
    for words, number, aspect in CHANGES:
        run(words)
        assert dict(listener.read().aspects) == {number: aspect}, words
        assert dict(listener.read().aspects) == {}


@pytest.mark.kernel("iptables", "nft")
def test_listing_changes_nothing(listener: ChangeListener) -> None:
    """Else whoever reads what changed would never be done."""
    run("@node nft add table ip admin")
    listener.read()
    for words in ("iptables-nft-save", "iptables-legacy-save", "nft list ruleset", "ip addr"):
        run(f"@node {words}")
        run(f"@pod {words}")

    assert dict(listener.read().aspects) == {}


def test_a_namespace_that_is_not_there_is_refused() -> None:
    """Before anything is listened for."""
    with pytest.raises(NetnsError):
        ChangeListener("/run/netns/nowhere")


def test_two_aspects_are_the_whole() -> None:
    """Of what changed twice."""
    assert join_aspects(None, RULES) is RULES
    assert join_aspects(RULES, RULES) is RULES
    assert join_aspects(RULES, ROUTES) is WHOLE
