"""upstream-silent: the name server that the cluster's DNS forwards to does not answer.

What it is
    CoreDNS or nodelocaldns logs `i/o timeout` or a refusal for questions that it sent on.

Why it breaks
    The server was retired or is overloaded, a firewall or security group drops the questions, or the pod's own way
    out is broken (no masquerading, a broken overlay). Names outside the cluster fail, or take seconds where another
    server answers.

How to confirm
    From the node and from a pod: dig @SERVER example.org +time=2; kubectl -n kube-system get cm coredns -o yaml; cat
      /etc/resolv.conf

How to fix
    Take servers that answer (forward, or the node's resolv.conf), or mend the way to them where only the node reaches
    them.

References
    CoreDNS, plugin/forward; Kubernetes, Customizing DNS Service
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.DNS_UPSTREAM,
    Category.DNS_CONFIGURATION,
)
NAME = "upstream-silent"
KINDS = (
    MessageKind.UPSTREAM_SILENT,
    MessageKind.UPSTREAM_REFUSES,
)
ASK = Ask(
    "whether the upstream name server answers the node and a pod",
    "dig @SERVER example.org +time=2   # on the node, and in a pod; cat /etc/resolv.conf",
    "neither: the server or a firewall before it; only the node: the pod's way out is broken",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    server = get_value(said, "server")
    meaning = Meaning(
        claim=f"The name server {server}, to which the cluster's DNS forwards, does not answer it.",
        breaks="names outside the cluster, always or now and then",
        cure="forward to a server that answers, or mend the way to it",
        commands=(f"dig @{server} example.org +time=2",),
        certainty=0.6,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
