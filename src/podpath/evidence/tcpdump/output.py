"""tcpdump's text as people paste it into tickets: packets of one or more lines, and what people
wrote between them.

A packet is a line that starts one (`tcpdump.frame`), with the lines that go on with it: the second
line of `-v`, the packet that an ICMP error quotes or a tunnel carries, hex and text dumps. All else
between is a note, kept as a heading, or a gap. Not modeled: `-q` without names of protocols,
decoders of application protocols, link types other than Ethernet and Linux cooked.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, POSSIBLE, Format, sample
from podpath.evidence.records import ArpRecord, PacketRecord, Reading
from podpath.evidence.tcpdump.arp import parse_arp
from podpath.evidence.tcpdump.frame import PrintedFrame, parse_frame, parse_labeled, parse_mac
from podpath.evidence.tcpdump.packet import Body, parse_body, parse_header
from podpath.evidence.tcpdump.plain import PlainPacket, parse_plain
from podpath.evidence.tcpdump.point import parse_point
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import IfName
from podpath.net.provenance import Source

_PACKET = re.compile(
    r"\s*(?:(?:[-=*>]+|\(?\d{1,3}[.)])\s+)?(?:\d+ {2,3}(?:caplen \d+ len \d+ )?)?"
    r"(?:-?(?:\d{4}-\d\d-\d\d[ T])?(?:\d\d:\d\d:\d\d[.,](?:[\dxX*?]+|\.{2,3})|"
    r"\d{9,10}\.\d{3,9}) +\S|(?:IP6?|ARP,) (?:\S+ > \S+|\(|Request|Reply|Ethernet)|"
    r"[\w.:]+ > [\w.:]+: (?:Flags \[|ICMP6?,? |UDP, length)|"
    r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2} > \S+, (?:ethertype|802))"
)
_SIGNATURE = re.compile(
    r"Flags \[|\bIP6? \S+ > |\bIP6? \((?:tos|hlim|flowlabel|class)|\bARP,? |ethertype |who-has |"
    r"ICMP |\S+ > \S+: |UDP, length| (?:In|Out) +IP|"
    r"\S+ > \S+$"
)
_TRAILER = re.compile(
    r"\s*(?:tcpdump: |listening on (?P<link>[^\s,]+), link-type|reading from file |dropped privs|"
    r"\^C|Got \d+|Warning: interface names|"
    r"(?P<count>\d+) packets? (?P<what>captured|received by filter|dropped by(?: kernel)?))"
)
_HEX = re.compile(r"\s+0x[0-9a-f]{4,}: ")
_INNER = re.compile(r"\s*(?:IP6? |ARP, |(?:[0-9a-f]{2}:){5}[0-9a-f]{2} > )")
_ERSPAN = re.compile(r"erspan type[123][^:]*: (?=IP6? |ARP, |(?:[0-9a-f]{2}:){5})")
_HEADER_ENDS = re.compile(r"(?:\)|presumed [A-Z ]+\])\s*$")
_SECOND = re.compile(r"[^\s>]+ > [^\s,]+(?::|\s*$)")
_MTU = re.compile(r"\bmtu (?P<mtu>\d{2,6})\b")
_ICMP = (protocols.ICMP, protocols.ICMPV6)
_WRONG_SUM = re.compile(r"\bcksum 0x[0-9a-f]+ \(incorrect|\[bad udp cksum |\bwrong icmp6? cksum ")
NOTE_WORDS = 12
"""A line of so many words between packets is a note; a longer one is a gap, so that it is seen."""


def recognise_tcpdump(source: Source) -> int:
    """Recognize tcpdump's text by its packets; its command alone is not enough."""
    lines = sample(source)
    packets = sum(
        _PACKET.match(line) is not None and _SIGNATURE.search(line) is not None for line in lines
    )
    if not packets:
        return POSSIBLE if lines and _TRAILER.match(lines[0]) else NO
    if parse_command(source.command).program == "tcpdump" or packets >= 0.3 * len(lines):
        return CERTAIN
    return LIKELY if packets >= 0.1 * len(lines) else POSSIBLE


def read_tcpdump(source: Source) -> Reading:
    """Read all packets; what stands between them is kept as headings and gaps."""
    reader = _PrintedPackets(source)
    index = 0
    while index < len(source.lines):
        index = (
            reader.step(index) if source.lines[index] else index + 1
        )  # of long captures few lines are shown
    return reader.ledger.close("a packet")


