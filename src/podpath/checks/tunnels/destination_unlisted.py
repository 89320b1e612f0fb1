"""destination-unlisted: no peer of the WireGuard interface has allowed IPs for the destination.

What it is
    A program that sends into the interface gets `Required key not available` (ENOKEY), or the
    kernel logs `No peer has allowed IPs matching`.

Why it breaks
    A route leads into the interface, and the allowed IPs of its peers decide to which of them a
    packet goes. If none of them contains the destination, the packet is not sent. The fault is at
    this end alone: keys, proposals and the other end have nothing to do with it.

How to confirm
    wg show DEVICE allowed-ips; ip route get ADDRESS

How to fix
    Add the range to the AllowedIPs of the peer behind which it is (each range to one peer only: a
    range that is given to a second peer is taken from the first).

References
    wg(8), allowed-ips; drivers/net/wireguard/device.c, wg_xmit v6.12 (ENOKEY)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.said import QUOTED, find_said, get_value
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.NO_ROUTE)
NAME = "destination-unlisted"


def check(case: Case) -> Iterator[Finding]:
    """Report it with the destination, where the line or the attempt that it answers tells it."""
    said = find_said(case, MessageKind.DESTINATION_NOT_ALLOWED)
    if said:
        device = get_value(said, "device")
        yield _report(said, get_value(said, "dst") or _find_destination(case, said), device)


def _find_destination(case: Case, said: Sequence[Message]) -> str:
    """Return the destination of the failed attempts of the outputs in which it was said; nothing
    where they have several.
    """
    places = {(span.source.name, span.source.first_line) for span in list_spans(said)}
    asked = {
        str(one.probe.dst)
        for one in case.attempts
        if one.is_bad and (one.span.source.name, one.span.source.first_line) in places
    }
    return asked.pop() if len(asked) == 1 else ""


def _report(said: Sequence[Message], target: str, device: str) -> Finding:
    where = device or "the WireGuard interface"
    what = target or "the destination"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No peer of {where} on this host has allowed IPs that include {what}.",
        evidence=tuple(dict.fromkeys(list_spans(said)))[:QUOTED],
        reasoning=("The kernel refuses to send with ENOKEY, before any other host is asked.",),
        breaks=(f"what this host sends to {what} by that interface",),
        repairs=(
            Repair(
                title=f"add {what}, or its range, to the AllowedIPs of the peer that leads there",
                commands=(f"wg show {device or 'all'} allowed-ips",),
            ),
        ),
        prevention="Give each range behind a peer to that peer wherever the network is described.",
        marks=tuple(filter(None, (target, device))),
    )
