"""external-address-of-node: a service has the address of a node or of another machine as external
IP, and kube-proxy's IPVS mode gives it to every node.

What it is
    `externalIPs` of a service lists the address of a node, or of a machine beside the cluster, and
    kube-proxy runs in IPVS mode.

Why it breaks
    In IPVS mode kube-proxy binds each external IP to kube-ipvs0 on all nodes. The other nodes then
    treat that node's address as their own: what they send to it never leaves them, so kubelet, etcd
    and pods on that node are out of their reach and nodes become NotReady. The same holds for any
    other machine: no node reaches it. The iptables and nftables modes only write rules for the
    service's port.

How to confirm
    kubectl get nodes -o wide; kubectl get svc -A -o wide; ip addr show kube-ipvs0
    ip route get NODE_ADDRESS      # on another node: `local`, by lo

How to fix
    Take the address out of the service's externalIPs (a NodePort is open on every node's address
    anyway), or use an address of no node.

References
    syncProxyRules (pkg/proxy/ipvs/proxier.go): external IPs are bound to the dummy device, except
    for those of the node itself; Kubernetes, Virtual IPs and Service Proxies
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.told import list_lost
from podpath.net.complaints import EndKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.IPVS, Category.DUPLICATE_ADDRESS, Category.LOAD_BALANCER)
NAME = "external-address-of-node"
DEVICE = "kube-ipvs0"
POSSIBLE = 0.6
MACHINE = 0.7
_SERVED = frozenset({EndKind.SERVICE, EndKind.NODE_PORT, EndKind.LOAD_BALANCER})
ASK = FollowUp(
    "whether kube-proxy runs in IPVS mode",
    "kubectl -n kube-system get cm kube-proxy -o yaml | grep mode; ip addr show kube-ipvs0",
    "mode: ipvs, or the address is on kube-ipvs0 of another node: this is the cause",
)
ASK_OWN = FollowUp(
    "whether the address is this node's own",
    "ip -br addr; hostname; kubectl get nodes -o wide",
    "it is another node's: this is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first external IP that a node has, where the mode is IPVS or may be, or a node's
    address that another one holds on the device of that mode; where there is none, one of a machine
    that people say cannot be reached.
    """
    found = list(_list_of_nodes(case))
    yield from found or _list_of_machines(case)


def _list_of_machines(case: Case) -> Iterator[Finding]:
    """Yield an external IP that this node holds on the device of the mode, where people say that
    they do not reach it, and do not call it a service's. Whether a machine has it, only they say.
    """
    items = [one for one in case.node.host.addresses.items if one.span is not None]
    own = {one.address for one in items if one.link != DEVICE}
    held = {str(one.address): one for one in items if one.link == DEVICE}
    told = {
        str(address): one
        for one in list_lost(case)
        if one.target not in _SERVED
        for address in one.addresses
        if address not in own
    }
    for service in see(case, "Service"):
        for place in _list_external(service):
            item, said = held.get(place.text), told.get(place.text)
            if item is not None and item.span is not None and said is not None:
                yield _report_machine(service, place, item.span, said.span)
                return


def _report_machine(service: ObjectSightings, place: Tree, held: Span, said: Span) -> Finding:
    address = place.text
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The node treats {address} as its own, since it is the external IP of {service.title}:"
            " a machine that has it is out of reach of every node."
        ),
        evidence=(held, place.line, said),
        reasoning=("What a node sends to an address of its own never leaves it.",),
        breaks=(f"what nodes send to the machine that has {address}",),
        repairs=(
            Repair(
                title="give the service an address that no machine has",
                commands=(
                    f"kubectl -n {service.namespace or 'NAMESPACE'} edit service {service.name}",
                ),
            ),
        ),
        prevention="Use addresses of no machine as external IPs, or a NodePort.",
        certainty=MACHINE,
        asks=(
            FollowUp(
                f"whether a machine outside the cluster has {address}",
                f"arping -c 3 -I DEVICE {address}   # from a machine that is no node",
                "one answers: the nodes cannot reach it; nobody does: the address is the service's",
            ),
        ),
        marks=(address,),
    )


