"""Devices, addresses and neighbors of two nodes: what is told to differ, where, and how to change
it.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.links import compare_links
from podpath.net.provenance import Basis, Inferred
from podpath.node.node import Netns, Node
from podpath.testing.nodes import given_netns, given_node


def differing(here: Netns, there: Netns) -> list[Difference]:
    """Return what differs between two nodes of one namespace."""
    return list(compare_links(given_node(here), given_node(there)))


def told(here: Netns, there: Netns) -> list[tuple[str, tuple[str, ...]]]:
    """Return what differs, in words, with the commands."""
    return [(each.words, each.commands) for each in differing(here, there)]


def test_each_setting_of_a_device_is_told_with_its_command() -> None:
    """State, MTU, promiscuous mode and a port's hairpin, as `ip` and `bridge` set them."""
    here = given_netns("host", "eth0 down mtu 1400", "br0 bridge", "veth1 peer pod:eth0 master br0")
    there = given_netns(
        "host", "eth0 promisc mtu 1500", "br0 bridge", "veth1 peer pod:eth0 master br0 hairpin"
    )

    assert [
        ("eth0: state is down here, and up where it works", ("ip link set eth0 up",)),
        ("eth0: mtu is 1400 here, and 1500 where it works", ("ip link set eth0 mtu 1500",)),
        ("eth0: promisc is off here, and on where it works", ("ip link set eth0 promisc on",)),
        (
            "veth1: hairpin is off here, and on where it works",
            ("bridge link set dev veth1 hairpin on",),
        ),
    ] == told(here, there)


def test_inside_a_pod_the_command_enters_its_namespace() -> None:
    """And the node of which it is told is the pod's namespace."""
    nodes = [given_node(given_netns("pod", f"eth0 mtu {mtu}")) for mtu in (1400, 1500)]
    (difference,) = compare_links(*nodes)

    assert ("pod", ("ip netns exec pod ip link set eth0 mtu 1500",)) == (
        difference.netns,
        difference.commands,
    )


def test_a_device_under_another_bridge_or_of_another_kind_is_told_without_a_command() -> None:
    """No single command makes a bridge of a bond; a kind that a listing leaves out is no other."""
    here = given_netns("host", "eth0 kind dummy", "eth1", "veth1 kind veth master br0")
    there = given_netns("host", "eth0 kind bond", "eth1 kind dummy", "veth1 kind veth master br1")
    found = differing(here, there)

    assert [
        "eth0: kind is dummy here, and bond where it works",
        "veth1: master is br0 here, and br1 where it works",
    ] == [each.words for each in found]
    assert not any(each.commands or each.can_be_taken for each in found)
    assert ["veth1: master is none here, and br1 where it works"] == [
        each.words for each in differing(given_netns("host", "veth1 kind veth"), there)
    ]


def inferred(namespace: Netns) -> Netns:
    """Let the namespace's devices be guessed."""
    guess = Inferred(Basis.IMPLIED, "a rule names it")
    links = tuple(replace(link, inferred=guess) for link in namespace.links.items)
    return replace(namespace, links=namespace.links._replace(items=links))


def test_a_guessed_device_differs_from_nothing() -> None:
    """Whichever side guessed it."""
    small, large = given_netns("host", "eth0 mtu 1400"), given_netns("host", "eth0 mtu 1500")

    assert 1 == len(differing(small, large))
    assert [] == differing(inferred(small), large)
    assert [] == differing(small, inferred(large))


def test_guessed_namespaces_say_nothing_of_hairpins() -> None:
    """Where a namespace of either node is inferred, what its bridge ports are is too."""
    plain, turning = (
        given_netns("host", f"veth1 peer pod:eth0 master br0 {word}") for word in ("", "hairpin")
    )
    pod = given_netns("pod", "eth0 peer host:veth1")
    guessed = replace(pod, inferred=Inferred(Basis.IMPLIED, "a veth leads there"))

    def compared(one: Netns, other: Netns) -> int:
        return len(list(compare_links(given_node(plain, one), given_node(turning, other))))

    assert (1, 0, 0) == (compared(pod, pod), compared(guessed, pod), compared(pod, guessed))


def test_addresses_are_added_and_deleted() -> None:
    """With the line of the node that has each."""
    both = "eth0 10.0.0.1/24"
    (missing,) = differing(given_netns("host", both), given_netns("host", f"{both} 10.0.9.2/24"))
    (extra,) = differing(given_netns("host", f"{both} 10.0.9.2/24"), given_netns("host", both))

    assert ("ip addr add 10.0.9.2/24 dev eth0",) == missing.commands
    assert ((), 1) == (missing.here, len(missing.there))
    assert ("ip addr del 10.0.9.2/24 dev eth0",) == extra.commands
    assert (1, ()) == (len(extra.here), extra.there)


def neighbour(words: str) -> Node:
    """Return a node that knows one neighbor."""
    return given_node(given_netns("host", "eth0", "eth1", neighbours=[words]))


def test_a_neighbour_differs_by_the_mac_that_the_good_node_knows() -> None:
    """On the same device; one that the good node does not resolve tells nothing."""
    here = neighbour("10.0.0.9 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE")
    there = neighbour("10.0.0.9 dev eth0 lladdr 02:00:00:00:00:02 REACHABLE")
    unresolved, elsewhere = (
        neighbour("10.0.0.9 dev eth0 FAILED"),
        neighbour("10.0.0.9 dev eth1 lladdr 02:00:00:00:00:02 REACHABLE"),
    )
    (found,) = compare_links(here, there)
    (failing,) = compare_links(unresolved, there)

    assert ("ip neigh flush to 10.0.0.9",) == found.commands
    assert "10.0.0.9 on eth0 is FAILED here, and 02:00:00:00:00:02 where it works" == failing.words
    assert [] == list(compare_links(here, unresolved))
    assert [] == list(compare_links(here, elsewhere))
    assert [] == list(compare_links(here, here))
