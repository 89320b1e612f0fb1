"""Lines that only one tool prints, and lines that only go on."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.shapes import SHAPES, continues, is_message, match_shape

LINES = [
    ("-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP", "iptables rules"),
    ("*nat", "iptables rules"),
    ("[12:900] -A INPUT -j ACCEPT", "iptables rules"), (":FORWARD DROP [0:0]", "iptables rules"),
    ("Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)", "iptables list"),
    (
        "    0     0 ACCEPT     all  --  *      docker0  0.0.0.0/0            0.0.0.0/0",
        "iptables list",
    ),
    (("15:26:01.221833 IP (tos 0x0, ttl 64, id 2160, offset 0, flags [DF], proto TCP (6), length "
     "60)"), "tcpdump"),
    ("15:38:54.xxxxxx A_MAC > B_MAC,ethertype IPv4 (0x0800), 10.6.1.6 > 10.6.1.4", "tcpdump"),
    ("2: eth0@if3: <BROADCAST,MULTICAST,UP> mtu 1500", "ip link"),
    ("inet 10.0.0.1/24 scope global eth0", "ip link"),
    ("default via 10.0.0.1 dev eth0", "ip route"), ("unreachable 10.0.0.0/8", "ip route"),
    ("10.0.0.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE", "ip neigh"),
    ("0:\tfrom all lookup local", "ip rule"),
    ("169.254.0.0     0.0.0.0         255.255.0.0     U     1002   0        0 eth1", "route -n"),
    ("net.ipv4.conf.all.rp_filter = 1", "sysctl"), ("/proc/sys/net/ipv4/ip_forward:1", "sysctl"),
    ("tcp      6 118 SYN_SENT src=10.0.0.1 dst=10.0.0.2 sport=5 dport=80", "conntrack"),
    ("create KUBE-X hash:ip,port family inet", "ipset"),
    ("br_netfilter           32768  0", "lsmod"),
    ("cni0\t\t8000.0a6c3d090001\tno\t\tveth1", "brctl"), ("    Bridge br-bond", "ovs-vsctl show"),
    ("bond_mode: balance-slb", "bond/show"),
    ("  Warning  Unhealthy  4s (x4 over 7m)  kubelet  Readiness probe failed", "events"),
    ("Name:              web",
    "kubectl describe"),
    ("NAME   READY   STATUS    RESTARTS   AGE", "kubectl get"),
    ("W0211 01:12:52.815335       1 a.go:286] x", "component log"),
    ("type=SERVICE_STOP msg=audit(1741744143.120:421): pid=1", "component log"),
    ("Start-Date: 2025-03-12  09:48:58", "component log"),
    ("[Wed Mar 12 09:49:03 2025] eth0: link is down", "component log"),
    ("<34>1 2025-03-12T09:49:03Z n su - - - x", "component log"),
    ("Mar 12 09:48:58 Updated: polkit-0.112-26.el7_9.1.x86_64", "component log"),
    ("curl: (7) Failed", "curl"), ("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.", "ping"),
    (";; connection timed out; no servers could be reached", "dns"), ("table inet filter {", "nft"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "name"), LINES)
def test_lines_with_a_shape(line: str, name: str) -> None:
    """Such a line is evidence wherever it stands."""
    shape = match_shape(line)
    assert shape is not None
    assert name == shape.name


NONE = [
    "TCP SYN:", "We ran `ip route` on the node and saw this.",
    "* Host network: 2 NICs, bonding via OVS", "", "1", "And,", "1. the first rule does not matter",
    "spec:", "10.0.0.1", "eth0",
]  # fmt: skip


@pytest.mark.parametrize("line", NONE)
def test_lines_without(line: str) -> None:
    """Notes, prose and words alone have no shape."""
    assert match_shape(line) is None


def test_what_goes_on() -> None:
    """A line that stands deeper, or only goes on, belongs to its shape."""
    brctl = next(shape for shape in SHAPES if shape.name == "brctl")
    assert continues(brctl, "\t\t\t\tveth2", 0)
    assert not continues(brctl, "We see that the bridge has two ports.", 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("iptables: No chain/target/match by that name.", True),
        ("Error from server: x", True),
        ("note: x", False),
    ],
)
def test_messages(line: str, expected: bool) -> None:  # noqa: FBT001
    """A program's own message starts with its name."""
    assert expected == is_message(line)
