"""What all checks on messages share: what they quote, and lines that look like a cause and are
none.
"""

from __future__ import annotations

import pytest

from podpath.checks.said import QUOTED, Meaning, find_said, get_value, tell
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case
from tests.checks.nodes import netns, node, span
from tests.checks.said import find_by_lines

HARMLESS = (
    "dial tcp 10.96.0.1:443: i/o timeout",
    "dial tcp 10.96.0.1:443: connect: connection refused",
    ("[UFW AUDIT] IN=docker0 OUT= MAC=02 SRC=172.17.0.2 DST=10.0.0.5 LEN=60 PROTO=TCP SPT=4 "
    "DPT=5432"),
    "[UFW BLOCK] IN=docker0 OUT= MAC=02 SRC=172.17.0.2 DST=224.0.0.1 LEN=32 PROTO=2",
    "IPv4: martian source 10.2.0.9 from 127.0.0.1, on dev eth1",
    ("cni0: received packet on veth12 with own address as source address (addr:02:aa:bb:cc:dd:ee, "
    "vlan:0)"),
    '"GET /healthz HTTP/1.1" 200 - via_upstream - "-" 0 15 1 0 "-" "curl" "9" "web" "10.1.1.24:80"',
    "lookup web.shop on 10.96.0.10:53: no such host",
    "Started Session 9 of user root.",
    "cni0 already has an IP address",
    "the certificate of the server was renewed",
)  # fmt: skip
"""Lines that say nothing of a cause, however much they look like those that do."""


@pytest.mark.parametrize("line", HARMLESS)
def test_a_line_that_only_looks_like_it_is_no_cause(line: str) -> None:
    """What repeats the symptom, or is somebody else's, makes no finding."""
    assert find_by_lines(None, line) == []


def test_what_is_said_often_is_quoted_a_few_times() -> None:
    """The finding counts all and quotes the first ones."""
    said = tuple(
        Message(MessageKind.DEVICE_HELD, {"device": f"lo{n}"}, span("lo", n), 3)
        for n in range(1, 9)
    )
    case = Case(node=node(netns()), messages=said)
    found = tell("x", find_said(case, MessageKind.DEVICE_HELD), Meaning("c", "b", "d"))
    assert (len(found.evidence), found.reasoning) == (QUOTED, ("It was logged 24 times.",))
    assert get_value(said, "name", "device", default="?") == "lo1"
    assert get_value(said, "name", default="?") == "?"
