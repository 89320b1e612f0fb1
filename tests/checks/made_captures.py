"""Printed captures for tests of checks: lines as tcpdump prints them, and the case that is read
from them.
"""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.checks.finding import Finding, Severity
from podpath.checks.looks import look_at_captures
from podpath.evidence.recognition import read
from podpath.net.provenance import Source
from podpath.node.case import Case

CLIENT, SERVER = "10.7.0.5.41000", "198.18.4.9.443"
START = 36_000.0
"""Ten in the morning."""


def clock(after: float) -> str:
    """Spell a time so many seconds after the start."""
    time = START + after
    return f"{int(time // 3600):02}:{int(time % 3600 // 60):02}:{time % 60:09.6f}"


def tcp(after: float, ends: str, flags: str, *numbers: int, where: str = "") -> str:
    """Write a line of TCP: `A.1 > B.2`, its flags, then seq, ack and length as far as they are
    given.
    """
    seq, ack, length = (*numbers, *(0,) * (3 - len(numbers)))
    span = (
        f", seq {seq}:{seq + length}"
        if length
        else f", seq {seq}"
        if set(flags) & set("SFR")
        else ""
    )
    acknowledges = f", ack {ack}" if "." in flags else ""
    place = f"{where} " if where else ""
    return (
        f"{clock(after)} {place}IP {ends}: Flags [{flags}]{span}{acknowledges}, win 501, length "
        f"{length}"
    )


def arp(after: float, macs: str, text: str) -> str:
    """Write a line of ARP with its link-layer header: `M1 > M2`."""
    return f"{clock(after)} {macs}, ethertype ARP (0x0806), length 42: {text}, length 28"


def framed(after: float, macs: str, ends: str) -> str:
    """Write a line of UDP with its link-layer header."""
    return f"{clock(after)} {macs}, ethertype IPv4 (0x0800), length 74: {ends}: UDP, length 32"


def case_of(*lines: str, command: str = "tcpdump -nn -i eth0") -> Case:
    """Read one capture."""
    return case_of_captures({command: lines})


def case_of_captures(captures: dict[str, tuple[str, ...]]) -> Case:
    """Read several captures, each by its command."""
    read_ones = []
    for number, (command, lines) in enumerate(captures.items()):
        source = Source(name=f"capture-{number}.txt", lines=lines, command=command)
        reading = read(source)
        assert reading is not None
        assert reading.gaps == ()
        read_ones.append((source, reading))
    return assemble_case(read_ones)


def found(case: Case, check: str) -> list[Finding]:
    """Return what the captures of a case show, of one check."""
    return [finding for finding in look_at_captures(case) if finding.check == check]


def faults(case: Case) -> list[str]:
    """Name the checks that find more than worth a note."""
    return [
        finding.check for finding in look_at_captures(case) if finding.severity != Severity.NOTE
    ]


def handshake(
    after: float = 0.0, client: str = CLIENT, server: str = SERVER, first: int = 1000
) -> tuple[str, ...]:
    """Write a handshake that works."""
    return (
        tcp(after, f"{client} > {server}", "S", first),
        tcp(after + 0.01, f"{server} > {client}", "S.", 77_000, first + 1),
        tcp(after + 0.02, f"{client} > {server}", ".", 0, 1),
    )


def exchange(after: float, client: str = CLIENT, server: str = SERVER) -> tuple[str, ...]:
    """Write a request of 80 bytes and its answer of 400, acknowledged."""
    return (
        tcp(after, f"{client} > {server}", "P.", 1, 1, 80),
        tcp(after + 0.01, f"{server} > {client}", ".", 0, 81),
        tcp(after + 0.02, f"{server} > {client}", "P.", 1, 81, 400),
        tcp(after + 0.03, f"{client} > {server}", ".", 0, 401),
    )
