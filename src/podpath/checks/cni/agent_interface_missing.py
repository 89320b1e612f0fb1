"""agent-interface-missing: the network agent finds no interface or address to use.

What it is
    Flannel, Calico, Cilium or k3s looks for the interface by name, by regular expression or by the default route, and
    finds none.

Why it breaks
    The interface has another name on this node, has no address yet, or the host has no default route. The agent ends
    or waits.

How to confirm
    ip -br addr; ip route show default

How to fix
    Name an interface or pattern that every node has (flannel --iface, IP_AUTODETECTION_METHOD of Calico, devices of
    Cilium), or set a default route.

References
    flannel, Documentation/configuration.md (--iface); Calico, Configuring node IP autodetection
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_ENDPOINT,
    Category.NO_ROUTE,
    Category.CNI_AGENT,
)
NAME = "agent-interface-missing"
KINDS = (MessageKind.INTERFACE_NOT_FOUND,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device", "name", "other")
    device = f" ({device})" if device else ""
    meaning = Meaning(
        claim=f"The network agent finds no interface to use{device}.",
        breaks="the pod network of the node",
        cure="name an interface that the node has, or set a default route",
        commands=("ip -br addr; ip route show default",),
    )
    yield tell(NAME, said, meaning)
