"""What cannot work without a component: the join between the component's own error and a failure
that people state.

An error line of a component says that it fails, and nothing of what else does. Where what is said
to fail is what that component is there for, and nothing else is found, it is why.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from podpath.checks.told import LOSSES, list_failing
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case


class Need(Enum):
    """What somebody cannot do without the component."""

    SERVICES = "services"
    """Reach a service, a NodePort, a load balancer or a published port."""
    API_SERVER = "API server"
    """Reach the API server."""
    LISTENER = "listener"
    """Connect to the program itself, and not be refused."""
    RULES = "rules"
    """Load a ruleset: the very thing of which people say that it fails."""


_ENDS: Mapping[Need, frozenset[EndKind]] = MappingProxyType({
    Need.SERVICES: frozenset({EndKind.SERVICE, EndKind.NODE_PORT, EndKind.LOAD_BALANCER}),
    Need.API_SERVER: frozenset({EndKind.API_SERVER}),
})  # fmt: skip
_FAILURES = LOSSES | {
    FailureKind.REFUSED,
    FailureKind.SOMETIMES,
    FailureKind.NO_ROUTE_TO_HOST,
    FailureKind.NETWORK_UNREACHABLE,
}

_RULES = frozenset({
    "rule", "rules", "ruleset", "rulesets", "firewall", "iptables", "ip6tables", "nftables",
    "ipset", "sets",
})  # fmt: skip
_LOADED = frozenset({
    "load", "loads", "loaded", "loading", "reload", "reloads", "reloaded", "apply", "applies",
    "applied", "restore", "restored", "replace", "replaced", "written", "inserted", "installed",
    "accepted", "taken",
})  # fmt: skip


def is_lacking(case: Case, need: Need) -> bool:
    """Tell whether people say that what needs the component fails.

    What a connection is answered with, or how fast it is, needs no component: packets went both
    ways.
    """
    failing = [one for one in list_failing(case) if one.failure in {None, *_FAILURES}]
    if any(_asks_for(one, need) for one in failing):
        return True
    if need is Need.LISTENER:
        results = {one.result for one in case.attempts} | {one.result for one in case.unplaced}
        told = any(one.failure is FailureKind.REFUSED for one in failing)
        return told or FailureKind.REFUSED in results
    if need is Need.RULES:
        return any(map(_is_about_loading, list_failing(case)))
    published = any(one.circumstance is Circumstance.PUBLISHES for one in case.told)
    return need is Need.SERVICES and published and bool(failing)


def _is_about_loading(complaint: Complaint) -> bool:
    """Tell whether a sentence is about rules that are not loaded, and not about a connection that
    they end.
    """
    ends = (complaint.source, complaint.target, *complaint.ports, *complaint.addresses)
    spoken = complaint.spoken
    return not any(ends) and bool(spoken & _RULES) and bool(spoken & _LOADED)


def _asks_for(complaint: Complaint, need: Need) -> bool:
    return bool(_ENDS.get(need, frozenset()) & {complaint.source, complaint.target})
