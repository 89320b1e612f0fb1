"""cilium-denies: Cilium's policy dropped the packet.

What it is
    `cilium monitor` or Hubble shows the drop with its reason and the identities of both endpoints.

Why it breaks
    `Policy denied`: no rule allows that identity. A masqueraded source counts as a host
    (remote-node), which no podSelector selects. Other reasons name their own fault: no tunnel
    endpoint, an unknown backend, a full map, an invalid source.

How to confirm
    cilium monitor --type drop; hubble observe --verdict DROPPED; cilium endpoint list
    kubectl get cnp,ccnp,netpol -A

How to fix
    Policy denied: allow the identity in a policy (fromEntities: remote-node, host, or world if that
    is intended). Can't create entry from packet: the agent's connection tracking does not know the
    connection, and the packet does not begin one; after a restart without its maps clients have to
    connect again. Fragments: give pods an MTU with room for encryption and tunnels, so that nothing
    is fragmented on the way. Full maps: raise bpf-ct-global-tcp-max, bpf-nat-global-max. FIB and
    tunnel endpoints: find out why the node has no route, neighbor or entry for the destination.

References
    Cilium, Troubleshooting: Policy; Cilium, bpf/lib/drop.h
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.checks.told import list_failing
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (
    Category.NETWORK_POLICY,
    Category.MASQUERADE_UNWANTED,
    Category.BPF,
)
NAME = "cilium-denies"
WRAPPED = 3
"""Lines in which a verdict may stand that somebody wrapped."""
KINDS = (MessageKind.BPF_DROP,)
NOISE = (
    "unsupported", "invalid source", "invalid packet", "unknown l3", "unknown l4", "ttl exceeded",
    "local host is unreachable", "multicast", "arp",
)  # fmt: skip
"""How reasons begin that healthy nodes log as well, of packets that no connection in question
sent.
"""


class _Cure(NamedTuple):
    """What mends a drop whose reason begins with a word, and the command that shows it."""

    reason: str
    words: str
    command: str


_CURES = (
    _Cure(
        "policy denied by denylist", "take the identity out of the policy's deny rule",
        "kubectl get cnp,ccnp -A -o yaml | grep -A5 -E 'ingressDeny|egressDeny'",
    ),
    _Cure(
        "policy denied", "allow the source's identity in a policy",
        "hubble observe --verdict DROPPED",
    ),
    _Cure(
        "first logical datagram fragment",
        "lower the pods' MTU, so that packets are not fragmented on the way; encryption and "
        "tunnels need room",
        "cilium config view | grep -iE 'mtu|fragment'; ip link",
    ),
    _Cure(
        "fragmentation needed", "lower the pods' MTU to what the way carries",
        "cilium config view | grep -i mtu; ip link",
    ),
    _Cure(
        "policy", "allow the source's identity in a policy",
        "kubectl get cnp,ccnp,netpol -A",
    ),
    _Cure(
        "action deny", "allow the source's identity in a policy",
        "kubectl get cnp,ccnp,netpol -A",
    ),
    _Cure(
        "ct: can't create entry",
        "open the connection again: the agent has no entry of it, and the packet is not its first; "
        "if it comes again without a restart of the agent, look for the other direction",
        "cilium bpf ct list global | grep ADDRESS; cilium monitor --type trace",
    ),
    _Cure(
        "ct: map insertion failed", "raise bpf-ct-global-tcp-max and bpf-ct-global-any-max",
        "cilium config view | grep bpf-ct; cilium bpf ct list global | wc -l",
    ),
    _Cure(
        "no mapping for nat", "raise bpf-nat-global-max, or spread connections over more addresses",
        "cilium config view | grep bpf-nat; cilium bpf nat list | wc -l",
    ),
    _Cure(
        "fib lookup failed", "see why the node has no route or neighbor for the destination",
        "ip route get DESTINATION; ip neigh",
    ),
    _Cure(
        "no tunnel", "see why the agent does not know the node of the destination",
        "cilium node list; cilium bpf tunnel list; cilium bpf ipcache list",
    ),
    _Cure(
        "authentication required", "see why the identities are not mutually authenticated",
        "cilium bpf auth list; kubectl get cnp,ccnp -A -o yaml | grep -B3 authentication",
    ),
    _Cure(
        "vlan traffic disallowed", "allow the VLAN by vlan-bpf-bypass",
        "cilium config view | grep vlan",
    ),
)  # fmt: skip
"""By how reasons begin, in lower case, longer ones first (Cilium, pkg/monitor/api/drop.go)."""
_OTHER = _Cure("", "fix what the reason names", "hubble observe --verdict DROPPED")
_NUMBER = re.compile(r"\d+")
ASK = FollowUp(
    fact="whether the dropped packets belong to the failing connection",
    command=(
        "cilium monitor --type drop --related-to ENDPOINT (or hubble observe --verdict DROPPED "
        "--pod POD)"
    ),
    decides=(
        "its addresses and port are those of the failing connection: the reason shown is the cause"
    ),
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    reason = get_value(said, "reason", "other")
    telling = not reason.casefold().startswith(NOISE) and _is_asked(case, said)
    source = get_value(said, "from")
    source = f" ({source})" if source else ""
    begins = reason.casefold()
    cure = next((one for one in _CURES if begins.startswith(one.reason)), _OTHER)
    meaning = Meaning(
        claim=f"Cilium dropped the packet: {reason}{source}.",
        breaks="packets from that identity to that endpoint",
        cure=cure.words,
        commands=(cure.command,),
        certainty=1.0 if telling else 0.6,
        ask=None if telling else ASK,
    )
    yield tell(NAME, said, meaning)


def _is_asked(case: Case, said: Sequence[Message]) -> bool:
    """Tell whether a dropped packet may be of what fails: people name no port, or one of these
    lines has it.
    """
    ports = {str(port) for one in list_failing(case) for port in one.ports}
    lines = [line for one in said for line in _list_lines(one.span)]
    words = {word for line in lines for word in _NUMBER.findall(line)}
    return not ports or not ports.isdisjoint(words)


def _list_lines(span: Span) -> Sequence[str]:
    """Return a line, and what may be wrapped behind it: the packet's own ends."""
    first = span.line - span.source.first_line
    return span.source.lines[first : first + WRAPPED]
