"""A connection that stands already: conntrack picks it up or not, and what it was translated to is
not in evidence.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.tracing.trace import Conversation, Undecided
from podpath.datapath.vocabulary import BoundaryName
from podpath.node.netfilter import Netfilter
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables

MIDWAY = "tcp 10.9.0.2 > 192.0.2.2:80 from pod midway"
DROP_INVALID = "FORWARD -m conntrack --ctstate INVALID -j DROP"
MASQUERADE = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")


def walk(text: str, *tables: str, loose: str = "1") -> Conversation:
    """Walk a probe from a pod through a node with these tables."""
    settings = forwarding(rp_filter="0") | {"net.netfilter.nf_conntrack_tcp_loose": loose}
    host = given_netns(
        "host", "eth0 192.0.2.1/24", "v0 peer pod:eth0 10.9.0.1/24", sysctls=settings
    )
    held = tuple(table for text in tables for table in given_tables(text))
    host = replace(host, netfilter={4: Netfilter(tables=held, complete=True)})
    pod = given_netns(
        "pod", "eth0 10.9.0.2/24 peer host:v0", routes=["default via 10.9.0.1 dev eth0"]
    )
    return converse(given_node(host, pod), probe(text))


@pytest.mark.parametrize(("loose", "verdict"), [("1", "ALWAYS"), ("0", "NEVER")])
def test_conntrack_picks_it_up_only_where_it_is_loose(loose: str, verdict: str) -> None:
    """What it does not pick up is INVALID, which a rule drops."""
    found = walk(MIDWAY, given_rules(DROP_INVALID), loose=loose)

    assert found.verdict == verdict
    assert found.branches[0].traces[0].name == "data"


@pytest.mark.parametrize("loose", ["0", "1"])
def test_what_was_translated_is_undecided(loose: str) -> None:
    """The other end has a socket for an address and port that nobody sees."""
    found = walk(MIDWAY, MASQUERADE, loose=loose)

    last = found.branches[0].last.outcome
    assert found.verdict == "UNDECIDED"
    assert isinstance(last, Undecided)
    assert last.reason == BoundaryMet(BoundaryName.MIDWAY)


def test_a_drop_is_certain_whatever_it_was_translated_to() -> None:
    """It does not arrive, and that is all there is to know."""
    tables = (MASQUERADE, given_rules(DROP_INVALID))

    assert walk(MIDWAY, *tables, loose="0").verdict == "NEVER"


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [("ACK", "ALWAYS"), ("SYN,ACK", "NEVER"), ("NONE", "NEVER"), ("RST", "NEVER"),
     ("SYN", "ALWAYS")],
)  # fmt: skip
def test_one_segment_goes_alone(flags: str, verdict: str) -> None:
    """It is walked to where it arrives; nobody answers."""
    found = walk(f"tcp 10.9.0.2 > 192.0.2.2:80 from pod flags {flags}", given_rules(DROP_INVALID))

    assert found.verdict == verdict
    assert [trace.name for trace in found.branches[0].traces] == ["segment"]
