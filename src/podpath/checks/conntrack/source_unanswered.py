"""source-unanswered: a server answers one source address of this host, and never another.

What it is
    Conntrack entries show two connections to the same server, address and port as they leave this
    host: the one from one source address was answered, the one from another was not ([UNREPLIED])
    for seconds.

Why it breaks
    Both packets left under the same NAT rules for the same server, which does answer. Only the
    source differs, so something on the path treats it differently: a firewall, security group or
    policy that allows the nodes' addresses but not the pods', a router or a cloud's route table
    without a route back to the pods' range, or a reverse-path filter. Traffic that is masqueraded
    to the node's address passes; traffic that keeps the pod's address does not.

How to confirm
    tcpdump -nni any host SERVER     # on the server's node: do requests from that source arrive?
    ip route get SOURCE              # there: does the way back lead to this host?
    the firewall rules and route tables of the network between the nodes

How to fix
    Allow the pods' range between the nodes, and route it to the node that has it; or masquerade
    what leaves for that server.

References
    net/netfilter/nf_conntrack_core.c:nf_conntrack_in v6.12; nf_conntrack-sysctl.rst (timeouts)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.topology import known_sysctl
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.node.case import Case
from podpath.node.netfilter import ConntrackEntry

CATEGORIES = (
    Category.CLOUD_NETWORK,
    Category.OUTSIDE_NODE,
    Category.NO_ROUTE,
    Category.HOST_FIREWALL,
    Category.NETWORK_POLICY,
)
NAME = "source-unanswered"
FRESH = {
    protocols.TCP: ("net.netfilter.nf_conntrack_tcp_timeout_syn_sent", 120),
    protocols.UDP: ("net.netfilter.nf_conntrack_udp_timeout", 30),
    protocols.ICMP: ("net.netfilter.nf_conntrack_icmp_timeout", 30),
    protocols.ICMPV6: ("net.netfilter.nf_conntrack_icmpv6_timeout", 30),
}
"""The sysctl that says for how many seconds an entry without an answer is kept, and what it is
where nobody changed it (seen on 6.18).
"""
OLD = 3
"""Seconds without an answer after which none is under way."""
_Server = tuple[int, Address, int]


def check(case: Case) -> Iterator[Finding]:
    """Report each server that answers some source and never another."""
    entries = [entry for entry in case.node.host.conntrack.items if entry.span is not None]
    waiting = _group(entry for entry in entries if _is_waiting(case, entry))
    answered = _group(entry for entry in entries if entry.replied)
    for server, silent in waiting.items():
        heard = answered.get(server, {})
        missed = {source: entry for source, entry in silent.items() if source not in heard}
        if heard and missed:
            yield _report(server, missed, next(iter(heard.items())))


def _group(entries: Iterable[ConntrackEntry]) -> dict[_Server, dict[Address, ConntrackEntry]]:
    """Return a connection from each source by server, both as they leave the host."""
    found: dict[_Server, dict[Address, ConntrackEntry]] = {}
    for entry in entries:
        server = (entry.original.protocol, entry.reply.src, entry.reply.sport)
        found.setdefault(server, {}).setdefault(entry.reply.dst, entry)
    return found


def _is_waiting(case: Case, entry: ConntrackEntry) -> bool:
    """Tell whether an entry has had no answer for seconds, by the time that it has left."""
    if entry.replied or entry.timeout is None or entry.original.protocol not in FRESH:
        return False
    key, usual = FRESH[entry.original.protocol]
    stated = known_sysctl(case.node.host, key)
    fresh = int(stated.value) if stated is not None and stated.value.isdecimal() else usual
    return entry.timeout <= fresh - OLD


def _report(
    server: _Server,
    missed: dict[Address, ConntrackEntry],
    heard: tuple[Address, ConntrackEntry],
) -> Finding:
    protocol, address, port = server
    name, goal = protocols.protocol_name(protocol), endpoint(address, port)
    (source, entry), (known, other) = next(iter(missed.items())), heard
    spans = (entry.span, other.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{goal} answers {name} from {known}, but not from {source}.",
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            (
                "Both left this host for the same server, which works: something on the way, or "
                f"the way back, does not let the source {source} through."
            ),
        ),
        breaks=(f"{name} from {source} to {goal}",),
        prevention=(
            "Test connections between pods of every two nodes whenever the network's rules change."
        ),
        certainty=0.6,
        marks=("UNREPLIED",),
        asks=(
            FollowUp(
                fact=(
                    f"whether packets from {source} reach {address}'s node: firewall rules, "
                    "security groups and route tables between the nodes may know the nodes' "
                    "addresses alone"
                ),
                command=f"tcpdump -nni any host {source} and host {address}",
                decides=(
                    "none arrive there: the network between the nodes drops them; they arrive and "
                    "are answered: there is no way back"
                ),
            ),
        ),
    )
