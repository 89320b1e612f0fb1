"""service-rules-absent: a search of this host's rules for a service's address finds nothing.

What it is
    `iptables-save | grep ADDRESS`, `ipvsadm -Ln | grep ADDRESS` or `nft list ruleset | grep
    ADDRESS` prints nothing, and connections to that address, a service's, fail. Or the chain
    KUBE-SERVICES, to which kube-proxy sends all packets, does not exist at all.

Why it breaks
    Nothing translates the address: packets to it leave by the default route, or are refused. Either
    kube-proxy does not run on this node or cannot write its rules, or the service has no endpoints
    (kube-proxy then writes a REJECT rule), or something removed the rules.

How to confirm
    kubectl -n kube-system get pods -o wide | grep kube-proxy; kubectl -n kube-system logs POD
    iptables-save -t nat | grep ADDRESS; ipvsadm -Ln; nft list table ip kube-proxy

How to fix
    Start kube-proxy on the node, or restart it, so that it writes its rules again. Where Cilium
    replaces it, look at `cilium service list`.

References
    kubernetes, pkg/proxy/iptables/proxier.go; pkg/proxy/ipvs; pkg/proxy/nftables
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, SERVICES, list_failing, list_lost
from podpath.net.addresses import Address, read_address
from podpath.net.provenance import Known, Span
from podpath.net.statements import NothingFound
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.SERVICE_RULES_MISSING, Category.KUBE_PROXY)
NAME = "service-rules-absent"
POSSIBLE, LIKELY = 0.6, 0.8
"""Where one way to keep the rules was searched, and where those of iptables and IPVS were."""
_PROGRAMS = frozenset({
    "iptables", "iptables-save", "iptables-legacy", "iptables-legacy-save", "iptables-nft",
    "iptables-nft-save", "nft", "ipvsadm", "ipvsadm-save",
})  # fmt: skip
_OTHERS = frozenset({Technology.CILIUM, Technology.OVN_KUBERNETES, Technology.KUBE_OVN})
"""What translates services without such rules."""
CHAINS = "KUBE-SVC"
"""The beginning of the name of every service's chain."""
ALL = "KUBE-SERVICES"
"""The chain that kube-proxy has in the table nat, by iptables and with IPVS."""
_REPLACES = "kube-proxy-replacement"
_OFF = frozenset({"false", "disabled"})
_SYSTEM = "kube-system"


class _FruitlessSearch(NamedTuple):
    """A search of the host's rules that found nothing."""

    program: str
    sought: str
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report the first address of a service that fails and that the host's rules do not hold."""
    found = [
        _FruitlessSearch(one.program, one.sought, stated.span)
        for one, stated in statements_of(case, NothingFound)
        if one.program in _PROGRAMS
    ]
    off = _find_unreplaced(case)
    others = case.mentions & (_OTHERS - ({Technology.CILIUM} if off is not None else set()))
    if not found or not list_lost(case) or others:
        return
    base = next((one for one in found if one.sought == ALL), None)
    if base is not None and any(one.target in SERVICES for one in list_failing(case)):
        yield _report_none(base, off, _list_daemons(case))
        return
    for address in _list_failing_services(case):
        mine = [one for one in found if one.sought in {str(address), f"{address}/32"}]
        whole = [one for one in found if one.sought.startswith(CHAINS)]
        by_ipvs = any(one.program.startswith("ipvs") for one in mine)
        if not mine or (Technology.IPVS in case.mentions and not by_ipvs):
            continue
        programs = {one.program.startswith("ipvs") for one in (*mine, *whole)}
        yield _report(address, (*mine, *whole), LIKELY if len(programs) > 1 else POSSIBLE)
        return


def _find_unreplaced(case: Case) -> Span | None:
    """Return the line that says that Cilium does not do kube-proxy's work."""
    cilium = case.node.cilium
    option = cilium.options.get(_REPLACES) if cilium is not None else None
    known = isinstance(option, Known) and option.inferred is None and option.value.lower() in _OFF
    return option.span if isinstance(option, Known) and known else None


def _list_daemons(case: Case) -> tuple[Span, ...]:
    """Return the lines of the agents that a listing of kube-system shows, where kube-proxy is not
    among them.
    """
    listed = [
        sight
        for one in see(case, "DaemonSet")
        if one.namespace == _SYSTEM
        for sight in one.sights
        if sight.tree.at("status", "desiredNumberScheduled") is not None
    ]
    names = {one.name for one in see(case, "DaemonSet")}
    missing = bool(listed) and not any("kube-proxy" in name for name in names)
    return tuple(sight.tree.span for sight in listed) if missing else ()


def _report_none(base: _FruitlessSearch, off: Span | None, daemons: tuple[Span, ...]) -> Finding:
    """Report that nobody writes rules of services; certain where nobody runs who would."""
    proven = off is not None and bool(daemons)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"This host has no chain {ALL}: nothing translates the addresses of services.",
        evidence=(base.span, *((off,) if off is not None else ()), *daemons[:1]),
        reasoning=(
            "kube-proxy makes the chain first, and what would do its work instead is off."
            if off is not None
            else "kube-proxy makes the chain first, by iptables and with IPVS.",
        ),
        breaks=("connections from this host and its pods to services",),
        prevention="Turn the replacement on before kube-proxy is removed.",
        certainty=1.0 if proven else LIKELY,
        proves=LOSSES,
        asks=(
            FollowUp(
                "whether kube-proxy, or something instead of it, runs on this node",
                "kubectl -n kube-system get pods -o wide | grep -e kube-proxy -e cilium; nft list "
                "table ip kube-proxy; kubectl -n kube-system exec ds/cilium -- cilium status",
                "neither runs here: no service has an address that works",
            ),
        ),
        marks=(ALL,),
    )


def _list_failing_services(case: Case) -> Iterator[Address]:
    """Yield the addresses of services that fail, as prose, tries and listings tell."""
    services = {address for service in case.node.services for address in service.addresses}
    for one in list_failing(case):
        said = one.target in SERVICES or "service" in one.spoken or "services" in one.spoken
        yield from (address for address in one.addresses if said or address in services)
    yield from (one.probe.dst for one in case.attempts if one.is_bad and one.probe.dst in services)
    sought = {read_address(one.sought) for one, _ in statements_of(case, NothingFound)}
    yield from (address for address in sought if address in services)


def _report(address: Address, found: tuple[_FruitlessSearch, ...], certainty: float) -> Finding:
    programs = " and ".join(dict.fromkeys(one.program for one in found))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No rule of this host that {programs} shows is for the service's address {address}.",
        evidence=tuple(dict.fromkeys(one.span for one in found)),
        reasoning=("Nothing has the address of a service: rules translate it, or it is lost.",),
        breaks=(f"connections from this host and its pods to {address}",),
        prevention="Alert on kubeproxy_sync_proxy_rules_last_timestamp_seconds of each node.",
        certainty=certainty,
        proves=LOSSES if certainty == LIKELY else frozenset(),
        asks=(
            FollowUp(
                "whether kube-proxy runs on this node, and how it keeps its rules",
                "kubectl -n kube-system get pods -o wide | grep kube-proxy; curl -s "
                f"localhost:10249/proxyMode; ipvsadm -Ln; nft list ruleset | grep {address}",
                f"it does not run, or its own rules lack {address}, too: they were not written",
            ),
        ),
        marks=(str(address),),
    )
