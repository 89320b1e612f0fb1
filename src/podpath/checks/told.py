"""Which traffic people say is cut off: the second fact beside a switch that is stated off, where no
connection could be walked.

A sentence states nothing of a host. It says what the host is to do: a switch that is off is a fault
only on a host that has to forward, and what it breaks is told apart by the ends of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import NAMES, FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

WORKLOADS = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.GUEST})
_BEYOND = frozenset({None, EndKind.NODE, EndKind.GUEST})
"""Whom people may mean by what is behind a host."""
BEHIND = WORKLOADS | {EndKind.OUTSIDE}
"""Who may stand behind a host that is a gateway; clients of a LAN are outside of it, too."""
SERVICES = frozenset({EndKind.SERVICE, EndKind.NAME_SERVER, EndKind.API_SERVER})
INNER = WORKLOADS | SERVICES | {EndKind.NODE_PORT, EndKind.LOAD_BALANCER}
"""Whom a host forwards for."""
LOSSES = frozenset({
    FailureKind.TIMEOUT, FailureKind.UNREACHABLE, FailureKind.HANGS,
    FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT,
})  # fmt: skip
"""How people say that nothing comes back. That names are not resolved is the same where their
server is beyond the host.
"""
ROUTERS = frozenset({
    Technology.DOCKER, Technology.KUBERNETES, Technology.PODMAN, Technology.LXC, Technology.KVM,
    Technology.SECOND_INTERFACE, Technology.OPENVPN, Technology.WIREGUARD, Technology.BRIDGE,
    Technology.PROXMOX, Technology.K3S,
})  # fmt: skip
"""What a ticket speaks of where the host forwards for somebody."""
UNBRIDGED = frozenset(
    {Technology.CILIUM, Technology.CALICO, Technology.MACVLAN, Technology.IPVLAN, Technology.SRIOV}
)
"""Networks whose pods hang on no bridge of the host, or pass by its own stack."""


ASIDE = frozenset({Technology.MACVLAN, Technology.IPVLAN, Technology.SRIOV})
"""Networks that pass by the host's own stack."""


_OF_NAMES = NAMES | {FailureKind.NAME_NOT_RESOLVED}
_PROXIES = frozenset({"proxy", "filter", "squid", "privoxy", "cache", "portal"})
"""Words for a program of the host that clients are redirected to."""


_OF_CLUSTER = frozenset({
    Technology.FLANNEL, Technology.CALICO, Technology.CILIUM, Technology.WEAVE,
    Technology.KUBE_ROUTER, Technology.KUBE_OVN, Technology.OVN_KUBERNETES,
    Technology.OPENSHIFT_SDN, Technology.ANTREA, Technology.AWS_CNI, Technology.MULTUS,
    Technology.CNI, Technology.KUBERNETES, Technology.KUBELET, Technology.K3S, Technology.TALOS,
    Technology.NETWORK_POLICY, Technology.KUBE_PROXY, Technology.COREDNS,
    Technology.NODE_LOCAL_DNS, Technology.METALLB, Technology.INGRESS, Technology.NODE_PORT,
    Technology.ISTIO, Technology.LINKERD, Technology.WEBHOOK, Technology.CRASH_LOOP,
    Technology.TRAFFIC_POLICY_LOCAL,
})  # fmt: skip
_ENDS_OF_CLUSTER = frozenset({
    EndKind.POD, EndKind.SERVICE, EndKind.API_SERVER, EndKind.NODE_PORT,
})  # fmt: skip
_OF_DOCKER = frozenset({"Container", "Network", "Compose"})
"""Kinds of objects that are Docker's."""


def is_of_cluster(case: Case) -> bool:
    """Tell whether anything in a case is of Kubernetes."""
    ends = {end for one in case.complaints for end in (one.source, one.target)}
    shown = case.node.pods or case.node.services or case.node.cni
    kinds = {one.kind for one in case.objects} - _OF_DOCKER
    return bool(shown or kinds or ends & _ENDS_OF_CLUSTER or case.mentions & _OF_CLUSTER)


def list_failing(case: Case) -> Iterator[Complaint]:
    """Yield the sentences that say that something fails."""
    return (complaint for complaint in case.complaints if not complaint.works)


def list_failing_addresses(case: Case) -> frozenset[Address]:
    """Return the addresses of what fails: those that prose names, and the ends of what was
    tried.
    """
    named = {address for complaint in list_failing(case) for address in complaint.addresses}
    tried = (attempt.probe for attempt in case.attempts if attempt.is_bad)
    named |= {end for probe in tried for end in (probe.src, probe.dst)}
    named |= {one.dst for one in case.unplaced if one.dst is not None}
    return frozenset(named)


def find_told(case: Case, circumstance: Circumstance) -> Span | None:
    """Return the sentence that tells a circumstance; None where none does."""
    spans = (told.span for told in case.told if told.circumstance is circumstance)
    return next(spans, None)


def list_lost(case: Case) -> tuple[Complaint, ...]:
    """Return the sentences that say that something gets no answer, or just that it fails."""
    return tuple(one for one in list_failing(case) if one.failure in {None, *LOSSES})


