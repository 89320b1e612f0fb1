"""Facts by which nodes are compared: what somebody set, and nothing that is a node's own."""

from __future__ import annotations

from bench.made_fleet import FAULTS, draw_node, pack
from podpath.library.given import Packed
from podpath.library.reading import read
from podpath_fleet.node_facts import Facts, list_facts


def facts_of(number: int, fault: str = "") -> tuple[Facts, str]:
    """Return the facts of a made node, and what has to be told of its fault."""
    node = draw_node(number, 3)
    words = FAULTS[fault](node) if fault else ""
    case = read(Packed(pack(node), "node.tar.gz"))
    return list_facts(case.node), words


def test_sound_nodes_have_the_same_facts() -> None:
    """Addresses, pods' devices and their names are no facts."""
    (one, _), (other, _) = facts_of(3), facts_of(303)

    assert one == other
    assert one["kernel"] == "6.8.0-45-generic"
    assert one["iptables filter FORWARD: order"] == "CNI-FORWARD KUBE-FORWARD"


def test_every_planted_fault_is_another_fact() -> None:
    """A node with a fault differs from a sound one in the fact that the fault is about."""
    sound, _ = facts_of(3)
    for fault in FAULTS:
        broken, words = facts_of(3, fault)
        keys = {*sound, *broken}
        differing = " ".join(key for key in keys if sound.get(key) != broken.get(key))
        assert words in differing, fault
    assert len(FAULTS) == 20
