"""Programs that see frames before the kernel does."""

from __future__ import annotations

import pytest

from podpath.checks.links.xdp_program import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# ip link show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 {xdp}qdisc mq state UP mode DEFAULT
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
{program}```
"""
LOST = "Connections to node port 30080 time out."
PROGRAM = "    prog/xdp id 412 name xdp_fw tag 1122334455667788 jited\n"


def test_the_device_is_quoted() -> None:
    """It is barely possible, and the question is whose program it is."""
    (found,) = check(ticket_of(TICKET.format(said=LOST, xdp="xdpgeneric ", program=PROGRAM)))

    assert found.evidence[0].text.startswith("2: eth0:")
    assert (0.4, 1) == (found.certainty, len(found.asks))


@pytest.mark.parametrize(
    ("said", "xdp", "program"),
    [
        (LOST, "", ""),
        ("Connections to node port 30080 are refused.", "xdp ", PROGRAM),
        ("Cilium 1.14. Connections to node port 30080 time out.", "xdp ", PROGRAM),
        ("Node port 30080 works.", "xdp ", PROGRAM),
    ],
    ids=["none", "refused", "cilium", "works"],
)
def test_what_only_looks_like_it_is_let_be(said: str, xdp: str, program: str) -> None:
    """Something answers, or the program is known to be a plugin's own."""
    assert [] == list(check(ticket_of(TICKET.format(said=said, xdp=xdp, program=program))))
