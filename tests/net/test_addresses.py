"""Addresses, prefixes, port ranges and marks read and spell themselves as iproute2 and iptables
do.
"""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.addresses import Address, MaskedMark, PortRange, Prefix

ADDRESSES = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda value: Address(4, value)),
    st.integers(0, 2**128 - 1).map(lambda value: Address(6, value)),
)


def holds(container: Prefix | PortRange, item: object) -> bool:
    """Ask for membership (mypy takes `in` on a named tuple for a search among its fields)."""
    return item in container


@given(ADDRESSES)
def test_an_address_reads_back_what_it_spells(address: Address) -> None:
    """Spelling an address and parsing it gives the same address, of either family."""
    assert Address.parse(str(address)) == address


@given(ADDRESSES, st.data())
def test_a_prefix_holds_exactly_what_the_standard_library_says(
    address: Address, data: st.DataObject
) -> None:
    """Membership agrees with `ipaddress`, for addresses inside and outside."""
    width = 32 if address.family == 4 else 128
    prefix = Prefix.of(address, data.draw(st.integers(0, width)))
    other = Address(address.family, data.draw(st.integers(0, 2**width - 1)))
    network = ipaddress.ip_network(f"{prefix.address}/{prefix.length}")

    assert holds(prefix, address)
    assert (ipaddress.ip_address(str(other)) in network) == holds(prefix, other)
    assert str(network.broadcast_address) == str(ipaddress.ip_address(str(prefix.broadcast)))


@given(ADDRESSES, st.data())
def test_a_prefix_reads_back_what_it_spells(address: Address, data: st.DataObject) -> None:
    """Spelling a prefix (`default`, a host, a network) and parsing it gives the same prefix."""
    prefix = Prefix.of(address, data.draw(st.integers(0, 32 if address.family == 4 else 128)))

    assert Prefix.parse(str(prefix), address.family) == prefix


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("10.1.2.3", "10.1.2.3"),
        ("10.1.2.3/255.255.0.0", "10.1.0.0/16"),
        ("fd00::1/64", "fd00::/64"),
        ("0.0.0.0/0", "default"),
    ],
)
def test_a_prefix_clears_host_bits_and_takes_netmasks(text: str, expected: str) -> None:
    """Every spelling that iptables and iproute2 take becomes one prefix."""
    assert str(Prefix.parse(text)) == expected


def test_default_needs_a_family() -> None:
    """`default` alone says nothing about IPv4 or IPv6."""
    with pytest.raises(ValueError, match="names no family"):
        Prefix.parse("default")


def test_a_prefix_of_the_other_family_is_refused() -> None:
    """Asking for IPv6 and seeing IPv4 is an error."""
    with pytest.raises(ValueError, match="expected an IPv6 prefix"):
        Prefix.parse("10.0.0.0/8", 6)


def test_a_prefix_holds_narrower_prefixes_only() -> None:
    """A prefix lies in itself and in a wider one, never in a narrower one or another family's."""
    wide, narrow = Prefix.parse("10.0.0.0/8"), Prefix.parse("10.1.0.0/16")

    assert holds(wide, narrow)
    assert holds(wide, wide)
    assert not holds(narrow, wide)
    assert not holds(wide, Prefix.parse("fd00::/8"))
    assert not holds(wide, "10.1.0.0/16")


@pytest.mark.parametrize(
    ("text", "loopback", "multicast", "link_local", "unspecified"),
    [
        ("127.0.0.53", True, False, False, False),
        ("224.0.0.251", False, True, False, False),
        ("169.254.169.254", False, False, True, False),
        ("0.0.0.0", False, False, False, True),
        ("10.0.0.1", False, False, False, False),
        ("::1", True, False, False, False),
        ("ff02::1", False, True, False, False),
        ("fe80::1", False, False, True, False),
        ("::", False, False, False, True),
    ],
)
def test_an_address_knows_what_it_is(
    *, text: str, loopback: bool, multicast: bool, link_local: bool, unspecified: bool
) -> None:
    """The special ranges of both families are told apart."""
    address = Address.parse(text)

    assert (loopback, multicast, link_local, unspecified) == (
        address.is_loopback, address.is_multicast, address.is_link_local, address.is_unspecified,
    )  # fmt: skip


def test_a_port_range_includes_both_ends() -> None:
    """`80:90` holds 80 and 90, and nothing that is no number."""
    ports = PortRange(80, 90)

    assert [False, True, True, False, False] == [
        holds(ports, item) for item in (79, 80, 90, 91, "80")
    ]
    assert (str(ports), str(PortRange(80, 80))) == ("80:90", "80")


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_mark_matches_under_its_mask(mark: int, value: int, mask: int) -> None:
    """Bits outside the mask do not count."""
    masked = MaskedMark(value & mask, mask)

    assert masked.matches(mark) == ((mark ^ value) & mask == 0)


def test_a_mark_spells_its_mask_where_it_has_one() -> None:
    """iptables prints the mask unless all bits count."""
    assert (str(MaskedMark(0x4000, 0x4000)), str(MaskedMark(0x200))) == ("0x4000/0x4000", "0x200")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("10.244.0.0/16", "10.244.3.0/24", True),
        ("10.244.0.0/24", "10.244.1.0/24", False),
        ("0.0.0.0/0", "::/0", False),
    ],
)
def test_prefixes_overlap_where_one_lies_in_the_other(
    one: str, other: str, *, expected: bool
) -> None:
    """Whichever is asked."""
    first, second = Prefix.parse(one), Prefix.parse(other)

    assert expected is first.overlaps(second) is second.overlaps(first)
