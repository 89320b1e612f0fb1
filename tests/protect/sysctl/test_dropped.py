"""What kube-proxy's rule against INVALID has dropped is read from the kernel's accounting, where
there is such an object.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from collections.abc import Iterator

import pytest

from podpath.collect.netns import inside
from podpath_protect.netlink import NETFILTER
from podpath_protect.sysctl.conntrack import ProxyListing, find_contradictions
from podpath_protect.sysctl.dropped import NAME, emit_request, parse_packets, read_dropped
from podpath_protect.sysctl.tree import SysctlTree

SPACE = f"psy-acct-{os.getpid()}"
NEW, CREATE_ACKNOWLEDGED = 7 << 8, 0x1 | 0x4 | 0x400
RULE = (
    "-A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name "
    "ct_state_invalid_dropped_pkts -j DROP"
)


@pytest.fixture
def space() -> Iterator[str]:
    """Make a namespace with its loopback up."""
    subprocess.run(["ip", "netns", "add", SPACE], check=True)
    subprocess.run(["ip", "-n", SPACE, "link", "set", "lo", "up"], check=True)
    yield f"/run/netns/{SPACE}"
    subprocess.run(["ip", "netns", "del", SPACE], check=True)


def make_object() -> int:
    """Make the accounting object, as kube-proxy does; give the kernel's error, 0 for none."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETFILTER) as channel:
        channel.send(emit_request(NEW, NAME, CREATE_ACKNOWLEDGED))
        return -int(struct.unpack_from("=i", channel.recv(1000), 16)[0])


def send_invalid() -> None:
    """Send a TCP segment without any flag, which conntrack calls INVALID."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as one:
        one.sendto(struct.pack("!HHIIBBHHH", 1, 2, 0, 0, 0x50, 0, 0, 0, 0), ("127.0.0.1", 0))


@pytest.mark.parity("G22")
@pytest.mark.kernel("iptables-nft")
def test_g22_dropped_packets_are_counted(space: str) -> None:
    """None before the object is there, then as many as the rule dropped; a contradiction tells it
    as evidence.
    """
    with inside(space):
        assert read_dropped() is None
        if make_object():
            pytest.skip("needs a kernel with nfnetlink_acct")
        for rule in ("-N KUBE-FORWARD", RULE, "-A OUTPUT -j KUBE-FORWARD"):
            subprocess.run(["iptables-nft", *rule.split()], check=True)
        before = read_dropped()
        for _ in range(3):
            try:
                send_invalid()
            except PermissionError:
                continue  # dropped within the call
        after = read_dropped()
        subprocess.run(["sysctl", "-qw", "net.netfilter.nf_conntrack_tcp_be_liberal=1"], check=True)
        (found,) = find_contradictions(
            SysctlTree(), [ProxyListing("iptables-nft -S", f"-N KUBE-FORWARD\n{RULE}\n")], after
        )

    assert (0, 3) == (before, after)
    assert "nfacct ct_state_invalid_dropped_pkts: 3 packets dropped" == found.evidence[-1]


def test_an_answer_without_a_count_is_none() -> None:
    """Nothing, half a message, another attribute: no number; the kernel's error is one."""
    odd = struct.pack("=HH", 8, 9) + b"abcd"
    message = struct.pack("=IHHII", 20 + len(odd), NEW, 0, 1, 0) + b"\0" * 4 + odd
    refusal = struct.pack("=IHHIIi", 20, 2, 0, 1, 0, -2)

    assert [None, None, None] == [
        parse_packets(b""),
        parse_packets(message[:18]),
        parse_packets(message),
    ]
    with pytest.raises(OSError, match="No such file"):
        parse_packets(refusal)
