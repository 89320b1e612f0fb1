"""Breaks a node on the real kernel in many ways, and asks nothing: each fault has to be seen from
the snapshot alone.

    python -m tests.incidents.blind_faults FOLDER [NAME...]

Each fault is built on a fresh node, and a twin of it that has the same look and breaks nothing. A
connection is tried on both, so that the kernel itself says which is broken; the bundles are left in
the folder, and what came of it is printed as JSON.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple, TypedDict

from podpath.checks.finding import WEIGHTY
from podpath.library.diagnosis import diagnose
from podpath.report.style import Style
from podpath_lab.apply import enter_private_world
from tests.incidents.blind_world import (
    FAR_POD,
    LONG_PATIENCE,
    PATIENCE,
    WORLD,
    connects,
    run_lines,
    standing,
    take_snapshot,
)


class Fault(NamedTuple):
    """A fault, and its twin that only looks like it."""

    name: str
    shape: str
    backend: str
    connection: str
    """What fails with the fault, and works with the twin."""
    broken_by: tuple[str, ...]
    twin: tuple[str, ...]
    named: str
    """What has to stand in the first three lines of the answer."""


_BY_MARK = (
    (
        "in web: ip neigh replace 169.254.1.1 lladdr $(ip -n host -br link show veth1 | awk "
        "'{print $3}') dev eth0 nud permanent"
    ),
    "in host: ip rule add priority 90 fwmark 0x200/0xf00 lookup 90",
    "in host: ip route add 10.244.1.5 dev veth1 table 90",
    (
        "in host: iptables-legacy -t mangle -A PREROUTING ! -i veth+ -d 10.244.1.0/24 -j MARK "
        "--set-xmark 0x200/0xf00"
    ),
    "in host: iptables-legacy -t mangle -A OUTPUT -d 10.244.1.0/24 -j MARK --set-xmark 0x200/0xf00",
    "in host: sysctl -qw net.ipv4.conf.veth1.rp_filter=1",
)
"""A pod that is reached by a mark's table, as tunnels of plugins do it, under strict source
validation.
"""
_CONNTRACK = (
    "in host: conntrack -I -p udp -s 10.244.1.5 -d 10.96.0.10 --sport 45678 --dport 53 --dst-nat "
    "{}:53 -t 600"
)
_API = (
    "in host: iptables-nft -t nat {} KUBE-SERVICES -d 10.96.44.7/32 -p tcp -m comment --comment "
    "'shop/api cluster IP'"
)
_HOSTPORT = (
    "in host: iptables-nft -t nat -A CNI-DN-1f5bb1f5bb1f5bb1f5bb1 -p tcp -m tcp --dport {} -j DNAT "
    "--to-destination {}"
)

FAULTS = (
    Fault(
        "forwarding-off-on-bridge", "bridge", "nft", f"web tcp {WORLD} 443",
        ("in host: sysctl -qw net.ipv4.conf.cni0.forwarding=0",),
        ("in host: sysctl -qw net.ipv4.conf.lo.forwarding=0",),
        r"cni0.*forward|forward.*cni0",
    ),
    Fault(
        "strict-source-check", "routed", "legacy", "host tcp 10.244.1.5 80",
        (*_BY_MARK, "in host: ip route del 10.244.1.5 dev veth1"), _BY_MARK,
        r"reverse-path|rp_filter",
    ),
    Fault(
        "forward-drop-on-top", "bridge", "nft", f"web tcp {FAR_POD} 80",
        ("in host: iptables-nft -I FORWARD 1 -i cni0 -m comment --comment 'hardening' -j DROP",),
        ("in host: iptables-nft -I FORWARD 1 -i virbr0 -m comment --comment 'hardening' -j DROP",),
        r"FORWARD.*cni0.*DROP|hardening",
    ),
    Fault(
        "flannel-rules-lost", "bridge", "legacy", f"web tcp {FAR_POD} 80",
        ("in host: iptables-legacy -F FLANNEL-FWD",),
        ("in host: iptables-legacy -F FLANNEL-FWD", "in host: iptables-legacy -P FORWARD ACCEPT"),
        r"policy.*FORWARD|FORWARD.*policy",
    ),
    Fault(
        "masquerade-lost", "bridge", "nft", f"web tcp {WORLD} 443",
        ("in host: iptables-nft -t nat -F FLANNEL-POSTRTG",),
        (
            "in host: iptables-nft -t nat -F FLANNEL-POSTRTG",
            "in host: iptables-nft -t nat -A POSTROUTING -s 10.244.1.0/24 -o eth0 -j MASQUERADE",
        ),
        r"masquerad|translat",
    ),
    Fault(
        "bridge-bypasses-netfilter", "bridge", "legacy", "web tcp 10.96.44.7 80",
        ("in host: sysctl -qw net.bridge.bridge-nf-call-iptables=0",),
        ("in host: sysctl -qw net.bridge.bridge-nf-call-arptables=0",),
        r"bridge-nf-call-iptables",
    ),
    Fault(
        "route-of-other-node-wrong", "bridge", "nft", f"web tcp {FAR_POD} 80",
        ("in host: ip route add 10.244.2.0/25 dev cni0",),
        ("in host: ip route add 10.244.3.0/25 dev cni0",),
        r"10\.244\.2\.0/25.*cni0",
    ),
    Fault(
        "policy-rule-prohibits", "bridge", "legacy", "web tcp 10.96.0.10 53",
        ("in host: ip rule add priority 40 from 10.244.1.0/24 to 10.244.0.0/16 prohibit",),
        ("in host: ip rule add priority 40 from 10.244.9.0/24 to 10.244.0.0/16 prohibit",),
        r"policy rule of priority 40|prohibit",
    ),
    Fault(
        "stale-dns-translation", "bridge", "nft", "web udp 10.96.0.10 53 45678",
        (_CONNTRACK.format("10.244.1.99"),), (_CONNTRACK.format("10.244.1.7"),),
        r"10\.244\.1\.99",
    ),
    Fault(
        "neighbour-wrong", "bridge", "nft", "host tcp 10.244.1.7 53",
        ("in host: ip neigh replace 10.244.1.7 lladdr 02:00:0a:f4:01:77 dev cni0 nud permanent",),
        ("in host: ip neigh replace 10.244.1.7 lladdr 02:00:0a:f4:01:07 dev cni0 nud permanent",),
        r"10\.244\.1\.7.*02:00:0a:f4:01:77|02:00:0a:f4:01:77",
    ),
    Fault(
        "tunnel-entry-lost", "bridge", "legacy", f"web tcp {FAR_POD} 80",
        ("in host: bridge fdb del 02:00:00:00:02:00 dev flannel.1 dst 192.168.50.12",),
        ("in host: bridge fdb append 02:00:00:00:09:00 dev flannel.1 dst 192.168.50.19",),
        r"flannel\.1",
    ),
    Fault(
        "arp-off-in-pod", "routed", "nft", f"api tcp {WORLD} 443",
        ("in api: ip link set eth0 arp off", "in api: ip neigh flush all"),
        ("in api: ip link set eth0 arp on", "in api: ip neigh flush all"),
        r"ARP|NOARP",
    ),
    Fault(
        "duplicate-pod-address", "bridge", "nft", "host tcp 10.244.1.6 8080",
        (
            "in dns: ip addr add 10.244.1.6/24 dev eth0",
            "in host: ip neigh replace 10.244.1.6 lladdr 02:00:0a:f4:01:07 dev cni0 nud reachable",
        ),
        ("in dns: ip addr add 10.244.1.66/24 dev eth0",),
        r"10\.244\.1\.6\b",
    ),
    Fault(
        "blackhole-for-services", "routed", "nft", "host tcp 10.244.1.6 8080",
        ("in host: ip route replace blackhole 10.244.1.6",),
        ("in host: ip route add blackhole 10.244.1.0/26",),
        r"blackhole",
    ),
    Fault(
        "kube-reject", "bridge", "nft", "web tcp 10.96.44.7 80",
        (
            _API.format("-D") + " -m tcp --dport 80 -j KUBE-SVC-API2AAAAAAAAAAAA",
            (
                "in host: iptables-nft -A KUBE-SERVICES -d 10.96.44.7/32 -p tcp -m comment "
                "--comment 'shop/api has no endpoints' -m tcp --dport 80 -j REJECT --reject-with "
                "icmp-port-unreachable"
            ),
        ),
        (_API.format("-A") + " -m tcp --dport 81 -j KUBE-SVC-API2AAAAAAAAAAAA",),
        r"no endpoints|shop/api",
    ),
    Fault(
        "veth-left-its-bridge", "bridge", "legacy", "host tcp 10.244.1.6 8080",
        ("in host: ip link set veth2 nomaster",),
        ("in host: ip link add veth9 type veth peer name veth9p",),
        r"veth2",
    ),
    Fault(
        "probes-of-kubelet-dropped", "routed", "legacy", "host tcp 10.244.1.6 8080",
        (("in host: iptables-legacy -A OUTPUT -d 10.244.1.0/24 -p tcp -m conntrack --ctstate NEW "
          "-j DROP"),),
        (("in host: iptables-legacy -A OUTPUT -d 10.244.1.0/24 -p tcp -m conntrack --ctstate "
         "INVALID -j DROP"),),
        r"OUTPUT",
    ),
    Fault(
        "dns-dropped", "routed", "nft", "web udp 10.96.0.10 53",
        ("in host: iptables-nft -I FORWARD 1 -p udp -m udp --dport 53 -j DROP",),
        ("in host: iptables-nft -I FORWARD 1 -p udp -m udp --dport 5353 -j DROP",),
        r"FORWARD.*53|53.*DROP",
    ),
    Fault(
        "hostport-to-nobody", "bridge", "nft", "far tcp 192.168.50.11 8088",
        (
            "in host: iptables-nft -t nat -F CNI-DN-1f5bb1f5bb1f5bb1f5bb1",
            _HOSTPORT.format(8088, "10.244.1.55:80"),
        ),
        (_HOSTPORT.format(8089, "10.244.1.6:8080"),),
        r"10\.244\.1\.55",
    ),
    Fault(
        "nodeport-dropped", "bridge", "legacy", "far tcp 192.168.50.11 30080",
        (("in host: iptables-legacy -t raw -A PREROUTING -i eth0 -p tcp -m tcp --dport 30000:32767 "
         "-j DROP"),),
        (("in host: iptables-legacy -t raw -A PREROUTING -i eth0 -p tcp -m tcp --dport 32000:32767 "
         "-j DROP"),),
        r"30000:32767|30080",
    ),
    Fault(
        "tunnel-too-large", "bridge", "nft", "",
        (
            "in host: ip link set flannel.1 mtu 1500", "in host: ip link set cni0 mtu 1500",
            "in host: ip link set veth1 mtu 1500", "in web: ip link set eth0 mtu 1500",
        ),
        ("in host: ip link set eth0 mtu 1500",),
        r"flannel\.1|mtu|MTU",
    ),
    Fault(
        "api-server-dropped", "bridge", "legacy", "web tcp 10.96.0.1 443",
        (("in host: iptables-legacy -I INPUT 1 -p tcp -m tcp --dport 6443 ! -s 192.168.50.0/24 -j "
         "DROP"),),
        (("in host: iptables-legacy -I INPUT 1 -p tcp -m tcp --dport 6443 -s 172.30.0.0/16 -j "
         "DROP"),),
        r"6443",
    ),
    Fault(
        "pod-without-default-route", "bridge", "nft", "web tcp 10.96.0.10 53",
        ("in web: ip route del default",),
        ("in web: ip route replace default via 10.244.1.1 metric 50", ),
        r"web",
    ),
    Fault(
        "untracked-pods", "bridge", "nft", "web tcp 10.96.44.7 80",
        ("in host: iptables-nft -t raw -A PREROUTING -s 10.244.1.0/24 -j NOTRACK",),
        ("in host: iptables-nft -t raw -A PREROUTING -s 10.55.1.0/24 -j NOTRACK",),
        r"NOTRACK|untracked|CT",
    ),
)  # fmt: skip


class Seen(TypedDict):
    """What came of one fault and its twin."""

    fails: bool
    """Whether the kernel fails the connection where the fault is, and not where its twin is."""
    verdict: str
    named: bool
    first: list[str]
    twin_verdict: str
    twin_findings: list[str]


def live_through(fault: Fault, folder: Path) -> Seen:
    """Build a fault and its twin, and diagnose both unasked."""
    bad, good = folder / fault.name / "bad", folder / fault.name / "good"
    works = []
    twins = (bad, fault.broken_by, PATIENCE), (good, fault.twin, LONG_PATIENCE)
    for bundle, lines, patience in twins:
        with standing(fault.shape, fault.backend):
            run_lines(lines)
            take_snapshot(bundle)
            works.append(not fault.connection or connects(fault.connection, patience))
    return judge(fault, folder, fails=not fault.connection or works == [False, True])


def judge(fault: Fault, folder: Path, *, fails: bool = True) -> Seen:
    """Diagnose the two bundles."""
    answer, twin = diagnose(folder / fault.name / "bad"), diagnose(folder / fault.name / "good")
    first = answer.text(Style(width=100)).splitlines()[:3]
    return Seen(
        fails=fails,
        verdict=answer.verdict,
        named=re.search(fault.named, " ".join(line.strip() for line in first)) is not None,
        first=first,
        twin_verdict=twin.verdict,
        twin_findings=[finding.check for finding in twin.findings if finding.severity in WEIGHTY],
    )


def main() -> None:
    """Live through all faults, or those that are named."""
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    enter_private_world()
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    sys.stdout.write(
        json.dumps({fault.name: live_through(fault, folder) for fault in chosen}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
