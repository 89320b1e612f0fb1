"""address-of-two-hosts: the cards of two hosts have the same IP address.

What it is
    `ip addr` or ifconfig of two hosts shows one address on a card of each, with different MACs: the
    machines were cloned with their machine-id, from which DHCP clients derive the client ID that
    servers assign leases by, or a fixed address was copied.

Why it breaks
    Each neighbor keeps the MAC of the host that answered ARP last. Connections to the address reach
    one host or the other, and break off when that changes.

How to confirm
    cat /etc/machine-id                        # on both hosts
    arping -D -I DEVICE ADDRESS; ip neigh show ADDRESS (the MAC changes)

How to fix
    rm /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup, and ask for a new lease;
    or `dhcp-identifier: mac` in netplan (ClientIdentifier=mac); or correct the fixed address.

References
    machine-id(5); systemd.network(5), ClientIdentifier=; RFC 5227
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.net.clashes import Clash, ClashKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "address-of-two-hosts"


def check(case: Case) -> Iterator[Finding]:
    """Report each address that cards of two named hosts have in common."""
    for clash in case.clashes:
        if clash.kind is ClashKind.ADDRESS:
            yield _report(clash)


def _report(clash: Clash) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{' and '.join(clash.hosts)} both have the address {clash.key}, with the MACs "
            f"{' and '.join(clash.values)}."
        ),
        evidence=clash.spans,
        reasoning=("Neighbors send to the MAC of whichever host answered ARP last.",),
        breaks=(f"connections to {clash.key}",),
        prevention="Give each clone a machine-id of its own before it first starts.",
        certainty=0.8,
        marks=(clash.key,),
        asks=(
            FollowUp(
                "whether both hosts are on one network of switches at the same time",
                f"arping -D -I DEVICE {clash.key}; cat /etc/machine-id (on both hosts)",
                "somebody answers: the two share the address",
            ),
        ),
        proves=frozenset({FailureKind.RESET, FailureKind.WRONG_PEER, FailureKind.SOMETIMES}),
    )
