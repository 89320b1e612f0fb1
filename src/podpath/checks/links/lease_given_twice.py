"""lease-given-twice: a DHCP server gives one address to two MAC addresses.

What it is
    The server's log offers or acknowledges the same address to two different MAC addresses, or a
    client sends DHCPDECLINE.

Why it breaks
    A server identifies a client by its client identifier before its MAC. Cloned machines have the
    same machine-id and therefore the same DUID: they share one lease. The second one finds the
    address in use and declines it, or both use it and take each other's packets.

How to confirm
    cat /etc/machine-id                     # the same on both?
    arping -D -I DEVICE ADDRESS

How to fix
    rm -f /etc/machine-id && systemd-machine-id-setup on the clone; delete its leases and DUID
    (/var/lib/dhcp, /var/lib/wicked); or set dhcp-identifier: mac in netplan.

References
    RFC 2131 4.2, RFC 4361; machine-id(5); systemd.network(5), ClientIdentifier
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (
    Category.DUPLICATE_ADDRESS,
    Category.NETWORK_MANAGER,
)
NAME = "lease-given-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report each address that two MACs got."""
    given: dict[str, dict[str, Message]] = defaultdict(dict)
    for message in find_said(case, MessageKind.LEASE_GIVEN):
        given[message.values["address"]].setdefault(message.values["mac"].lower(), message)
    for address, owners in given.items():
        if len(owners) < 2:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"The DHCP server gives {address} to {' and '.join(owners)}.",
            evidence=list_spans(owners.values()),
            reasoning=(
                (
                    "A lease belongs to a client identifier: machines with the same identifier, "
                    "such as clones, share the lease."
                ),
            ),
            breaks=(f"connections to and from {address}",),
            prevention="Empty /etc/machine-id in images before you clone them.",
            certainty=0.8,
            marks=(address, *owners),
        )
