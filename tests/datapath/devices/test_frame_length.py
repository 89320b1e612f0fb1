"""Frames that are too long for the device they come to."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.devices import TooLongForEnd
from podpath.datapath.reasons.routes import Fragmented
from podpath.datapath.vocabulary import Reachability
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, probe


def pair(mtu: int, *, bridged: bool = False, filtered: bool = False) -> Node:
    """Return a host and a pod behind a veth, or two pods on its bridge, the last with a device of
    that MTU on its way.
    """
    if not bridged:
        return given_node(
            given_netns("host", "veth0 10.0.0.1/24 peer pod:eth0"),
            given_netns("pod", f"eth0 10.0.0.2/24 mtu {mtu} peer host:veth0"),
        )
    return given_node(
        given_netns(
            "host",
            "br0 10.0.0.1/24 kind bridge",
            "p1 master br0 peer one:eth0",
            f"p2 master br0 mtu {mtu} peer two:eth0",
            sysctls={"net.bridge.bridge-nf-call-iptables": "1" if filtered else "0"},
        ),
        given_netns("one", "eth0 10.0.0.2/24 peer host:p1"),
        given_netns("two", "eth0 10.0.0.3/24 peer host:p2"),
    )


@pytest.mark.parametrize(
    ("size", "found"), [(1404, Reachability.ALWAYS), (1405, Reachability.NEVER)]
)
def test_a_veth_takes_what_leaves_room_for_a_tag(size: int, found: Reachability) -> None:
    """Four bytes above the MTU come in; the answer of that length goes in fragments."""
    asked = converse(pair(1400), probe(f"udp 10.0.0.1 > 10.0.0.2:53 from host size {size} df"))

    assert asked.verdict is found
    last = asked.branches[0].last
    if found is Reachability.NEVER:
        assert last.deciding.reason == TooLongForEnd("eth0", 1405, 1400)
    else:
        assert Fragmented(1404, 2, 1396) in [step.reason for step in last.steps]


@pytest.mark.parametrize(
    ("size", "filtered", "found"),
    [
        (1400, True, Reachability.ALWAYS),
        (1404, False, Reachability.ALWAYS),
        (1404, True, Reachability.NEVER),
        (1405, False, Reachability.NEVER),
    ],
)
def test_a_bridges_port_takes_no_more_than_its_mtu_once_it_is_filtered(
    size: int,
    filtered: bool,  # noqa: FBT001
    found: Reachability,
) -> None:
    """What br_netfilter has seen gets no room for a tag."""
    node = pair(1400, bridged=True, filtered=filtered)

    asked = converse(node, probe(f"udp 10.0.0.2 > 10.0.0.3:53 from one size {size} df"))

    assert asked.verdict is found


def test_full_segments_may_be_carried_as_one() -> None:
    """One by itself is dropped where several that go together pass; a probe that names the size of
    its data sends one.
    """
    node = pair(1400, bridged=True)

    asked = converse(node, probe("tcp 10.0.0.2 > 10.0.0.3:80 from one"))
    sized = converse(node, probe("tcp 10.0.0.2 > 10.0.0.3:80 from one size 1500"))

    assert asked.verdict is Reachability.SOMETIMES
    assert any("as one" in made.fact for made in asked.branches[0].assumptions)
    assert sized.verdict is Reachability.NEVER
