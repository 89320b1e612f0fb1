"""Topology that no output lists: what captures, routes, events and names show, and what a walk
needs.
"""

from __future__ import annotations

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.kubernetes.records import PodRecord
from podpath.evidence.records import AttemptRecord
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.node import HOST, Netns
from tests.assembly.evidence_text import (
    Output,
    Read,
    address,
    addresses_of,
    by_hand,
    case_of,
    case_of_document,
    known,
    link_of,
    read_outputs,
    spell_route,
)

HOST_CAPTURE = """
10:00:00.000000 {pod} In  IP 10.9.1.4.40100 > 203.0.113.9.443: Flags [S], seq 100, win 64240, length 0
10:00:00.000060 {out} Out IP 192.168.7.3.40100 > 203.0.113.9.443: Flags [S], seq 100, win 64240, length 0
10:00:00.010000 {out} In  IP 203.0.113.9.443 > 192.168.7.3.40100: Flags [S.], seq 900, ack 101, win 64240, length 0
"""  # noqa: E501
POD_CAPTURE = """
10:00:05.000000 eth0 Out IP 10.9.1.4.40101 > 203.0.113.9.443: Flags [S], seq 300, win 64240, length 0
10:00:05.010000 eth0 In  IP 203.0.113.9.443 > 10.9.1.4.40101: Flags [S.], seq 990, ack 301, win 64240, length 0
"""  # noqa: E501


def _routes(netns: Netns) -> list[str]:
    return [spell_route(route) for route in netns.routes.items]


def _peer(case: Case, netns: str, name: str) -> Peer:
    return known(link_of(case.node.namespaces[netns], name).peer)


def test_translated_packet_shows_host_address_and_uplink() -> None:
    """A packet that leaves with another source than it came in with shows an address of the host
    and the way out.
    """
    case = case_of(Output("tcpdump -ni any port 443", HOST_CAPTURE.format(pod="lxc77", out="ens3")))
    host = case.node.host
    assert addresses_of(host, "ens3") == ["192.168.7.3/24"]
    assert _routes(host) == ["10.9.1.4 dev lxc77", "default dev ens3"]
    assert all(own.inferred for own in host.addresses.items)
    assert all(route.inferred for route in host.routes.items)


def test_device_names_do_not_matter() -> None:
    """Devices with names that no plugin gives are told apart by what passes on them."""
    case = case_of(Output("tcpdump -ni any port 443", HOST_CAPTURE.format(pod="qx17", out="zz4")))
    assert _peer(case, HOST, "qx17") == Peer(
        netns="pod-10.9.1.4", link=link_of(case.node.namespaces["pod-10.9.1.4"], "eth0").name
    )
    assert addresses_of(case.node.host, "zz4") == ["192.168.7.3/24"]


def test_both_ends_of_one_pair() -> None:
    """The address that a pod's own capture sends from and that comes in on a host device joins the
    two devices.
    """
    case = case_of(
        Output("tcpdump -ni any", POD_CAPTURE, netns="pid 4711"),
        Output("tcpdump -ni any port 443", HOST_CAPTURE.format(pod="lxc77", out="ens3")),
    )
    assert list(case.node.namespaces) == [HOST, "pid 4711"]
    assert (_peer(case, "pid 4711", "eth0").link, _peer(case, HOST, "lxc77").netns) == (
        "lxc77",
        "pid 4711",
    )
    assert addresses_of(case.node.namespaces["pid 4711"], "eth0") == ["10.9.1.4/32"]


def test_capture_on_one_device_of_a_pod() -> None:
    """A capture without directions shows the pod's address as the one end of every frame."""
    text = POD_CAPTURE.replace(" eth0 Out", "").replace(" eth0 In ", "") + (
        "10:00:06.000000 IP 10.9.1.4.5353 > 10.96.0.10.53: UDP, length 30\n"
    )
    case = case_of(Output("tcpdump -ni eth0", text, netns="web-0"))
    assert addresses_of(case.node.namespaces["web-0"], "eth0") == ["10.9.1.4/32"]


def test_replies_from_outside_make_no_pod() -> None:
    """What comes in on the uplink is sent by other hosts: no namespace is made for them."""
    case = case_of(
        Output(
            "tcpdump -ni any",
            "10:00:00.1 eth0  In  IP 10.1.1.9.55 > 10.1.1.2.80: Flags [S], seq 1, win 9, length 0",
        )
    )
    assert list(case.node.namespaces) == [HOST]


