"""Hand-built cases for the diagnosis: a Cilium node, a bridged node, and what was seen to fail on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from podpath.net import protocols
from podpath.net.addresses import IfName, Mac, Prefix
from podpath.net.failures import FailureKind, Result
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Option, Span, Unknown
from podpath.node.case import Attempt, Case, Sighting
from podpath.node.links import Bridge, Link, Peer
from podpath.node.netfilter import (
    Chain,
    Match,
    MatchOption,
    Netfilter,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Table,
    Target,
)
from podpath.node.node import HOST, Cilium, Netns, Node, Socket
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName
from tests.checks.nodes import address, chain, link, netns, node, pod, route, rule, span, table

POD, OUTSIDE, HOST_IP = "10.0.1.5", "203.0.113.9", "10.9.0.2"
SYN, SYN_ACK, ACK, PUSH = (
    protocols.SYN,
    protocols.SYN | protocols.ACK,
    protocols.ACK,
    protocols.PSH | protocols.ACK,
)

TOOLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
}


def forward_chain(*targets: str, name: str) -> Chain:
    """Make a FORWARD chain of jumps, whose lines stand in a listing of that name."""
    rules = tuple(
        Rule(
            "filter", "FORWARD", place, span(f"-A FORWARD -j {target}", place, name), Target(target)
        )
        for place, target in enumerate(targets, 1)
    )
    return Chain(
        name="FORWARD",
        rules=rules,
        policy=ChainPolicy.ACCEPT,
        span=span("-P FORWARD ACCEPT", 1, name),
    )


def filter_table(forward: Known[Chain] | Unknown[Chain]) -> Table:
    """Make a filter table with kube-proxy's drop of INVALID packets and a plugin's accept."""
    drop = chain("KUBE-FORWARD", rule("KUBE-FORWARD", 1, "DROP", state="INVALID"))
    accept = chain("CILIUM_FORWARD", rule("CILIUM_FORWARD", 1, "ACCEPT", in_link="lxc+"))
    chains = {"FORWARD": forward, "KUBE-FORWARD": drop, "CILIUM_FORWARD": accept}
    return Table(name=TableName.FILTER, family=4, flavour=TableFlavour.NFT, chains=chains)


BAD = forward_chain("KUBE-FORWARD", "CILIUM_FORWARD", name="bad.txt")
GOOD = forward_chain("CILIUM_FORWARD", "KUBE-FORWARD", name="good.txt")


def known(value: Chain) -> Known[Chain]:
    """State a chain."""
    return Known(value, value.span)


def disputed(*chains: Chain) -> Unknown[Chain]:
    """Let outputs disagree about FORWARD."""
    options = tuple(Option(value, f"as at {value.span}", value.span) for value in chains)
    return Unknown(
        "chain FORWARD of table filter in netns host",
        "iptables -S FORWARD",
        options,
        "two outputs disagree",
    )


def cilium_node(forward: Known[Chain] | Unknown[Chain], *, rp_filter: str | None = "0") -> Node:
    """Make a node whose plugin masquerades in BPF, with one pod."""
    outer, inside = pod("lxc1", POD)
    sysctls = {**TOOLS, "net.ipv4.conf.lxc1.rp_filter": "0"}
    if rp_filter is None:
        del sysctls["net.ipv4.conf.all.rp_filter"]
    else:
        sysctls["net.ipv4.conf.all.rp_filter"] = rp_filter
    host = netns(
        links=[outer, link("eth0", mac=Mac("02:00:00:00:00:0e")), link("cilium_host", noarp=True)],
        addresses=[address("eth0", HOST_IP), address("cilium_host", "10.0.1.1", 32)],
        routes=[
            route("0.0.0.0/0", "eth0", gateway="10.9.0.1"),
            route("10.9.0.0/24", "eth0"),
            route("10.0.1.0/24", "cilium_host"),
        ],
        sysctls=sysctls,
        tables=[filter_table(forward)],
    )
    options = {
        "enable-policy": "never",
        "enable-bpf-masquerade": "true",
        "tunnel": "vxlan",
        "cluster-pool-ipv4-cidr": "10.0.0.0/16",
        "kube-proxy-replacement": "probe",
    }
    facts = {key: Known(value, span(f"{key}: {value}")) for key, value in options.items()}
    return replace(node(host, quiet(inside)), cilium=Cilium(options=facts))


def quiet(inside: Netns) -> Netns:
    """Let a pod's namespace have no rules at all."""
    return replace(inside, netfilter={4: Netfilter(complete=True)}, sysctls_complete=True)


def whole(made: Node) -> Node:
    """Let every listing of every namespace be shown whole: nothing that could decide is missing."""
    return replace(
        made, namespaces={name: _whole(namespace) for name, namespace in made.namespaces.items()}
    )


def _whole(namespace: Netns) -> Netns:
    rules = namespace.netfilter.get(4, Netfilter())
    return replace(
        namespace, netfilter={4: replace(rules, complete=True)}, sysctls_complete=True,
        **{
            name: getattr(namespace, name)._replace(complete=True)
            for name in ("links", "addresses", "routes", "rules", "nftables", "neighbours")
        },
        sockets=namespace.sockets._replace(
            complete=True, items=(*namespace.sockets.items, *LISTENING),
        ),
    )  # fmt: skip


