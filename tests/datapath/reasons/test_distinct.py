"""Tests of reasons as values."""

from __future__ import annotations

from podpath.datapath.reasons.devices import LinkDown, NoDevice, ReceivedOn, Unwrapped
from podpath.datapath.reasons.near import DeviceUnusable


def test_reasons_differ_by_what_decided() -> None:
    """Two reasons with the same values are one only where the same thing decided."""
    others: tuple[object, ...] = (ReceivedOn("eth0"), ("eth0",), LinkDown("eth1"))

    assert LinkDown("eth0") == LinkDown("eth0")
    assert all(other != LinkDown("eth0") for other in others)
    assert len({LinkDown("eth0"), Unwrapped("eth0"), LinkDown("eth0")}) == 2


def test_a_reason_without_values_is_a_reason() -> None:
    """A reason that has no values is not taken for none."""
    one: object = NoDevice()

    assert (True, True) == (bool(one), bool(DeviceUnusable()))
    assert one != DeviceUnusable()
