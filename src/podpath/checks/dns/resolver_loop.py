"""resolver-loop: the cluster's DNS server forwards to itself.

What it is
    CoreDNS' plugin loop saw its own question come back, or dnsmasq reached its limit of concurrent questions.

Why it breaks
    It forwards to /etc/resolv.conf, which names a stub on loopback (127.0.0.53 of systemd-resolved, 127.0.0.1), in
    the pod's namespace CoreDNS itself; or to an address that leads back to the service. CoreDNS ends, and no name is
    resolved.

How to confirm
    kubectl -n kube-system get cm coredns -o yaml | grep forward; cat /etc/resolv.conf; ls -l /etc/resolv.conf

How to fix
    Set resolvConf: /run/systemd/resolve/resolv.conf in the kubelet's configuration, or name real servers after
    `forward .`.

References
    CoreDNS, plugin/loop; Kubernetes, Debugging DNS Resolution, Known issues
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "resolver-loop"
KINDS = (MessageKind.FORWARDING_LOOP,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="The cluster's DNS server forwards questions to itself, by a resolv.conf that names a loopback address.",
        breaks="all names",
        cure="let kubelet and CoreDNS use a resolv.conf that names real servers",
        commands=("kubectl -n kube-system get cm coredns -o yaml",),
    )
    yield tell(NAME, said, meaning)
