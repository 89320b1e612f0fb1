"""Frames that go from node to node, and what the node that receives them makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.devices import (
    CrossedWire,
    OuterChecksumWrong,
    OwnFrameReturned,
    TooLongForEnd,
    TunnelFromOther,
    TunnelPortClosed,
    VniUnknown,
)
from podpath.datapath.reasons.failures import LeftForPodOf, OuterDelivered
from podpath.datapath.tracing.trace import (
    Conversation,
    Delivered,
    Dropped,
    Step,
    Undecided,
)
from podpath.datapath.vocabulary import BoundaryName, Reachability, StepDecision
from podpath.net.provenance import Basis
from podpath.node.cluster import Cluster
from podpath.node.links import Geneve, Link
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import (
    forwarding,
    given_cilium,
    given_netns,
    given_node,
    given_ovs,
    ip,
    listening,
    probe,
)
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis.nodes_between import WRONG, as_clone

PROBE = probe("tcp 10.244.0.2 > 10.244.1.2:80 from pod")


def routed(number: int, *routes: str, uplink: str = "eth0", more: str = "") -> Node:
    """Return a node of which each routes the other's pods to its address (host-gw)."""
    own = f"10.244.{number}"
    host = given_netns(
        "host",
        f"{uplink} 192.0.2.{number + 1}/24",
        f"v1 peer pod:eth0 {own}.1/24",
        *((more,) if more else ()),
        routes=routes
        or [f"10.244.{1 - number}.0/24 via 192.0.2.{2 - number} dev {uplink.split(maxsplit=1)[0]}"],
        sysctls=forwarding(rp_filter="0"),
    )
    pod = given_netns(
        "pod", f"eth0 {own}.2/24 peer host:v1", routes=[f"default via {own}.1 dev eth0"]
    )
    return given_node(host, pod)


def walk(here: Node, there: Node) -> Conversation:
    """Walk from a pod of the first node to one of the second."""
    return converse(Cluster(nodes={"a": here, "b": there}).seen_from("a"), PROBE)


def crossings(found: Conversation) -> list[Step]:
    """Return the steps over the wire."""
    steps = (step for trace in found.branches[0].traces for step in trace.steps)
    return [step for step in steps if isinstance(step.reason, CrossedWire)]


def test_a_packet_crosses_the_wire_to_the_pod_and_its_answer_back() -> None:
    """Every crossing says that it is assumed, and a full packet goes both ways."""
    found = walk(routed(0), routed(1))

    first = found.branches[0].traces[0].outcome
    assert found.verdict == "ALWAYS"
    assert isinstance(first, Delivered)
    assert first.netns == "b/pod"
    assert [trace.name for trace in found.branches[0].traces][-2:] == [
        "full data",
        "full data reply",
    ]
    assert found.branches[0].traces[-1].packet.length == 1500
    ways = [step.reason for step in crossings(found)[:2]]
    assert [(way.node, way.peer) for way in ways if isinstance(way, CrossedWire)] == [
        ("b", "eth0"),
        ("a", "eth0"),
    ]
    assert {step.rests_on.by for step in crossings(found) if step.rests_on} == {Basis.BEYOND}


def test_a_packet_that_leaves_for_a_pod_of_the_model_went_astray() -> None:
    """No router is known to know the pods' ranges where the nodes route them themselves."""
    here = routed(0, "default via 192.0.2.254 dev eth0")
    found = walk(here, routed(1))

    left = found.branches[0].failure
    assert found.verdict == "NEVER"
    assert isinstance(left, LeftForPodOf)
    assert (left.node, str(left.address), left.link) == ("b", "10.244.1.2", "eth0")


def test_a_full_packet_does_not_fit_the_other_end() -> None:
    """The handshake passes; what fills the sender's MTU is dropped where it is received."""
    found = walk(routed(0), routed(1, uplink="eth0 mtu 1400"))

    branch = found.branches[0]
    assert isinstance(branch.last.outcome, Dropped)
    assert branch.last.deciding.reason == TooLongForEnd("eth0", 1500, 1400)
    assert branch.last.name == "full data"


def test_a_sender_that_is_told_sends_less() -> None:
    """A router with a smaller MTU on its way out says so: nothing breaks."""
    small = routed(0, "10.244.1.0/24 via 192.0.2.2 dev eth0 mtu 1400")

    assert walk(small, routed(1)).verdict == "ALWAYS"


