"""Single behaviours of the kernel that are easily got wrong, each by its name, held against the
model and against the kernel.

docs/quality/agreement.md lists them beside those that other files of this folder hold.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net import nft, protocols
from podpath.net.addresses import Address, IfName, Mac, MaskedMark, Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Listing, Source, Span
from podpath.node.links import BridgePort, InterfaceAddress, Neighbour
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.node.node import HOST, Netns, Node
from podpath.node.routing import Nexthop, PolicyRule, Route
from podpath_lab.cases.routing import PORTS
from podpath_lab.topologies import Topology, bridged_pods, overlay, routed_pods, two_uplinks
from tests.datapath.given import given_rules, given_tables
from tests.kernel.kernel_twin import Agreed, agree, agree_on_frame, printed_in

pytestmark = pytest.mark.kernel("iptables-nft-restore", "bridge", "nft")

WORKS = Agreed("ALWAYS", "", "")
SPAN = Span(Source(name="nft.txt", lines=("a rule",)), 1, 1)
TO_WORLD = "tcp 10.1.0.2:41000 > 198.51.100.1:80 from pod1"


def built(
    topology: Topology,
    *,
    netns: str = HOST,
    sysctls: dict[str, str] | None = None,
    **tables: tuple[str, ...],
) -> Node:
    """Freeze a topology with iptables-nft rules in one of its namespaces; `tables` holds rules by
    table.
    """
    draft = topology.draft
    host = draft.namespaces[HOST]
    for scope in ("all", "default", *topology.devices):
        host.sysctls[f"net.ipv4.conf.{scope}.send_redirects"] = "0"
    host.sysctls |= sysctls or {}
    for name, rules in tables.items():
        for table in given_tables(given_rules(*rules, table=name)):
            for chain, fact in table.chains.items():
                draft.namespaces[netns].table(name, "nft").chains[chain] += fact.value.rules  # type: ignore[union-attr]  # known
    return draft.freeze(None, PORTS)


def frame(node: Node, netns: str, packet: Packet) -> Packet:
    """Return a frame from a namespace's eth0 to the other end of its cable."""
    links = {str(link.name): link for link in node.namespaces[netns].links.items}
    peer = links["eth0"].peer.value  # type: ignore[union-attr]  # drafts know peers
    far = {str(link.name): link for link in node.namespaces[peer.netns].links.items}
    return packet._replace(smac=links["eth0"].mac, dmac=packet.dmac or far[peer.link].mac)


def syn(src: str, dst: str, **changes: object) -> Packet:
    """Return a SYN as a crafted frame carries it."""
    packet = Packet(
        Address.parse(src),
        Address.parse(dst),
        protocols.TCP,
        41000,
        80,
        protocols.SYN,
        length=40,
        seq=1000,
    )
    return packet._replace(**changes)  # type: ignore[arg-type]  # fields of Packet


@pytest.mark.parametrize(("broken", "source"), [(False, "172.31.0.10"), (True, "10.1.0.2")])
def test_what_conntrack_calls_invalid_leaves_with_its_own_source(
    source: str, *, broken: bool
) -> None:
    """A segment with a bad checksum passes the nat table by and shows the pod's address to the
    world.
    """
    node = built(routed_pods(), nat=("POSTROUTING -o eth0 -j MASQUERADE",))
    seen = agree_on_frame(
        node, "pod1", frame(node, "pod1", syn("10.1.0.2", "198.51.100.1", bad_checksum=broken))
    )
    arrived = [
        each.packet
        for each in seen.evidence.observation.frames
        if (each.netns, each.outgoing) == ("world", False)
    ]
    assert [source] == [str(packet.src) for packet in arrived if packet is not None]


def test_source_nat_at_input() -> None:
    """SNAT in the INPUT chain shows the host's process another client, and answers find back."""
    node = built(routed_pods(), nat=("INPUT -p tcp -j SNAT --to-source 198.51.100.77",))
    assert WORKS == agree(node, "tcp 10.1.0.2:41000 > 172.31.0.10:80 from pod1")


@pytest.mark.parametrize(
    ("allowed", "expected"), [("0", Agreed("NEVER", "dropped", "IP_LOCALNET")), ("1", WORKS)]
)
def test_translation_to_loopback_needs_route_localnet(allowed: str, expected: Agreed) -> None:
    """A packet from a wire that is translated to 127.0.0.1 is a martian unless its device routes
    loopback.
    """
    sysctls = {"net.ipv4.conf.lxc1.route_localnet": allowed}
    node = built(
        routed_pods(),
        sysctls=sysctls,
        nat=("PREROUTING -p tcp -j DNAT --to-destination 127.0.0.1:80",),
    )
    assert expected == agree(node, "tcp 10.1.0.2:41000 > 172.31.0.10:8080 from pod1")


