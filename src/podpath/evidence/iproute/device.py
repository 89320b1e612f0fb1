"""The text of `ip link` and `ip addr`: whole listings, `-d`, `-s`, `-o`, and fragments of them.

One grammar serves both, since an address listing is a device listing with addresses. A device is
the run of lines from its header; a grep cuts it anywhere, so an address without a header still
knows its device by its label, and nothing waits for more.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import asked_object, parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.iproute.device_draft import DeviceDraft
from podpath.evidence.iproute.device_fields import ADDRESS_FLAGS, assemble_address
from podpath.evidence.iproute.link_options import KINDS
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.device_counts import read_heading, read_values
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import DeviceCount

_HEADER = re.compile(
    r"\s*(?:(?P<index>\d+):\s+)?(?P<name>[^\s:/<>]+):\s+<(?P<flags>[A-Z0-9_,.…-]*)(?P<closed>>?)"
    r"(?P<rest>.*)"
)
_ELIDED = re.compile(r"(\s*\d+:\s+[^\s:/<>]+:\s+)(?:\.\.\.|…)(?=\s+mtu\s)")
"""A header whose flags somebody left out."""
_FLAG = re.compile(
    r"(?:UP|BROADCAST|LOOPBACK|MULTICAST|NOARP|POINTOPOINT|LOWER_UP|NO-CARRIER|MASTER|SLAVE)\b"
)
_ONELINE = re.compile(r"\s*\d+:\s+(?P<name>[^\s:/<>]+)\s+(?P<rest>inet6?\s.*)")
_LINK = re.compile(r"\s*link/(?P<type>[\w/.-]+)(?P<rest>.*)")
_INET = re.compile(
    r"\s*inet6?\s+(?=[0-9A-Fa-fxX*<]*[.:<])\S+(?:\s+(?:(?:brd|scope|peer|any|metric)\b|\.\.\.|…)|\s*$)"
)
_STATISTICS = re.compile(r"\s*(?:RX|TX)(?:\s+errors)?:\s+\w|\s*(?:\d+\s+){3,}\d+\s*$|\s*vf \d+ ")
_BRIDGE_PORT = re.compile(r".*\sstate (?:disabled|listening|learning|forwarding|blocking)\b")
_TAIL = re.compile(
    r"\s*(?:valid_lft|altname|alias|prog/xdp|promiscuity|RX|TX)\b|.*\saddrgenmode\s|"
    r".*\s(?:numtxqueues|gso_max_size)\s"
)
_BREAK = re.compile(r"\\\s+")
_EXPECTED = "a line of a device"


def _rate(source: Source) -> tuple[int, bool, bool]:
    """Return how sure the text is a device listing, whether it shows addresses, and whether its
    headers have `mode`.
    """
    headers = addresses = hits = tails = 0
    mode = False
    lines = sample(source)
    for line in lines:
        header = _match_header(line)
        if (
            header is not None
            and not _BRIDGE_PORT.match(line)
            and (header["index"] or _FLAG.search(header["flags"]))
        ):
            headers += 1
            mode = mode or " mode " in header["rest"]
        elif _INET.match(line) or _ONELINE.match(line):
            addresses += 1
        elif _LINK.match(line):
            hits += 1
        elif (
            _TAIL.match(line) or line.strip().partition(" ")[0] in KINDS or _STATISTICS.match(line)
        ):
            tails += 1
    sure = headers + addresses + hits
    if not sure or (sure + tails) * 2 < len(lines):
        return NO, False, False
    return (CERTAIN if headers or addresses else LIKELY), addresses > 0, mode


def _match_header(line: str) -> re.Match[str] | None:
    """Match the first line of a device, also where `...` stands for its flags."""
    elided = _ELIDED.match(line)
    if elided is None:
        return _HEADER.match(line)
    return _HEADER.match(f"{elided[1]}<...>{line[elided.end() :]}")


def recognise_addresses(source: Source) -> int:
    """Recognize devices of which at least one shows an address, or whose command asks for
    addresses.
    """
    degree, addresses, _ = _rate(source)
    return degree if addresses or _asks_for_addresses(source) else NO


def recognise_links(source: Source) -> int:
    """Recognize devices without addresses."""
    degree, addresses, _ = _rate(source)
    return NO if addresses or _asks_for_addresses(source) else degree


def _asks_for_addresses(source: Source) -> bool:
    asked = asked_object(parse_command(source.command))
    return asked is not None and asked[0] == "address"


def read(source: Source) -> Reading:
    """Read devices and their addresses."""
    reader = _DeviceReader(source)
    for index, line in plain_lines(source):
        if line and not line.isspace():
            for part in _BREAK.split(line) if "\\" in line else (line,):
                reader.feed(index, part)
    reader.flush()
    return reader.ledger.close(_EXPECTED)


class _DeviceReader:
    """Reads line after line; `device` is the one that lines belong to, as long as its own record is
    not given.
    """

    __slots__ = ("counted", "device", "in_address", "ledger", "name")

    def __init__(self, source: Source) -> None:
        self.ledger = Ledger(source)
        self.device: DeviceDraft | None = None
        self.name: IfName | None = None
        self.in_address = False
        self.counted: tuple[int, tuple[str, ...]] = (0, ())

    def feed(self, index: int, line: str) -> None:
        header = _match_header(line)
        if header is not None:
            self._start(index, header)
        elif (oneline := _ONELINE.match(line)) is not None:
            self.flush()
            self._address(index, oneline["rest"], oneline["name"])
        elif _INET.match(line):
            self._address(index, line, None)
        elif self._go_on(index, line):
            self._count(index, line)
        elif self.ledger.elide(index):
            self.flush()
            self.name = None
        else:
            self.ledger.unread(index, _EXPECTED)

    def flush(self) -> None:
        """Return the record of the device whose lines end here."""
        device, self.device = self.device, None
        if device is not None:
            self.ledger.add(device.freeze(self.ledger))

    def _start(self, index: int, header: re.Match[str]) -> None:
        self.flush()
        self.in_address = False
        try:
            name = parse_name(header["name"].rpartition("@")[0] or header["name"])
        except ValueError as error:
            self.name = None
            self.ledger.gap(index, str(error))
            return
        self.name = name
        self.device = DeviceDraft(index, name)
        self.device.read_header(header, self.ledger)

    def _go_on(self, index: int, line: str) -> bool:
        """Read a line that belongs to the device above; False where it is none."""
        cursor = Cursor(line)
        word = cursor.take()
        link = _LINK.match(line)
        if word == "valid_lft" and self.in_address:
            self._extend_address(index)
            return True
        asked = _find_asked(self.ledger.source) if link is not None and self.name is None else None
        if self.device is None and asked is not None:
            self.name, self.device = asked, DeviceDraft(index, asked)
        if self.device is not None:
            return self.device.read_line(index, link, word, cursor, self.ledger)
        if self.name is not None and (
            _STATISTICS.match(line) or word in {"altname", "alias", "RX", "TX", "RX:", "TX:"}
        ):
            self.ledger.head(index)
            return True
        if link is not None or word == "valid_lft":
            self.ledger.gap(index, "expected the device that this line belongs to above it")
            return True
        return False

    def _count(self, index: int, line: str) -> None:
        """Take a line of names of counters, or the values below it."""
        (heading, names), self.counted = self.counted, (index, read_heading(line))
        if self.name is None:
            return
        for name, value in read_values(names, line):
            count = DeviceCount(self.name, name, value)
            span = self.ledger.span(heading, index)
            self.ledger.add(StatementRecord(span=span, statement=count))

    def _address(self, index: int, line: str, name: str | None) -> None:
        self.flush()
        self.in_address = False
        if name is not None:
            self.name = IfName(name.rpartition("@")[0] or name)
        try:
            words, flags, label = _parse_inet(Cursor(line))
            link = self.name or (IfName(label.partition(":")[0]) if label else None)
            self.ledger.add(assemble_address(words, flags, link, self.ledger.span(index)))
            self.in_address = True
        except ValueError as error:
            self.ledger.gap(index, str(error))

    def _extend_address(self, index: int) -> None:
        """Let the span of the address above take in its lifetimes."""
        last = self.ledger.records[-1]
        first = last.span.line - self.ledger.source.first_line
        if index == first:
            return
        self.ledger.replace_span(self.ledger.span(first, index))
        self.in_address = False


def _find_asked(source: Source) -> IfName | None:
    """Return the one device that a command asks for, where a filter left the line below its
    head.
    """
    asked = asked_object(parse_command(source.command))
    words = [word for word in asked[1] if word != "dev"] if asked is not None else []
    return IfName(words[0]) if len(words) == 1 and not words[0].startswith("-") else None


def _parse_inet(cursor: Cursor) -> tuple[dict[str, str], tuple[str, ...], str]:
    """Take the words of `inet ADDRESS ...`; the last that is neither a key nor a flag is the label
    (IPv4 only).
    """
    family = cursor.take()
    words = {"local": cursor.take()}
    flags: list[str] = []
    label = ""
    for word in cursor:
        if word in {"peer", "brd", "scope"}:
            words[word] = cursor.take()
        elif word in {"any", "metric", "proto", "flags"}:
            cursor.take()
        elif word in {"valid_lft", "\\"}:
            break
        elif word in ADDRESS_FLAGS:
            flags.append(word)
        else:
            label = word
    return words, tuple(flags), label if family == "inet" else ""


FORMATS = (Format("ip addr", recognise_addresses, read), Format("ip link", recognise_links, read))
