"""Tests for `-m pkttype`."""

from __future__ import annotations

import pytest

from podpath.xtables.matches.pkttype import MATCH
from tests.xtables.seen import FakePacket, read


@pytest.mark.parametrize(
    ("text", "kind"),
    [("unicast", "host"), ("host", "host"), ("mcast", "multicast"), ("bcast", "broadcast")],
)
def test_each_spelling_stands_for_its_type(text: str, kind: str) -> None:
    """It holds for that type and for no other."""
    condition = read(MATCH.options["pkt-type"], text)

    assert condition(FakePacket(pkt_type=kind))
    assert not condition(FakePacket(pkt_type="otherhost"))


def test_an_unknown_type_is_refused() -> None:
    """A word that iptables does not have leaves the match unknown."""
    with pytest.raises(ValueError, match="expected a packet type, saw 'anycast'"):
        read(MATCH.options["pkt-type"], "anycast")
