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

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.ARP_WRONG_ANSWER)
NAME = "address-conflict"
KINDS = (
    MessageKind.DUPLICATE_ADDRESS,
    MessageKind.ADDRESS_DECLINED,
    MessageKind.NODE_ADDRESS_CONFLICT,
)

POSSIBLE = 0.7
"""Where the MAC may be one of this host's own: it answers for its addresses on all of its cards."""
ASK = FollowUp(
    "whose MAC it is",
    "ip -br link",
    "one of this host's: it answers by another card on the same link (arp_ignore, arp_filter); "
    "none of them: another host has the address",
)
_OWN = Meaning(
    claim="This host itself answers ARP for {0} through its card {1} on the same link.",
    breaks="traffic to that address, which comes in through the other card",
    cure="let each card answer for its own addresses",
    commands=("sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2",),
)
_FOR_OTHERS = Meaning(
    claim="Another station answers ARP for {0}: it has the address too, or it runs proxy ARP.",
    breaks="connections to and from that address",
    cure=(
        "give one of the two hosts another address, or turn off proxy ARP on the station that "
        "answers"
    ),
    certainty=POSSIBLE,
    ask=FollowUp(
        "whether that station also answers for addresses that nobody has",
        "arping -c 2 -I DEV UNUSED-ADDRESS; ip neigh",
        "the same MAC answers: proxy ARP of a router, switch or emulator; otherwise it has the "
        "address itself",
    ),
)
READ = 20_000
"""Lines of a log in which a MAC is looked for."""


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it; the leases come first where the same address was given to two
    clients.
    """
    said = find_said(case, *KINDS)
    if not said:
        return
    address = get_value(said, "address", default="that was offered")
    own = next((link for link in case.node.host.links.items if link.mac in _list_macs(said)), None)
    if own is not None:
        yield tell(NAME, said, _OWN._replace(claim=_OWN.claim.format(address, own.name)))
        return
    given = [
        message
        for message in find_said(case, MessageKind.LEASE_GIVEN)
        if message.values["address"] == get_value(said, "address")
    ]
    owners = {message.values["mac"].lower(): message for message in reversed(given)}
    sure = len(owners) > 1 or _is_of_other(case, said)
    other = _find_other_address(case, said)
    if other is not None:
        meaning = _FOR_OTHERS._replace(claim=_FOR_OTHERS.claim.format(address))
        found = tell(NAME, said, meaning)
        yield replace(found, evidence=(*found.evidence, other))
        return
    meaning = Meaning(
        claim=f"Another host also uses the address {address}.",
        breaks="connections to and from that address",
        cure="give one of the two hosts another address, and each clone its own identity",
        certainty=1.0 if sure else POSSIBLE,
        ask=None if sure else ASK,
    )
    yield tell(NAME, (*(owners.values() if len(owners) > 1 else ()), *said), meaning)


def _list_macs(said: Sequence[Message]) -> set[str]:
    """Return the MACs of who is said to hold the address."""
    macs = (message.values.get("holder") for message in said)
    return {mac.lower() for mac in macs if mac is not None}


def _find_other_address(case: Case, said: Sequence[Message]) -> Span | None:
    """Return a line by which the MAC of who is said to hold the address is another address's: the
    station may answer for others.
    """
    macs = _list_macs(said)
    spelled = {mac.replace(":", sign) for mac in macs for sign in (":", " ", "-")}
    addresses = {message.values["address"] for message in said if "address" in message.values}
    for entry in case.node.host.neighbours.items:
        if (
            entry.span is not None
            and str(entry.mac) in macs
            and str(entry.address) not in addresses
        ):
            return entry.span
    for source in dict.fromkeys(message.span.source for message in said):
        for number, line in enumerate(source.lines[:READ], source.first_line):
            named = any(mac in line.casefold() for mac in spelled)
            if named and not any(address in line for address in addresses):
                return Span(source, number, number)
    return None


def _is_of_other(case: Case, said: Sequence[Message]) -> bool:
    """Tell whether no MAC is named, or the host's own are shown."""
    return not _list_macs(said) or any(link.mac for link in case.node.host.links.items)
