"""What outputs list of a node, as records of their types."""

from __future__ import annotations

from podpath.evidence.node_records import AddressRecord, LinkRecord
from podpath.evidence.records import HeadingRecord, Reading
from podpath.net.addresses import Address, IfName
from podpath.net.provenance import Source, Span

SPAN = Span(Source(name="node.txt", lines=("2: eth0: <UP>", "    inet 10.0.0.1/24")), 1, 1)
LINK = LinkRecord(span=SPAN, name=IfName("eth0"))
ADDRESS = AddressRecord(span=SPAN, link=None, address=Address.parse("10.0.0.1"), length=24)


def test_records_of_a_node_are_told_apart() -> None:
    """A device and its address stand beside one another and beside headings, each of its type."""
    reading = Reading(records=(LINK, HeadingRecord(span=SPAN), ADDRESS), gaps=())
    assert [LINK] == reading.of(LinkRecord)
    assert [ADDRESS] == reading.of(AddressRecord)


def test_what_an_output_does_not_show_is_not_known() -> None:
    """A bare name of a device has no default of a listing."""
    assert [None, None, None, None] == [LINK.mtu, LINK.mac, LINK.flags, LINK.state]