def tunneled(number: int, vni: int = 1, *, state: str = "") -> Node:
    """Return a node of which each wraps what is for the other's pods in VXLAN."""
    own, other = f"10.244.{number}", f"10.244.{1 - number}"
    mac = f"02:00:00:00:0f:0{1 - number}"
    host = given_netns(
        "host",
        f"eth0 192.0.2.{number + 1}/24",
        f"vx vni {vni} mtu 1450 mac 02:00:00:00:0f:0{number} {own}.0/32 {state}".strip(),
        f"v1 peer pod:eth0 {own}.1/24",
        routes=[f"{other}.0/24 via {other}.0 dev vx onlink"],
        neighbours=[f"{other}.0 dev vx lladdr {mac} PERMANENT"],
        fdb=[f"{mac} dev vx dst 192.0.2.{2 - number}"],
        sysctls=forwarding(rp_filter="0"),
    )
    pod = given_netns(
        "pod", f"eth0 mtu 1450 {own}.2/24 peer host:v1", routes=[f"default via {own}.1 dev eth0"]
    )
    return given_node(host, pod)


def test_a_tunnel_is_unwrapped_on_the_other_node() -> None:
    """The outer packet has its own way through both nodes."""
    found = walk(tunneled(0), tunneled(1))

    steps = found.branches[0].traces[0].steps
    assert found.verdict == "ALWAYS"
    taken = [step.netns for step in steps if step.decision is StepDecision.DECAPSULATE]
    assert taken == ["b/host"]


@pytest.mark.parametrize(
    ("checksum", "verdict"), [(True, "NEVER"), (False, "ALWAYS"), (None, "SOMETIMES")]
)
def test_masquerading_outer_packets_spoils_their_checksum(
    checksum: bool | None,  # noqa: FBT001  # a row of the table
    verdict: str,
) -> None:
    """Over a real wire the other node refuses them; with `noudpcsum` there is nothing to spoil, and
    where no output tells, either may be.
    """
    here = masqueraded(tunneled(0), checksum=checksum)
    found = walk(here, tunneled(1))

    assert found.verdict == verdict
    lost = [
        trace.outcome
        for branch in found.branches
        for trace in branch.traces
        if trace.deciding.reason == OuterChecksumWrong("vx")
    ]
    reasons = {outcome.reason for outcome in lost if isinstance(outcome, Dropped)}
    assert reasons == (set() if checksum is False else {"UDP_CSUM"})


def test_a_ping_through_the_same_tunnel_passes() -> None:
    """Its checksum is computed at once, so NAT makes no mistake: a ping proves nothing here."""
    here = masqueraded(tunneled(0), checksum=True)
    ping = probe("icmp 10.244.0.2 > 10.244.1.2 from pod")

    assert (
        converse(Cluster(nodes={"a": here, "b": tunneled(1)}).seen_from("a"), ping).verdict
        == "ALWAYS"
    )


def masqueraded(node: Node, *, checksum: bool | None) -> Node:
    """Return a node that takes another address for its tunnel's packets."""
    host = node.namespaces["host"]
    links = tuple(
        replace(link, vxlan=replace(link.vxlan, checksum=checksum)) if link.vxlan else link
        for link in host.links.items
    )
    rule = "POSTROUTING -p udp --dport 8472 -j SNAT --to-source 192.0.2.77"
    tables = given_tables(given_rules(rule, table="nat"))
    changed = replace(
        host,
        links=host.links._replace(items=links),
        netfilter={4: Netfilter(tables=tables, complete=True)},
    )
    return replace(node, namespaces={**node.namespaces, "host": changed})


def test_a_tunnel_of_another_network_drops_it() -> None:
    """The port is right, the identifier is not."""
    found = walk(tunneled(0), tunneled(1, vni=7))

    assert found.branches[0].last.deciding.reason == VniUnknown("vx", 1, 7)


def test_a_frame_with_the_mac_of_the_device_itself_is_a_loop() -> None:
    """Two nodes cloned from one image have one MAC on their tunnel devices."""
    found = walk(as_clone(tunneled(0), "192.0.2.2"), as_clone(tunneled(1), "192.0.2.1"))

    last = found.branches[0].last
    assert last.deciding.reason == OwnFrameReturned("vx", str(WRONG))
    assert isinstance(last.outcome, Dropped)
    assert last.outcome.netns == "b/host"


