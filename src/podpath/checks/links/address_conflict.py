"""address-conflict: another host uses the same IP address, according to the kernel, DHCP or an
agent.

What it is
    An address that a host wants is already in use: IPv6 duplicate address detection, a DHCPDECLINE,
    an address conflict seen by NetworkManager or systemd-networkd, or Calico's check of the nodes'
    addresses found it.

Why it breaks
    Cloned machines share the machine-id or the DHCP client ID and get the same lease; or an address
    was configured by hand twice. Neighbors send frames to one host or the other, so connections
    break at random, or the host does not use the address at all.

How to confirm
    arping -D -I DEV ADDRESS; ip neigh show ADDRESS (several times); cat /etc/machine-id on both

How to fix
    Give one of them another address. For clones: rm /etc/machine-id /var/lib/dbus/machine-id;
    systemd-machine-id-setup; delete the DHCP client's leases, or send the MAC as the client ID
    (dhcp-identifier: mac in netplan).

References
    RFC 5227; RFC 4862 section 5.4; RFC 2131 section 4.3.3; systemd.network(5), ClientIdentifier
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "address-conflict"
KINDS = (
    MessageKind.DUPLICATE_ADDRESS,
    MessageKind.ADDRESS_DECLINED,
    MessageKind.NODE_ADDRESS_CONFLICT,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it; the leases come first where the same address was given to two
    clients.
    """
    said = find_said(case, *KINDS)
    if not said:
        return
    address = get_value(said, "address", default="that was offered")
    meaning = Meaning(
        claim=f"Another host also uses the address {address}.",
        breaks="connections to and from that address",
        cure="give one of the two hosts another address, and each clone its own identity",
    )
    given = [
        message
        for message in find_said(case, MessageKind.LEASE_GIVEN)
        if message.values["address"] == get_value(said, "address")
    ]
    owners = {message.values["mac"].lower(): message for message in reversed(given)}
    yield tell(NAME, (*(owners.values() if len(owners) > 1 else ()), *said), meaning)