def test_over_lo_nothing_is_translated_twice() -> None:
    """What the host sends itself keeps its connection: PREROUTING's nat table is not asked after
    OUTPUT's was.
    """
    nat = (
        "OUTPUT -p tcp --dport 8080 -j REDIRECT --to-ports 80",
        "PREROUTING -p tcp --dport 80 -j REDIRECT --to-ports 9",
    )
    node = built(routed_pods(), nat=nat)
    assert WORKS == agree(node, "tcp 172.31.0.10:41000 > 172.31.0.10:8080 from host")


def test_over_lo_no_reverse_path_is_checked() -> None:
    """Strict rp_filter on every device says nothing about a source that only another device
    reaches.
    """
    node = built(routed_pods(), sysctls={"net.ipv4.conf.all.rp_filter": "1"})
    assert WORKS == agree(node, "tcp 10.1.1.1:41000 > 172.31.0.10:80 from host")


def test_a_mark_does_not_cross_into_another_namespace() -> None:
    """What the host marks arrives in the pod without a mark."""
    topology = routed_pods()
    built(topology, mangle=("POSTROUTING -j MARK --set-xmark 0x1/0xffffffff",))
    node = built(topology, netns="pod2", mangle=("PREROUTING -m mark --mark 0x1 -j DROP",))
    assert WORKS == agree(node, "tcp 10.1.0.2:41000 > 10.1.0.3:80 from pod1")


def test_a_mark_stays_with_what_a_tunnel_wraps() -> None:
    """The outer packet of a vxlan device has the mark of the one inside, in the same namespace."""
    rules = (
        "OUTPUT -p tcp -j MARK --set-xmark 0x1/0xffffffff",
        "OUTPUT -p udp --dport 8472 -m mark --mark 0x1 -j DROP",
    )
    node = built(overlay(), mangle=rules)
    assert Agreed("NEVER", "dropped", "NETFILTER_DROP") == agree(
        node, "tcp 10.1.0.1:41000 > 10.1.1.2:80 from host"
    )


def test_the_type_of_an_address_is_that_of_the_local_table() -> None:
    """An address that a route blackholes is UNICAST to addrtype: only the local table is looked
    at.
    """
    topology = routed_pods()
    topology.draft.namespaces[HOST].add_route("198.51.100.1", type="blackhole")
    node = built(
        topology, mangle=("PREROUTING -d 198.51.100.1/32 -m addrtype --dst-type UNICAST -j DROP",)
    )
    assert Agreed("NEVER", "dropped", "NETFILTER_DROP") == agree(node, TO_WORLD)


@pytest.mark.parametrize(
    ("valid", "expected"), [("0", Agreed("NEVER", "dropped", "IP_RPFILTER")), ("1", WORKS)]
)
def test_the_reverse_path_is_looked_up_without_the_mark(valid: str, expected: Agreed) -> None:
    """A way back that only a mark leads to counts for rp_filter where src_valid_mark is set, and
    else does not.
    """
    topology = two_uplinks()
    host = topology.draft.namespaces[HOST]
    host.routes = [route for route in host.routes if str(route.prefix.address) != "198.51.100.2"]
    host.add_route("198.51.100.2", "eth1", "192.0.2.1", table=101)
    asked = Neighbour(
        address=Address.parse("192.0.2.10"),
        link=IfName("eth0"),
        mac=host.link("eth1").mac,
        state="PERMANENT",
    )
    topology.draft.namespaces["world2"].neighbours.append(
        asked
    )  # its ARP would be refused for its source, too
    host.rules.append(PolicyRule(family=4, priority=100, mark=MaskedMark(1, 0xFFFFFFFF), table=101))
    sysctls = {"net.ipv4.conf.eth1.rp_filter": "1", "net.ipv4.conf.eth1.src_valid_mark": valid}
    marks = (
        "PREROUTING -i eth1 -j MARK --set-xmark 0x1/0xffffffff",
        "OUTPUT -j MARK --set-xmark 0x1/0xffffffff",
    )
    node = built(topology, sysctls=sysctls, mangle=marks)
    assert expected == agree(node, "tcp 198.51.100.2:41000 > 192.0.2.10:80 from world2")


