"""What of a node's findings bears on the connection that is asked about.

A whole cluster always has something wrong with it somewhere. Who asks why one end cannot reach
another is told of what the walk of that connection meets; of what no walk sees, that which speaks
of the connection's own ends. `podpath diagnose` tells the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.checks.cni import node_address_twice, pod_address_twice
from podpath.checks.conntrack import conntrack_full, stale_conntrack
from podpath.checks.dns import dns_without_endpoints
from podpath.checks.finding import Finding
from podpath.checks.links import (
    address_conflict,
    arp_answered_twice,
    duplicate_address,
    foreign_arp,
    mac_flap,
    own_address_received,
    wrong_mac,
)
from podpath.checks.netfilter import policy_unlike_rules
from podpath.checks.services import proxy_behind
from podpath.diagnosis.conclusion import Conclusion
from podpath.diagnosis.sharing import ComplainedEnds, list_ends, shares_ends
from podpath.net.probe import Probe
from podpath.node.case import Case
from podpath.node.node import Node

UNSEEN = frozenset(
    {
        address_conflict.NAME,
        arp_answered_twice.NAME,
        conntrack_full.NAME,
        duplicate_address.NAME,
        foreign_arp.NAME,
        mac_flap.NAME,
        node_address_twice.NAME,
        own_address_received.NAME,
        pod_address_twice.NAME,
        stale_conntrack.NAME,
        wrong_mac.NAME,
    }
)
"""Faults that break a connection which every walk delivers."""


def keep_asked(
    case: Case, findings: Sequence[Finding], concluded: Conclusion, probes: Sequence[Probe]
) -> tuple[Finding, ...]:
    """Return the findings that bear on the connection."""
    ends = list_ends(case, probes)
    fails = bool(concluded.causes or concluded.possible or concluded.unexplained)
    named = any(finding.shown_by is not None and finding.certainty == 1 for finding in findings)
    by_name = any(_begins_with_name(case.node, probe) for probe in probes)

    def bears(finding: Finding) -> bool:
        if finding.shown_by is not None or finding.check == policy_unlike_rules.NAME:
            return True
        if finding.check == dns_without_endpoints.NAME and by_name:
            return True
        if finding.check == proxy_behind.NAME:
            return _is_of_service(finding, ends) if finding.about else by_name
        about = shares_ends(finding, ends)
        return about and (finding.check in UNSEEN or (fails and not named))

    return tuple(finding for finding in findings if bears(finding))


def _is_of_service(finding: Finding, ends: ComplainedEnds) -> bool:
    """Tell whether a finding is about a service that is asked for: its lines, which are those of
    all services, may hold ranges that any pod is in.
    """
    return bool(finding.about & {*ends.names, *map(str, ends.addresses)})


def _begins_with_name(node: Node, probe: Probe) -> bool:
    """Tell whether a pod asks for a service: programs do by its name."""
    asked = any(probe.dst in service.addresses for service in node.services)
    return asked and any(pod.address == probe.src for pod in node.pods)