def list_cut_from_forwarding(case: Case) -> tuple[Span, ...]:
    """Return the sentences that say that what this host would have to forward is cut off.

    It is what workloads send beyond the host, what comes in for a published port, and what machines
    behind this host send beyond it.
    """
    if _is_forwarding_told(case) or case.mentions & ASIDE:
        return ()
    found = [one.span for one in list_failing(case) if is_forwarded(one)]
    publishes = find_told(case, Circumstance.PUBLISHES)
    if publishes is not None:
        found += [one.span for one in list_lost(case) if one.source is EndKind.OUTSIDE]
    if find_told(case, Circumstance.ROUTES_FOR_OTHERS) is not None:
        found += [one.span for one in list_lost(case) if _is_from_behind(one)]
    if find_told(case, Circumstance.SERVES_VPN) is not None:
        found += [one.span for one in list_lost(case) if is_from_others(one)]
    return tuple(dict.fromkeys(found))


def _is_forwarding_told(case: Case) -> bool:
    """Tell whether people say that something which the host has to forward works."""
    return any(
        one.works and one.source in BEHIND and one.target is EndKind.OUTSIDE
        for one in case.complaints
    )


def _is_from_behind(complaint: Complaint) -> bool:
    """Tell whether what fails goes from behind the host to what lies beyond it: its sentence says
    who is behind, or names somebody who may be.
    """
    behind = Circumstance.ROUTES_FOR_OTHERS in complaint.circumstances or complaint.source in BEHIND
    return behind and complaint.target is EndKind.OUTSIDE


def is_from_others(complaint: Complaint) -> bool:
    """Tell whether what fails goes from other machines to the outside world, or to what is said to
    be behind the host.
    """
    beyond = complaint.target is EndKind.OUTSIDE
    behind = complaint.target in _BEYOND and Circumstance.BEHIND_IT in complaint.circumstances
    return complaint.source in BEHIND and (beyond or behind)


def is_forwarding_asked(case: Case) -> bool:
    """Tell whether what fails may be of pods or containers: nobody says what fails, or it has to do
    with what the host forwards for.
    """
    failing = tuple(list_failing(case))
    told = {end for one in failing for end in (one.source, one.target)}
    routes = find_told(case, Circumstance.ROUTES_FOR_OTHERS) is not None
    return not failing or routes or bool(ROUTERS & case.mentions) or bool(told & INNER)


def is_forwarder(case: Case) -> bool:
    """Tell whether the ticket speaks of something that the host forwards for, and says that
    anything fails.
    """
    return bool(ROUTERS & case.mentions) and any(True for _ in list_failing(case))


def is_forwarded(complaint: Complaint) -> bool:
    """Tell whether what fails has to be forwarded: from a workload to the outside world, or to one
    on another node.
    """
    elsewhere = complaint.target in {*WORKLOADS, EndKind.NODE} and complaint.same_node is False
    leaves = complaint.target is EndKind.OUTSIDE or elsewhere
    return complaint.source in WORKLOADS and leaves and complaint.failure in {None, *LOSSES}


def is_said_to_recur(case: Case) -> bool:
    """Tell whether people say that what fails works at times."""
    failing = tuple(list_failing(case))
    said = {one.failure for one in failing}.union(*(one.circumstances for one in failing))
    return not said.isdisjoint({FailureKind.SOMETIMES, Circumstance.INTERMITTENT})


def may_pass(case: Case, chain: str) -> bool:
    """Tell whether what fails may pass a base chain of the filter table: what the host forwards
    passes FORWARD alone, and what others open at the host passes INPUT.
    """
    if chain == "FORWARD":
        return is_forwarding_asked(case)
    failing = tuple(list_failing(case))
    return not failing or not all(
        is_forwarded(one)
        or is_of_clients_beyond(one)
        or (chain == "INPUT" and Circumstance.OUTGOING in one.circumstances)
        for one in failing
    )


def is_of_clients_beyond(complaint: Complaint) -> bool:
    """Tell whether what fails goes from machines behind the host to the outside world, by no name
    server and no proxy of the host.
    """
    ends = {complaint.source, complaint.target} == {EndKind.OUTSIDE}
    proxied = not _PROXIES.isdisjoint(complaint.spoken)
    return ends and complaint.failure not in _OF_NAMES and not proxied


def is_bridged(complaint: Complaint) -> bool:
    """Tell whether what fails goes from a workload by a service's address to another of the same
    node.
    """
    return (
        complaint.source in WORKLOADS
        and complaint.target in SERVICES
        and complaint.same_node is True
        and complaint.failure in {None, *LOSSES}
    )


def is_by_service(complaint: Complaint) -> bool:
    """Tell whether what fails goes by a service's address, wherever its ends are."""
    return complaint.target in SERVICES and complaint.failure in {None, *LOSSES}


def is_with_own_host(complaint: Complaint) -> bool:
    """Tell whether what fails is between the host itself and what runs on it."""
    if Circumstance.WITH_OWN_HOST in complaint.circumstances:
        return True
    ends = {complaint.source, complaint.target}
    return EndKind.NODE in ends and bool(ends & WORKLOADS) and complaint.same_node is not False


def is_of_space(case: Case, namespace: str) -> bool:
    """Tell whether what fails may be in a namespace of Kubernetes: sentences name it, or none."""
    named = {name for one in list_failing(case) for name in one.spaces}
    return not named or not namespace or namespace in named


def may_be_of_pod(complaint: Complaint, pod: str) -> bool:
    """Tell whether a sentence may be about a pod: its words name this one or its workload, or no
    pod at all.
    """
    named = {word for word in complaint.words if "-" in word}
    return not named or any(pod.startswith(word) or word.startswith(pod) for word in named)


def fails_between_workloads(case: Case) -> bool:
    """Tell whether people say that something fails of which an end is a workload, a service or a
    name server: it may go from node to node.
    """
    ends = WORKLOADS | {EndKind.SERVICE, EndKind.NAME_SERVER}
    return any({one.source, one.target} & ends for one in list_failing(case))
