"""reverse-path-loose: Calico's agent refuses to run with loose reverse path filtering.

What it is
    Felix reads net.ipv4.conf.all.rp_filter and ends where it is 2.

Why it breaks
    With loose filtering a pod could forge addresses; so Felix does not start, and the node's pods get no policy or
    routes. systemd sets 2 by default.

How to confirm
    sysctl net.ipv4.conf.all.rp_filter; systemctl status systemd-sysctl

How to fix
    sysctl -w net.ipv4.conf.all.rp_filter=1 (in /etc/sysctl.d), or FELIX_IGNORELOOSERPF=true.

References
    Calico, Felix configuration, IgnoreLooseRPF
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.REVERSE_PATH_FILTER,
    Category.SYSCTL,
    Category.CNI_AGENT,
)
NAME = "reverse-path-loose"
KINDS = (MessageKind.REVERSE_PATH_LOOSE,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="Felix refuses to run, since net.ipv4.conf.all.rp_filter is 2 (loose).",
        breaks="policy and routes of the node's pods",
        cure="set rp_filter to 1, or let Felix ignore it",
        commands=("sysctl -w net.ipv4.conf.all.rp_filter=1",),
    )
    yield tell(NAME, said, meaning)
