"""cilium-device-missing: Cilium's programs are not on the device by which packets leave the node.

What it is
    `devices` of cilium-config, or the brackets behind `Masquerading: BPF` in its status, do not
    include the device of the node's default route.

Why it breaks
    BPF masquerading, and NodePorts without kube-proxy, are done by programs on the listed devices
    alone. A packet that a pod sends to the outside through another device keeps the pod's address,
    and nobody can reply to it; a NodePort is closed on that device. The list was written for other
    hardware, or this version does not know its separator and takes the whole list as one name.

How to confirm
    cilium status | grep Masquerading; cilium config view | grep devices
    ip route show default; tcpdump -nni UPLINK src net PODS

How to fix
    Name the device in `devices` (a pattern such as `en+` fits several nodes), or leave the option
    out so that Cilium finds the devices itself; restart the agents.

References
    Cilium, Masquerading and Kubernetes Without kube-proxy: NodePort Devices
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import LOSSES, WORKLOADS, list_failing
from podpath.checks.topology import find_link
from podpath.net.addresses import IfName
from podpath.net.complaints import Complaint, EndKind
from podpath.net.provenance import Known, Span, list_spans
from podpath.node.case import Case
from podpath.node.routing import Route

CATEGORIES = (Category.MASQUERADE_MISSING, Category.BPF, Category.CNI_CONFIGURATION)
NAME = "cilium-device-missing"
POSSIBLE = 0.7
ASK = FollowUp(
    "which devices have Cilium's programs, and through which one packets leave",
    "cilium status | grep Masquerading; ip route show default; tcpdump -nni UPLINK src net PODS",
    "they leave through a device that is not listed, with the pod's address: this is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the device of the default route where Cilium's list has others, and pods do not reach
    the world or a NodePort is closed.
    """
    options = case.node.cilium.options if case.node.cilium is not None else {}
    devices, bpf = options.get("devices"), options.get("enable-bpf-masquerade")
    failing = next((one for one in list_failing(case) if _is_by_device(one)), None)
    if not isinstance(devices, Known) or not devices.value or failing is None:
        return
    on = isinstance(bpf, Known) and bpf.value == "true"
    names = re.split(r"[\s,]+", devices.value.strip())
    ways = [route for route in case.node.host.routes.items if _is_default(route)]
    used = {str(hop.link): route for route in ways for hop in route.nexthops if hop.link}
    missed = {device: route for device, route in used.items() if not _is_listed(device, names)}
    if missed and len(missed) == len(used):
        device = next(iter(missed))
        spans = (devices, *((bpf,) if isinstance(bpf, Known) else ()), missed[device])
        sure = on and _is_card(case, device)
        yield _report(device, names, (*list_spans(spans), failing.span), sure=sure)


def _is_card(case: Case, name: str) -> bool:
    """Tell whether a listing shows a device, and that it is on no other one: what leaves by a bond,
    a bridge or a VLAN passes the card below, whose programs see it. Such a device has no queue,
    which may be all that a listing shows of it.
    """
    link = find_link(case.node.host, IfName(name))
    shown = link is not None and link.span is not None and "noqueue" not in link.span.text
    above = any(name in {one.master, one.lower} for one in case.node.host.links.items)
    return shown and link is not None and not (link.kind or link.lower or above)


def _is_default(route: Route) -> bool:
    return route.prefix.length == 0 and route.span is not None and route.inferred is None


def _is_listed(device: str, names: list[str]) -> bool:
    """Tell whether a list names a device; a plus at the end stands for anything."""
    return any(fnmatch.fnmatchcase(device, name.replace("+", "*")) for name in names)


def _is_by_device(complaint: Complaint) -> bool:
    """Tell whether what fails needs a program on the uplink: pods to the world, a NodePort."""
    lost = complaint.failure in {None, *LOSSES}
    leaves = complaint.source in WORKLOADS and complaint.target is EndKind.OUTSIDE
    return lost and (leaves or complaint.target is EndKind.NODE_PORT)


def _report(device: str, names: list[str], spans: tuple[Span, ...], *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Cilium's programs are on {', '.join(names)} alone, and packets leave the node "
            f"through {device}: nothing masquerades them there."
        ),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("BPF programs see only what passes the devices on which they are loaded.",),
        breaks=("connections from pods to the world, and NodePorts on that device",),
        prevention="Name devices by a pattern that fits all nodes, or let Cilium find them.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=(device, *names),
    )
