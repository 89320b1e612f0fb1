"""What a bundle holds of each network namespace: a file's name and the command that prints it, as
data.

Machine-readable forms are asked for wherever a tool has one; nft JSON is kept for native tables
only, since it loses the arguments of iptables extensions, and the text stands beside it, since up
to nft 1.0.6 it loses the devices of ingress chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class FileCommand(NamedTuple):
    """One file of a bundle."""

    name: str
    arguments: tuple[str, ...]
    package: str
    """The Debian package of the program."""


class ProgramOutput(NamedTuple):
    """What a program printed."""

    code: int
    printed: bytes
    complaint: bytes


NETNS_FILES: tuple[FileCommand, ...] = (
    FileCommand("ip-link.json", ("ip", "-d", "-j", "link"), "iproute2"),
    FileCommand("ip-addr.json", ("ip", "-d", "-j", "addr"), "iproute2"),
    FileCommand("ip-route.json", ("ip", "-d", "-j", "route", "show", "table", "all"), "iproute2"),
    FileCommand(
        "ip6-route.json", ("ip", "-6", "-d", "-j", "route", "show", "table", "all"), "iproute2"
    ),
    FileCommand("ip-rule.json", ("ip", "-d", "-j", "rule"), "iproute2"),
    FileCommand("ip6-rule.json", ("ip", "-6", "-d", "-j", "rule"), "iproute2"),
    FileCommand("ip-neigh.json", ("ip", "-d", "-j", "neigh", "show", "nud", "all"), "iproute2"),
    FileCommand("ip-neigh-proxy.json", ("ip", "-d", "-j", "neigh", "show", "proxy"), "iproute2"),
    FileCommand("ip-xfrm-policy.txt", ("ip", "xfrm", "policy"), "iproute2"),
    FileCommand("tc-qdisc.txt", ("tc", "qdisc"), "iproute2"),
    FileCommand("sysctl.txt", ("sysctl", "-a", "-r", "^net\\."), "procps"),
    FileCommand("iptables-save.txt", ("iptables-nft-save", "-c"), "iptables"),
    FileCommand("iptables-legacy-save.txt", ("iptables-legacy-save", "-c"), "iptables"),
    FileCommand("ip6tables-save.txt", ("ip6tables-nft-save", "-c"), "iptables"),
    FileCommand("ip6tables-legacy-save.txt", ("ip6tables-legacy-save", "-c"), "iptables"),
    FileCommand("nft.json", ("nft", "-a", "-j", "list", "ruleset"), "nftables"),
    FileCommand("nft.txt", ("nft", "-a", "list", "ruleset"), "nftables"),
    FileCommand("ipset.txt", ("ipset", "save"), "ipset"),
    FileCommand("conntrack.txt", ("conntrack", "-L", "-o", "extended,id"), "conntrack"),
    FileCommand("bridge-link.json", ("bridge", "-d", "-j", "link"), "iproute2"),
    FileCommand("bridge-fdb.json", ("bridge", "-d", "-j", "fdb"), "iproute2"),
    FileCommand("bridge-vlan.json", ("bridge", "-d", "-j", "vlan"), "iproute2"),
    FileCommand("wg.txt", ("wg", "show"), "wireguard-tools"),
    FileCommand("ss.txt", ("ss", "-tulnp"), "iproute2"),
    FileCommand("nstat.json", ("nstat", "-asj"), "iproute2"),
)
"""In the order they are taken: what changes fastest comes last but one, so that a bundle is one
moment as far as it can be.
"""


class NetnsAspect(StrEnum):
    """What of a namespace changes by itself, and can be taken by itself."""

    RULES = "rules"
    """Of Netfilter, with their sets."""
    ROUTES = "routes"
    """With the rules of the routing policy."""
    WHOLE = "whole"


ASPECT_FILES: Mapping[NetnsAspect, tuple[str, ...]] = {
    NetnsAspect.RULES: (
        "iptables-save.txt", "iptables-legacy-save.txt", "ip6tables-save.txt",
        "ip6tables-legacy-save.txt", "nft.json", "nft.txt", "ipset.txt",
    ),
    NetnsAspect.ROUTES: ("ip-route.json", "ip6-route.json", "ip-rule.json", "ip6-rule.json"),
    NetnsAspect.WHOLE: tuple(each.name for each in NETNS_FILES),
}  # fmt: skip
"""The files that tell each."""
NODE_FILES: tuple[FileCommand, ...] = (
    FileCommand("modules.txt", ("lsmod",), "kmod"),
    FileCommand("ovs-vsctl.txt", ("ovs-vsctl", "show"), "openvswitch-switch"),
    FileCommand("bond-show.txt", ("ovs-appctl", "bond/show"), "openvswitch-switch"),
)
"""Node-wide files, taken once."""


def aspect_of(file: str) -> NetnsAspect:
    """Return the aspect of which a file, by its path, tells."""
    name = file.rpartition("/")[2]
    aspects = (each for each, names in ASPECT_FILES.items() if name in names)
    return next(aspects, NetnsAspect.WHOLE)
