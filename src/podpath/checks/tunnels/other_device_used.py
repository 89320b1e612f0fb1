"""other-device-used: an agent uses a device other than the one it was told to use.

What it is
    A flag names the device or address of a node (--iface, --flannel-iface, --node-ip, Calico's
    IP_AUTODETECTION_METHOD), and the agent's own log says that it uses another one.

Why it breaks
    Other nodes send tunneled packets and routes to the address that the agent took. If it belongs
    to a network that they do not share, or that is slow or filtered, they cannot reach this node's
    pods. The flag did not get to the agent: a wrong escape at a line's end, a flag of another
    program, a file that is not read, or the agent was not restarted.

How to confirm
    ps -ef | grep -e flannel -e k3s; the agent's log right after its start
    kubectl get nodes -o yaml | grep -e public-ip -e IPv4Address -e node-args

How to fix
    Correct the unit or manifest so that the agent gets the flag as one word, reload and restart it,
    and look in its log for the device.

References
    flannel's documentation on --iface; docs.k3s.io, networking options; docs.tigera.io, IP
    autodetection methods
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import LOSSES
from podpath.net.addresses import Prefix, read_address
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_ENDPOINT, Category.ROUTE_DISTRIBUTION)
NAME = "other-device-used"
POSSIBLE = 0.7
"""The log may be older than the flag, or of another node."""
NEAR = 24
"""Addresses in one network of this length may be two of one device."""
_NAMES = {
    "node-ip": "--node-ip", "iface": "--iface", "flannel-iface": "--flannel-iface",
    "IP_AUTODETECTION_METHOD": "IP_AUTODETECTION_METHOD", "value": "IP_AUTODETECTION_METHOD",
}  # fmt: skip
ASK = FollowUp(
    "whether the agent was started with the flag, and what it took then",
    "ps -ef | grep -e iface -e node-ip; the agent's log since its last start",
    "it runs with the flag and takes another device: the flag does not reach it as one word",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first device that an agent takes while a flag names another."""
    taken = find_said(case, MessageKind.DEVICE_TAKEN_BY_AGENT)
    devices = find_said(case, MessageKind.DEVICE_WANTED)
    for message in taken:
        names = {one.values["device"] for one in devices}
        if devices and message.values["device"] not in names:
            yield _report(devices[0], message, devices[0].values["device"])
            return
    own = [one for one in find_said(case, MessageKind.OWN_ADDRESS_WANTED) if _is_node_ip(one)]
    addresses = {one.values["address"] for one in own}
    for message in taken if len(addresses) == 1 and not devices else ():
        if not _may_be_near(own[0], message):
            yield _report(own[0], message, own[0].values["address"])
            return


def _is_node_ip(message: Message) -> bool:
    return message.values["what"] == "node-ip"


def _may_be_near(wanted: Message, taken: Message) -> bool:
    """Tell whether two addresses may be of one network, and so of one device."""
    one, other = (read_address(message.values["address"]) for message in (wanted, taken))
    if one is None or other is None:
        return True
    return Prefix.of(one, NEAR) == Prefix.of(other, NEAR)


def _report(wanted: Message, taken: Message, value: str) -> Finding:
    device, address = taken.values["device"], taken.values["address"]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{_NAMES[wanted.values['what']]} names {value}, but the agent takes {device} "
        f"({address}).",
        evidence=(taken.span, wanted.span),
        reasoning=("Other nodes send their tunneled packets to the address that it takes.",),
        breaks=("packets from other nodes to this node's pods, and their speed",),
        prevention="Look in the agent's log for the device after every change of its flags.",
        certainty=POSSIBLE,
        asks=(ASK,),
        marks=(device, value),
        proves=LOSSES,
    )
