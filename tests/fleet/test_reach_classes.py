"""The classes of a set of headers: all of it, once, each as its own walk says."""

from __future__ import annotations

from podpath.net.probe import Probe
from podpath_fleet.flow_classes import FlowHeader
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_classes import HeaderSpace, enumerate_classes
from tests.fleet.sampled import sample_nodes
from tests.seeds import fresh_seed

PROBE = Probe.parse("tcp 192.0.2.1 > 10.0.1.7:80")
SPACE = HeaderSpace(
    PROBE,
    HeaderRegion(
        ((PROBE.src.value, PROBE.src.value),), ((0, (1 << 32) - 1),), ((1, 65535),), ((1, 65535),)
    ),
)


def answer(header: FlowHeader) -> str:
    """Ask for a network, and within it for a port."""
    inside = header.probe.dst.value & 0xFFFFFF00 == 0x0A000100
    return f"port {header.probe.dport == 80}" if inside else "outside"


def test_each_random_header_is_walked_as_its_class_says() -> None:
    """On random nodes: verdict, packet, deciding line and where it ends are those of the class, and
    the classes with what is left are the whole space.
    """
    seed = fresh_seed()
    tally = sample_nodes(range(seed, seed + 4), 4)

    assert tally.wrong == []
    assert tally.moved > tally.nodes  # where most classes are single headers, few are others


def test_so_it_is_on_nodes_of_both_families() -> None:
    """IPv6 has the same classes."""
    seed = fresh_seed()
    tally = sample_nodes(range(seed, seed + 1), 4, both_families=True)

    assert tally.wrong == []


def test_a_class_is_what_the_walk_asked() -> None:
    """Three answers take three walks, and everything has one of them."""
    found = enumerate_classes(SPACE, answer, 10)

    assert sorted(one.answer for one in found.classes) == ["outside", "port False", "port True"]
    assert found.left == ()
    sizes = [sum(region.size for region in one.regions) for one in found.classes]
    assert sum(sizes) == SPACE.region.size
    port = next(one for one in found.classes if one.answer == "port True")
    assert [(region.dst, region.dport) for region in port.regions] == [
        (((0x0A000100, 0x0A0001FF),), ((80, 80),))
    ]
    assert str(port.witness.dst) == "10.0.1.1"


def test_what_is_not_walked_is_left() -> None:
    """A bound leaves a rest, which is part of the account."""
    found = enumerate_classes(SPACE, answer, 2)

    assert len(found.classes) == 2
    assert found.left != ()
    sizes = [region.size for one in found.classes for region in one.regions]
    assert sum(sizes) + sum(region.size for region in found.left) == SPACE.region.size


def test_no_headers_have_no_classes() -> None:
    """An empty space is enumerated without a walk."""
    empty = SPACE._replace(region=SPACE.region._replace(dport=()))
    found = enumerate_classes(empty, answer, 2)

    assert (found.classes, found.left) == ((), ())