def test_a_tunnel_that_is_down_listens_to_nothing() -> None:
    """Its socket is open while the device is up."""
    found = walk(tunneled(0), tunneled(1, state="down"))

    reason = found.branches[0].last.deciding.reason
    assert reason == TunnelPortClosed("vx", 8472, 8472, up=False)


def test_routers_between_nodes_are_taken_to_know_their_addresses() -> None:
    """Nodes of two subnets reach each other's own addresses by their gateways."""
    sides = [
        given_node(
            given_netns(
                "host",
                f"eth0 {own}.2/24",
                routes=[f"default via {own}.1 dev eth0"],
                sysctls=forwarding(),
            )
        )
        for own in ("192.0.2", "198.51.100")
    ]
    joined = Cluster(nodes={"a": sides[0], "b": sides[1]}).seen_from("a")

    found = converse(joined, probe("tcp 192.0.2.2 > 198.51.100.2:80 from host"))

    assert found.verdict == "ALWAYS"
    assert {
        step.reason.subnet for step in crossings(found) if isinstance(step.reason, CrossedWire)
    } == {None}


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"cilium": given_cilium()}, "Cilium"),
        ({"ovs": (given_ovs("br0", "eth0"),)}, "Open vSwitch"),
    ],
)
def test_another_nodes_programs_and_switches_are_not_guessed(
    more: dict[str, Any], kind: str
) -> None:
    """Where they decide on the other node, the walk ends at the wire, and names the node."""
    found = walk(routed(0), replace(routed(1), **more))
    last = found.branches[0].last

    assert found.verdict is Reachability.UNDECIDED
    assert isinstance(last.outcome, Undecided)
    assert last.deciding.reason == BoundaryMet(BoundaryName.OTHER_NODE, ("b", kind))
    assert "ofproto/trace" in last.outcome.ask


@pytest.mark.parametrize("kind", ["wireguard", "tun", "geneve", "gre", "ipip", "xfrm", "ip6tnl"])
def test_tunnels_whose_other_end_no_device_tells(kind: str) -> None:
    """A pod of another node behind one of them is neither reached nor lost for certain."""

    def joined(number: int) -> Node:
        return routed(number, f"10.244.{1 - number}.0/24 dev t0", more=f"t0 kind {kind}")

    found = walk(joined(0), joined(1))

    assert found.verdict is Reachability.UNDECIDED
    reason = found.branches[0].last.deciding.reason
    assert isinstance(reason, BoundaryMet)
    assert reason.about == ("t0", kind)


def pointed(
    number: int,
    kind: str,
    remote: str,
    **ends: Any,  # noqa: ANN401  # the fields of TunnelEnds
) -> Node:
    """Return a node with a tunnel of a fixed remote end to the other's pods."""
    made = routed(number, f"10.244.{1 - number}.0/24 dev t0", more=f"t0 kind {kind} to {remote}")
    host = made.host
    links = tuple(
        replace(link, mtu=1400, ends=replace(link.ends, **ends)) if link.ends is not None else link
        for link in host.links.items
    )
    changed = replace(host, links=host.links._replace(items=links))
    return replace(made, namespaces={**made.namespaces, "host": changed})


@pytest.mark.parametrize("kind", ["ipip", "gre"])
def test_a_tunnel_whose_ends_are_each_others(kind: str) -> None:
    """What one wraps for the other, that one unwraps, there and back."""
    found = walk(pointed(0, kind, "192.0.2.2"), pointed(1, kind, "192.0.2.1"))

    assert found.verdict is Reachability.ALWAYS
    steps = [step for trace in found.branches[0].traces for step in trace.steps]
    assert StepDecision.DECAPSULATE in {step.decision for step in steps}


@pytest.mark.parametrize("kind", ["ipip", "gre"])
def test_a_tunnel_whose_ends_differ(kind: str) -> None:
    """The other node takes nothing from an end that its device is not configured for."""
    found = walk(pointed(0, kind, "192.0.2.2"), pointed(1, kind, "192.0.2.9"))

    assert found.verdict is Reachability.NEVER
    assert isinstance(found.branches[0].failure, OuterDelivered)