class _PrintedPackets:
    """Goes through one capture's lines. Local to `read_tcpdump`."""

    def __init__(self, source: Source) -> None:
        self.ledger = LineLedger(source)
        self._lines = self.ledger.lines
        self._point = parse_point(source.command)
        self._latest: float | None = None
        self._frames = 0
        """Packets since the last count of them, which began on the line `_start`."""
        self._start = 0

    def step(self, index: int) -> int:
        """Read what starts on a line; give the index of the next."""
        line = self._lines[index]
        plain = parse_plain(line) if self._stands_alone(index) else None
        if plain is not None:
            self._add_plain(index, plain)
            return index + 1
        if not line.strip():
            return index + 1
        if self.ledger.elide(index):
            self.ledger.leave_out(index, "packets")
            return index + 1
        trailer = _TRAILER.match(line)
        if trailer is not None:
            if trailer["link"] not in {None, "any"}:
                self._point = self._point._replace(link=trailer["link"])
            self.ledger.head(index)
            self._reckon(index, trailer["what"], int(trailer["count"] or 0))
            return index + 1
        frame = parse_frame(line) if _PACKET.match(line) else None
        if frame is None:
            self._note(index)
            return index + 1
        return self._read_packet(index, frame)

    def _reckon(self, index: int, what: str | None, count: int) -> None:
        """Hold tcpdump's counts at its end against the packets above: of long captures some lines
        are shown, and empty ones stand for the others.
        """
        if what == "captured":
            shown = self._frames + sum(not line for line in self._lines[self._start : index])
            if count > shown > 0:
                why = f"tcpdump captured {count} packets, and {shown} are shown"
                self.ledger.select(self.ledger.span(index), why)
            self._frames, self._start = 0, index + 1
        elif what == "dropped by kernel" and count:
            why = f"the kernel dropped {count} packets that the capture does not show"
            self.ledger.select(self.ledger.span(index), why)

    def _stands_alone(self, index: int) -> bool:
        """Tell whether no line below can go on with a line: all that do are indented, but for the
        text of `-A`.
        """
        return not self._point.text and (
            index + 1 >= len(self._lines) or not self._lines[index + 1].startswith((" ", "\t"))
        )

    def _add_plain(self, index: int, plain: PlainPacket) -> None:
        self._latest = plain.time
        self._frames += 1
        link = plain.link or self._point.link
        record = PacketRecord(
            span=self.ledger.span(index),
            time=plain.time,
            packet=plain.packet,
            link=IfName(link) if link is not None else None,
            direction=plain.direction,
            relative=not self._point.absolute and not plain.packet.flags & protocols.SYN,
            smac=plain.smac,
            dmac=plain.dmac,
            note=plain.note,
        )
        self.ledger.add(record)

    def _note(self, index: int) -> None:
        """Keep a line between packets: a short note, or what cannot be read. It may be a packet."""
        self._frames += 1
        if len(self._lines[index].split()) <= NOTE_WORDS:
            self.ledger.head(index)
        else:
            self.ledger.gap(index, "expected a packet, saw a note")

    def _extent(self, index: int) -> int:
        """Return the index of the last line that goes on with the packet."""
        last = index
        while last + 1 < len(self._lines) and self._goes_on(
            self._lines[index], self._lines[last], self._lines[last + 1]
        ):
            last += 1
        return last

    def _goes_on(self, first: str, before: str, line: str) -> bool:
        """Tell whether a line goes on with the packet that the first line began; `before` is the
        line above it.
        """
        stripped = line.strip()
        if not stripped or _TRAILER.match(line) or not stripped.strip("."):
            return False
        if line[0] == "\t" or _HEX.match(line):
            return True
        if (
            line[0] == " "
            and _SECOND.match(stripped)
            and (_HEADER_ENDS.search(first) or _HEADER_ENDS.search(before))
        ):
            return True
        if _PACKET.match(line):
            return False
        if self._point.text:
            return True
        return line[0] == " " and (
            _SECOND.match(stripped) is not None or _is_cut(first) or line.startswith("    ")
        )

    def _read_packet(self, index: int, frame: PrintedFrame) -> int:
        """Read a packet and what it carries; give the index of the next line."""
        last = self._extent(index)
        self._frames += 1
        details = [line for line in self._lines[index + 1 : last + 1] if not _HEX.match(line)]
        if frame.protocol == "MPLS" and not frame.body and details:
            carried, rest = parse_labeled(details.pop(0).strip())
            frame = frame._replace(protocol=carried, body=rest)
        header, text = parse_header(frame.body)
        if not text.strip() and details:
            text = details.pop(0)
        elif details and _is_cut(text):
            text = " ".join([text.rstrip(), *(line.strip() for line in details)])
            details = []
        if (
            frame.elided
            and frame.time is not None
            and self._latest is not None
            and int(self._latest) == int(frame.time)
        ):
            frame = frame._replace(
                time=max(frame.time, self._latest + 1e-6)
            )  # right after the packet above it
        self._latest = frame.time
        if frame.protocol in {"ARP", "RARP"}:
            self._add_arp(index, last, frame)
            return last + 1
        if frame.protocol not in {"IP", "IP6", ""}:
            self._add(index, last, frame, None, f"{frame.protocol} {frame.body}".strip())
            return last + 1
        if header.length is None and frame.length is not None:
            header = header._replace(length=max(frame.length - 14, 0))
        body = parse_body(text, header)
        if body is None:
            self._add_unread(index, last, frame, text)
            return last + 1
        self._add(index, last, frame, with_quoted(body, details), body.note)
        return self._add_inner(last, frame, body, details)

    def _add_arp(self, index: int, last: int, frame: PrintedFrame) -> None:
        body = parse_arp(frame.body)
        if body is None:
            self.ledger.gap(
                index, f"expected an ARP request or reply, saw {frame.body[:60]!r}", last
            )
        else:
            self._add(index, last, frame, None, "", body)

    def _add_unread(self, index: int, last: int, frame: PrintedFrame, text: str) -> None:
        """Keep a frame that is no IP (a decoder's own text); what should be IP and cannot be read
        is a gap.
        """
        if frame.protocol or (frame.time is None and frame.smac is None and frame.link is None):
            self.ledger.gap(index, f"expected ADDRESS > ADDRESS, saw {text.strip()[:60]!r}", last)
        else:
            self._add(index, last, frame, None, text.strip())

    def _add_inner(self, last: int, frame: PrintedFrame, body: Body, details: list[str]) -> int:
        """Add the packet that a tunnel carries, from the rest of the line or the lines below; give
        the index of the next line.
        """
        if body.packet.protocol == protocols.GRE and not body.carries and details:
            body = body._replace(carries="GRE")
        if not body.carries:
            return last + 1
        start, end = last, last
        texts = [body.inner, *details] if body.inner else list(details)
        if not texts and last + 1 < len(self._lines) and _INNER.match(self._lines[last + 1]):
            start, end = last + 1, self._extent(last + 1)
            texts = list(self._lines[start : end + 1])
        inner = parse_frame(_ERSPAN.sub("", texts[0].strip(), count=1)) if texts else None
        if inner is None:
            return end + 1
        shown = inner._replace(time=frame.time, link=frame.link, direction=frame.direction)
        header, rest = parse_header(inner.body)
        read = (
            parse_body(rest.strip() or " ".join(texts[1:2]), header)
            if inner.protocol in {"IP", "IP6"}
            else None
        )
        arp = parse_arp(inner.body) if inner.protocol == "ARP" else None
        self._add(start, end, shown, read, f"inside {body.carries}", arp)
        return end + 1

    def _add(
        self,
        index: int,
        last: int,
        frame: PrintedFrame,
        body: Body | None,
        note: str,
        arp: ArpRecord | None = None,
    ) -> None:
        inside = note.partition("inside ")[2] if note.startswith("inside ") else ""
        limit = _MTU.search(note) if body is not None and body.packet.protocol in _ICMP else None
        packet = body.packet if body is not None else None
        if packet is not None and (frame.smac is not None or frame.dmac is not None):
            packet = packet._replace(smac=parse_mac(frame.smac), dmac=parse_mac(frame.dmac))
        link = frame.link or self._point.link
        record = PacketRecord(
            span=self.ledger.span(index, last),
            time=frame.time,
            packet=packet,
            link=IfName(link) if link is not None else None,
            direction=frame.direction,
            relative=not self._point.absolute
            and not (packet is not None and packet.flags & protocols.SYN),
            smac=frame.smac,
            dmac=frame.dmac,
            arp=arp,
            note=", ".join(part for part in (frame.tags, note) if part),
            tunnel=inside,
            mtu=int(limit["mtu"]) if limit is not None else 0,
            wrong_sum=packet is not None and self._says_wrong(index, last, inside),
        )
        self.ledger.add(record)

    def _says_wrong(self, index: int, last: int, inside: str) -> bool:
        """Tell whether a packet's lines call its checksum wrong; on a line that a tunnel's packet
        shares it is the outer one.
        """
        shared = bool(inside) and f"{inside.partition(' ')[0]}, " in self._lines[index]
        return not shared and any(_has_wrong_sum(line) for line in self._lines[index : last + 1])


def with_quoted(body: Body, details: list[str]) -> Body:
    """Read the packet that an ICMP error quotes below its own line (`-v`)."""
    if body.packet.protocol not in {protocols.ICMP, protocols.ICMPV6} or not details:
        return body
    frame = parse_frame(details[0].strip())
    if frame is None and not details[0].strip().startswith("("):
        return body
    header, rest = parse_header(frame.body if frame is not None else details[0].strip())
    quoted = parse_body(rest.strip() or " ".join(details[1:2]), header)
    return (
        body if quoted is None else body._replace(packet=body.packet._replace(quoted=quoted.packet))
    )


def _has_wrong_sum(line: str) -> bool:
    return "cksum" in line and _WRONG_SUM.search(line) is not None


def _is_cut(text: str) -> bool:
    """Tell whether a line was wrapped in the middle of a packet."""
    return text.rstrip().endswith((",", "[")) or text.count("[") > text.count("]")


FORMAT = Format("tcpdump", recognise_tcpdump, read_tcpdump)
