"""handshake-unanswered: the other end of a tunnel or cluster does not answer.

What it is
    WireGuard's handshake with a peer does not complete, or a member of a swarm sends no acknowledgements.

Why it breaks
    UDP between the two is dropped, the endpoint's address or port is wrong, or the peer does not run.

How to confirm
    wg show (latest handshake, transfer); tcpdump -nn udp port PORT on both ends

How to fix
    Open the port (UDP 51820; for swarm 7946 TCP and UDP, 4789 UDP) between the hosts, or set the endpoint right.

References
    wg(8); Docker, Swarm mode ports
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_BLOCKED,
    Category.OUTSIDE_NODE,
)
NAME = "handshake-unanswered"
KINDS = (
    MessageKind.HANDSHAKE_UNANSWERED,
    MessageKind.PEER_LOST,
)
ASK = Ask(
    "whether the handshake's packets leave and arrive",
    "tcpdump -nn udp port PORT   # on both ends; wg show",
    "they leave and do not arrive: the way drops them; they do not leave: a firewall or route on this host",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    peer = get_value(said, "peer")
    meaning = Meaning(
        claim=f"The peer {peer} does not answer the handshake.",
        breaks="what should go to that peer",
        cure="open the tunnel's port between the two, or set the endpoint right",
        certainty=0.5,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