def test_a_source_is_chosen_by_the_route() -> None:
    """A sender that names no source takes the route's own one, and the masquerade of its way
    another.
    """
    topology = routed_pods()
    host = topology.draft.namespaces[HOST]
    host.add_address("eth0", "172.31.0.11/24")
    host.add_route("198.51.100.1", "eth0", "172.31.0.1", prefsrc=Address.parse("172.31.0.11"))
    node = built(
        topology, filter=("OUTPUT ! -s 172.31.0.11/32 -j DROP",), nat=("POSTROUTING -j MASQUERADE",)
    )
    assert WORKS == agree(node, "tcp 0.0.0.0:41000 > 198.51.100.1:80 from host")


@pytest.mark.parametrize("isolated", [False, True])
def test_isolated_ports_do_not_hear_each_other(*, isolated: bool) -> None:
    """Frames between two isolated ports of a bridge stop there: nobody answers ARP."""
    topology = bridged_pods()
    for number in (1, 2):
        topology.draft.enslave(HOST, f"veth{number}", "cni0", BridgePort(isolated=isolated))
    expected = Agreed("NEVER", "rejected", "EHOSTUNREACH") if isolated else WORKS
    assert expected == agree(built(topology), "tcp 10.1.0.2:41000 > 10.1.0.3:80 from pod1")


def test_a_frame_for_another_mac_ends_before_ip() -> None:
    """No rule counts a frame that is for another host's MAC."""
    node = built(routed_pods(), raw=("PREROUTING -j ACCEPT",))
    packet = frame(node, "pod1", syn("10.1.0.2", "172.31.0.10", dmac=Mac("02:00:00:00:99:99")))
    assert "OTHERHOST" in agree_on_frame(node, "pod1", packet).evidence.drops


@pytest.mark.parametrize(
    "source", ["224.0.0.5", "255.255.255.255", "0.0.0.0", "127.0.0.1", "172.31.0.10"]
)
def test_martian_sources_are_refused(source: str) -> None:
    """Groups, broadcast, nothing, loopback and the host's own addresses are no source of what comes
    in on a wire.
    """
    node = built(routed_pods())
    seen = agree_on_frame(node, "pod1", frame(node, "pod1", syn(source, "10.1.0.3")))
    assert [] == [
        each
        for each in seen.evidence.observation.frames
        if each.netns == "pod2" and each.packet is not None
    ]


def test_a_reset_of_reject_in_output_tells_the_sender() -> None:
    """The sender of what OUTPUT rejects learns it at once, of what OUTPUT drops it does not."""
    node = built(
        routed_pods(), filter=("OUTPUT -p tcp --dport 80 -j REJECT --reject-with tcp-reset",)
    )
    assert Agreed("NEVER", "rejected", "tcp-reset") == agree(
        node, "tcp 172.31.0.10:41000 > 198.51.100.1:80 from host"
    )


def test_the_unspecified_link_is_asked_for() -> None:
    """A proxy answers for what it could forward to another device, and not for what is on the
    asking one.
    """
    topology = routed_pods(gateways=False)
    node = built(topology)
    assert WORKS == agree(node, "tcp 10.1.0.2:41000 > 10.1.0.3:80 from pod1")
    without = replace(node, namespaces={**node.namespaces, HOST: _without_proxy(node)})
    assert Agreed("NEVER", "rejected", "EHOSTUNREACH") == agree(
        without, "tcp 10.1.0.2:41000 > 10.1.0.3:80 from pod1"
    )


def _without_proxy(node: Node) -> Netns:
    host = node.namespaces[HOST]
    return replace(
        host,
        sysctls={key: fact for key, fact in host.sysctls.items() if not key.endswith("proxy_arp")},
    )


def test_a_twin_holds_routes_and_rules_of_ipv6() -> None:
    """A node with both families is rebuilt with both."""
    topology = routed_pods()
    host = topology.draft.namespaces[HOST]
    host.addresses.append(
        InterfaceAddress(link=IfName("eth0"), address=Address.parse("2001:db8::10"), length=64)
    )
    hop = Nexthop(link=IfName("eth0"), gateway=Address.parse("2001:db8::1"))
    host.routes.append(Route(prefix=Prefix.parse("::/0", 6), nexthops=(hop,), metric=1024))
    host.rules.append(PolicyRule(family=6, priority=100, iif=IfName("lxc1"), table=100))
    node = built(topology)
    assert "default via 2001:db8::1 dev eth0" in printed_in(node, HOST, "ip -6 route")
    assert "iif lxc1 lookup 100" in printed_in(node, HOST, "ip -6 rule")


