"""proxy-behind: kube-proxy's rules on a node do not match a service's endpoints.

What it is
    Kube-proxy writes the endpoints of every service into its node's rules. Here the rules still
    send to an endpoint that is gone or not ready, or lack one that is ready: kube-proxy is not
    running on this node, hangs, cannot reach the API server, or cannot write (a lock, a rule that
    the kernel refuses).

Why it breaks
    Connections sent to an endpoint that is gone reach nothing, or the new owner of its address. An
    endpoint that the rules lack gets none; if it is the only one, connections are refused on this
    node only, while other nodes work.

How to confirm
    kubectl get endpoints SERVICE
    iptables-save -t nat | grep SERVICE              # or nft list table ip kube-proxy
    curl -s localhost:10256/healthz                 # on the node: lastUpdated
    kubectl -n kube-system logs -l k8s-app=kube-proxy --field-selector spec.nodeName=NODE

How to fix
    Get kube-proxy running again on the node and find out what stopped it; it rewrites all rules
    when it starts.

References
    kubernetes pkg/proxy/iptables/proxier.go and pkg/proxy/nftables/proxier.go (syncProxyRules;
    --iptables-sync-period 30s); pkg/proxy/healthcheck
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.endpoints import (
    Backend,
    PortBackends,
    backends_of,
    changed_at,
    listed_at,
    pods_changed_at,
)
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, names_of_service, see
from podpath.checks.proxy_rules import ProxyRules, ServiceRules, find_proxy_rules
from podpath.net.addresses import Address, read_address
from podpath.net.protocols import NUMBERS
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.STALE_DNAT, Category.SERVICE_RULES_MISSING, Category.NO_ENDPOINTS)
NAME = "proxy-behind"
SYNCS = 60.0
"""Seconds after which kube-proxy has surely written a change: two of its full syncs."""
POSSIBLE = 0.6
_OF_ANOTHER = "service.kubernetes.io/service-proxy-name"
_CHOOSY = ("topologyKeys", "trafficDistribution")
"""Fields by which kube-proxy may leave out endpoints that are ready."""
_TOPOLOGY = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")


class _Seen(NamedTuple):
    """One port of a service as the API has it, and as the rules have it."""

    behind: PortBackends
    rules: ServiceRules | None
    every: ProxyRules
    address: Address


def check(case: Case) -> Iterator[Finding]:
    """Report each port of a service whose endpoints and rules differ."""
    services = [one for one in see(case, "Service") if _is_proxied(one)]
    shown = [(one, list(backends_of(case, one))) for one in services]
    if not any(behind for _, behind in shown):
        return
    every = find_proxy_rules(case.node.host)
    if every is None or case.node.cilium is not None:  # which may do without kube-proxy
        return
    for service, ports in shown:
        for behind in ports:
            for seen in _compare(every, service, behind):
                yield from _judge(case, seen)


def _is_proxied(service: ObjectSightings) -> bool:
    """Tell whether kube-proxy writes rules for a service, with all of its endpoints."""
    internal = service.text_at("spec", "internalTrafficPolicy")
    other = service.text_at("metadata", "labels", _OF_ANOTHER)
    return internal != "Local" and not other and service.at("spec", "ports") is not None


def _compare(every: ProxyRules, service: ObjectSightings, behind: PortBackends) -> Iterator[_Seen]:
    number = behind.port.text_at("port")
    protocol = NUMBERS.get((behind.port.text_at("protocol") or "TCP").lower(), 0)
    texts = [item.text for item in service.items_at("spec", "clusterIPs")]
    for text in texts or [service.text_at("spec", "clusterIP")]:
        address = read_address(text)
        if address is not None and number.isdecimal():
            front = (address, protocol, int(number))
            yield _Seen(behind, every.services.get(front), every, address)


def _judge(case: Case, seen: _Seen) -> Iterator[Finding]:
    """Report what the rules have too much, and what they lack."""
    behind, rules = seen.behind, seen.rules
    if rules is not None and not rules.known:
        return
    targets = rules.targets if rules is not None else {}
    ready = [one for one in behind.ready if one.address.family == seen.address.family]
    gone = [place for place in targets if place not in behind.backends] if behind.whole else []
    unready = [
        place
        for place in targets
        if (one := behind.backends.get(place)) is not None
        and not (one.ready or (one.serving and not ready))
    ]
    lacking = [one for one in ready if (one.address, one.port) not in targets]
    if gone or unready:
        yield _report_sent(case, seen, gone, unready)
    elif lacking and not _is_choosy(behind.service):
        yield _report_lacking(case, seen, lacking)


def _is_choosy(service: ObjectSightings) -> bool:
    asked = any(service.at("spec", field) is not None for field in _CHOOSY)
    return asked or any(service.at("metadata", "annotations", note) for note in _TOPOLOGY)


def _report_sent(
    case: Case, seen: _Seen, gone: list[tuple[Address, int]], unready: list[tuple[Address, int]]
) -> Finding:
    targets = seen.rules.targets if seen.rules is not None else {}
    address, port = (*gone, *unready)[0]
    how = "its endpoints do not list" if gone else "is not ready"
    title = seen.behind.title
    good = [place for place in targets if place not in {*gone, *unready}]
    share = "every connection" if not good else "a share of the connections"
    listed = [
        one.span for one in seen.behind.backends.values() if (one.address, one.port) in unready
    ]
    return _finish(
        case,
        seen,
        claim=f"Kube-proxy's rules on this node send {title} to {address}:{port}, which {how}.",
        evidence=(
            targets[address, port],
            *([seen.rules.span] if seen.rules is not None else []),
            *(listed[:1] or [_endpoints_line(seen.behind)]),
        ),
        breaks=f"{share} from this node to {title}",
        marks=(f"{address}:{port}", str(address)),
        severity=Severity.FAULT,
    )


def _report_lacking(case: Case, seen: _Seen, lacking: list[Backend]) -> Finding:
    title, first = seen.behind.title, lacking[0]
    targets = seen.rules.targets if seen.rules is not None else {}
    more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    line = seen.rules.span if seen.rules is not None else seen.every.span
    whole = f" for {title} at all" if seen.rules is None else ""
    claim = (
        f"Kube-proxy's rules on this node have nothing{whole}; {first.address}:{first.port}{more} "
        "is ready."
        if seen.rules is None
        else f"Kube-proxy's rules on this node lack {first.address}:{first.port}{more}, a ready "
        f"endpoint of {title}."
    )
    return _finish(
        case,
        seen,
        claim=claim,
        evidence=(line, first.span, seen.behind.service.span),
        breaks=(
            f"{'nothing, but the others take its share of' if targets else 'every'} "
            f"connection from this node to {title}"
        ),
        marks=(str(first.address),),
        severity=Severity.RISK if targets else Severity.FAULT,
    )


def _endpoints_line(behind: PortBackends) -> Span:
    """Return the line at which the endpoints are listed that do not have it."""
    source = behind.sources[0]
    tree = source.at("subsets") or source.at("endpoints")
    return tree.line if tree is not None else source.span


def _finish(  # noqa: PLR0913  # the parts of a finding
    case: Case,
    seen: _Seen,
    *,
    claim: str,
    evidence: tuple[Span, ...],
    breaks: str,
    marks: tuple[str, ...],
    severity: Severity,
) -> Finding:
    age = _age(case, seen, evidence[0])
    ending = not seen.behind.ready and not _shows_slices(seen.behind)
    sure = seen.behind.whole and not ending and age is not None and age >= SYNCS
    return Finding(
        check=NAME,
        severity=severity,
        claim=claim,
        evidence=tuple(dict.fromkeys(evidence)),
        reasoning=(
            (
                "Kube-proxy writes changes within its sync period (30 s); other nodes may have "
                "what this one lacks."
            ),
            _say_age(age),
        ),
        breaks=(breaks,),
        repairs=(
            Repair(
                title="restart kube-proxy so that it rewrites its rules",
                commands=tuple(_restart(case)),
            ),
        ),
        prevention="Alert on kubeproxy_sync_proxy_rules_last_timestamp_seconds of each node.",
        certainty=1.0 if sure else POSSIBLE,
        marks=marks,
        about=names_of_service(seen.behind.service),
        asks=(
            FollowUp(
                fact="whether kube-proxy on this node still writes rules, or the change is just "
                "recent",
                command="curl -s http://localhost:10256/healthz",
                decides=(
                    "no answer, or a lastUpdated minutes ago: it does not; otherwise collect "
                    "the snapshot and the objects again"
                ),
            ),
        ),
    )


def _age(case: Case, seen: _Seen, rule: Span) -> float | None:
    """Return for how long the rules were behind when they were read, below zero where the endpoints
    changed after that; None where a time is not stated, or the objects were read before the rules:
    an endpoint that was ready then need not have been so later.
    """
    taken = rule.source.taken_at
    changed = changed_at(seen.behind)
    listed = listed_at(case, seen.behind)
    if taken is None or changed is None or listed is None or listed <= taken:
        return None
    return taken - max(changed, pods_changed_at(case, seen.behind) or changed)


def _shows_slices(behind: PortBackends) -> bool:
    """Tell whether slices are shown: Endpoints do not list what ends and still serves."""
    return any(one.kind == "EndpointSlice" for one in behind.sources)


def _say_age(age: float | None) -> str:
    if age is None:
        return (
            "The evidence does not show how long before the rules were read the endpoints "
            "changed, so this may just be a recent change."
        )
    if age < SYNCS:
        when = "before" if age >= 0 else "after"
        return (
            f"The endpoints changed {abs(age):.0f} s {when} the rules were read, so this may just "
            "be a recent change."
        )
    return f"The endpoints changed {age:.0f} s before the rules were read."


def _restart(case: Case) -> Iterator[str]:
    """Yield how kube-proxy is started again: as a pod where the objects show it as one."""
    for pod in see(case, "Pod"):
        own = pod.text_at("spec", "nodeName") == case.node.name
        if own and pod.text_at("metadata", "labels", "k8s-app") == "kube-proxy":
            yield f"kubectl -n {pod.namespace or 'kube-system'} delete pod {pod.name}"
            return
    yield "systemctl restart kube-proxy"
