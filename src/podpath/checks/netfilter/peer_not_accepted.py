"""peer-not-accepted: the host accepts an overlay's or a service's port only from some nodes.

What it is
    INPUT accepts the port of a tunnel (VXLAN 4789 or 8472, Geneve 6081, WireGuard 51820) from
    single addresses, and a node, pod or peer that the evidence names is not among them.

Why it breaks
    Packets from the missing node reach the chain's REJECT or DROP: the overlay works between some
    nodes but not between others; a node that was added later, or whose address changed, is cut off.

How to confirm
    iptables -S INPUT | grep -e 4789 -e 8472 -e 6081; tcpdump -ni any udp port 4789

How to fix
    Accept the port from all nodes: iptables -I INPUT -s NODE-RANGE -p udp --dport 4789 -j ACCEPT,
    in the configuration that the rules come from.

References
    RFC 7348 (VXLAN); iptables(8)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import chains_named, port_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.net.failures import FailureKind
from podpath.net.provenance import list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Rule

CATEGORIES = (Category.HOST_FIREWALL, Category.TUNNEL_BLOCKED)
NAME = "peer-not-accepted"
_LOST = frozenset({None, FailureKind.NO_ADDRESS, *LOSSES})
"""What comes of it that packets of a tunnel are lost; a lease is asked for by such packets, too."""
_OVERLAYS = frozenset({Technology.VXLAN, Technology.FLANNEL, Technology.GENEVE})
_NEAR = 24
TUNNELS = frozenset({"4789", "8472", "6081", "51820", "51821", "4790", "8475", "7946", "4240"})


def check(case: Case) -> Iterator[Finding]:
    """Report rules that accept a tunnel's port from single addresses; sure where packets of another
    address are shown.
    """
    for _, chain in chains_named(case.node.host, "filter", "INPUT"):
        accepting = [rule for rule in chain.rules if _accepts_tunnel(rule)]
        if accepting and all(_is_single(rule) for rule in accepting):
            yield _report(case, accepting)


def _accepts_tunnel(rule: Rule) -> bool:
    dropping = rule.target is not None and rule.target.name in ("DROP", "REJECT")
    ports = {part for part in port_of(rule).replace(":", ",").split(",") if part}
    tunnel = bool(ports & TUNNELS) or any(port in rule.span.text.split() for port in TUNNELS)
    return tunnel and not dropping


def _is_single(rule: Rule) -> bool:
    return (
        rule.src is not None
        and not rule.src.negated
        and rule.src.prefix.length == WIDTH[rule.src.prefix.family]
    )


def _report(case: Case, rules: list[Rule]) -> Finding:
    sources = [rule.src.prefix for rule in rules if rule.src is not None]
    seen = set(_list_seen(case, rules))
    accepted = {address for address in seen for one in sources if one.covers(address)}
    missing = sorted(str(address) for address in seen - accepted)
    named = ", ".join(str(one.address) for one in sources)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"INPUT accepts the tunnel's port only from {named}"
        + (f", but its packets also come from {', '.join(missing)}." if missing else "."),
        evidence=list_spans(rules),
        reasoning=(
            "Packets from any other node go on to the rule or policy that drops or rejects them.",
        ),
        breaks=("the overlay between this node and those not named",),
        prevention="Accept the overlay's port from the range of all nodes.",
        certainty=1.0 if missing else 0.7,
        asks=()
        if missing
        else (
            FollowUp(
                fact="the addresses of the nodes whose packets do not arrive",
                command="ip -br addr (on the other node)",
                decides=f"not {named}: the rules leave that node out",
            ),
        ),
    )


def _list_seen(case: Case, rules: list[Rule]) -> Iterator[Address]:
    """Yield the outer sources of packets to the tunnel's ports that captures show, and those of
    which people say that theirs get no answer.
    """
    ports = {
        int(part)
        for rule in rules
        for part in port_of(rule).replace(":", ",").split(",")
        if part.isdecimal()
    }
    for sighting in case.sightings:
        if sighting.packet.dport in ports:
            yield sighting.packet.src
    for complaint in list_failing(case):
        if complaint.failure not in _LOST:
            continue
        if ports & set(complaint.ports):
            yield from complaint.sources or complaint.addresses
        elif not complaint.ports and _OVERLAYS & complaint.mentions:
            yield from filter(_is_neighbour(rules), complaint.addresses)


def _is_neighbour(rules: list[Rule]) -> Callable[[Address], bool]:
    """Return what tells whether an address is in one network with an accepted node's."""
    near = [Prefix.of(rule.src.prefix.address, _NEAR) for rule in rules if rule.src is not None]
    return lambda address: any(prefix.covers(address) for prefix in near)
