"""uplink-hears-nothing: a card sent packets and never received one.

What it is
    The counters of a device that leads out of the host (`ip -s link`, ifconfig, /proc/net/dev) show
    packets sent and not one received, not even a broadcast.

Why it breaks
    On a network with anybody else in it some frame is heard within seconds: ARP, neighbor
    discovery, spanning tree. A device that hears nothing is on a port that is blocked, on a VLAN
    that the switch does not carry to it, on a virtual switch that is not connected, or its driver
    does not receive.

How to confirm
    tcpdump -eni DEVICE for a minute: do any frames come in, and with which tag?
    ethtool -S DEVICE; bridge vlan (for a virtual machine, on its host)
    the switch port's VLANs and counters

How to fix
    Give the port the VLAN that the device uses, connect the virtual switch, or update the driver.

References
    include/uapi/linux/if_link.h:rtnl_link_stats64 v6.12; IEEE 802.1Q
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.device_traffic import DeviceTraffic, list_traffic
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.node.case import Case
from podpath.node.node import NetnsRole

CATEGORIES = (
    Category.OUTSIDE_NODE,
    Category.VLAN,
    Category.NIC_DRIVER,
    Category.MAC_NOT_ALLOWED,
)
NAME = "uplink-hears-nothing"
_CARD = re.compile(r"(?:eth|en[opsx]|em|p\d+p|bond|team|vlan|ib)\w*(?:\.\d+)?$")
_VIRTUAL = {"veth", "macvlan", "ipvlan", "dummy", "tun", "bridge"}


def check(case: Case) -> Iterator[Finding]:
    """Report each card of the host that sent and never received."""
    for traffic in list_traffic(case):
        if not traffic.hears_nothing or not _leads_out(case, traffic):
            continue
        sent = traffic.count("tx_packets")
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"{traffic.link} has sent {sent} packets and never received a single one.",
            evidence=(traffic.span("rx_packets"), traffic.span("tx_packets")),
            reasoning=("On a network with other hosts, some broadcast always arrives.",),
            breaks=(f"everything through {traffic.link}",),
            prevention="Monitor the received packets of each uplink.",
            certainty=0.6,
            marks=("RX packets 0", "RX packets:0", "RX:"),
            asks=(
                FollowUp(
                    fact=f"whether any frame reaches {traffic.link}, and with which VLAN tag",
                    command=f"tcpdump -eni {traffic.link}; ethtool -S {traffic.link}",
                    decides=(
                        "none: the switch port, its VLANs, or the virtual switch; some that the "
                        "counter misses: the driver"
                    ),
                ),
            ),
        )


def _leads_out(case: Case, traffic: DeviceTraffic) -> bool:
    """Tell whether it is a card, a bond or a VLAN of the host, by its name and by what is known."""
    namespace = case.node.namespaces.get(traffic.netns)
    if namespace is None or namespace.role != NetnsRole.HOST or not _CARD.match(traffic.link):
        return False
    kinds = {link.kind for link in namespace.links.items if link.name == traffic.link}
    return not kinds & _VIRTUAL
