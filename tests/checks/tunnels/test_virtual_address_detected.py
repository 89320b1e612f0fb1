"""Virtual addresses on the cards of nodes with Calico."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.virtual_address_detected import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast state UP group default
    link/ether 52:54:00:6f:1a:0e brd ff:ff:ff:ff:ff:ff
    inet 192.168.200.51/24 brd 192.168.200.255 scope global eth0
    inet {virtual} scope global eth0
```
"""
LOST = (
    "Calico, and keepalived on the control plane. Pods of the node that holds keepalived's address "
    "do not reach pods of other nodes."
)


def test_both_addresses_are_quoted() -> None:
    """It is possible, and the question is what Calico found."""
    (found,) = check(ticket_of(TICKET.format(said=LOST, virtual="192.168.200.59/32")))

    assert "192.168.200.59/32" in found.evidence[0].text
    assert (0.5, 2, 1) == (found.certainty, len(found.evidence), len(found.asks))


@pytest.mark.parametrize(
    ("said", "virtual"),
    [
        (LOST, "192.168.200.59/24"),
        (LOST, "10.99.0.9/32"),
        (LOST.replace("Calico", "Flannel"), "192.168.200.59/32"),
        (LOST.replace("keepalived", "haproxy"), "192.168.200.59/32"),
        (LOST.replace("do not reach", "reach"), "192.168.200.59/32"),
    ],
    ids=["second", "another-network", "flannel", "no-failover", "works"],
)
def test_what_only_looks_like_it_is_let_be(said: str, virtual: str) -> None:
    """A second address of the node itself, another plugin, and a node that works."""
    assert [] == list(check(ticket_of(TICKET.format(said=said, virtual=virtual))))