def test_route_to_one_address_shows_a_pod() -> None:
    """A route of the host to one address over a veth leads to a pod with that address."""
    case = case_of(
        Output("ip route", "default via 10.1.0.1 dev eth0\n10.9.1.8 dev cali12ab scope link")
    )
    pod = case.node.namespaces["pod-10.9.1.8"]
    assert addresses_of(pod, "eth0") == ["10.9.1.8/32"]
    assert _peer(case, HOST, "cali12ab").netns == "pod-10.9.1.8"
    assert "ticket.md:2" in str(pod.inferred)


def test_listed_namespace_is_not_made_again() -> None:
    """A pod whose namespace is in evidence keeps it, also where the host routes to it by
    address.
    """
    case = case_of(
        Output("ip route", "10.9.1.8 dev cali12ab scope link"),
        Output(
            "ip addr",
            "3: eth0@if9: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.9.1.8/32 scope global eth0",
            netns="cni-1",
        ),
    )
    assert list(case.node.namespaces) == [HOST, "cni-1"]
    assert _peer(case, HOST, "cali12ab").netns == "cni-1"


BRIDGE = Output(
    "ip addr show br7",
    """
    4: br7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
        link/ether 0a:58:0a:0c:00:01 brd ff:ff:ff:ff:ff:ff
        inet 10.12.0.1/24 scope global br7
    """,
)
PORTS = Output(
    "brctl show",
    (
        "bridge name\tbridge id\t\tSTP enabled\tinterfaces\n"
        "br7\t\t8000.0a580a0c0001\tno\t\tvetha1\n\t\t\t\t\t\t\tvethb2"
    ),
)


def test_addresses_of_the_bridges_range_are_pods() -> None:
    """Who is seen with an address of the bridge's range sits on a port of it, with the bridge as
    the gateway.
    """
    case = case_of(
        BRIDGE, PORTS,
        Output("tcpdump -ni br7", "10:00:00.1 IP 10.12.0.40.40000 > 10.12.0.47.80: Flags [S], seq "
                                  "1, win 9, length 0"),
    )  # fmt: skip
    pods = {name: netns for name, netns in case.node.namespaces.items() if name != HOST}
    assert set(pods) == {"pod-10.12.0.40", "pod-10.12.0.47"}
    assert {_peer(case, name, "eth0").link for name in pods} == {"vetha1", "vethb2"}
    assert _routes(pods["pod-10.12.0.40"]) == ["default via 10.12.0.1 dev eth0"]
    assert addresses_of(pods["pod-10.12.0.40"], "eth0") == ["10.12.0.40/24"]
    assert link_of(case.node.host, "br7").kind == "bridge"


def test_more_pods_than_listed_ports() -> None:
    """A third pod gets a port of its own that no listing shows."""
    frames = "\n".join(
        f"10:00:00.{n} IP 10.12.0.{n}.40000 > 10.12.0.90.80: Flags [S], seq 1, win 9, length 0"
        for n in (40, 41)
    )
    case = case_of(BRIDGE, PORTS, Output("tcpdump -ni br7", frames))
    third = [
        link
        for link in case.node.host.links.items
        if link.master == "br7" and link.name.startswith("veth-of-")
    ]
    assert len(third) == 1
    assert third[0].inferred


def test_forwarding_table_tells_the_port() -> None:
    """Where the neighbour and forwarding tables know a pod, its port is not guessed."""
    case = case_of(
        BRIDGE, PORTS,
        Output("ip neigh", "10.12.0.47 dev br7 lladdr 0a:58:0a:0c:00:2f REACHABLE"),
        Output("bridge fdb", "0a:58:0a:0c:00:2f dev vethb2 master br7"),
    )  # fmt: skip
    assert _peer(case, "pod-10.12.0.47", "eth0").link == "vethb2"
    assert link_of(case.node.namespaces["pod-10.12.0.47"], "eth0").mac == "0a:58:0a:0c:00:2f"


