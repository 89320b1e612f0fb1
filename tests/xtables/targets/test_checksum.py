"""`-j CHECKSUM`: what it makes of a checksum that a socket left to the device."""

from __future__ import annotations

import pytest

from podpath.node.netfilter import MatchOption, Target
from podpath.xtables.registry import TARGETS
from tests.datapath.given import Sender, given, given_rules, tcp
from tests.datapath.xtables.test_registry import context

FILL = "PREROUTING -j CHECKSUM --checksum-fill"


@pytest.mark.parametrize(
    ("rules", "partial"), [("", True), (given_rules(FILL, table="mangle"), False)]
)
def test_the_checksum_is_computed(rules: str, *, partial: bool) -> None:
    """What the device would have computed is there from then on."""
    sender = Sender(given(rules))
    skb = sender.skb(tcp())
    skb.partial = True
    sender.send(skb, "PREROUTING")

    assert skb.partial is partial


def test_it_has_one_option() -> None:
    """Any other is not understood."""
    compiler = TARGETS["CHECKSUM"].compiler

    assert compiler is not None
    with pytest.raises(ValueError, match="checksum-fill"):
        compiler(Target("CHECKSUM", (MatchOption("frobnicate"),)), context())
