"""VLANs of bridge ports, held against each other."""

from __future__ import annotations

import pytest

from podpath.checks.links.vlan_on_one_port import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# bridge vlan show
port              vlan-id
eno1              1 PVID Egress Untagged
                  {uplink}
vnet4             {guest} PVID Egress Untagged
br0               1 PVID Egress Untagged
# bridge link
3: eno1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state forwarding cost 4
9: vnet4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state forwarding cost 2
{more}```
"""
FAILS = "The VM on VLAN 30 cannot reach its gateway."
PLAIN = """\
# ip -d link show br0
4: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:00:00:00:00:04 brd ff:ff:ff:ff:ff:ff promiscuity 0
    bridge forward_delay 1500 vlan_filtering {filters} vlan_protocol 802.1Q
"""
OWN = "# ip link\n7: br0.30@br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP\n"


@pytest.mark.parametrize("more", ["", PLAIN.format(filters=1)], ids=["unknown", "filters"])
def test_the_port_is_quoted(more: str) -> None:
    """Possible, for the uplink may be left out."""
    (found,) = check(ticket_of(TICKET.format(said=FAILS, uplink="10", guest="30", more=more)))

    assert ("vnet4",) == found.marks
    assert (0.6, True) == (found.certainty, "VLAN 30" in str(found.claim))


@pytest.mark.parametrize(
    ("said", "uplink", "guest", "more"),
    [
        (FAILS, "30", "30", ""),
        (FAILS, "20-40", "30", ""),
        (FAILS, "10", "1", ""),
        (FAILS, "10", "30", PLAIN.format(filters=0)),
        (FAILS, "10", "30", OWN),
        ("The VM reaches its gateway.", "10", "30", ""),
    ],
    ids=["member", "range", "default", "no-filter", "own-device", "works"],
)
def test_what_only_looks_like_it_is_let_be(said: str, uplink: str, guest: str, more: str) -> None:
    """An uplink in the VLAN, a bridge that does not filter, a host that is in the VLAN itself."""
    text = TICKET.format(said=said, uplink=uplink, guest=guest, more=more)

    assert [] == list(check(ticket_of(text)))


LISTED = """\
{said}

```
# bridge vlan show
port              vlan-id
{port:<18}{own} PVID Egress Untagged
                  {more}
```
"""
WANTED = "Guest pike is to be in VLAN 60 alone and gets nothing."


@pytest.mark.parametrize(
    ("said", "port", "own", "more", "expected"),
    [
        (WANTED, "vnet9", "1", "60", [(0.8, ("vnet9",))]),
        (WANTED, "veth11", "20", "60", [(0.8, ("veth11",))]),
        (WANTED, "vnet9", "60", "70", []),
        (WANTED, "vnet9", "1", "61", []),
        (WANTED, "eno2", "1", "60", []),
        ("Guest pike in VLAN 60 gets all that it should.", "vnet9", "1", "60", []),
    ],
    ids=["default", "another", "own", "other-vlan", "uplink", "works"],
)
def test_a_guests_port_may_carry_its_vlan_with_a_tag_only(
    said: str, port: str, own: str, more: str, expected: list[tuple[float, tuple[str, ...]]]
) -> None:
    """Where people name the VLAN, and one guest's port is listed."""
    found = list(check(ticket_of(LISTED.format(said=said, port=port, own=own, more=more))))

    assert expected == [(one.certainty, one.marks) for one in found]
    assert all("bridge vlan add" in one.repairs[0].commands[0] for one in found)
