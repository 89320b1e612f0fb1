"""The line that most of a printed capture is made of, a TCP segment over IPv4 on a line of its own,
read by one expression.

With `-e` it has the MACs of Ethernet, and with `--number` its number: so capture files are shown
(`capture.printed.lines`).

What it reads, it reads as `tcpdump.frame` and `tcpdump.packet` would; whatever differs in the least
is left to them.
"""

from __future__ import annotations

import calendar
import re
from functools import lru_cache
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Mac, read_address
from podpath.net.packet import Packet

_MAC = r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"
_LINE = re.compile(
    r"(?:\d+ {2,3})?(?:(\d{4}-\d\d-\d\d) )?(\d\d):(\d\d):(\d\d)(\.\d{6}) (?:([\w.@:-]{1,16}) +(In|"
    rf"Out) +)?(?:IP |({_MAC}) > ({_MAC}), ethertype IPv4 \(0x0800\), length (\d+): )"
    r"(\d+\.\d+\.\d+\.\d+)\.(\d{1,5}) > (\d+\.\d+\.\d+\.\d+)\.(\d{1,5}): "
    r"Flags \[([SFRPUEW.]+)\],(?: seq (\d+)(?::\d+)?,)?(?: ack (\d+),)? win \d+,"
    r"(?: options \[(?:mss (\d{1,5})\b)?[^\]]*\],)? length (\d+)(?:: (.*))?$"
)
_ETHERNET = 14
"""Bytes of the header that a frame's printed length counts."""


class PlainPacket(NamedTuple):
    """What the line says."""

    time: float
    link: str | None
    direction: str | None
    packet: Packet
    note: str
    smac: str | None
    """As printed."""
    dmac: str | None


def parse_plain(line: str) -> PlainPacket | None:
    """Read a plain line; None where it is anything else."""
    found = _LINE.match(line)
    if found is None:
        return None
    date, hour, minute, second, fraction, link, direction, smac, dmac, size, *rest = found.groups()
    src, sport, dst, dport, letters, seq, ack, mss, payload, note = rest
    source, target = _address(src), _address(dst)
    near, far = int(sport), int(dport)
    if source is None or target is None or near > 65535 or far > 65535:
        return None
    time = int(hour) * 3600 + int(minute) * 60 + int(second) + float(fraction)
    if date is not None:
        day = _day(date)
        if day is None:
            return None
        time += day
    packet = Packet(
        source,
        target,
        protocols.TCP,
        near,
        far,
        protocols.read_letters(letters),
        payload=int(payload),
        seq=int(seq or 0),
        ack=int(ack or 0),
        mss=int(mss or 0),
    )
    if size is not None:
        packet = packet._replace(
            length=max(int(size) - _ETHERNET, 0), smac=Mac(smac), dmac=Mac(dmac)
        )
    return PlainPacket(
        time,
        link,
        direction and direction.lower(),
        packet,
        note.strip(" ,") if note else "",
        smac,
        dmac,
    )


_address = lru_cache(maxsize=4096)(read_address)


@lru_cache(maxsize=64)
def _day(date: str) -> int | None:
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:])
    return (
        calendar.timegm((year, month, day, 0, 0, 0))
        if 1 <= month <= 12 and 1 <= day <= 31 and year > 0
        else None
    )