def test_keys_of_gre_that_differ() -> None:
    """A packet with a key is for the device with that key."""
    keyed = {"sends_key": "0.0.0.5", "takes_key": "0.0.0.5"}
    other = {"sends_key": "0.0.0.6", "takes_key": "0.0.0.6"}
    here = pointed(0, "gre", "192.0.2.2", **keyed)

    same = walk(here, pointed(1, "gre", "192.0.2.1", **keyed))
    differ = walk(here, pointed(1, "gre", "192.0.2.1", **other))

    assert (same.verdict, differ.verdict) == (Reachability.ALWAYS, Reachability.NEVER)


def test_a_tunnel_that_routes_point_is_not_guessed() -> None:
    """With external metadata nothing in the listings says where a packet goes."""
    here = pointed(0, "gre", "192.0.2.2", external=True)

    assert walk(here, pointed(1, "gre", "192.0.2.1")).verdict is Reachability.UNDECIDED


def by_geneve(number: int, remote: str = "", vni: int = 5, port: int = 6081) -> Node:
    """Return a node that sends what is for the other's pods into Geneve, to one remote end."""
    own, other = f"10.244.{number}", f"10.244.{1 - number}"
    geneve = Geneve(vni=vni, port=port, remote=ip(remote or f"192.0.2.{2 - number}"))
    host = given_netns(
        "host",
        f"eth0 192.0.2.{number + 1}/24 192.0.2.9{number}/24",
        f"gnv kind geneve mtu 1450 mac 02:00:00:00:0e:0{number} 10.5.0.{number}/24",
        f"v1 peer pod:eth0 {own}.1/24",
        routes=[f"{other}.0/24 via 10.5.0.{1 - number} dev gnv"],
        neighbours=[f"10.5.0.{1 - number} dev gnv lladdr 02:00:00:00:0e:0{1 - number} PERMANENT"],
        sysctls=forwarding(rp_filter="0"),
        netns={"sockets": listening(22)},
    )

    def set_up(link: Link) -> Link:
        return replace(link, geneve=geneve) if link.kind == "geneve" else link

    links = host.links._replace(items=tuple(set_up(link) for link in host.links.items))
    pod = given_netns(
        "pod", f"eth0 mtu 1450 {own}.2/24 peer host:v1", routes=[f"default via {own}.1 dev eth0"]
    )
    return given_node(replace(host, links=links), pod)


def test_geneve_carries_between_its_fixed_ends() -> None:
    """As Linux 6.12.117 did: two echoes were answered, at the standard's port and at another."""
    assert walk(by_geneve(0), by_geneve(1)).verdict == "ALWAYS"
    assert walk(by_geneve(0, port=6099), by_geneve(1, port=6099)).verdict == "ALWAYS"


@pytest.mark.parametrize(
    ("here", "there", "reason"),
    [
        (by_geneve(0), by_geneve(1, vni=6), VniUnknown("gnv", 5, 6)),
        (
            by_geneve(0),
            by_geneve(1, remote="192.0.2.7"),
            TunnelFromOther("gnv", ip("192.0.2.1"), ip("192.0.2.7")),
        ),
        (by_geneve(0), by_geneve(1, port=6099), TunnelPortClosed("gnv", 6081, 6099, up=True)),
        (
            by_geneve(0, remote="192.0.2.91"),
            by_geneve(1),
            TunnelFromOther("gnv", ip("192.0.2.2"), ip("192.0.2.91")),
        ),
    ],
)
def test_geneve_between_ends_that_differ_drops(here: Node, there: Node, reason: object) -> None:
    """As Linux 6.12.117 did: by network, remote end and port, and where the answer comes from
    another address than the device sends to.
    """
    found = walk(here, there)

    assert found.verdict == "NEVER"
    assert found.branches[0].last.deciding.reason == reason


def test_geneve_whose_ends_a_program_chooses_is_undecided() -> None:
    """On either node."""
    for number in range(2):
        nodes = [by_geneve(0), by_geneve(1)]
        host = nodes[number].host
        external = Geneve(vni=0, port=6081, external=True)
        links = tuple(
            replace(link, geneve=external) if link.kind == "geneve" else link
            for link in host.links.items
        )
        host = replace(host, links=host.links._replace(items=links))
        spaces = {**nodes[number].namespaces, "host": host}
        nodes[number] = replace(nodes[number], namespaces=spaces)

        found = walk(*nodes)

        assert isinstance(found.branches[0].last.outcome, Undecided)
