"""Names of fields, and values in the spelling of each."""

from __future__ import annotations

import pytest

from podpath.datapath.openflow.fields import Bits, find_subfield, parse_value


def test_old_and_new_names() -> None:
    """A field has one place under all its names, and a part of it, too."""
    assert find_subfield("NXM_NX_REG1[0..3]") == Bits("regs", 448, 4) == find_subfield("reg1[0..3]")
    assert find_subfield("OXM_OF_IPV4_DST[]") == find_subfield("nw_dst")
    assert find_subfield("NXM_NX_FROB[]") is None


@pytest.mark.parametrize(
    ("slot", "text", "value"),
    [
        ("ip_src", "10.0.0.0/24", (0x0A000000, 0xFFFFFF00)),
        ("ip_src", "10.0.0.1/255.0.0.255", (0x0A000001, 0xFF0000FF)),
        ("ipv6_src", "fd00::/8", (0xFD << 120, 0xFF << 120)),
        ("ct_state", "+new-est+trk", (33, 35)),
        ("tcp_flags", "+syn-ack", (2, 18)),
        ("ip_frag", "not_later", (0, 2)),
        ("eth_dst", "01:00:00:00:00:00/01:00:00:00:00:00", (1 << 40, 1 << 40)),
        ("ip_src", "nonsense", None),
        ("ct_state", "+frob", None),
    ],
)
def test_values_with_masks(slot: str, text: str, value: tuple[int, int] | None) -> None:
    """A value is read in the spelling of its field."""
    assert value == parse_value(slot, text)
