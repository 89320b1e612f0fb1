"""resolv-conf-limit: the resolv.conf of pods is longer than allowed, and parts are left out.

What it is
    The kubelet takes at most three name servers, and a limited list of search domains.

Why it breaks
    What is left out is not asked: where the server or domain that knows a name is among it, that name fails.

How to confirm
    cat /etc/resolv.conf on the node and in a pod

How to fix
    Remove name servers or search domains from the node's resolv.conf, or give kubelet a file of its own.

References
    Kubernetes, Debugging DNS Resolution, Known issues; resolv.conf(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "resolv-conf-limit"
KINDS = (MessageKind.RESOLV_CONF_LIMIT,)
ASK = Ask(
    "whether the omitted name servers or search domains are needed",
    "cat /etc/resolv.conf; kubectl exec POD -- cat /etc/resolv.conf",
    "a needed one is missing in the pod: it is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="The node's resolv.conf has more name servers or search domains than pods may have; the kubelet leaves some out.",
        breaks="names that only the omitted servers or domains know",
        cure="shorten the node's resolv.conf",
        certainty=0.2,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
