"""Captures of several points, matched: connections, ways, clocks and orders against worlds of which
they are known.
"""

from __future__ import annotations

import pytest

from podpath.capture.sightings import ConnectionDirection
from podpath.net.addresses import Address
from podpath_capture.flows.flows import number_flows
from podpath_capture.matching.matching import Matching, match_captures
from tests.capture.planted import Ends, Hop, Packet, World
from tests.capture.planted_talk import Talker, populate

SEEDS = range(12)


def places(world: World, matching: Matching, way: ConnectionDirection) -> list[int]:
    """Return the places of the points that a way passes."""
    names = [hop.name for hop in world.hops]
    return [names.index(matching.points[passage.point].file) for passage in way.passages]


@pytest.mark.parametrize("seed", SEEDS)
def test_connections_are_followed_in_order(seed: int) -> None:
    """Whatever NAT, tunnels, clocks and offload do, each connection is one, its points in the order
    of its packets.
    """
    world = populate(World(seed), 6)
    matching = match_captures(world.files())

    assert 6 + 3 + 3 + 40 == len(matching)
    for connection in matching:
        forward, backward = (
            places(world, matching, way) for way in (connection.forward, connection.backward)
        )
        assert sorted(forward) == forward
        assert sorted(backward, reverse=True) == backward


@pytest.mark.parametrize("seed", SEEDS)
def test_clocks_are_measured(seed: int) -> None:
    """The offset of each host's clock is found, as closely as it is said to be."""
    world = populate(World(seed), 6)
    clocks = match_captures(world.files()).clocks
    true = world.clocks()

    for clock in clocks:
        assert clock.nanoseconds is not None
        assert (
            abs(clock.nanoseconds - (true[clock.host] - true[clocks[0].host])) <= clock.within + 1
        )


def three_points() -> World:
    """Make a world with a service's translation before its second point and masquerading before its
    third.
    """
    hops = [
        Hop(name="pod.pcap", host=0, offset=0, delay=0, routed=False, whole=False),
        Hop(
            name="cni.pcap",
            host=0,
            offset=0,
            delay=5000,
            routed=False,
            whole=False,
            destination=True,
        ),
        Hop(
            name="eth.pcap",
            host=0,
            offset=0,
            delay=9000,
            routed=True,
            whole=False,
            source=True,
            tunnel="vxlan",
        ),
    ]
    return World(1, hops, loss=0.0)


def test_translations_are_read_off() -> None:
    """The first point shows the service, the second the backend, the third the node's address in a
    tunnel.
    """
    world = three_points()
    talker = Talker(world, Ends("10.244.0.2", 40000, "10.96.0.1", 80), 1_700_000_000_000_000_000)
    talker.open()
    matching = match_captures(world.files())
    (connection,) = matching
    names = [point.file for point in matching.points]
    first, second = connection.forward.translations

    assert ("pod.pcap", "cni.pcap", "destination") == (
        names[first.after],
        names[first.before],
        first.kind,
    )
    assert ("cni.pcap", "eth.pcap", "source") == (
        names[second.after],
        names[second.before],
        second.kind,
    )
    assert (Address.parse("10.244.0.1"), 8080) == (second.translated.dst, second.translated.dport)
    tunnel = connection.forward.passages[2].tunnel
    assert tunnel is not None
    assert (7, Address.parse("172.18.0.2")) == (tunnel.network, tunnel.src)
    assert (talker.isn[True], talker.isn[False]) == (connection.client_isn, connection.server_isn)
    assert [64, 64, 63] == [passage.ttl for passage in connection.forward.passages]


def test_packets_name_their_connection() -> None:
    """Flows that were numbered before give the same; each packet of a file has its connection's
    number.
    """
    world = three_points()
    Talker(world, Ends("10.244.0.2", 40000, "10.96.0.1", 80), 1_700_000_000_000_000_000).open()
    files = world.files()
    matching = match_captures(files, [number_flows(file.capture.packets.columns) for file in files])

    assert (0, 0, 0) == matching.numbers("eth.pcap")


def test_no_captures_are_no_connections() -> None:
    """Nothing in, nothing out."""
    assert ([], (), ()) == (
        list(match_captures([])),
        match_captures([]).clocks,
        match_captures([]).points,
    )


def test_a_connection_that_is_captured_from_its_middle() -> None:
    """Where no point shows the handshake, packets that both have join what NAT parted; who spoke
    first is the client.
    """
    world = three_points()
    talker = Talker(world, Ends("10.244.0.2", 40000, "10.96.0.1", 80), 1_700_000_000_000_000_000)
    talker.talk(forward=True, size=500)
    talker.talk(forward=False, size=900)
    (connection,) = match_captures(world.files())

    assert (None, [3, 3]) == (
        connection.client_isn,
        [len(way.passages) for way in (connection.forward, connection.backward)],
    )
    assert 40000 == connection.forward.passages[0].ends.sport


def test_nothing_in_common_but_the_ends() -> None:
    """Flows with equal ends are one connection even where no packet is common to both points."""
    world = three_points()
    world.hops[1:] = [Hop(name="cni.pcap", host=0, offset=0, delay=5000, routed=False, whole=False)]
    ends = Ends("10.244.0.2", 40000, "10.96.0.1", 5000)
    world.send(
        [Packet(17, forward=True, ident=4, body=b"one")], ends, 1_700_000_000_000_000_000, cut_at=1
    )
    world.shots[1] += world.shots[0][:0]
    late = world.shots[0][:]
    world.send([Packet(17, forward=True, ident=5, body=b"other")], ends, 1_700_000_001_000_000_000)
    world.shots[0] = late

    assert 1 == len(match_captures(world.files()))