@pytest.mark.parametrize(("name", "outward"), [("eth1", True), ("ens5", True), ("veth5", False)])
def test_a_bridges_veth_that_is_called_as_an_uplink_leads_out(
    name: str,
    *,
    outward: bool,
) -> None:
    """The host is a container itself; no namespace is made up behind it."""
    shown = (
        "2: br7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n"
        "    link/ether 0a:58:0a:0c:00:01 brd ff:ff:ff:ff:ff:ff\n    bridge forward_delay 1500\n"
        f"5: {name}@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br7\n"
        "    link/ether 0a:58:0a:0c:00:05 brd ff:ff:ff:ff:ff:ff link-netnsid 0\n"
        "    veth\n    bridge_slave state forwarding\n"
    )
    case = case_of(BRIDGE, Output("ip -d link show", shown))
    link = link_of(case.node.host, name)
    assert (link.kind, link.peer is None, link.outward) == ("veth", outward, outward)
    assert link.leaves_node is outward
    assert (f"behind-{name}" in case.node.namespaces) is not outward


def test_port_of_an_unseen_pod() -> None:
    """A port that leads to no known pod leads to a namespace of which nothing is known."""
    case = case_of(BRIDGE, PORTS)
    assert _peer(case, HOST, "vetha1").netns == "behind-vetha1"
    assert not case.node.namespaces["behind-vetha1"].addresses.items


FRAMES = """
10:00:00.1 02:aa:00:00:00:07 > 02:bb:00:00:00:01, ethertype IPv4 (0x0800), 10.6.1.96 > 10.6.1.94
10:00:00.2 02:bb:00:00:00:01 > 02:aa:00:00:00:07, ethertype IPv4 (0x0800), 10.6.1.94 > 10.6.1.96
10:00:00.3 02:cc:00:00:00:05 > Broadcast, ethertype ARP (0x0806), Request who-has 169.254.9.9 tell 10.6.1.96
"""  # noqa: E501
SLAVES = """
    Bridge bond-br
        Port bond-br
            Interface bond-br
                type: internal
        Port "manage0"
            Interface "manage0"
                type: internal
        Port "trunk"
            Interface "em2"
            Interface "em1"
    ovs_version: "2.5.6"
"""
LINK_LOCAL = """
Kernel IP routing table
Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
...
169.254.0.0     0.0.0.0         255.255.0.0     U     1002   0        0 em2
169.254.0.0     0.0.0.0         255.255.0.0     U     1007   0        0 manage0
"""


def test_host_address_on_the_one_device_that_can_carry_it() -> None:
    """On the capture of a bond's slave the host is who asks for its neighbours; its address is on
    no slave.
    """
    case = case_of(
        Output("tcpdump -n -e -r em1.pcap", FRAMES),
        Output(
            "ip link show bond-br",
            (
                "7: bond-br: <BROADCAST> mtu 1500\n"
                "    link/ether 02:cc:00:00:00:05 brd ff:ff:ff:ff:ff:ff"
            ),
        ),
        Output("ovs-vsctl show", SLAVES),
        Output("route -n", LINK_LOCAL),
    )
    host = case.node.host
    assert addresses_of(host, "manage0") == ["10.6.1.96/24"]
    assert link_of(host, "manage0").mac == "02:aa:00:00:00:07"
    assert (link_of(host, "em2").bond_slave_of, link_of(host, "em2").master) == (
        "trunk",
        "ovs-system",
    )
    assert [(str(item.address), item.link, item.mac) for item in host.neighbours.items] == [
        ("10.6.1.94", "manage0", "02:bb:00:00:00:01")
    ]
    assert [item.link for item in case.sightings] == ["em1", "em1"]
    assert not any(route.prefix.length == 0 for route in host.routes.items)


def test_kernels_route_names_an_address() -> None:
    """The connected route of a table names the host's address on its device."""
    case = case_of(
        Output(
            "ip route",
            (
                "default via 10.1.0.1 dev eth0\n"
                "10.1.0.0/20 dev eth0 proto kernel scope link src 10.1.0.7"
            ),
        )
    )
    assert addresses_of(case.node.host, "eth0") == ["10.1.0.7/20"]


def _attempt(
    who: str,
    dst: str,
    *,
    origin: str | None = None,
    first_line: int = 1,
    prompt: str | None = None,
    port: int = 9001,
) -> Read:
    def make(span: Span) -> tuple[AttemptRecord, ...]:
        return (
            AttemptRecord(
                span=span,
                protocol=protocols.TCP,
                dst=address(dst),
                dport=port,
                result=FailureKind.TIMEOUT,
                who=who,
                origin=origin,
            ),
        )

    return by_hand(make, first_line=first_line, prompt=prompt, command="curl" if prompt else None)


