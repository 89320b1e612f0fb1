"""Leases of addresses: whether one is a renewal, which changes nothing.

A DHCP client tells of each renewal in the words of a first lease. What it was before, its log says
further up.
"""

from __future__ import annotations

import re

from podpath.timeline.event import LogEvent

_LEASE = re.compile(
    r"(?:dhcp4 \((?P<device>[\w.-]+)\):?.*?address[= ]+'?|"
    r"(?P<networkd>[\w.-]+): DHCPv4 address |bound to |DHCPACK of )"
    r"(?P<address>\d+\.\d+\.\d+\.\d+)"
)
_SIGNS = ("dhcp4 (", "DHCPv4 address ", "bound to ", "DHCPACK of ")


def compare_lease(event: LogEvent) -> str:
    """Return `renewed` where the device's lease before it in the log is of the same address,
    `changed` where it is of another, `leased` where there is none.
    """
    own = _LEASE.search(event.span.text)
    if own is None:
        return "leased"
    source = event.span.source
    for line in reversed(source.lines[: event.span.line - source.first_line]):
        found = _LEASE.search(line) if any(sign in line for sign in _SIGNS) else None
        if found is not None and _device(found) == _device(own):
            if found["address"] == own["address"]:
                return "renewed"
            return "changed"
    return "leased"


def _device(found: re.Match[str]) -> str:
    return found["device"] or found["networkd"] or ""
