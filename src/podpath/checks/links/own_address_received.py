"""own-address-received: a bridge receives frames with its own MAC address as their source.

What it is
    `br0: received packet on eth0 with own address as source address`: the bridge's own frames come
    back to it, or another host has the same MAC address.

Why it breaks
    Two bridges with one MAC (cloned machines, or identical names and machine-ids, from which
    systemd derives the MAC) take each other's frames, and switches learn the address at both. A
    loop (two links without STP, a bond whose switch has no LACP) multiplies frames. Kubenet's
    promiscuous bridge logs this for its veths with every hairpin, which is harmless.

How to confirm
    ip link show BRIDGE on all hosts of the network; cat /etc/machine-id; bridge link
    cat /proc/net/bonding/BOND

How to fix
    Give each host its own machine-id or each bridge its own MAC (MACAddressPolicy=none in a .link
    file); break the loop.

References
    br_fdb_update (net/bridge/br_fdb.c); systemd.link(5), MACAddressPolicy
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.clashes import Clash, ClashKind
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.BRIDGE_CONFIGURATION, Category.NETWORK_MANAGER)
NAME = "own-address-received"
HAIRPINS = ("veth", "cali", "lxc", "tap", "vnet")
"""Ports of pods: with a promiscuous bridge and hairpin their frames come back as they should."""
ASK = FollowUp(
    "whether another host has the bridge's MAC address, or a loop brings its frames back",
    "ip -d link show type bridge; cat /etc/machine-id   # on each host of the network; bridge link",
    "the same MAC on two hosts: they are clones; otherwise there is a loop between two ports",
)


def _describe(twin: Clash, device: str) -> Meaning:
    """Say what two outputs show: the bridges of two hosts have one MAC."""
    return Meaning(
        claim=f"The bridges {twin.values[0]} of {' and '.join(twin.hosts)} have one MAC address, "
        f"{twin.key}: each receives the other's frames on {device} as its own.",
        breaks="frames for that address go to one host or the other",
        cure="give each host's bridge its own MAC address",
        commands=("ip -d link show type bridge", "cat /etc/machine-id"),
    )


def check(case: Case) -> Iterator[Finding]:
    """Report bridges that hear their own address from outside."""
    said = [
        message
        for message in find_said(case, MessageKind.OWN_ADDRESS_RECEIVED)
        if not message.values.get("device", "").startswith(HAIRPINS)
    ]
    if not said:
        return
    values = said[0].values
    twin = next(
        (
            clash
            for clash in case.clashes
            if clash.kind is ClashKind.BRIDGE_MAC and clash.key == values.get("mac", "").lower()
        ),
        None,
    )
    if twin is not None:
        found = tell(NAME, said, _describe(twin, values.get("device", "")))
        yield replace(found, evidence=(*found.evidence, *twin.spans))
        return
    mac = f" {values['mac']}" if "mac" in values else ""
    whose = f"The bridge {values['bridge']}" if "bridge" in values else "A bridge"
    yield tell(
        NAME,
        said,
        Meaning(
            claim=f"{whose} receives frames with its own MAC address{mac} on "
            f"{values.get('device', '')}: another host has the same one, or there is a loop.",
            breaks="frames for that address go to one host or the other",
            cure="give each host's bridge its own MAC address, or break the loop",
            commands=("ip -d link show type bridge", "cat /etc/machine-id"),
            certainty=0.8,
            ask=ASK,
        ),
    )