def test_probed_pod_that_nothing_else_shows() -> None:
    """A failed probe gives its pod a namespace, and what is not known of its routing gives
    alternatives.
    """
    case = assemble_case([
        _attempt("kubelet readiness probe", "10.44.3.16"),
        _attempt("curl", "10.44.3.16", first_line=5, prompt="[root@10-70-4-12 ~]#"),
        _attempt("container log", "10.96.0.1", origin="pod", first_line=9, port=443),
    ])  # fmt: skip
    probes = [str(attempt.probe) for attempt in case.attempts]
    assert probes == [
        "tcp 10.70.4.12 > 10.44.3.16:9001 from host",
        "tcp 10.70.4.12 > 10.44.3.16:9001 from host",
        "tcp 10.44.3.16 > 10.96.0.1:443 from pod-10.44.3.16",
    ]
    assert _routes(case.node.host) == ["default dev eth0", "10.44.3.16 dev veth-of-10-44-3-16"]
    ways = {item.meaning.split(" (")[0]: item for item in case.alternatives}
    assert set(ways) == {
        "by a route of the pod range over another device than the pod's veth",
        "by a bridge that the pod's veth is a port of",
    }
    by_device, by_bridge = ways.values()
    assert "10.44.3.0/24 dev pod-router" in _routes(by_device.node.host)
    assert link_of(by_device.node.host, "pod-router").noarp
    assert known(link_of(by_device.node.host, "pod-router").peer).netns == "pod-10.44.3.16"
    assert (
        known(link_of(by_device.node.namespaces["pod-10.44.3.16"], "eth0").peer).link
        == "veth-of-10-44-3-16"
    )
    assert link_of(by_bridge.node.host, "veth-of-10-44-3-16").master == "cni0"
    assert by_device.fact == "how the host reaches 10.44.3.16"
    assert by_device.ask == "ip route get 10.44.3.16"


def test_host_without_any_address_has_one_that_stands_for_it() -> None:
    """Where no output and no name shows an address of the host, one of the documents' range stands
    for it.
    """
    case = assemble_case([_attempt("kubelet liveness probe", "10.44.3.16")])
    assert str(case.attempts[0].probe.src) == "192.0.2.1"
    assert "stands for" in str(case.node.host.addresses.items[0].inferred)


def test_shown_route_over_the_plugins_device_is_the_way() -> None:
    """A listed route of the pod range over another device than the pod's leaves no alternative."""
    routes = read_outputs(
        Output(
            "ip route",
            (
                "default via 10.70.0.1 dev eth0\n"
                "10.44.3.0/24 via 10.44.3.2 dev cilium_host src 10.44.3.2"
            ),
        ),
    )
    case = assemble_case([*routes, _attempt("kubelet readiness probe", "10.44.3.16", first_line=9)])
    assert case.alternatives == ()
    assert not any(route.inferred for route in case.node.host.routes.items)
    assert "pod-10.44.3.16" in case.node.namespaces


def test_pod_of_the_hosts_own_subnet_is_not_outside() -> None:
    """A probed pod with an address of the uplink's subnet has a route of its own: it is here, and
    not on that wire.
    """
    routes = read_outputs(
        Output(
            "ip route",
            (
                "default via 10.70.0.1 dev eth0\n"
                "10.70.0.0/20 dev eth0 proto kernel scope link src 10.70.0.9"
            ),
        )
    )
    case = assemble_case([*routes, _attempt("kubelet readiness probe", "10.70.3.5", first_line=9)])
    assert "10.70.3.5 dev veth-of-10-70-3-5" in _routes(case.node.host)


def test_probe_of_the_host_itself_makes_no_pod() -> None:
    """The kubelet probes host-network pods at the host's own address."""
    listed = read_outputs(
        Output(
            "ip addr show eth0",
            "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.70.0.9/20 scope global eth0",
        )
    )
    case = assemble_case([*listed, _attempt("kubelet liveness probe", "10.70.0.9", first_line=9)])
    assert list(case.node.namespaces) == [HOST]


def test_described_pod_gets_its_namespace() -> None:
    """A pod that Kubernetes describes is joined with the namespace of its address."""

    def make(span: Span) -> tuple[PodRecord, ...]:
        return (
            PodRecord(
                span=span, namespace="shop", name="web-1", address=address("10.9.1.8"), node="n1"
            ),
        )

    case = assemble_case(
        [by_hand(make), *read_outputs(Output("ip route", "10.9.1.8 dev cali12ab scope link"))]
    )
    assert [(pod.name, pod.netns) for pod in case.node.pods] == [("web-1", "pod-10.9.1.8")]


