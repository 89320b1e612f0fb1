"""`ip [-d] -j link` and `ip -j addr`: the same devices and addresses as the text, from JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.iproute.device_fields import ADDRESS_FLAGS, assemble_address
from podpath.evidence.iproute.link_options import collect_options
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    is_set,
    lists_nothing,
    number_of,
    object_of,
    objects_of,
    read_objects,
    text_of,
    words_of,
)
from podpath.evidence.node_records import LinkRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.device_counts import read_statistics
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_mac, parse_name
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Source, Span
from podpath.net.statements import DeviceCount

_NAME = re.compile(r'"ifname"\s*:\s*"')
_DEVICE = re.compile(r'"(?:operstate|ifindex|linkmode|link_type|addr_info)"\s*:')
_ADDRESSES = re.compile(r'"addr_info"\s*:')
_BRIDGE_PORT = re.compile(r'"state"\s*:\s*"(?:disabled|listening|learning|forwarding|blocking)"')
_LOCAL = re.compile(r'"local"\s*:\s*"')
_ETHERNET = frozenset({"ether", "loopback"})
_EXPECTED = "a device"


def _is_device(head: str) -> bool:
    if not _NAME.search(head) or not _DEVICE.search(head):
        return False
    return (
        '"operstate"' in head
        or _ADDRESSES.search(head) is not None
        or not _BRIDGE_PORT.search(head)
    )


def recognise_links(source: Source) -> int:
    """Recognize objects with `ifname` and what belongs to a device, without addresses."""
    head = head_of(source)
    shown = _is_device(head) and not _ADDRESSES.search(head)
    return CERTAIN if shown or lists_nothing(source, "ip", "link") else NO


def recognise_addresses(source: Source) -> int:
    """Recognize the same with `addr_info`."""
    head = head_of(source)
    shown = _is_device(head) and _ADDRESSES.search(head)
    return CERTAIN if shown or lists_nothing(source, "ip", "address") else NO


def read(source: Source) -> Reading:
    """Read devices and their addresses."""
    return read_objects(source, _add_device, _EXPECTED)


def _add_device(ledger: Ledger, item: JsonObject) -> str | None:
    value = item.value
    text = text_of(value, "ifname")
    if text is None:
        return "expected a device, saw an object without ifname"
    try:
        name = parse_name(text)
    except ValueError as error:
        return str(error)
    span = ledger.span(item.first, item.last)
    ledger.add(_link(value, name, span, ledger))
    for count, number in read_statistics(object_of(value, "stats64") or object_of(value, "stats")):
        statement = DeviceCount(name, count, number)
        ledger.add(StatementRecord(span=span, statement=statement))
    _add_addresses(ledger, item, name)
    return None


def _link(value: Mapping[str, object], name: IfName, span: Span, ledger: Ledger) -> LinkRecord:
    info = object_of(value, "linkinfo")
    kind, port_kind = text_of(info, "info_kind"), text_of(info, "info_slave_kind")
    details = collect_options(object_of(info, "info_data"), kind or "")
    if "xdp" in value:
        details["xdp"] = "on"
    return LinkRecord(
        span=span,
        name=name,
        ifindex=number_of(value, "ifindex"),
        kind=kind,
        flags=words_of(value, "flags") if isinstance(value.get("flags"), list) else None,
        mtu=number_of(value, "mtu"),
        state=text_of(value, "operstate"),
        master=text_of(value, "master"),
        peer_name=text_of(value, "link"),
        peer_ifindex=number_of(value, "link_index"),
        peer_netns=text_of(value, "link_netns") or text_of(value, "link_netnsid"),
        mac=_mac(value, span, ledger),
        details=details,
        port_kind=port_kind,
        port_details=collect_options(object_of(info, "info_slave_data"), f"{port_kind}_slave"),
        qdisc=text_of(value, "qdisc"),
    )


def _mac(value: Mapping[str, object], span: Span, ledger: Ledger) -> Mac | None:
    text = text_of(value, "address")
    if text is None or value.get("link_type", "ether") not in _ETHERNET:
        return None
    try:
        return parse_mac(text)
    except ValueError as error:
        ledger.refuse(span, str(error))
        return None


def _add_addresses(ledger: Ledger, item: JsonObject, name: IfName) -> None:
    entries = [entry for entry in objects_of(item.value, "addr_info") if entry]
    lines = _address_lines(ledger.source, item, len(entries))
    for entry, line in zip(entries, lines, strict=True):
        span = ledger.span(line) if line is not None else ledger.span(item.first, item.last)
        try:
            words, flags = _address_words(entry)
            ledger.add(assemble_address(words, flags, name, span))
        except ValueError as error:
            ledger.refuse(span, str(error))


def _address_words(entry: Mapping[str, object]) -> tuple[dict[str, str], tuple[str, ...]]:
    local, length, peer = (
        text_of(entry, "local"),
        text_of(entry, "prefixlen"),
        text_of(entry, "address"),
    )
    if local is None or length is None:
        raise ValueError("expected an address, saw an entry without local and prefixlen")
    words = (
        {"local": local, "peer": f"{peer}/{length}"}
        if peer is not None
        else {"local": f"{local}/{length}"}
    )
    for key, name in (("broadcast", "brd"), ("scope", "scope")):
        text = text_of(entry, key)
        if text is not None:
            words[name] = text
    return words, tuple(flag for flag in entry if flag in ADDRESS_FLAGS and is_set(entry, flag))


def _address_lines(source: Source, item: JsonObject, count: int) -> list[int | None]:
    """Return the line of each address of an object that is printed over several lines; None where
    it cannot be told.
    """
    if item.first == item.last:
        return [item.first] * count
    found: list[int | None] = [
        index for index in range(item.first, item.last + 1) if _LOCAL.search(source.lines[index])
    ]
    return found if len(found) == count else [None] * count


FORMATS = (
    Format("ip -j addr", recognise_addresses, read),
    Format("ip -j link", recognise_links, read),
)
