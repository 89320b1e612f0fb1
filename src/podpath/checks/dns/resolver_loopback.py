"""resolver-loopback: a program asks a name server on its own loopback, and none answers there.

What it is
    `lookup ... on [::1]:53` is what Go's resolver does without a usable resolv.conf; 127.0.0.53 is systemd-resolved's
    stub, which exists only in the host's own namespace; `open .../resolv.conf: no such file` is the kubelet's or the
    runtime's.

Why it breaks
    Every name fails at once. The file was copied into a container or chroot, is empty, missing or a dangling link, or
    the stub does not run.

How to confirm
    cat /etc/resolv.conf; ls -l /etc/resolv.conf; systemctl status systemd-resolved; ss -lunp | grep ':53 '

How to fix
    Name servers that can be reached from there; kubelet's resolvConf: /run/systemd/resolve/resolv.conf; start
    systemd-resolved.

References
    Go, net/dnsconfig_unix.go (defaultNS); systemd-resolved(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "resolver-loopback"
KINDS = (
    MessageKind.RESOLVER_IS_LOOPBACK,
    MessageKind.RESOLV_CONF_MISSING,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    server = get_value(said, "server", "file", default="loopback")
    meaning = Meaning(
        claim=f"Names are asked from {server}, where none answers: resolv.conf is missing, empty or names a loopback stub.",
        breaks="all names that this program asks for",
        cure="name a server in resolv.conf that can be reached from there",
        commands=("ls -l /etc/resolv.conf; cat /etc/resolv.conf",),
    )
    yield tell(NAME, said, meaning)