def test_listed_facts_are_never_overridden() -> None:
    """A device that is listed with another master, and an address that is listed elsewhere, stay as
    they are.
    """
    case = case_of_document("""
    ```
    root@n1:~# ip addr
    1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
        inet 127.0.0.1/8 scope host lo
    2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
        inet 192.168.7.99/24 scope global ens3
    root@n1:~# ip route
    default via 192.168.7.1 dev ens3
    ```
    """)
    host = case.node.host
    assert addresses_of(host, "ens3") == ["192.168.7.99/24"]
    assert not any(isinstance(link.peer, Known) for link in host.links.items)
    assert _routes(host) == ["default via 192.168.7.1 dev ens3"]


def test_devices_that_only_routes_name() -> None:
    """A route's device exists, and says what names it."""
    host = case_of(
        Output(
            "route -n",
            (
                "Destination Gateway Genmask Flags Metric Ref Use Iface\n"
                "0.0.0.0 10.1.0.1 0.0.0.0 UG 0 0 0 ens9"
            ),
        )
    ).node.host
    assert "a route at ticket.md:2" in str(link_of(host, "ens9").inferred)
    assert link_of(host, "lo").inferred
    assert isinstance(link_of(host, "ens9").peer, Known | None)


def test_one_question_for_all_lone_pods() -> None:
    """Several pods that nothing else shows are reached in one way: there is one question, not one
    for each.
    """
    case = assemble_case(
        [_attempt("kubelet readiness probe", f"10.44.{n}.16", first_line=n) for n in (1, 3, 3)]
    )
    assert [item.fact for item in case.alternatives] == [
        "how the host reaches its pods (10.44.1.16 and others)"
    ] * 2
    ports = [
        link
        for link in case.alternatives[1].node.host.links.items
        if link.name.startswith("veth-of-")
    ]
    assert len({link.master for link in ports}) == 2


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ('kubelet[7]: PullImage "shop:1" from image service failed: ', True),
        ("10.0.2.15: user: warning: [talos] error serving dns request ", True),
        ("worker: ", False),
    ],
)
def test_who_pulls_images_sends_from_the_host(said: str, *, own: bool) -> None:
    """A program of the node itself names its own address in the error; an application's may be a
    pod's.
    """
    error = f"{said}lookup r on 10.0.2.3:53: read udp 10.0.2.15:546->10.0.2.3:53: i/o timeout"
    case = case_of_document(f"It fails:\n\n```\n{error}\n```\n")

    assert case.node.host.holds(Address.parse("10.0.2.15")) is own


@pytest.mark.parametrize(
    ("words", "prompt", "own"),
    [
        ("a1 (10.3.0.11) does not answer a2 (10.3.0.12). On a2:", "a2:~$", True),
        ("a2 = 10.3.0.12, a1 = 10.3.0.11:", "root@a2:~#", True),
        ("a22 (10.3.0.12) does not answer:", "a2:~$", False),
        ("Tried on a2: 10.3.0.12 does not answer:", "a2:~$", False),
        ("From a2 (10.3.0.12 times out):", "a2:~$", False),
        ("a1 (10.3.0.12) does not answer:", "a2:~$", False),
    ],
)
def test_words_above_an_output_give_its_host_an_address(
    words: str, prompt: str, *, own: bool
) -> None:
    """They name the host of the prompt, with the address behind the name."""
    packet = "IP 10.3.0.12.545 > 10.3.0.11.80: Flags [S], seq 1, win 9, length 0"
    case = case_of_document(
        f"{words}\n\n```\n{prompt} tcpdump -ni ens8\n10:00:00.1 {packet}\n```\n"
    )

    assert case.node.host.holds(Address.parse("10.3.0.12")) is own


def test_probe_of_the_hosts_own_name_makes_no_pod() -> None:
    """A probe at the address that the node's name spells goes to the host itself."""
    shown = read_outputs(Output("ip rule", "0:\tfrom all lookup local"))
    prompt = _attempt("curl", "10.96.0.1", first_line=3, prompt="[root@ip-10-70-4-12 ~]#")
    case = assemble_case(
        [*shown, prompt, _attempt("kubelet liveness probe", "10.70.4.12", first_line=9)]
    )
    assert list(case.node.namespaces) == [HOST]
