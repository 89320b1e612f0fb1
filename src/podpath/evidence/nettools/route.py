"""`route -n`, `netstat -rn` and `route -6 -n`: the main table as net-tools print it, with or
without its heading.

These listings say less than `ip route`: no source address, only the first way of a multipath route.
A route without a device (`*`) is a blackhole or a throw; a gateway of the other family is printed
as 0.0.0.0 and is a gap.
"""

from __future__ import annotations

import re
from dataclasses import replace

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.node_records import NexthopRecord, RouteRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_number, parse_prefix
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Source, Span

_TITLE = re.compile(r"\s*Kernel (?:IP|IPv6) routing table|\s*(?:IPv[46] )?Route [Tt]able")
_HEADING = re.compile(r"\s*Destination\s+(?:Gateway\s+Genmask|Next Hop)\s+Flags?\s")
_ADDRESS = r"(?:[0-9A-Fa-fxX*]+\.[0-9A-Fa-fxX*.]+|default|[A-Za-z_][\w.-]*|\*|-)"
_ROW = re.compile(
    rf"\s*(?P<dst>{_ADDRESS})\s+(?P<gateway>{_ADDRESS})\s+(?P<mask>[0-9xX*]+\.[0-9xX*.]+|\*)\s+"
    r"(?P<flags>[!UGHRDMACS]+)\s+(?P<first>-?\d+|-)\s+(?P<second>\d+|-)\s+(?P<third>\d+|-)\s+"
    r"(?P<link>\S+)\s*$"
)
_ROW6 = re.compile(
    r"\s*(?P<dst>\[?[0-9A-Fa-f:.]+(?:/\d+)?\]?|default)\s+(?P<gateway>(?=[^\s:]*:)[0-9A-Fa-f:.]++|"
    r"\[::\])\s+(?P<flags>[!UGHDAaCcnmM]+)\s+(?P<metric>-?\d+)\s+\d+\s+\d+\s+(?P<link>\S+)\s*$"
)
_NONE = "0.0.0.0"  # noqa: S104  no socket is bound: it is what net-tools print for "none"
_NETWORKS = {"default": _NONE, "loopback": "127.0.0.0", "link-local": "169.254.0.0", "*": _NONE}
"""Names that `route` prints without `-n`: of net-tools itself, and of the usual /etc/networks."""
_DIGIT = re.compile(r"\d")
_EXPECTED = "a row of the routing table"


def recognise(source: Source) -> int:
    """Recognize the heading, or rows with destination, gateway, mask and flags."""
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:4]):
        return CERTAIN
    rows = [line for line in lines if _DIGIT.search(line)]
    return LIKELY + 20 if max(share(rows, _ROW), share(rows, _ROW6)) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read routes of the main table."""
    ledger = Ledger(source)
    column = (
        "" if any("MSS" in line and _HEADING.match(line) for line in source.lines[:40]) else "first"
    )
    for index, line in plain_lines(source):
        if _TITLE.match(line) or _HEADING.match(line):
            ledger.head(index)
            continue
        found = _ROW.match(line)
        try:
            if found is not None:
                _add_row(ledger, index, found, _metric(found[column]) if column else None)
            elif (six := _ROW6.match(line)) is not None:
                _add_row6(ledger, index, six)
            else:
                ledger.title(index)
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _add_row(ledger: Ledger, index: int, found: re.Match[str], metric: int | None) -> None:
    flags, link = found["flags"], found["link"]
    gateway = None if found["gateway"] in {_NONE, "*", "-"} else parse_address(found["gateway"])
    if "G" in flags and gateway is None:
        raise ValueError(
            "expected a gateway, saw none under the flag G: it is of the other family, and not "
            "printed here"
        )
    if link == "*":
        ledger.gap(
            index,
            (
                "a route without a device is a blackhole or a throw, which this listing does not "
                "tell; taken for a blackhole"
            ),
        )
    ledger.add(_route(ledger.span(index), _prefix(found), found, gateway, metric))


def _route(
    span: Span, prefix: Prefix, found: re.Match[str], gateway: Address | None, metric: int | None
) -> RouteRecord:
    link = found["link"]
    kind = "blackhole" if link == "*" else None
    if "!" in found["flags"]:
        kind = "unreachable"
    hops = () if kind is not None else (NexthopRecord(link, gateway, None),)
    return RouteRecord(span=span, prefix=prefix, type=kind, nexthops=hops, metric=metric)


def _add_row6(ledger: Ledger, index: int, found: re.Match[str]) -> None:
    if found["metric"].startswith("-"):
        # net/ipv6/route.c:ip6_route_net_init v6.12: `fib6_null_entry` ends every table and is no
        # route of its own.
        ledger.head(index)
        return
    prefix = parse_prefix(found["dst"].strip("[]"), 6)
    gateway = None if found["gateway"] in {"::", "[::]"} else parse_address(found["gateway"])
    record = _route(ledger.span(index), prefix, found, gateway, parse_number(found["metric"]))
    if prefix.address.is_multicast:
        record = replace(record, type="multicast", table="local")
    elif found["flags"] == "Un":
        record = replace(record, type="local", table="local")
    ledger.add(record)


def _prefix(found: re.Match[str]) -> Prefix:
    dst = _NETWORKS.get(found["dst"], found["dst"])
    mask = _NONE if found["mask"] == "*" else found["mask"]
    return parse_prefix(f"{parse_address(dst)}/{parse_address(mask)}")


def _metric(text: str) -> int | None:
    """Read a metric; net-tools print one above 2^31 as negative."""
    if text == "-":
        return None
    return -parse_number(text[1:]) & 0xFFFFFFFF if text.startswith("-") else parse_number(text)


FORMAT = Format("route", recognise, read)
