"""ip-forward: the host does not forward packets.

What it is
    net.ipv4.ip_forward is 0, or net.ipv4.conf.DEVICE.forwarding is 0 for the device that the
    packets come in on.

Why it breaks
    A packet for another host is dropped when it is routed, for IPv4 without an ICMP error (drop
    reason and counter IpInAddrErrors). Pods reach the host itself and their neighbors on the same
    bridge, but nothing beyond.

How to confirm
    sysctl net.ipv4.ip_forward net.ipv4.conf.DEVICE.forwarding
    nstat -az IpInAddrErrors

How to fix
    sysctl -w net.ipv4.ip_forward=1. To make it permanent: `net.ipv4.ip_forward = 1` in
    /etc/sysctl.d/k8s.conf. Writing the key sets every device at once; a tool that later writes a
    single device's key (hardening scripts do) turns it off for that device only.

References
    ip_route_input_slow, ip_mkroute_input (net/ipv4/route.c); inet_forward_change
    (net/ipv4/devinet.c)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.said import Meaning, find_said, tell
from podpath.checks.topology import find_attachments, known_sysctl
from podpath.net.messages import MessageKind
from podpath.node.case import Case
from podpath.node.change import SetSysctl
from podpath.node.node import HOST, Netns, Node

CATEGORIES = (Category.IP_FORWARD, Category.SYSCTL)
NAME = "ip-forward"
KEY = "net.ipv4.ip_forward"
SAID = Meaning(
    claim=(
        f"The host does not forward packets ({KEY} is off, as the runtime says), so its "
        "containers cannot reach anything beyond it."
    ),
    breaks="everything between the node's pods and other hosts",
    cure="turn on forwarding, and find the file in /etc/sysctl.d that turns it off",
    commands=(
        f"sysctl -w {KEY}=1",
        "grep -r ip_forward /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d /run/sysctl.d",
    ),
)
PREVENTION = "Put `net.ipv4.ip_forward = 1` in a file in /etc/sysctl.d that sorts last."


def check(case: Case) -> Iterator[Finding]:
    """Report a host with pods that is known not to forward."""
    switch = known_sysctl(case.node.host, KEY)
    said = find_said(case, MessageKind.FORWARDING_DISABLED)
    if said and (switch is None or switch.value == "0"):
        yield tell(NAME, said, SAID)
        return
    if (
        switch is None
        or switch.value != "0"
        or not (_has_pods(case.node) or _has_inner_bridge(case.node.host))
    ):
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The host does not forward packets ({KEY} is 0), so its pods cannot reach anything "
            "beyond it."
        ),
        evidence=(switch.span,) if switch.span is not None else (),
        reasoning=(
            (
                "The host has to forward what a pod sends to other nodes or to the outside; with "
                "the switch off, it is dropped."
            ),
        ),
        breaks=("everything between the node's pods and other hosts",),
        repairs=(switch_on(),),
        prevention=PREVENTION,
        marks=(KEY, "0"),
    )


def _has_pods(node: Node) -> bool:
    return next(find_attachments(node), None) is not None


def _has_inner_bridge(host: Netns) -> bool:
    """Tell whether a bridge with an address of the host's is there whose guests reach others only
    through the host: it has no port that leads out of it.
    """
    defaults = {
        hop.link
        for route in host.routes.items
        if route.prefix.length == 0
        for hop in route.nexthops
    }
    bridges = {link.name for link in host.links.items if link.kind == "bridge"} - defaults
    bridges -= {link.master for link in host.links.items if link.master and link.leaves_node}
    return bool(defaults) and any(item.link in bridges for item in host.addresses.items)


def switch_on() -> Repair:
    """Return the repair that lets the host forward."""
    return Repair(
        title="let the host forward packets",
        commands=(f"sysctl -w {KEY}=1",),
        changes=(SetSysctl(netns=HOST, key=KEY, value="1"),),
    )
