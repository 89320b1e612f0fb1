"""source-ports-exhausted: a program finds no free source port or file for another connection.

What it is
    connect fails with EADDRNOTAVAIL, bind to port 0 with EADDRINUSE, or accept and socket with EMFILE or ENFILE; the
    kernel is out of memory for TCP.

Why it breaks
    Of one source address, destination and port there are as many connections as ports in ip_local_port_range,
    TIME_WAIT included; a socket that is bound before it connects takes a port for itself alone. Files per process and
    TCP's memory are limited likewise.

How to confirm
    ss -s; ss -tan state time-wait | wc -l; sysctl net.ipv4.ip_local_port_range; ulimit -n; cat /proc/net/sockstat

How to fix
    Reuse connections (keep-alive, pools), set IP_BIND_ADDRESS_NO_PORT, widen ip_local_port_range, raise LimitNOFILE
    or tcp_mem.

References
    ip(7), ip_local_port_range, IP_BIND_ADDRESS_NO_PORT; accept(2), EMFILE
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.RESOURCE_LIMIT,
    Category.APPLICATION,
)
NAME = "source-ports-exhausted"
KINDS = (
    MessageKind.SOURCE_PORTS_EXHAUSTED,
    MessageKind.FILES_EXHAUSTED,
    MessageKind.SOCKET_MEMORY_FULL,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    dst = get_value(said, "dst")
    dst = f" ({dst})" if dst else ""
    meaning = Meaning(
        claim=f"A program has used up its source ports, files or memory for connections{dst}.",
        breaks="new connections of that program",
        cure="reuse connections, or raise the limit",
        commands=("ss -s; sysctl net.ipv4.ip_local_port_range",),
    )
    yield tell(NAME, said, meaning)
