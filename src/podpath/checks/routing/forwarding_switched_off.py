"""forwarding-switched-off: a sysctl file switches IPv4 forwarding off on a host that needs it.

What it is
    A file of sysctl.d (a hardening benchmark's, an old sysctl.conf) sets net.ipv4.ip_forward=0.

Why it breaks
    The engine switches forwarding on when it starts. Whoever applies the file afterwards (sysctl -p, sysctl
    --system, systemd-sysctl at boot in a race with the engine) switches it off again, and no container reaches
    anything beyond its host.

How to confirm
    sysctl net.ipv4.ip_forward
    grep -rs ip_forward /etc/sysctl.conf /etc/sysctl.d /run/sysctl.d /usr/lib/sysctl.d

How to fix
    Take the line out, or add a file that sorts last with net.ipv4.ip_forward = 1; then sysctl --system.

References
    systemd-sysctl(8), sysctl.d(5); devinet_sysctl_forward (net/ipv4/devinet.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import known_sysctl
from podpath.node.case import Case

CATEGORIES = (
    Category.IP_FORWARD,
    Category.SYSCTL,
)
NAME = "forwarding-switched-off"


KEYS = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")


def check(case: Case) -> Iterator[Finding]:
    """Report a file that wants it off, while nothing shows it on: certain where it is seen to be off."""
    wanted = [item for item in case.configured if item.key in KEYS and item.value == "0"]
    facts = [fact for key in KEYS if (fact := known_sysctl(case.node.host, key)) is not None]
    live = [fact.span for fact in facts if fact.value == "0" and fact.span is not None]
    if not wanted or any(fact.value == "1" for fact in facts):
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim="A file switches IPv4 forwarding off, and undoes what the container engine or the kubelet set.",
        evidence=tuple(dict.fromkeys((*(item.span for item in wanted), *live))),
        reasoning=("Without forwarding the host drops what containers and pods send to other hosts.",),
        breaks=("everything between containers and other hosts",),
        repairs=(Repair(title="let the host forward packets", commands=("sysctl -w net.ipv4.ip_forward=1",)),),
        prevention="Keep `net.ipv4.ip_forward = 1` in the file of /etc/sysctl.d that sorts last.",
        certainty=1.0 if live else 0.8,
        marks=("ip_forward", "0"),
    )
