"""What the evidence holds whole: it is never asked for again."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from podpath.node.case import Case
from podpath.node.node import HOST


class AnsweringOutput(StrEnum):
    """An output that answers a question."""

    RULESET = "the ruleset"
    ROUTES = "routes and policy rules"
    IP_FORWARD = "ip_forward"
    RP_FILTER = "rp_filter"
    BRIDGE_NETFILTER = "bridge-nf-call-iptables"
    CONNTRACK = "the conntrack table"
    SOCKETS = "listening sockets"
    CAPTURE = "a capture of several places"
    OFFLOADS = "the offloads of a device"
    SERVICES = "services with their endpoints"
    CNI_FILES = "the CNI configuration"
    RESOLV_CONF = "resolv.conf"
    KERNEL_LOG = "the kernel's log"


def list_holdings(case: Case) -> frozenset[AnsweringOutput]:
    """Return what the evidence holds whole, on the host that the case is about."""
    return frozenset(holding for holding, holds in _HOLDS if holds(case))


def _has_sysctl(key: str) -> Callable[[Case], bool]:
    return lambda case: key in case.node.host.sysctls or case.node.host.sysctls_complete


def _has_ruleset(case: Case) -> bool:
    rules = case.node.host.netfilter.get(4)
    return rules is not None and rules.complete


def _has_sockets(case: Case) -> bool:
    return any(
        netns.sockets.complete for name, netns in case.node.namespaces.items() if name != HOST
    )


def _has_services(case: Case) -> bool:
    return any(
        port.endpoints and port.complete for service in case.node.services for port in service.ports
    )


_HOLDS: tuple[tuple[AnsweringOutput, Callable[[Case], bool]], ...] = (
    (AnsweringOutput.RULESET, _has_ruleset),
    (
        AnsweringOutput.ROUTES,
        lambda case: case.node.host.routes.complete and case.node.host.rules.complete,
    ),
    (AnsweringOutput.IP_FORWARD, _has_sysctl("net.ipv4.ip_forward")),
    (AnsweringOutput.RP_FILTER, _has_sysctl("net.ipv4.conf.all.rp_filter")),
    (AnsweringOutput.BRIDGE_NETFILTER, _has_sysctl("net.bridge.bridge-nf-call-iptables")),
    (AnsweringOutput.CONNTRACK, lambda case: case.node.host.conntrack.complete),
    (AnsweringOutput.SOCKETS, _has_sockets),
    (AnsweringOutput.CAPTURE, lambda case: len({seen.capture for seen in case.sightings}) > 1),
    (AnsweringOutput.SERVICES, _has_services),
    (AnsweringOutput.CNI_FILES, lambda case: bool(case.node.cni)),
)
"""What each is seen by; an output that no row knows of is asked for even where it is there."""
