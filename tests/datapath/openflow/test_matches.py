"""What a flow asks for."""

from __future__ import annotations

from podpath.datapath.openflow.matches import compile_match, reserved


def test_arp_fields_in_old_names() -> None:
    """`nw_src` of a flow for ARP is the sender's address."""
    match = compile_match((("arp", ""), ("nw_src", "10.0.0.1")), reserved)

    assert {"eth_type", "arp_spa"} == {slot for slot, _, _ in match.bits}


def test_tags() -> None:
    """`dl_vlan` asks for a tag with that number, 0xffff for none."""
    tagged, untagged = (compile_match((("dl_vlan", text),), reserved) for text in ("5", "0xffff"))

    assert [True, False, None] == [
        tagged.takes(state) for state in ({"vlan_tci": 0x3005}, {"vlan_tci": 5}, {})
    ]
    assert [True, False] == [untagged.takes({"vlan_tci": tag}) for tag in (0, 0x1005)]
