"""tshark's lines and Wireshark's packet list as text: number, time, ends, protocol, length, and
what the packet says.

Packets of TCP, UDP and echoes of ICMP become those that tcpdump's text makes; of other rows, whose
ports do not stand there, no packet is made. An end that is masked or a name is no address: its row
is a gap.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN, NO, POSSIBLE, Format, sample, share
from podpath.evidence.records import PacketRecord, Reading
from podpath.evidence.tcpdump.point import parse_point
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.services import SERVICES
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, read_address
from podpath.net.packet import Packet
from podpath.net.provenance import Source

_ARROW = "(?:\u2192|->|>)"
_ROW = re.compile(
    r"\s*(?:(?P<number>\d{1,9})\s+)?(?:(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} +\d{1,2}, \d{4})[ T])?"
    r"(?P<time>(?:\d\d:\d\d:)?\d{1,9}[.,]\d{1,9})\s+"
    rf"(?P<src>\S+)\s+(?:{_ARROW}\s+)?(?P<dst>\S+)\s+(?P<protocol>[A-Z][\w./-]*)\s+"
    r"(?P<length>\d{1,6})\s+(?P<info>\S.*)$"
)
_TITLE = re.compile(r"\s*No\.\s+Time\s+Source\s+Destination\s+Protocol\b.*$")
_TALK = re.compile(
    r"\s*(?:Capturing on .*|Running as user .*|\*\* \(tshark:.*|tshark: .*|\^C.*|"
    r"\d+ packets? (?:captured|dropped).*)$"
)
_PORTS = rf"(?P<sport>\d{{1,5}}|[a-z][\w-]*)\s*{_ARROW}\s*(?P<dport>\d{{1,5}}|[a-z][\w-]*)"
_TCP = re.compile(
    rf"(?:\[TCP [^\]]*\]\s*)*{_PORTS}\s+\[(?P<flags>[A-Z]{{3}}(?:, ?[A-Z]{{2,3}})*)\]"
)
_UDP = re.compile(rf"{_PORTS}\s+Len=(?P<size>\d+)")
_FIELD = re.compile(r"\b(?P<name>Seq|Ack|Len)=(?P<value>\d+)")
_ECHO = re.compile(r"Echo \(ping\) (?P<kind>request|reply)\s+id=0x(?P<id>[0-9a-fA-F]{1,4})")
_ETHERNET, _MOST, _MOSTLY = 14, 65535, 0.5
_ECHOES = {"request": protocols.ECHO_REQUESTS, "reply": protocols.ECHO_REPLIES}
_FLAGS = {
    "SYN": protocols.SYN, "ACK": protocols.ACK, "FIN": protocols.FIN, "RST": protocols.RST,
    "PSH": protocols.PSH, "URG": protocols.URG,
}  # fmt: skip
_BAD_SUM = "checksum incorrect"


class _Row(NamedTuple):
    """A row of the list whose ends are addresses."""

    number: int | None
    """Of the packet in its capture; None where the row has none."""
    time: float | None
    src: Address
    dst: Address
    protocol: str
    length: int
    info: str


def recognise_tshark(source: Source) -> int:
    """Recognize rows with a time, two ends, a protocol and a length."""
    lines = sample(source)
    rows = share(lines, _ROW)
    titled = any(_TITLE.match(line) for line in lines[:3])
    if titled or rows > _MOSTLY:
        return CERTAIN if rows else POSSIBLE
    return POSSIBLE if rows else NO


def read_tshark(source: Source) -> Reading:
    """Read every row that shows the ports of a packet."""
    ledger = LineLedger(source)
    point = parse_point(source.command)
    numbers = _RowNumbers()
    for index, line in enumerate(ledger.lines):
        if not line.strip() or ledger.elide(index):
            continue
        if _TITLE.match(line) or _TALK.match(line):
            numbers.forget()
            ledger.head(index)
            continue
        row = _parse_row(line)
        if row is None:
            numbers.forget()
            continue
        numbers.add(index, row.number)
        packet = _make_packet(row)
        if packet is None:
            ledger.head(index)
            continue
        ledger.add(
            PacketRecord(
                span=ledger.span(index),
                time=row.time,
                packet=packet,
                link=IfName(point.link) if point.link is not None else None,
                note="" if row.protocol in {"TCP", "UDP", "ICMP", "ICMPv6"} else row.info,
                wrong_sum=_BAD_SUM in row.info,
            )
        )
    if numbers.hole is not None:
        ledger.select(ledger.span(numbers.hole), numbers.missing)
    return ledger.close("a row of tshark")


class _RowNumbers:
    """The packets' numbers in their capture, as far as rows show them. Local to `read_tshark`."""

    def __init__(self) -> None:
        """Begin before the first row."""
        self._latest: int | None = None
        self.hole: int | None = None
        """The line behind the first packets that are not shown; None where all are."""
        self.missing = ""

    def add(self, index: int, number: int | None) -> None:
        """Read the number of a row."""
        if self.hole is None and number is not None and self._latest is not None:
            first, last = self._latest + 1, number - 1
            if first <= last:
                self.hole = index
                one = first == last
                named = f"packet {first}" if one else f"packets {first} to {last}"
                self.missing = f"{named} of the capture {'is' if one else 'are'} not shown"
        self._latest = number

    def forget(self) -> None:
        """Pass a line that is no row: it may be the one that is missed."""
        self._latest = None


def _parse_row(line: str) -> _Row | None:
    found = _ROW.match(line)
    if found is None:
        return None
    src, dst = read_address(found["src"]), read_address(found["dst"])
    if src is None or dst is None or src.family != dst.family:
        return None
    return _Row(
        int(found["number"]) if found["number"] else None,
        _parse_time(found["time"]),
        src,
        dst,
        found["protocol"],
        int(found["length"]),
        found["info"],
    )


def _parse_time(text: str) -> float | None:
    *clock, seconds = text.replace(",", ".").split(":")
    whole = sum(int(part) * weight for part, weight in zip(clock, (3600, 60), strict=False))
    return whole + float(seconds)


def _make_packet(row: _Row) -> Packet | None:
    """Return a row's packet; None where its ports are not shown."""
    echo = _ECHO.match(row.info)
    if echo is not None:
        number = int(echo["id"], 16)
        protocol = protocols.ICMP if row.dst.family == 4 else protocols.ICMPV6
        kind = _ECHOES[echo["kind"]][protocol]
        packet = Packet(row.src, row.dst, protocol, number, number, icmp_type=kind)
        return packet._replace(length=max(row.length - _ETHERNET, 0))
    found = _TCP.match(row.info)
    transport = protocols.TCP if found is not None else protocols.UDP
    found = found or _UDP.match(row.info)
    if found is None:
        return None
    near, far = _read_port(found["sport"]), _read_port(found["dport"])
    if near is None or far is None:
        return None
    fields = {one["name"]: int(one["value"]) for one in _FIELD.finditer(row.info)}
    flags = 0
    for word in (found.groupdict().get("flags") or "").split(","):
        flags |= _FLAGS.get(word.strip(), 0)
    return Packet(
        row.src,
        row.dst,
        transport,
        near,
        far,
        flags,
        length=max(row.length - _ETHERNET, 0),
        payload=fields.get("Len", 0),
        seq=fields.get("Seq", 0),
        ack=fields.get("Ack", 0),
    )


def _read_port(text: str) -> int | None:
    number = int(text) if text.isdecimal() else SERVICES.get(text)
    return None if number is None or number > _MOST else number


FORMAT = Format("tshark", recognise_tshark, read_tshark)
