"""`netstat -s`: the kernel's counters in words, under one heading for each protocol.

The words stand in net-tools' statistics.c, with spelling faults that some versions mended. Each is
read as the counter that nstat has for it; a counter of which no check asks keeps its words as its
name.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kernel.nstat import CounterRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

_LONGEST = 300
"""No line that the program prints is as long (statistics.c)."""
_SECTION = re.compile(
    r"\s*(?P<name>(?:Ip|Ip6|Icmp|Icmp6|IcmpMsg|Tcp|Udp|Udp6|UdpLite|UdpLite6|TcpExt|IpExt|MPTcpExt|"
    r"Sctp)):\s*$"
)
_WORDS = re.compile(r"\s*(?:\(?\s*)?(?P<value>\d{1,20}) (?P<words>[A-Za-z][\w ,.()/'-]*)$")
_NAMED = re.compile(r"\s*(?P<name>[A-Za-z][\w ]*):\s*(?P<value>\d{1,20})\s*$")
_BEHIND = re.compile(r"\s*(?P<words>[A-Za-z][\w ,-]*?)[: ] *(?P<value>\d{1,20})\s*$")
_TOTAL = re.compile(
    r"\s*Quick ack mode was activated (?P<value>\d{1,20}) times|\s*Detected reordering "
    r"(?P<other>\d{1,20}) times.*"
)
_HEADINGS = re.compile(
    r"\s*(?:ICMP (?:in|out)put histogram:|\[.*|Forwarding is.*|Forwarding: \d+|Default TTL is "
    r"\d+)\s*$"
)
_NAMES = (
    (re.compile(r"times the listen queue of a socket overflowed"), "TcpExtListenOverflows"),
    (re.compile(r"SYNs? to LISTEN sockets (?:dropped|ignored)"), "TcpExtListenDrops"),
    (
        re.compile(r"packets pruned from receive queue because of socket buffer overrun"),
        "TcpExtPruneCalled",
    ),
    (re.compile(r"packets pruned from receive queue$"), "TcpExtRcvPruned"),
    (
        re.compile(r"packets dropped from out-of-order queue because of socket buffer overrun"),
        "TcpExtOfoPruned",
    ),
    (
        re.compile(r"packets collapsed in receive queue due to low socket buffer"),
        "TcpExtTCPRcvCollapsed",
    ),
    (re.compile(r"connections aborted due to memory pressure"), "TcpExtTCPAbortOnMemory"),
    (re.compile(r"passive connections rejected because of time ?stamp"), "TcpExtPAWSPassive"),
    (re.compile(r"active connections rejected because of time ?stamp"), "TcpExtPAWSActive"),
    (
        re.compile(r"packets? reject(?:s|ed) in established connections because of timestamp"),
        "TcpExtPAWSEstab",
    ),
    (re.compile(r"SYN cookies sent"), "TcpExtSyncookiesSent"),
    (re.compile(r"receive buffer errors"), "UdpRcvbufErrors"),
    (re.compile(r"send buffer errors"), "UdpSndbufErrors"),
    (re.compile(r"packets to unknown port received"), "UdpNoPorts"),
    (re.compile(r"packet receive errors"), "UdpInErrors"),
    (re.compile(r"packet reassembl(?:es|ies) failed"), "IpReasmFails"),
    (re.compile(r"fragments dropped after timeout"), "IpReasmTimeout"),
    (re.compile(r"(?:outgoing packets )?dropped because of missing route"), "IpOutNoRoutes"),
    (re.compile(r"with invalid addresses"), "IpInAddrErrors"),
    (re.compile(r"incoming packets discarded"), "IpInDiscards"),
    (re.compile(r"outgoing packets dropped$"), "IpOutDiscards"),
    (re.compile(r"segments? retransmit(?:ed|ted)"), "TcpRetransSegs"),
    (re.compile(r"bad segments received"), "TcpInErrs"),
    (re.compile(r"failed connection attempts"), "TcpAttemptFails"),
    (re.compile(r"resets sent"), "TcpOutRsts"),
    (re.compile(r"connection resets received"), "TcpEstabResets"),
)


def recognise(source: Source) -> int:
    """Recognize the headings of protocols, the command, or lines that a grep left and that only
    this program words so.
    """
    lines = sample(source)
    if not lines or any(len(line) > _LONGEST for line in lines):
        return NO
    sections = sum(_SECTION.match(line) is not None for line in lines)
    worded = [line for line in lines if _WORDS.match(line)]
    known = sum(_is_known(line) for line in worded)
    if (sections and worded) or known == len(lines):
        return CERTAIN
    return LIKELY if known * 2 > len(lines) else NO


def _is_known(line: str) -> bool:
    return any(pattern.search(line) for pattern, _ in _NAMES)


def read(source: Source) -> Reading:
    """Read every counter under the heading that it stands below."""
    ledger = Ledger(source)
    section = ""
    for index, line in enumerate(source.lines):
        if len(line) > _LONGEST:
            continue
        heading = _SECTION.match(line)
        if heading is not None:
            section = heading["name"]
            ledger.head(index)
        elif _HEADINGS.match(line):
            ledger.head(index)
        elif (counted := _read(line, section)) is not None:
            ledger.add(CounterRecord(span=ledger.span(index), name=counted[0], value=counted[1]))
    return ledger.close("a counter of netstat -s")


def _read(line: str, section: str) -> tuple[str, int] | None:
    words = _WORDS.match(line)
    if words is not None:
        return _name(words["words"].strip(), section), int(words["value"])
    named = _NAMED.match(line)
    if named is not None:
        plain = " " not in named["name"]
        return (f"{section}{named['name']}" if plain else _name(named["name"], section)), int(
            named["value"]
        )
    total = _TOTAL.match(line)
    if total is not None:
        return line.strip().split(" ", 1)[0], int(total["value"] or total["other"])
    behind = _BEHIND.match(line)
    return None if behind is None else (_name(behind["words"], section), int(behind["value"]))


def _name(words: str, section: str) -> str:
    known = next((name for pattern, name in _NAMES if pattern.search(words)), None)
    return known or f"{section} {words}".strip()


FORMAT = Format("netstat -s", recognise, read, decides=False)
