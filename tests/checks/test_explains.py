"""Which failures a sort of cause cannot make."""

from __future__ import annotations

import pytest

from podpath.checks.category import Category
from podpath.checks.explains import FELT, SHARP, PacketEnd, can_make, excluded_by, explained_by
from podpath.net import protocols
from podpath.net.failures import FailureKind


def test_silent_drop_never_refuses() -> None:
    """A packet that vanishes gives no answer: it times out, and nobody refuses anything."""
    silent = (Category.REVERSE_PATH_FILTER,)

    assert not can_make(silent, frozenset({FailureKind.REFUSED}))
    assert can_make(silent, frozenset({FailureKind.REFUSED, FailureKind.TIMEOUT}))


def test_nothing_is_ruled_out_without_a_stated_failure_or_a_row() -> None:
    """Where nobody says how it fails, any cause may be it; and a rule returns what it likes."""
    assert can_make((Category.NO_LISTENER,), frozenset())
    assert can_make((Category.HOST_FIREWALL,), frozenset({FailureKind.REFUSED}))


def test_one_sort_that_can_is_enough() -> None:
    """A check that names several sorts is ruled out by all of them alone."""
    assert can_make((Category.MTU, Category.NO_LISTENER), frozenset({FailureKind.REFUSED}))


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
