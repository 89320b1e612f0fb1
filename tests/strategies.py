"""Strategies for whole nodes: small, odd, often contradictory, as evidence is."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac, MaskedMark, Prefix
from podpath.net.probe import USUALLY, Probe, Sending
from podpath.net.provenance import Fact, Known, Listing, Option, Unknown
from podpath.node.links import (
    Bridge,
    BridgePort,
    FdbEntry,
    InterfaceAddress,
    Link,
    Neighbour,
    OvsBridge,
    Peer,
    Vxlan,
)
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST, Cilium, Netns, NetnsRole, Node, Socket
from podpath.node.routing import DEFAULT_RULES, Nexthop, PolicyRule, Route
from tests.datapath.given import given_rules, given_tables

NETNS = (HOST, "a", "b")
DEVICES = tuple(map(IfName, ("eth0", "eth1", "br0", "lxc1", "cilium_host", "vx0", "lo")))
KINDS = (
    "",
    "veth",
    "bridge",
    "bond",
    "vxlan",
    "openvswitch",
    "vlan",
    "dummy",
    "vrf",
    "ipip",
    "tun",
)
MACS = tuple(Mac(f"02:00:00:00:00:0{number}") for number in range(4))
TABLES = tuple(
    given_tables(text)
    for text in (
        "",
        given_rules("FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT", policy="DROP"),
        given_rules(
            "PREROUTING -d 10.0.0.3/32 -j DNAT --to-destination 10.0.1.2",
            "POSTROUTING -j MASQUERADE",
            table="nat",
        ),
        given_rules(
            "OUTPUT -j MARK --set-xmark 0x1/0xff",
            "PREROUTING -m odd --what -j DROP",
            table="mangle",
        ),
        given_rules("FORWARD -j REJECT", "INPUT -p udp -j REJECT"),
    )
)

addresses = st.builds(
    lambda net, last: Address(4, (10 << 24) | (net << 8) | last),
    st.integers(0, 2),
    st.sampled_from((0, 1, 2, 3, 255)),
) | st.sampled_from(
    [
        Address.parse(text)
        for text in (
            "127.0.0.1",
            "169.254.169.254",
            "203.0.113.9",
            "224.0.0.5",
            "255.255.255.255",
            "0.0.0.0",
        )
    ]
)
addresses6 = st.builds(lambda last: Address(6, (0x20010DB8 << 96) | last), st.integers(0, 3))
prefixes = st.builds(Prefix.of, addresses, st.sampled_from((0, 8, 16, 24, 30, 32)))
devices = st.sampled_from(DEVICES)
flags = st.booleans()


def facts(values: st.SearchStrategy[Any], name: str) -> st.SearchStrategy[Fact[Any]]:
    """Return facts that are known, or unknown with one or two options."""
    options = st.lists(values, min_size=1, max_size=2).map(
        lambda drawn: tuple(Option(value, str(value)) for value in drawn)
    )
    return values.map(Known) | options.map(lambda drawn: Unknown(name, "look", drawn))


def listings(items: st.SearchStrategy[Any], size: int = 4) -> st.SearchStrategy[Listing[Any]]:
    """Return listings, whole or cut."""
    return st.builds(Listing, st.lists(items, max_size=size).map(tuple), flags, st.just("show"))


def _links(netns: str) -> st.SearchStrategy[Link]:
    peers = st.builds(Peer, netns=st.sampled_from((*NETNS, "gone")), link=devices)
    ports = st.builds(
        BridgePort, state=st.sampled_from(("forwarding", "blocking")), hairpin=flags,
        isolated=flags, pvid=st.sampled_from((None, 1, 2)),
    )  # fmt: skip
    usually = st.sampled_from((True, True, True, False))
    return st.builds(
        Link, name=devices, kind=st.sampled_from(KINDS), up=usually, noarp=flags,
        lower=st.none() | devices,
        mtu=st.sampled_from((40, 1500)), mac=st.none() | st.sampled_from(MACS),
        master=st.none() | devices | st.just("ovs-system"),
        peer=st.none() | facts(peers, f"the peer in {netns}"),
        bridge=st.none() | st.builds(Bridge, vlan_filtering=flags, nf_call_iptables=flags),
        port=st.none() | ports,
        vxlan=st.none() | st.builds(
            Vxlan, vni=st.just(1), port=st.just(8472), remote=st.none() | addresses,
        ),
        bond_slave_of=st.none() | st.just("bond1"),
    )  # fmt: skip


hops = st.builds(
    Nexthop, link=devices, gateway=st.none() | addresses, dead=st.just(False), linkdown=flags
)
routes = st.builds(
    Route, prefix=prefixes, nexthops=st.lists(hops, max_size=2).map(tuple),
    metric=st.integers(0, 2),
    table=st.sampled_from((254, 254, 100, 255)),
    type=st.sampled_from(("unicast",) * 6 + (
        "local", "blackhole", "unreachable", "prohibit", "throw", "broadcast",
    )),
    prefsrc=st.none() | addresses, mtu=st.none() | st.just(100),
)  # fmt: skip
policy_rules = st.builds(
    PolicyRule, family=st.just(4), priority=st.integers(1, 9), negated=flags,
    src=st.none() | prefixes, iif=st.none() | devices,
    mark=st.none() | st.just(MaskedMark(1, 0xFF)), goto=st.integers(1, 9),
    action=st.sampled_from(("lookup", "lookup", "goto", "nop", "prohibit")),
    table=st.sampled_from((100, 254)), suppress_prefixlength=st.none() | st.integers(0, 24),
)  # fmt: skip
sysctl_keys = st.sampled_from(
    [
        "net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables", "net.ipv6.conf.all.forwarding",
        *(f"net.ipv4.conf.{device}.{name}" for device in ("all", "eth0", "br0", "default")
          for name in ("rp_filter", "accept_local", "arp_ignore", "arp_announce", "proxy_arp", "route_localnet", "forwarding")),  # noqa: E501
    ]
)  # fmt: skip


neighbour_entries = st.builds(
    Neighbour,
    address=addresses,
    link=devices,
    mac=st.none() | st.sampled_from(MACS),
    state=st.sampled_from(("STALE", "FAILED", "PERMANENT")),
)
fdb_entries = st.builds(
    FdbEntry, mac=st.sampled_from(MACS), link=devices, bridge=st.none() | devices,
    dst=st.none() | addresses,
)  # fmt: skip
listeners = st.builds(
    Socket, protocol=st.sampled_from((6, 17)), local=st.none() | addresses,
    port=st.sampled_from((80, 53)),
)  # fmt: skip


@st.composite
def namespaces(draw: st.DrawFn, name: str) -> Netns:
    """Draw a namespace."""
    keys = draw(st.lists(sysctl_keys, max_size=4, unique=True))
    rules = draw(listings(policy_rules, 2))
    interface = st.builds(
        InterfaceAddress,
        link=devices,
        address=addresses | addresses6,
        length=st.sampled_from((8, 24, 32)),
        secondary=flags,
    )
    return Netns(
        name=name,
        role=NetnsRole.HOST if name == HOST else NetnsRole.POD,
        links=draw(listings(_links(name), 6)),
        addresses=draw(listings(interface, 5)),
        routes=draw(listings(routes, 5)),
        rules=rules._replace(items=(*rules.items, *DEFAULT_RULES[4], *DEFAULT_RULES[6])),
        neighbours=draw(listings(neighbour_entries, 2)),
        fdb=draw(listings(fdb_entries, 2)),
        sysctls={
            key: draw(facts(st.sampled_from(("0", "1", "2", "odd")), f"{key} in netns {name}"))
            for key in keys
        },
        sysctls_complete=draw(flags),
        netfilter=draw(
            st.sampled_from(
                ({}, *({4: Netfilter(tables=tables, complete=True)} for tables in TABLES))
            )
        ),
        sockets=draw(listings(listeners, 2)),
    )


OPTIONS = (
    "enable-bpf-masquerade",
    "kube-proxy-replacement",
    "enable-host-legacy-routing",
    "tunnel",
    "enable-endpoint-routes",
)
options = st.dictionaries(
    st.sampled_from(OPTIONS),
    facts(st.sampled_from(("true", "false", "strict", "disabled")), "an option of Cilium"),
    max_size=3,
)
switches = st.builds(
    OvsBridge, name=st.just("br0"), active_slave=st.none() | devices,
    ports=st.dictionaries(
        devices, st.lists(devices, min_size=1, max_size=2).map(tuple), max_size=3,
    ),
)  # fmt: skip


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    """Draw a node."""
    return Node(
        name="drawn",
        namespaces={name: draw(namespaces(name)) for name in NETNS},
        kernel=draw(st.sampled_from((None, "5.4.0", "6.18.0"))),
        modules=draw(listings(st.sampled_from(("br_netfilter", "overlay")), 2)),
        ovs=draw(st.lists(switches, max_size=1).map(tuple)),
        cilium=draw(st.none() | st.builds(Cilium, options=options)),
    )


kinds = st.sampled_from((protocols.TCP, protocols.UDP, protocols.ICMP))
ports = st.sampled_from((80, 53))
senders = st.none() | st.sampled_from(NETNS)
sendings = st.just(USUALLY) | st.builds(Sending, device=st.just(""))
"""How a client sends; bound to no device, which its namespace may lack."""
probes = st.builds(
    Probe, kinds, addresses, addresses, st.just(40000), ports, senders, st.none(), sendings
) | st.builds(
    Probe,
    st.just(protocols.TCP),
    addresses6,
    addresses6,
    st.just(40000),
    st.just(80),
    senders,
    st.none(),
    sendings,
)
"""IPv6 probes take a namespace too, since their source may be anywhere."""