LISTENING = tuple(
    Socket(protocol=protocols.TCP, port=port, local=None, state="LISTEN") for port in (80, 443)
)


def attempt(probe: str, result: Result = FailureKind.TIMEOUT) -> Attempt:
    """Let a connection be tried."""
    return Attempt(
        probe=Probe.parse(probe), result=result, span=span(f"curl: {probe} {result}"), who="curl"
    )


def frame(
    text: str, flags: int, where: str, capture: int = 0, seq: int = 7, payload: int = 0
) -> Sighting:
    """Make a frame: `SRC:PORT > DST:PORT` seen `in` or `out` at a device."""
    probe = Probe.parse(f"tcp {text}")
    direction, device = where.split()
    packet = Packet(
        probe.src,
        probe.dst,
        protocols.TCP,
        probe.sport,
        probe.dport,
        flags,
        payload=payload,
        seq=seq,
    )
    line = span(f"{device} {direction} {text}")
    return Sighting(
        packet=packet,
        span=line,
        time=None,
        netns=HOST,
        link=device,
        direction=direction,
        capture=capture,
    )


def handshake_capture() -> tuple[Sighting, ...]:
    """See, on the host, the SYN go out with the host's address, its answer come, and the pod's ACK
    go nowhere.
    """
    return (
        frame(f"{POD}:5000 > {OUTSIDE}:80", SYN, "in lxc1"),
        frame(f"{HOST_IP}:5000 > {OUTSIDE}:80", SYN, "out eth0"),
        frame(f"{OUTSIDE}:80 > {HOST_IP}:5000", SYN_ACK, "in eth0", seq=99),
        frame(f"{POD}:5000 > {OUTSIDE}:80", ACK, "in lxc1", seq=8),
        frame(f"{POD}:5000 > {OUTSIDE}:80", PUSH, "in lxc1", seq=8, payload=80),
    )


def bridged_node(switch: str | None) -> Node:
    """Make two pods on one bridge, the second behind a service of 10.96.0.7:80."""
    first, inside_first = bridged_pod("veth1", "pod-1", "10.22.0.5")
    second, inside_second = bridged_pod("veth2", "pod-2", "10.22.0.6")
    sysctls = (
        dict(TOOLS) if switch is None else {**TOOLS, "net.bridge.bridge-nf-call-iptables": switch}
    )
    host = netns(
        links=[
            first,
            second,
            link("cni0", kind="bridge", bridge=Bridge(), mac=Mac("0a:58:00:00:00:01")),
            link("eth0"),
        ],
        addresses=[address("cni0", "10.22.0.1"), address("eth0", HOST_IP)],
        routes=[
            route("10.22.0.0/24", "cni0"),
            route("10.9.0.0/24", "eth0"),
            route("0.0.0.0/0", "eth0", gateway="10.9.0.1"),
        ],
        sysctls={
            **sysctls,
            "net.ipv4.conf.cni0.rp_filter": "0",
            "net.ipv4.conf.eth0.rp_filter": "0",
        },
        tables=[service_table()],
    )
    return node(host, inside_first, inside_second)


def service_table() -> Table:
    """Make a nat table that rewrites 10.96.0.7:80 to the second pod."""
    tcp = ProtocolMatch(protocols.TCP)
    dnat = rule("SEP", 1, "DNAT", table="nat")
    dnat = dnat._replace(
        target=Target("DNAT", (MatchOption("to-destination", ("10.22.0.6:80",)),)), protocol=tcp
    )
    service = rule("PREROUTING", 1, "SEP", table="nat")
    port = (Match("tcp", (MatchOption("dport", ("80",)),)),)
    service = service._replace(
        dst=PrefixMatch(Prefix.parse("10.96.0.7/32")), matches=port, protocol=tcp
    )
    return table("nat", chain("PREROUTING", service, policy="ACCEPT"), chain("SEP", dnat))


def bridged_pod(device: str, name: str, text: str) -> tuple[Link, Netns]:
    """Make a pod whose veth is a port of the bridge cni0."""
    mac = Mac(f"0a:00:00:00:00:{device[-1]}0")
    inner = link("eth0", kind="veth", mac=mac, peer=Known(Peer(netns=HOST, link=IfName(device))))
    outer = link(
        device,
        kind="veth",
        master=IfName("cni0"),
        peer=Known(Peer(netns=name, link=IfName("eth0"))),
    )
    routes = [route("10.22.0.0/24", "eth0"), route("0.0.0.0/0", "eth0", gateway="10.22.0.1")]
    return outer, quiet(
        netns(name, links=[inner], addresses=[address("eth0", text)], routes=routes)
    )


def case(made: Node, *attempts: Attempt, sightings: Sequence[Sighting] = ()) -> Case:
    """Make a case."""
    return Case(node=made, attempts=attempts, sightings=tuple(sightings))


def texts(spans: Sequence[Span]) -> list[str]:
    """Return the lines of spans."""
    return [item.text for item in spans]
