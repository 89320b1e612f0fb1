"""What tcpdump prints of ARP (print-arp.c), with words in place of addresses where people put them
there.
"""

from __future__ import annotations

import re

from podpath.evidence.records import ArpRecord
from podpath.net.addresses import Address

_OTHERS = {"Reverse Request": 3, "Reverse Reply": 4, "Inverse Request": 8, "Inverse Reply": 9}
_NAME = r"<[^<>]*>|[^\s,()]+"
_ARP = re.compile(
    rf"(?:[\w ]+(?: \(\d+\))? \(len \d+\), IPv4 \(len \d+\), )?(?:"
    rf"(?:Request |request )?[Ww]ho-has (?P<asked>{_NAME}) ?(?:\((?P<asked_mac>[^)]*)\) )?tell "
    rf"(?P<asker>{_NAME})|(?:Reply |reply )?(?P<told>{_NAME}) is-at (?P<told_mac>{_NAME})|"
    rf"(?:Announcement|Probe) (?P<announced>{_NAME})|"
    r"Unknown \((?P<unknown>\d+)\)|(?P<other>Reverse Request|Reverse Reply|Inverse Request|"
    r"Inverse Reply) )"
)


def parse_arp(text: str) -> ArpRecord | None:
    """Read ARP's text; None where it is another operation, or damaged."""
    found = _ARP.match(text.strip())
    if found is None:
        return None
    if found["asked"] is not None:
        target_mac = (found["asked_mac"] or "").partition(" ")[0] or None
        return ArpRecord(
            "request", _address(found["asker"]), _address(found["asked"]), None, target_mac
        )
    if found["told"] is not None:
        return ArpRecord("reply", _address(found["told"]), None, found["told_mac"], None)
    number = found["unknown"] or _OTHERS.get(found["other"])
    if number is not None:
        return ArpRecord(f"operation {number}", None, None, None, None)
    announced = _address(found["announced"])
    probe = "Probe" in found[0]
    return ArpRecord("request", None if probe else announced, announced, None, None)


def _address(text: str) -> Address | None:
    try:
        return Address.parse(text.rstrip("."))
    except ValueError:
        return None