def _list_of_nodes(case: Case) -> Iterator[Finding]:
    """Yield what concerns the addresses of nodes."""
    addresses = _list_addresses(case)
    if len(addresses) < 2:  # one node takes nobody else's address
        return
    told = _list_modes(case)
    mode = next((place.line for place in told if place.text == "ipvs"), None) or _find_device(case)
    yield from _list_held(case, addresses)
    if mode is None and (told or Technology.IPVS not in case.mentions):
        return
    for service in see(case, "Service"):
        for place in _list_external(service):
            owner = addresses.get(place.text)
            if owner is not None:
                yield _report(service, place, owner, mode)
                return


def _list_held(case: Case, addresses: Mapping[str, tuple[str, Span]]) -> Iterator[Finding]:
    """Report the first address of another node that is on kube-ipvs0: a node's own ones are never
    bound to it, and one that is on another device of this host, too, is its own. It is certain
    where this host is shown to be another node: a listing of that device alone may be anybody's.
    Where services are shown, they tell it themselves.
    """
    if any(see(case, "Service")):
        return
    items = case.node.host.addresses.items
    own = {str(item.address) for item in items if item.link != DEVICE}
    for item in items:
        held = str(item.address)
        if item.link != DEVICE or item.span is None or held in own or held not in addresses:
            continue
        sure = not own.isdisjoint(addresses)
        yield _tell_held(held, addresses[held], item.span, sure=sure)
        return


def _tell_held(held: str, owner: tuple[str, Span], span: Span, *, sure: bool) -> Finding:
    name, line = owner
    where = " of another node" if sure else ": of another node, if this is one"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The address {held} of node {name} is on kube-ipvs0{where}, which takes it for its "
            "own."
        ),
        evidence=(span, line),
        reasoning=("What a node sends to an address of its own never leaves it.",),
        breaks=(f"everything that this node sends to {name}",),
        repairs=(
            Repair(
                title="find the service that has the address as external IP, and take it out",
                commands=(f"kubectl get svc -A -o wide | grep -F {held}",),
            ),
        ),
        prevention="Use addresses of no node as external IPs, or a NodePort.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK_OWN,),
        marks=(held,),
    )


def _list_addresses(case: Case) -> Mapping[str, tuple[str, Span]]:
    """Return the nodes by their addresses."""
    return {
        item.text_at("address"): (node.name, item.line)
        for node in see(case, "Node")
        for item in node.items_at("status", "addresses")
        if item.text_at("type") == "InternalIP"
    }


def _list_modes(case: Case) -> tuple[Tree, ...]:
    """Return the modes that configurations of kube-proxy state."""
    modes = (seen.at("mode") for seen in see(case, "KubeProxyConfiguration"))
    return tuple(mode for mode in modes if mode is not None and mode.text)


def _find_device(case: Case) -> Span | None:
    """Return what shows the device of the IPVS mode on the host."""
    return next(
        (
            one.span
            for one in case.node.host.links.items
            if one.name == DEVICE and one.inferred is None and one.span is not None
        ),
        None,
    )


def _list_external(service: ObjectSightings) -> Iterator[Tree]:
    """Yield the external IPs of a service: those of its specification, or the column of a table,
    which for a load balancer holds the addresses that it was given.
    """
    yield from service.items_at("spec", "externalIPs")
    if service.text_at("spec", "type") in {"ClusterIP", "NodePort"}:
        for item in service.items_at("status", "loadBalancer", "ingress"):
            place = item.at("ip")
            if place is not None:
                yield place


def _report(
    service: ObjectSightings, place: Tree, owner: tuple[str, Span], mode: Span | None
) -> Finding:
    name, line = owner
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The service {service.title} has the address {place.text} of node {name} as external "
            "IP: in IPVS mode every other node treats that address as its own."
        ),
        evidence=tuple(dict.fromkeys((place.line, line, *((mode,) if mode else ())))),
        reasoning=("What a node sends to an address of its own never leaves it.",),
        breaks=(f"everything that other nodes send to {name}",),
        repairs=(
            Repair(
                title="take the address out of the service",
                commands=(
                    f"kubectl -n {service.namespace or 'NAMESPACE'} edit service {service.name}",
                ),
            ),
        ),
        prevention="Use addresses of no node as external IPs, or a NodePort.",
        certainty=1.0 if mode is not None else POSSIBLE,
        asks=() if mode is not None else (ASK,),
        marks=(place.text,),
    )
