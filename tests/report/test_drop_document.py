"""Drops that another node sent, as text: what is shown, and what is not believed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podpath.checks.owned import OwnerPlaces
from podpath.diagnosis.freed import DropAgreement, DropExplanation
from podpath.drops.events import DropKey, DropNames, DropNotes, HeardDrop
from podpath.net import protocols
from podpath.net.owners import UNSIGNED, Owned, OwnedKind, OwnerSign, name_owner
from podpath.net.packet import Packet
from podpath.report.drop_document import render_document
from podpath.report.drop_json import render_drop_line
from podpath.report.style import Style
from podpath.testing.nodes import ip, span

PACKET = Packet(ip("10.0.0.1"), ip("10.0.0.2"), protocols.TCP, 40000, 80, protocols.SYN)
KEY = DropKey("NETFILTER_DROP", 1, 7, 2, 3, 0x0800, 6, 2, 40000, 80, PACKET.src, PACKET.dst)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
LINE = span("a rule")
RULE = Owned(
    OwnedKind.RULE,
    "ufw-user-input 1",
    "",
    LINE,
    name_owner(OwnerSign.CHAIN, "ufw-user-input") or UNSIGNED,
)
FIELDS = st.sampled_from(
    (
        "reason",
        "text",
        "flows",
        "evidence",
        "model_age",
        "said",
        "pod",
        "device",
        "function",
        "owner",
        "whose",
    )
)


def test_a_drop_is_shown_with_its_node() -> None:
    """When, where, which packet of which pods, what did it, and the line."""
    found = DropExplanation(
        agreement=DropAgreement.DISAGREES,
        netns="host",
        link="eth0",
        spans=(LINE,),
        owners=OwnerPlaces({LINE: (RULE,)}),
    )
    names = DropNames("host", "", "shop/web-0", "shop/api-0")
    line = render_drop_line(HeardDrop(KEY, 5, PACKET), "f+0x1", found, DropNotes(names, age=7.0))
    text = render_document(json.loads(line), "node1", Style(), "01:02:03.004")
    first, *said, quoted, owned = text.splitlines()

    assert first == (
        "01:02:03.004 node1 NETFILTER_DROP tcp 10.0.0.1:40000 > 10.0.0.2:80 [SYN] "
        "from shop/web-0 to shop/api-0 in host on eth0 (f+0x1)"
    )
    assert "by the node's state read 7 s earlier" in said[0]
    assert quoted.endswith("| a rule")
    assert owned.strip().startswith("written by ufw, again at `ufw reload`, and at boot: rule")


def test_rates_are_shown_with_their_node() -> None:
    """The first flows, and how many more there are."""
    flow = {"reason": "NO_SOCKET", "text": "udp a > b", "pod": "shop/web-0", "per_second": 2.5}
    text = render_document({"kind": "flows", "flows": [flow] * 7}, "node2", Style(), "0")

    assert text.splitlines()[0] == "0 node2      2.5/s NO_SOCKET udp a > b in shop/web-0"
    assert text.splitlines()[-1] == "0 node2 and 2 more flows"


@given(st.sampled_from(("drop", "flows", "other")), st.dictionaries(FIELDS, JSON))
def test_whatever_a_node_sends_is_borne(kind: str, fields: dict[str, object]) -> None:
    """No value ends the watch, and no control character reaches the terminal."""
    text = render_document(fields | {"kind": kind}, "n\x1b[2J", Style(), "0")
    assert all(letter.isprintable() or letter == "\n" for letter in text)
