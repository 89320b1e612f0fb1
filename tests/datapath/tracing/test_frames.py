"""Tests of the headers that hops rewrite."""

from __future__ import annotations

import pickle

from podpath.datapath.tracing.frames import (
    BROADCAST,
    is_group,
    is_symbolic,
    with_destination,
    with_macs,
    with_source,
    with_ttl,
)
from podpath.net.addresses import Mac, unseen_mac
from podpath.testing.nodes import ip
from tests.datapath.walks import packet

SHOWN = Mac("02:00:00:00:00:01")

PACKET = packet("10.0.0.1", "10.0.0.2", ttl=9, tos=4, seq=7, quoted=packet("1.1.1.1", "2.2.2.2"))


def test_rewriting_is_what_replace_does() -> None:
    """Each shortcut gives what `_replace` gives."""
    one, two = Mac("02:00:00:00:00:01"), Mac("02:00:00:00:00:02")

    assert PACKET._replace(smac=one, dmac=two) == with_macs(PACKET, one, two)
    assert PACKET._replace(ttl=8) == with_ttl(PACKET, 8)
    assert PACKET._replace(src=ip("10.9.9.9"), sport=5) == with_source(PACKET, ip("10.9.9.9"), 5)
    assert PACKET._replace(dst=ip("10.9.9.9"), dport=5) == with_destination(
        PACKET, ip("10.9.9.9"), 5
    )


def test_macs_of_groups_and_words_that_stand_for_macs() -> None:
    """The lowest bit of the first byte marks a group; words in brackets stand for a MAC that is not
    in evidence.
    """
    assert [True, True, False, False] == [
        is_group(mac) for mac in (BROADCAST, Mac("01:00:5e:00:00:01"), SHOWN, unseen_mac("eth0"))
    ]
    assert [True, False] == [is_symbolic(mac) for mac in (unseen_mac("eth0"), SHOWN)]


def test_what_stands_for_a_mac_stays_what_it_is_between_processes() -> None:
    """A walk in another process tells it apart as well."""
    assert is_symbolic(pickle.loads(pickle.dumps(unseen_mac("eth0"))))  # noqa: S301  # our own
