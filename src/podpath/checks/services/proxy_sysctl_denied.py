"""proxy-sysctl-denied: kube-proxy may not write a sysctl and ends.

What it is
    It sets nf_conntrack_max and others at its start; in a container of LXC, kind or a user namespace it may not.

Why it breaks
    kube-proxy ends each time, so no service address works on the node.

How to confirm
    kubectl -n kube-system logs ds/kube-proxy --previous; cat /proc/sys/net/netfilter/nf_conntrack_max

How to fix
    Set the value on the host, and conntrack.maxPerCore: 0 (and tcpEstablishedTimeout: 0s) in kube-proxy's
    configuration.

References
    kube-proxy, conntrack settings; kind, Known Issues
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.KUBE_PROXY,
    Category.SYSCTL,
)
NAME = "proxy-sysctl-denied"
KINDS = (MessageKind.PROXY_SYSCTL_DENIED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    file = get_value(said, "file", default="a sysctl")
    meaning = Meaning(
        claim=f"kube-proxy may not write {file} and ends.",
        breaks="every service address on the node",
        cure="set it on the host, and keep kube-proxy from writing it",
    )
    yield tell(NAME, said, meaning)
