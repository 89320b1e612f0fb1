"""`bridge vlan`: the VLANs of bridge ports, from text (a port's VLANs stand below each other) and
from JSON.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    lists_nothing,
    number_of,
    objects_of,
    read_objects,
    text_of,
    words_of,
)
from podpath.evidence.node_records import BridgeVlanRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source

_HEADING = re.compile(r"\s*port\s+vlan[- ]ids?\b")
_VLAN = r"(?P<vlan>\d{1,4})(?:-(?P<last>\d{1,4}))?(?P<flags>(?:\s+(?:PVID|Egress|Untagged))*)\s*$"
_PORT = re.compile(rf"\s*(?P<port>[^\s:/]{{1,15}})\s+(?:{_VLAN}|(?P<none>None)\s*$)")
_NEXT = re.compile(rf"\s+{_VLAN}")
_ALONE = re.compile(r"[^\s:/]{1,15}\s*$")
_FLAGGED = re.compile(r".*\b(?:PVID|Egress Untagged)\b")
_JSON = re.compile(r'"vlans"\s*:\s*\[')
_MOST = 4095
_EXPECTED = "a VLAN of a port"


def recognise(source: Source) -> int:
    """Recognize the heading, or `PORT VLAN PVID Egress Untagged`."""
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:2]):
        return CERTAIN
    shaped = max(share(lines, _PORT), share(lines, _NEXT)) >= 0.3 and all(
        _PORT.match(line) or _NEXT.match(line) for line in lines
    )
    return LIKELY if shaped and any(_FLAGGED.match(line) for line in lines) else NO


def read(source: Source) -> Reading:
    """Read VLANs from text."""
    ledger = Ledger(source)
    port: IfName | None = None
    for index, line in plain_lines(source):
        further = _NEXT.match(line)
        found = None if further is not None else _PORT.match(line)
        if _HEADING.match(line) or (found is not None and found["none"]):
            ledger.head(index)
        elif further is not None:
            _add(ledger, index, port, further)
        elif found is not None:
            port = IfName(found["port"])
            _add(ledger, index, port, found)
        elif _ALONE.match(line) and not ledger.elide(index) and line.strip():
            port = IfName(line.strip())
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _add(ledger: Ledger, index: int, port: IfName | None, found: re.Match[str]) -> None:
    vlan, last = int(found["vlan"]), int(found["last"]) if found["last"] else None
    if port is None:
        ledger.gap(index, "expected the port that this VLAN belongs to on a line above")
    elif vlan > _MOST or (last is not None and not vlan <= last <= _MOST):
        ledger.gap(index, f"expected VLANs up to {_MOST}, saw {found[0].strip()!r}")
    else:
        flags = found["flags"]
        ledger.add(
            BridgeVlanRecord(
                span=ledger.span(index),
                port=port,
                vlan=vlan,
                last=last,
                pvid="PVID" in flags,
                untagged="Untagged" in flags,
            )
        )


def recognise_json(source: Source) -> int:
    """Recognize objects with `vlans`."""
    return (
        CERTAIN if _JSON.search(head_of(source)) or lists_nothing(source, "bridge", "vlan") else NO
    )


def read_json(source: Source) -> Reading:
    """Read VLANs from JSON."""
    return read_objects(source, _add_port, _EXPECTED)


def _add_port(ledger: Ledger, item: JsonObject) -> str | None:
    try:
        port = parse_name(text_of(item.value, "ifname") or "")
    except ValueError as error:
        return str(error)
    entries = objects_of(item.value, "vlans")
    if not entries:
        if item.value.get("vlans") != []:
            return f"expected the VLANs of {port}, saw none"
        ledger.head(item.first, item.last)
    span = ledger.span(item.first, item.last)
    for entry in entries:
        vlan = number_of(entry, "vlan", _MOST)
        if vlan is None:
            ledger.refuse(span, f"expected a VLAN of {port}, saw an entry without its number")
            continue
        flags = words_of(entry, "flags")
        ledger.add(
            BridgeVlanRecord(
                span=span,
                port=port,
                vlan=vlan,
                last=number_of(entry, "vlanEnd", _MOST),
                pvid="PVID" in flags,
                untagged="Egress Untagged" in flags,
            )
        )
    return None


FORMATS = (
    Format("bridge vlan", recognise, read),
    Format("bridge -j vlan", recognise_json, read_json),
)
