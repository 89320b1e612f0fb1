"""What is asked about, as sets of headers, and how sets are spelled."""

from __future__ import annotations

import pytest

from podpath.flows.flow import FlowSet
from podpath.library.reading import read
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_classes import HeaderSpace
from podpath_fleet.reach_space import (
    join_regions,
    list_spaces,
    spell_networks,
    spell_ports,
    spell_regions,
)
from tests.fleet.test_walked_flows import BUNDLE
from tests.library.samples import NO_FORWARDING

NODE = read(NO_FORWARDING).node
OUTSIDE = FlowSet(("10.244.1.0/24 in cni0",), ("198.51.100.0/24",), ("tcp",), "80,443")


def test_a_question_is_a_product_of_ranges() -> None:
    """A network of clients, one of servers, two ports, and the ports that kernels draw."""
    (space,) = list_spaces(OUTSIDE, NODE)

    assert (space.sample.in_dev, space.sample.protocol) == ("cni0", 6)
    assert spell_networks(space.region.src, 4) == ["10.244.1.0/24"]
    assert spell_networks(space.region.dst, 4) == ["198.51.100.0/24"]
    assert spell_ports(space.region.dport) == ["80", "443"]
    assert spell_ports(space.region.sport) == ["32768-60999"]


def test_every_pod_asks_for_everything() -> None:
    """Where nobody names a source, all pods are; pings have no ports."""
    spaces = list_spaces(FlowSet(), read(str(BUNDLE)).node)

    assert {space.sample.protocol for space in spaces} == {6, 17, 1}
    assert all(space.sample.netns for space in spaces)
    assert all(spell_networks(space.region.dst, 4) == ["0.0.0.0/0"] for space in spaces)
    assert {spell_ports(space.region.dport)[0] for space in spaces} == {"1-65535", "0"}


def test_a_target_may_be_named_with_its_port() -> None:
    """A port of a name is its own; one without has those that are asked about."""
    sources, names = ("host",), ("host:22", "host")
    spaces = list_spaces(FlowSet(sources, names, ("tcp",), "80"), NODE)

    assert [spell_ports(space.region.dport) for space in spaces] == [["22"], ["80"]]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (FlowSet(), "name a source by --from"),
        (FlowSet(("10.0.0.0/8",)), "in DEV"),
        (FlowSet(("10.0.0.0/99 in eth0",)), "10.0.0.0/99"),
        (FlowSet(("pod/no/such",)), "no/such"),
        (FlowSet(("host",), ("2001:db8::/32",)), "one family"),
        (FlowSet(("host",), (), ("tcp",), "80,x"), "80,443"),
        (FlowSet(("host",), (), ("tcp",), "9-3"), "9-3"),
        (FlowSet(("host",), (), ("tcp",), "0-80"), "0-80"),
        (FlowSet(("two words too",)), "expected a source"),
    ],
)
def test_what_cannot_be_read_is_said(question: FlowSet, said: str) -> None:
    """A usage error names what is wrong."""
    with pytest.raises(UsageError, match=said):
        list_spaces(question, NODE)


def test_regions_are_joined_and_spelled() -> None:
    """Those that differ in one field are one; long lists are cut, and say so."""
    src, sport = ((1, 1),), ((40000, 40000),)
    port = ((80, 80),)
    parts = [HeaderRegion(src, ((2 * n, 2 * n),), port, sport) for n in range(9)]
    other = HeaderRegion(src, ((0, 0),), ((443, 443),), sport)
    joined = join_regions([*parts, other])
    space = HeaderSpace(Probe.parse("tcp 0.0.0.1 > 0.0.0.2:80"), parts[0]._replace(sport=((1, 9),)))

    assert sum(region.size for region in joined) == 10
    assert spell_regions(joined, space) == [
        "to 0.0.0.0 0.0.0.2 0.0.0.4 0.0.0.6 and 5 more, port 80, source port 40000",
        "to 0.0.0.0, port 443, source port 40000",
    ]
    assert spell_networks(((0, 2),), 6) == ["::/127", "::2"]
