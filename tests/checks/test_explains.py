"""Which failures a sort of cause cannot make."""

from __future__ import annotations

import pytest

from podpath.checks.category import Category
from podpath.checks.explains import FELT, SHARP, PacketEnd, excluded_by, explained_by
from podpath.net import protocols
from podpath.net.failures import FailureKind


def test_silent_drop_never_refuses() -> None:
    """A packet that vanishes gives no answer: it times out, and nobody refuses anything."""
    made = explained_by((Category.REVERSE_PATH_FILTER,))

    assert FailureKind.REFUSED not in made
    assert FailureKind.TIMEOUT in made


def test_nothing_is_ruled_out_without_a_row() -> None:
    """A rule returns what it likes; and where no sort is named, any failure may be it."""
    assert FailureKind.REFUSED in explained_by((Category.HOST_FIREWALL,))
    assert frozenset(FailureKind) == explained_by(())


def test_one_sort_that_can_is_enough() -> None:
    """A check that names several sorts is ruled out by all of them alone."""
    assert FailureKind.REFUSED in explained_by((Category.MTU, Category.NO_LISTENER))


@pytest.mark.parametrize("way", PacketEnd)
def test_every_way_is_felt_by_every_protocol(way: PacketEnd) -> None:
    """The table has a row for each way, and a cell for each protocol."""
    assert {protocols.TCP, protocols.UDP, protocols.ICMP} == set(FELT[way])
    assert all(FELT[way].values())


def test_what_is_left_out_is_what_the_kernel_names() -> None:
    """A proxy, a supervisor or impatience makes any of the other failures of a loss."""
    assert all(excluded_by(category) <= SHARP for category in Category)
    assert FailureKind.NO_ROUTE_TO_HOST in explained_by((Category.REVERSE_PATH_FILTER,))
    assert frozenset(FailureKind) == explained_by((Category.SYSCTL,))
