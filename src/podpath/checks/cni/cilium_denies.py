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
    Allow the identity in a policy (fromEntities: remote-node, host, or world if that is intended),
    or fix the fault that the reason names.

References
    Cilium, Troubleshooting: Policy; Cilium, bpf/lib/drop.h
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    meaning = Meaning(
        claim=f"Cilium dropped the packet: {reason}{source}.",
        breaks="packets from that identity to that endpoint",
        cure="allow the source's identity, or fix the reason",
        commands=("hubble observe --verdict DROPPED",),
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
