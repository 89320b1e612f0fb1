"""Rules of native nftables are taken away where nobody's program has written them."""

from __future__ import annotations

from podpath.checks.finding import Repair
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause
from podpath.diagnosis.repairs import list_repairs
from podpath.node.alteration import apply_changes
from podpath.node.node import Node
from podpath.testing.nodes import probe
from tests.diagnosis.test_causes import router

PROBE = "tcp 10.0.0.5 > 192.0.2.9:80 in lan"
DROP = "tcp dport 80 drop # handle 7"


def repairs(node: Node) -> list[Repair]:
    """Return what is proposed for the likeliest branch."""
    cause = find_cause(node, converse(node, probe(PROBE)).branches[0])
    assert cause is not None
    return list(list_repairs(node, cause))


def test_the_rule_that_drops_is_deleted_by_its_handle() -> None:
    """The walk passes without it, and the rules around it stay."""
    node = router("accept", f"tcp dport 22 drop # handle 6\n    {DROP}\n    accept # handle 8")
    (repair,) = repairs(node)

    assert repair.commands == ("nft delete rule inet firewall forward handle 7",)
    mended = apply_changes(node, repair.changes)
    assert converse(mended, probe(PROBE)).verdict == "ALWAYS"
    kept = mended.host.nftables.items[0].chains["forward"].rules
    assert [(rule.handle, rule.position) for rule in kept] == [(6, 1), (8, 2)]


def test_what_cannot_be_named_or_comes_back_is_left() -> None:
    """Without a handle there is no command; what a program has written it would write again."""
    assert repairs(router("accept", "tcp dport 80 drop")) == []
    owned = router("accept", DROP, table="inet firewalld")
    assert repairs(owned) == []
