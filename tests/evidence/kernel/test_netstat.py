"""`netstat -s`."""

from __future__ import annotations

from podpath.evidence.kernel.netstat import recognise
from podpath.evidence.kernel.nstat import CounterRecord
from podpath.evidence.recognition import read
from podpath.net.provenance import Source


def _counters(text: str) -> dict[str, int]:
    reading = read(Source(name="ticket.md", lines=tuple(text.strip("\n").split("\n"))))
    assert reading is not None
    assert reading.gaps == ()
    return {
        record.name: record.value for record in reading.records if isinstance(record, CounterRecord)
    }


def test_words_become_the_names_of_nstat() -> None:
    """Headings say which protocol a name is of."""
    text = """
Ip:
    Forwarding: 1
    99 total packets received
    3 with invalid addresses
Tcp:
    7 segments retransmitted
    InCsumErrors: 5
Udp:
    12 receive buffer errors
    InCsumErrors: 8
TcpExt:
    41 times the listen queue of a socket overflowed
    42 SYNs to LISTEN sockets dropped
    TCPReqQFullDrop: 4
    Quick ack mode was activated 6 times
"""
    counters = _counters(text)

    assert counters["IpInAddrErrors"] == 3
    assert counters["TcpRetransSegs"] == 7
    assert (counters["TcpInCsumErrors"], counters["UdpInCsumErrors"]) == (5, 8)
    assert counters["UdpRcvbufErrors"] == 12
    assert (counters["TcpExtListenOverflows"], counters["TcpExtListenDrops"]) == (41, 42)
    assert counters["TcpExtTCPReqQFullDrop"] == 4


def test_what_a_grep_leaves_is_enough() -> None:
    """Nothing else words it so."""
    assert _counters("    41 times the listen queue of a socket overflowed") == {
        "TcpExtListenOverflows": 41
    }


def test_other_text_is_none() -> None:
    """A number and words alone are no counter."""
    assert recognise(Source(name="ticket.md", lines=("12 apples fell down", "TcpExt"))) == 0
