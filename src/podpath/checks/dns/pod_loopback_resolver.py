"""pod-loopback-resolver: a pod's resolver is a loopback address.

What it is
    A pod's resolv.conf names 127.0.0.53 or 127.0.0.1: it is a copy of the node's file (dnsPolicy
    Default, hostNetwork, Docker with a stub resolver on the host), where systemd-resolved or
    dnsmasq listens.

Why it breaks
    In a pod, 127.0.0.0/8 is the pod itself. Nothing listens there, so every name fails at once with
    "connection refused" or "Temporary failure in name resolution".

How to confirm
    kubectl exec POD -- cat /etc/resolv.conf; on the node: resolvectl status

How to fix
    Set the kubelet's resolvConf to /run/systemd/resolve/resolv.conf, or the pod's dnsPolicy to
    ClusterFirst.

References
    the documentation's page "Debugging DNS Resolution", known issues
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import FailedConnection, failures, is_on_host_network, see
from podpath.net.addresses import read_address
from podpath.net.failures import FailureKind
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "pod-loopback-resolver"
DNS = 53
DOCKER = "127.0.0.11"
"""Docker's own resolver, which does listen in its containers."""


def check(case: Case) -> Iterator[Finding]:
    """Report loopback resolvers in a namespace that is not the host's."""
    for seen in see(case, "ResolvConf"):
        for sight in seen.sights:
            servers = sight.tree.items_at("nameservers")
            looped = [
                item
                for item in servers
                if (address := read_address(item.text)) is not None and address.is_loopback
            ]
            if (
                sight.netns != "host"
                and servers
                and len(looped) == len(servers)
                and looped[0].text != DOCKER
            ):
                refused = (one for one in failures(case) if _is_refused(one, sight.netns, looped))
                own = _has_own_network(case, sight.netns)
                yield _report(sight.netns, looped[0], next(refused, None), own=own)


def _has_own_network(case: Case, netns: str) -> bool:
    """Tell whether a pod's manifest says that it is not on its node's network, where the address
    would be the node's.
    """
    return any(
        f"pod/{pod.namespace}/{pod.name}" == netns and is_on_host_network(pod) is False
        for pod in see(case, "Pod")
    )


def _is_refused(failed: FailedConnection, netns: str, servers: Sequence[Tree]) -> bool:
    """Tell whether one of these name servers refused a lookup in the namespace."""
    return (
        failed.result is FailureKind.REFUSED
        and failed.dport == DNS
        and failed.span.source.netns == netns
        and str(failed.dst) in {server.text for server in servers}
    )


def _report(netns: str, server: Tree, refused: FailedConnection | None, *, own: bool) -> Finding:
    sure = own and refused is not None
    return Finding(
        check=NAME,
        severity=Severity.FAULT if sure else Severity.CAUSE,
        claim=f"The resolver in {netns} is {server.text}, which is the pod itself.",
        evidence=(server.line, *(() if refused is None else (refused.span,))),
        reasoning=("The node's stub resolver does not listen in the pod's network namespace.",),
        breaks=("every name that the pod looks up",),
        prevention="Set the kubelet's resolvConf to a file without a stub resolver.",
        certainty=1.0 if sure else 0.9,
        marks=(server.text,),
    )
