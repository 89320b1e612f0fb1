"""cilium-denies: Cilium's policy dropped the packet.

What it is
    `cilium monitor` or Hubble shows the drop with its reason and the identities of both ends.

Why it breaks
    `Policy denied`: no rule allows that identity. A source that was masqueraded counts as a host (remote-node), which
    no podSelector selects. Other reasons name their own fault: no tunnel endpoint, an unknown backend, a full map, an
    invalid source.

How to confirm
    cilium monitor --type drop; hubble observe --verdict DROPPED; cilium endpoint list; kubectl get cnp,ccnp,netpol -A

How to fix
    Allow the identity in a policy (fromEntities: remote-node, host, world where that is meant), or mend the reason
    that is named.

References
    Cilium, Troubleshooting: Policy; Cilium, bpf/lib/drop.h
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.NETWORK_POLICY,
    Category.MASQUERADE_UNWANTED,
    Category.BPF,
)
NAME = "cilium-denies"
KINDS = (MessageKind.BPF_DROP,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    reason = get_value(said, "reason", "other")
    source = get_value(said, "from")
    source = f" ({source})" if source else ""
    meaning = Meaning(
        claim=f"Cilium dropped the packet: {reason}{source}.",
        breaks="packets of that identity to that endpoint",
        cure="allow the source's identity, or mend the reason",
        commands=("hubble observe --verdict DROPPED",),
    )
    yield tell(NAME, said, meaning)
