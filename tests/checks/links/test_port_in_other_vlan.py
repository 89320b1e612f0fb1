"""The VLAN of a guest's port, held against the one in which people say that it is to be."""

from __future__ import annotations

import pytest

from podpath.checks.links.port_in_other_vlan import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# bridge vlan show
port              vlan-id
eno1              1 PVID Egress Untagged
                  {uplink}
tap100i0          {sibling} PVID Egress Untagged
tap101i0          {own} PVID Egress Untagged
```
"""
FAILS = "VM 101 should be in VLAN 30 and cannot reach its gateway."


def claims(said: str = FAILS, uplink: str = "30", sibling: str = "30", own: str = "20") -> int:
    """Return how many ports are reported."""
    ticket = ticket_of(TICKET.format(said=said, uplink=uplink, sibling=sibling, own=own))
    return len(list(check(ticket)))


def test_the_port_of_the_guest_is_told() -> None:
    """Its sibling is in the VLAN that is meant, and the uplink carries it."""
    assert claims() == 1


@pytest.mark.parametrize(
    ("said", "uplink", "sibling", "own"),
    [
        (FAILS, "30", "30", "30"),
        (FAILS, "40", "30", "20"),
        (FAILS, "30", "20", "20"),
        ("VM 102 should be in VLAN 30 and cannot reach its gateway.", "30", "30", "20"),
        ("VM 101 cannot reach the printer in VLAN 30.", "30", "30", "20"),
        ("VM 101 should be in VLAN 30 and cannot reach VLAN 40.", "30", "30", "20"),
        ("VM 101 cannot reach its gateway, which is in VLAN 30.", "30", "30", "20"),
        ("VM 101 cannot reach the printer (it must be in VLAN 30).", "30", "30", "20"),
    ],
)
def test_ports_in_order(said: str, uplink: str, sibling: str, own: str) -> None:
    """The port is in it, nobody carries it, or nobody says that this guest is to be in it."""
    assert claims(said, uplink, sibling, own) == 0


@pytest.mark.parametrize(
    ("bridge", "filtering", "count"), [("br0", 1, 1), ("br0", 0, 0), ("br1", 1, 0)]
)
def test_ports_of_one_bridge_that_filters(bridge: str, filtering: int, count: int) -> None:
    """The sibling is a port of the same bridge, which is not shown to pass every tag."""
    flags = "<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500"
    options = f"forward_delay 0 vlan_filtering {filtering} vlan_protocol 802.1Q"
    shown = f"""\
```
# ip -d link
2: br0: {flags} state UP
    link/ether 0c:c4:7a:11:22:30 brd ff:ff:ff:ff:ff:ff promiscuity 0
    bridge {options}
3: tap101i0: {flags} master br0 state UP
    link/ether fe:54:00:61:0f:2a brd ff:ff:ff:ff:ff:ff
4: tap100i0: {flags} master {bridge} state UP
    link/ether fe:54:00:61:0f:11 brd ff:ff:ff:ff:ff:ff
```
"""
    ticket = TICKET.format(said=FAILS, uplink="30", sibling="30", own="20")

    assert count == len(list(check(ticket_of(ticket + shown))))
