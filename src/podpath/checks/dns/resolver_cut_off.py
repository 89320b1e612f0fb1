"""resolver-cut-off: the cluster's DNS gets no answer from anybody, so its pod's way out is broken.

What it is
    One log of CoreDNS has timeouts toward the name server that it forwards to and toward something
    else: the API server's service, a health check outside, a name server of another network.

Why it breaks
    Two unrelated servers are unlikely to be silent at the same time. What both need is the pod's
    way out of its node: forwarding, FORWARD's policy and the host's firewall, translation to the
    node's address, the plugin's routes. The name server itself may be fine.

How to confirm
    iptables -nvL FORWARD; nft list ruleset; sysctl net.ipv4.ip_forward; iptables -t nat -S
    tcpdump -ni any host SERVER   # the query comes in from the pod, and does not leave

How to fix
    Accept and forward what pods send: a policy of ACCEPT or the plugin's own rules in FORWARD, the
    pods' range in a trusted zone, net.ipv4.ip_forward=1.

References
    CoreDNS, plugins forward and kubernetes; Kubernetes, Debugging DNS Resolution
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import QUOTED, find_said, get_value
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL, Category.IP_FORWARD)
NAME = "resolver-cut-off"
LIKELY = 0.8
DNS_PORT = 53
NEAR = 16
"""Bits that the addresses of one owner's name servers have in common."""
ASK = FollowUp(
    "whether the node forwards and accepts what pods send",
    "iptables -nvL FORWARD; nft list ruleset; sysctl net.ipv4.ip_forward; iptables -t nat -S "
    "POSTROUTING",
    "forwarding off, or a policy or rule that drops: the pod reaches nobody, whatever the server",
)


def check(case: Case) -> Iterator[Finding]:
    """Report a log of the cluster's DNS with timeouts toward its upstream and something else."""
    said = find_said(case, MessageKind.UPSTREAM_SILENT)
    other = find_other_silence(case, said)
    if other is None:
        return
    address, span = other
    asker = get_value(said, "src", default="The cluster's DNS")
    server = get_value(said, "server")
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{asker} gets no answer from {server} or {address}, so its way out of the node is "
            "broken, not just one server."
        ),
        evidence=tuple(dict.fromkeys((span, *list_spans(said)[:QUOTED]))),
        reasoning=("Two unrelated servers are silent in one log.",),
        breaks=("what pods of this node send beyond it",),
        prevention="Test a pod's way out after each change of the host's firewall.",
        certainty=LIKELY,
        asks=(ASK,),
        marks=(server, str(address)),
    )


def find_other_silence(case: Case, said: Sequence[Message]) -> tuple[Address, Span] | None:
    """Return whom else a log that says that a name server is silent gets no answer from."""
    servers = {read_address(one.values.get("server", "")) for one in said}
    sources = {one.span.source for one in said if "server" in one.values}
    tried = [
        (one.probe.dst, one.probe.dport, one.span)
        for one in case.attempts
        if one.result is FailureKind.TIMEOUT
    ]
    tried += [
        (one.dst, one.dport, one.span)
        for one in case.unplaced
        if one.result is FailureKind.TIMEOUT and one.dst is not None
    ]
    for address, port, span in tried:
        other = address not in servers and port != DNS_PORT and not address.is_loopback
        if other and span.source in sources:
            return address, span
    return _find_other_upstream(said)


def _find_other_upstream(said: Sequence[Message]) -> tuple[Address, Span] | None:
    """Return a second name server that the same log says is silent, of another network."""
    placed = [(read_address(one.values.get("server", "")), one.span) for one in said]
    asked = [(address, span) for address, span in placed if address is not None]
    for address, span in asked[1:]:
        first, shown = asked[0]
        if span.source == shown.source and not Prefix.of(first, NEAR).covers(address):
            return address, span
    return None
