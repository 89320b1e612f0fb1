"""listener-overrun: new connections overrun a listener's queue.

What it is
    The kernel says `possible SYN flooding on port`: the queue of connections that the program has not accepted is
    full.

Why it breaks
    SYNs are dropped or answered with cookies, so connects take seconds or time out. The program accepts too slowly,
    its backlog or net.core.somaxconn is small, or it is an attack.

How to confirm
    ss -ltn (Recv-Q against Send-Q); nstat -az TcpExtListenOverflows TcpExtListenDrops TcpExtTCPReqQFullDrop

How to fix
    Raise the program's backlog and net.core.somaxconn, and find what keeps it from accepting.

References
    net/ipv4/tcp_input.c, tcp_syn_flood_action; listen(2)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.RESOURCE_LIMIT,
    Category.APPLICATION,
)
NAME = "listener-overrun"
KINDS = (MessageKind.SYN_FLOOD,)
ASK = Ask(
    "whether the listener's queue is full",
    "ss -ltn; nstat -az TcpExtListenOverflows TcpExtListenDrops",
    "Recv-Q above Send-Q, or counters that grow: it is",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    port = get_value(said, "port")
    meaning = Meaning(
        claim=f"More connections come to port {port} than its program accepts: the queue of its listener overruns.",
        breaks="new connections to that port",
        cure="raise the backlog and net.core.somaxconn, or make the program accept faster",
        commands=(f"ss -ltn sport = :{port}",),
        certainty=0.7,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
