"""Traces of packets, as nft 1.0.6 and xtables-monitor 1.8.9 printed them on Linux 6.18: the rule
that dropped one is named.
"""

from __future__ import annotations

import pytest

from podpath.checks.finding import WEIGHTY
from podpath.evidence.formats import NO
from podpath.evidence.nft.trace import read, recognise
from podpath.evidence.recognition import read as read_source
from podpath.evidence.records import MessageRecord
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.net.messages import MessageKind
from tests.evidence.consoles import block

NFT = """\
trace id 738f5e0e ip raw OUTPUT packet: oif "lo" ip saddr 127.0.0.1 ip daddr 127.0.0.1 ip ttl 64 icmp type echo-request
trace id 738f5e0e ip raw OUTPUT rule meta l4proto icmp counter packets 0 bytes 0 meta nftrace set 1 (verdict continue)
trace id 738f5e0e ip raw OUTPUT policy accept
trace id 738f5e0e ip filter OUTPUT packet: oif "lo" ip saddr 127.0.0.1 ip daddr 127.0.0.1 ip ttl 64 icmp type echo-request
"""  # noqa: E501
DROPPED = (
    "trace id 738f5e0e ip filter OUTPUT rule meta l4proto icmp  counter packets 0 bytes 0 drop "
    "(verdict drop)\n"
)
BY_POLICY = "trace id b52c69cf inet t out policy drop \n"
XTABLES = """\
PACKET: 2 738f5e0e OUT=lo SRC=127.0.0.1 DST=127.0.0.1 LEN=84 TOS=0x0 TTL=64 ID=9627 DF
 TRACE: 2 738f5e0e raw:OUTPUT:rule:0x2:CONTINUE  -4 -t raw -A OUTPUT -p icmp -j TRACE
 TRACE: 2 738f5e0e raw:OUTPUT:policy:ACCEPT
"""
XTABLES_DROPPED = (
    " TRACE: 2 738f5e0e filter:OUTPUT:rule:0x2:DROP  -4 -t filter -A OUTPUT -p "
    "icmp -m comment --comment hardening -j DROP\n"
)
XTABLES_NATIVE = " TRACE: 1 2283fa3f t:out:rule:0x3:DROP  \n"
XTABLES_POLICY = " TRACE: 1 b52c69cf t:out:policy:DROP \n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            NFT + DROPPED,
            {
                "table": "filter",
                "chain": "OUTPUT",
                "rule": "meta l4proto icmp  counter packets 0 bytes 0 drop",
            },
        ),
        (NFT + BY_POLICY, {"table": "t", "chain": "out", "rule": "policy drop"}),
        (
            XTABLES + XTABLES_DROPPED,
            {
                "table": "filter",
                "chain": "OUTPUT",
                "rule": "-A OUTPUT -p icmp -m comment --comment hardening -j DROP",
            },
        ),
        (XTABLES + XTABLES_NATIVE, {"table": "t", "chain": "out"}),
        (XTABLES + XTABLES_POLICY, {"table": "t", "chain": "out", "rule": "policy"}),
    ],
)
def test_what_dropped_the_packet(text: str, expected: dict[str, str]) -> None:
    """The last line of a trace names the chain and the rule; all lines are read."""
    reading = read_source(block(text))
    assert reading is not None
    assert () == reading.gaps
    said = [record for record in reading.records if isinstance(record, MessageRecord)]
    assert [(MessageKind.TRACED_TO_DROP, expected)] == [
        (record.kind, dict(record.values)) for record in said
    ]


@pytest.mark.parametrize("text", [NFT, XTABLES])
def test_a_packet_that_passes(text: str) -> None:
    """A trace without a drop says nothing, and is read all the same."""
    reading = read_source(block(text))
    assert reading is not None
    assert not any(isinstance(record, MessageRecord) for record in reading.records)
    assert () == read(block(text)).gaps


def test_other_text() -> None:
    """A sentence about traces is none."""
    assert recognise(block("trace id is what you need\nTRACE: on")) == NO


@pytest.mark.parametrize("text", [NFT + DROPPED, XTABLES + XTABLES_DROPPED])
def test_the_drop_is_certain(text: str) -> None:
    """The kernel itself said what it dropped: the check convicts, and quotes that line."""
    (finding,) = [one for one in diagnose(Pasted(text)).findings if one.check == "traced-drop"]
    assert finding.severity in WEIGHTY
    assert any("DROP" in span.text or "drop" in span.text for span in finding.evidence)
