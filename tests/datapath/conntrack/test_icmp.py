"""Tests for which ICMP messages open connections, belong to one, or pass conntrack by."""

from __future__ import annotations

import pytest

from podpath.datapath.conntrack import icmp
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet


def message(protocol: int, kind: int) -> Packet:
    """Make an ICMP message of a type."""
    return Packet(Address(4, 1), Address(4, 2), protocol, icmp_type=kind)


@pytest.mark.parametrize(
    ("protocol", "kind", "special", "opener"),
    [
        (protocols.ICMP, 8, False, True),
        (protocols.ICMP, 0, False, False),
        (protocols.ICMP, 3, True, False),
        (protocols.ICMP, 4, True, False),
        (protocols.ICMP, 5, True, False),
        (protocols.ICMP, 6, False, False),
        (protocols.ICMP, 11, True, False),
        (protocols.ICMP, 12, True, False),
        (protocols.ICMP, 18, False, False),
        (protocols.ICMP, 19, True, False),
        (protocols.ICMP, 40, True, False),
        (protocols.ICMP, 13, False, True),
        (protocols.ICMPV6, 128, False, True),
        (protocols.ICMPV6, 129, False, False),
        (protocols.ICMPV6, 1, True, False),
        (protocols.ICMPV6, 135, True, False),
    ],
)
def test_types_are_sorted_as_the_kernel_does(
    protocol: int,
    kind: int,
    special: bool,  # noqa: FBT001
    opener: bool,  # noqa: FBT001
) -> None:  # a case
    """Errors and discovery are special, queries open connections, answers do neither."""
    packet = message(protocol, kind)

    assert (special, opener) == (icmp.is_special(packet), icmp.is_opener(packet))


def test_only_discovery_is_untracked() -> None:
    """Neighbour and listener discovery of IPv6; nothing of IPv4."""
    assert icmp.is_untracked(message(protocols.ICMPV6, 136))
    assert not icmp.is_untracked(message(protocols.ICMPV6, 1))
    assert not icmp.is_untracked(message(protocols.ICMP, 136))


def test_a_redirect_belongs_to_what_it_quotes() -> None:
    """One in which another option stands first is no connection's."""
    redirect = message(protocols.ICMPV6, icmp.REDIRECT)
    about = message(protocols.ICMPV6, 128)

    assert icmp.is_redirect(redirect)
    assert (False, False) == (icmp.is_special(redirect), icmp.is_opener(redirect))
    assert icmp.is_special(redirect._replace(quoted=about))