@pytest.mark.parametrize(
    ("word", "expected"),
    [("iif", Agreed("NEVER", "dropped", "NETFILTER_DROP")), ("iifname", WORKS)],
)
def test_iif_is_an_index_and_iifname_a_name(word: str, expected: Agreed) -> None:
    """A rule on `iif` holds an index and matches that device whatever its name; one on `iifname`
    knows the name alone.
    """
    node = built(routed_pods())
    host = node.namespaces[HOST]
    index = next(link.ifindex for link in host.links.items if link.name == "lxc1")
    right = nft.Literal(str(index)) if word == "iif" else nft.Literal("cali1")
    rule = NftRule(
        nft.NftFamily.IP,
        "t",
        "c",
        1,
        SPAN,
        (
            nft.NftMatch(nft.Comparison.EQUAL, nft.Meta(word), right),
            nft.Counter(),
            nft.NftVerdict("drop"),
        ),
    )
    chain = NftChain(
        name="c",
        type=nft.NftChainType.FILTER,
        hook=nft.NftHook.PREROUTING,
        priority=0,
        policy=nft.NftPolicy.ACCEPT,
        rules=(rule,),
    )
    tables = Listing(
        (NftTable(family=nft.NftFamily.IP, name="t", chains={"c": chain}),),
        True,
        "nft list ruleset",
    )
    node = replace(node, namespaces={**node.namespaces, HOST: replace(host, nftables=tables)})
    assert expected == agree(node, TO_WORLD)


@pytest.mark.parametrize(("destination", "arrives"), [("172.31.0.10", True), ("10.1.0.2", False)])
def test_a_broadcast_frame_is_delivered_and_not_forwarded(
    destination: str, *, arrives: bool
) -> None:
    """What comes to all on layer 2 may be for an address of this host; to another host it is not
    passed on.
    """
    node = built(routed_pods(), filter=("INPUT -j ACCEPT", "FORWARD -j ACCEPT"))
    packet = Packet(
        Address.parse("172.31.0.1"),
        Address.parse(destination),
        protocols.UDP,
        41000,
        9,
        length=38,
        payload=10,
    )
    packet = frame(node, "world", packet._replace(dmac=Mac("ff:ff:ff:ff:ff:ff")))
    seen = agree_on_frame(node, "world", packet)
    assert arrives is (seen.evidence.counters != {})


def test_the_broadcast_address_of_a_subnet_is_local() -> None:
    """A datagram to the highest address of a subnet is delivered to a host that is in it."""
    node = built(routed_pods(), filter=("INPUT -j ACCEPT",))
    packet = Packet(
        Address.parse("172.31.0.1"),
        Address.parse("172.31.0.255"),
        protocols.UDP,
        41000,
        9,
        length=38,
        payload=10,
    )
    seen = agree_on_frame(
        node, "world", frame(node, "world", packet._replace(dmac=Mac("ff:ff:ff:ff:ff:ff")))
    )
    assert [1] == list(seen.evidence.counters.values())


@pytest.mark.parametrize("mode", ["random --probability 0.5", "nth --every 2 --packet 0"])
def test_what_the_kernel_draws_is_left_open(mode: str) -> None:
    """A rule on `statistic` may match or not: the model has a way for each, and the kernel goes one
    of them.
    """
    node = built(routed_pods(), filter=(f"FORWARD -p udp -m statistic --mode {mode} -j DROP",))
    assert agree(node, "udp 10.1.0.2:41000 > 198.51.100.1:80 from pod1").verdict == "SOMETIMES"


def test_both_ways_of_a_multipath_route_are_walked() -> None:
    """Which next hop the kernel hashes a connection to is open."""
    topology = two_uplinks()
    host = topology.draft.namespaces[HOST]
    hops = tuple(Nexthop(link=IfName(link), gateway=Address.parse(gateway), weight=1)
                 for link, gateway in (("eth0", "172.31.0.1"), ("eth1", "192.0.2.1")))  # fmt: skip
    host.routes.append(Route(prefix=Prefix.parse("198.51.100.1/32", 4), nexthops=hops))
    assert (
        agree(built(topology), "udp 172.31.0.10:41000 > 198.51.100.1:80 from host").verdict
        == "SOMETIMES"
    )


def test_a_reset_about_what_is_routed_off_a_bridge_leaves_by_its_port() -> None:
    """What br_netfilter saw and the host then routes to its uplink is reset by the port, too."""
    topology = bridged_pods()
    node = built(topology, filter=("FORWARD -p tcp -j REJECT --reject-with tcp-reset",))
    assert Agreed("NEVER", "rejected", "tcp-reset") == agree(node, TO_WORLD)
