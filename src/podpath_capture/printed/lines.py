"""Packets to the lines that `tcpdump -nn -e -S -tttt` prints of them: one line a packet, whatever
it carries.

So a capture is quoted as an engineer would print it. Lines are made for people to read: what
happened to a packet is in its columns (`records`). A packet in a tunnel stands
behind its outer one on the same line. What is neither IP nor ARP gives an empty line, and of TCP's
options those are printed that the columns have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath_capture.columns import CUT, MALFORMED, SACK_OK, TCPDUMP_DIRECTIONS, TIMESTAMPS, Packets
from podpath_capture.printed.icmp_text import render_icmp
from podpath_capture.printed.name_text import render_message

_DIRECTIONS = {number: word for word, number in TCPDUMP_DIRECTIONS.items()}
_KINDS = {4: ("IPv4 (0x0800)", "IP"), 6: ("IPv6 (0x86dd)", "IP6"), 0: ("ARP (0x0806)", "ARP,")}
GENEVE = 6081
"""The port by which Geneve is known."""
GTP = 2152
"""The port of GTP-U."""
_TUNNELS = {GENEVE: "Geneve, Flags [none], vni", GTP: "GTP-U, teid"}
ETHERNET = 14
"""Bytes of its header."""
EVERYBODY = (1 << 48) - 1
_NAMED = re.compile(r"(?<=: )(?=VXLAN, |Geneve, )")
_BAD_SUM = "[bad udp cksum !] "


def render_lines(
    packets: Packets,
    rows: Iterable[int],
    names: Mapping[int, str] | None = None,
    data: bytes | memoryview = b"",
) -> list[str]:
    """Return the line of each row; `names` are those of devices by their index, for captures on
    `any`, and `data` is the file, where DNS messages are to be told.
    """
    return list(LineWriter(packets, list(rows), names or {}, data).lines)


def find_places(known: NDArray[np.int64], rows: list[int]) -> dict[int, int]:
    """Return the places of rows in a side table, which has its rows in order, for those that it
    has.
    """
    if not len(known) or not rows:
        return {}
    places = np.searchsorted(known, rows)
    return {
        row: place
        for row, place in zip(rows, places.tolist(), strict=True)
        if place < len(known) and known[place] == row
    }


class RenderedLines(Sequence[str]):
    """Lines that are each written as it is read: of thousands that could be quoted a few are."""

    __slots__ = ("_places", "_write")

    def __init__(self, write: Callable[[int], str], places: range) -> None:
        """Take what writes the line of a place, and the places."""
        self._write, self._places = write, places

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> RenderedLines: ...

    def __getitem__(self, index: int | slice) -> str | RenderedLines:
        """Write one line; or return some of them, to be written."""
        if isinstance(index, slice):
            return RenderedLines(self._write, self._places[index])
        return self._write(self._places[index])


class LineWriter:
    """Writes lines from columns."""

    def __init__(
        self,
        packets: Packets,
        rows: list[int],
        names: Mapping[int, str],
        data: bytes | memoryview,
        wrong: Collection[int] = (),
    ) -> None:
        """Take what `render_lines` does; packets in `wrong` have a wrong outer checksum."""
        self._names, self._addresses, self._data = names, packets.addresses, data
        self._columns, self._rows, self._wrong = packets.columns, rows, wrong
        self._taken: dict[str, list[int]] = {}
        self._arp, self._quote = packets.arps, packets.quotes
        self._arps, self._quotes = (
            find_places(table.row, rows) for table in (packets.arps, packets.quotes)
        )

    @property
    def lines(self) -> RenderedLines:
        """The lines of all rows."""
        return RenderedLines(self.line, range(len(self._rows)))

    def is_blank(self, at: int) -> bool:
        """Tell whether a packet is neither IP nor ARP: its line is empty."""
        value = self._reader(at)
        unknown = not value("version") or value("broken") == MALFORMED
        return unknown and self._rows[at] not in self._arps

    def line(self, at: int) -> str:
        """Write one of the packets."""
        if self.is_blank(at):
            return ""
        row, value = self._rows[at], self._reader(at)
        arp, version = self._arps.get(row), value("version")
        taken = np.datetime64(value("time"), "ns").astype("M8[us]")
        time = str(np.datetime_as_string(taken)).replace("T", " ")
        inner = self._arp_text(arp) if arp is not None else self._packet_text(row, value, version)
        if not value("depth"):
            return f"{time} {self._link(value, version)}{inner}"
        outer_version = value("outer_version")
        around = self._link(value, outer_version, "outer_") + self._tunnel(value)
        line = f"{time} {around}{self._inner_link(value, version)}{inner}"
        if row in self._wrong:
            return _NAMED.sub(_BAD_SUM, line, count=1)
        return line

    def _reader(self, at: int) -> Callable[[str], int]:
        taken = self._taken

        def value(name: str) -> int:
            """Return a field of the packet; a column is read for all rows at once."""
            if name not in taken:
                taken[name] = getattr(self._columns, name)[self._rows].tolist()
            return taken[name][at]

        return value

    def _address(self, version: int, value: int) -> Address:
        if version == 4:
            return Address(4, value)
        return Address(6, self._addresses[value])

    def _link(self, value: Callable[[str], int], version: int, outer: str = "") -> str:
        """Write device, direction and link-layer header, as far as the link type has them."""
        kind, word = _KINDS[version]
        direction = _DIRECTIONS.get(value("direction"), "")
        name = self._names.get(value("ifindex"), "") if direction else ""
        source, target = value(f"{outer}smac"), value(f"{outer}dmac")
        length = f"length {value('wirelen')}: "
        if direction:
            if source:
                return (
                    f"{name} {direction} {render_mac(source)} ethertype {kind}, {length}".lstrip()
                )
            if name:
                return f"{name} {direction} {word} "
            return f"{word} "
        if not (source or target):
            return f"{word} "
        if value("vlan") and not outer:
            tag = f"802.1Q (0x8100), {length}vlan {value('vlan')}, p 0, ethertype {kind}, "
        else:
            tag = ""
        return (
            f"{render_mac(source)} > {render_mac(target)}, ethertype {tag or f'{kind}, {length}'}"
        )

    def _inner_link(self, value: Callable[[str], int], version: int) -> str:
        kind, word = _KINDS[version]
        source, target = value("smac"), value("dmac")
        if not (source or target):
            return f"{word} "
        length = value("length") + ETHERNET
        return f"{render_mac(source)} > {render_mac(target)}, ethertype {kind}, length {length}: "

    def _tunnel(self, value: Callable[[str], int]) -> str:
        """Write the outer packet of a tunnel, up to what it carries."""
        version, protocol = value("outer_version"), value("outer_protocol")
        source, target = (self._address(version, value(f"outer_{side}")) for side in ("src", "dst"))
        if protocol == protocols.UDP:
            name = _TUNNELS.get(value("outer_dport"), "VXLAN, flags [I] (0x08), vni")
            near, far = (f"{source}.{value('outer_sport')}", f"{target}.{value('outer_dport')}")
            return f"{near} > {far}: {name} {value('vni')}: "
        if protocol == protocols.GRE:
            return f"{source} > {target}: GREv0, length {value('length') + 4}: "
        return f"{source} > {target}: "

    def _arp_text(self, place: int) -> str:
        arp = self._arp
        sender, target = Address(4, int(arp.sender[place])), Address(4, int(arp.target[place]))
        mac = int(arp.target_mac[place])
        if arp.operation[place] == 1:
            known = f" ({render_mac(mac)})" if mac not in {0, EVERYBODY} else ""
            return f"Request who-has {target}{known} tell {sender}, length 28"
        if arp.operation[place] == 2:
            return f"Reply {sender} is-at {render_mac(int(arp.sender_mac[place]))}, length 28"
        return f"unknown operation {arp.operation[place]}, length 28"

    def _packet_text(self, row: int, value: Callable[[str], int], version: int) -> str:
        source, target = self._address(version, value("src")), self._address(version, value("dst"))
        protocol, payload = value("protocol"), value("payload")
        if value("fragment") & 0x1FFF or value("broken") == CUT:
            return f"{source} > {target}: ip-proto-{protocol}"
        ends = f"{source}.{value('sport')} > {target}.{value('dport')}: "
        if protocol == protocols.TCP:
            return ends + _tcp_text(value, payload)
        if protocol == protocols.UDP:
            return ends + (self._message(value, payload) or f"UDP, length {payload}")
        if protocol in {protocols.ICMP, protocols.ICMPV6}:
            message = render_icmp(value, self._quoted(row))
            return f"{source} > {target}: {message}, length {payload + 8}"
        return f"{source} > {target}: ip-proto-{protocol} {payload}"

    def _message(self, value: Callable[[str], int], payload: int) -> str:
        """Write a DNS message; nothing for any other datagram."""
        if not value("query") or not len(self._data):
            return ""
        at = value("offset") + value("data_at")
        end = min(at + payload, value("offset") + value("caplen"))
        return render_message(bytes(self._data[at:end]), payload)

    def _quoted(self, row: int) -> dict[str, Any] | None:
        """Return the fields of the packet that an ICMP error quotes."""
        place = self._quotes.get(row)
        if place is None:
            return None
        quote = self._quote
        fields = {
            name: int(getattr(quote, name)[place]) for name in ("protocol", "sport", "dport", "mtu")
        }
        version = int(quote.version[place])
        return {
            **fields,
            "src": self._address(version, int(quote.src[place])),
            "dst": self._address(version, int(quote.dst[place])),
        }


def _tcp_text(value: Callable[[str], int], payload: int) -> str:
    flags, seq = value("flags"), value("seq")
    numbers = ""
    if payload:
        numbers = f", seq {seq}:{(seq + payload) & 0xFFFFFFFF}"
    elif flags & (protocols.SYN | protocols.FIN | protocols.RST):
        numbers = f", seq {seq}"
    if flags & protocols.ACK:
        numbers += f", ack {value('ack')}"
    window = f"win {value('window')}{_options_text(value)}"
    return f"Flags [{protocols.flag_letters(flags)}]{numbers}, {window}, length {payload}"


def _options_text(value: Callable[[str], int]) -> str:
    options = value("options")
    shown = [f"mss {value('mss')}"] if value("mss") else []
    shown += ["sackOK"] if options & SACK_OK else []
    shown += [f"TS val {value('tsval')} ecr {value('tsecr')}"] if options & TIMESTAMPS else []
    return f", options [{','.join(shown)}]" if shown else ""


def render_mac(number: int) -> str:
    """Spell a MAC that is a number."""
    return number.to_bytes(6, "big").hex(":")
