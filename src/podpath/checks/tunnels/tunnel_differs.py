"""tunnel-differs: two nodes have the same tunnel with different network identifiers or ports.

What it is
    `ip -d link` of two named hosts shows the same vxlan or geneve device with another `id` or
    another `dstport` on each: another backend or version of the plugin, an old device that was
    kept, or a configuration that reached only one of them.

Why it breaks
    The receiving kernel looks the tunnel up by port and identifier. If they differ, it finds no
    device and drops the packet, or answers that the port is unreachable.

How to confirm
    ip -d link show dev DEVICE              # on each node: id, dstport, local
    tcpdump -nn -i any udp                  # the packets arrive, and nothing comes out

How to fix
    Make the plugin's configuration the same on all nodes, delete the device that differs, and
    restart the plugin's agent there.

References
    vxlan_rcv (drivers/net/vxlan/vxlan_core.c v6.12); RFC 7348; ip-link(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import fails_between_workloads
from podpath.net.clashes import Clash, ClashKind
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CONFIGURATION,)
NAME = "tunnel-differs"


def check(case: Case) -> Iterator[Finding]:
    """Report each parameter of one tunnel that two named hosts have differently."""
    fails = fails_between_workloads(case)
    for clash in case.clashes:
        if clash.kind is ClashKind.TUNNEL:
            yield _report(clash, sure=fails)


def _report(clash: Clash, *, sure: bool) -> Finding:
    first, second = clash.values
    ask = FollowUp(
        "whether what fails goes through this tunnel",
        "tcpdump -nn -i any udp (on both nodes, while it fails)",
        "its packets arrive at the other node but come out of no device there",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The {clash.key} is {first} on {clash.hosts[0]} and {second} on {clash.hosts[1]}: "
            "neither accepts the other's packets."
        ),
        evidence=clash.spans,
        reasoning=("The kernel finds a tunnel device by its port and network identifier.",),
        breaks=("traffic between pods of these nodes",),
        prevention="Keep one configuration of the plugin for all nodes.",
        certainty=1.0 if sure else 0.7,
        marks=clash.values,
        asks=() if sure else (ask,),
    )
