"""Tests of how a next hop becomes a MAC."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.devices.segment import Station
from podpath.datapath.neighbors.neighbour import Resolution, _owned_by, resolve
from podpath.datapath.reasons.failures import PacketRejected
from podpath.datapath.reasons.neighbours import ArpRequest, ForeignSenderAsked, NobodyAnswers
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.vocabulary import StageName
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Basis, Inferred
from podpath.node.node import Node
from podpath.report.sentences import spell_reason
from podpath.testing.nodes import forwarding, given_netns, given_node, given_route, ip, probe
from tests.datapath.walks import given_walk, host, last, packet, reasons


def ask(
    walk: Walk, device: str, target: str, src: str = "10.0.0.1", gateway: str | None = None
) -> Resolution:
    """Resolve a next hop of the host."""
    namespace = host(walk)
    via = ip(gateway) if gateway else None
    destination = Destination(
        "unicast", namespace.link(device), via, None, given_route("default dev x")
    )
    return resolve(walk, namespace, namespace.link(device), destination, packet(src, target))


def given(*neighbours: str, device: str = "eth0 10.0.0.1/24", **parts: object) -> Node:
    """Return a host with these neighbour entries."""
    return given_node(given_netns("host", device, neighbours=neighbours, **parts))  # type: ignore[arg-type]


def why(found: Resolution) -> str:
    """Return the reason as a sentence."""
    return spell_reason(found.reason)


@pytest.mark.parametrize("state", ["PERMANENT", "NOARP", "REACHABLE", "STALE", "DELAY", "PROBE"])
def test_usable_entries_are_used(state: str) -> None:
    """An entry in any state but a failed one gives its MAC."""
    walk = given_walk(given(f"10.0.0.9 dev eth0 lladdr 02:00:00:00:00:09 {state}"))

    assert "02:00:00:00:00:09" == ask(walk, "eth0", "10.0.0.9").mac


@pytest.mark.parametrize(("answer", "failed"), [(0, True), (1, False)])
def test_a_failed_entry_is_a_hint(answer: int, failed: bool) -> None:  # noqa: FBT001
    """A next hop outside that failed to answer is taken not to, and the walk forks over it."""
    walk = given_walk(given("10.0.0.9 dev eth0 FAILED"), answer)

    assert failed == ask(walk, "eth0", "10.0.0.9").failed
    assert ["does 10.0.0.9 answer on eth0 in netns host"] == [
        made.fact for made in walk.choices.made
    ]


def test_a_host_outside_is_taken_to_answer() -> None:
    """Of a next hop beyond the node nothing is known that speaks against it."""
    found = ask(given_walk(given()), "eth0", "10.0.0.9")

    assert (
        "(MAC of 10.0.0.9)",
        "10.0.0.9 is outside the model and assumed to answer: (MAC of 10.0.0.9)",
    ) == (
        found.mac,
        why(found),
    )


def test_devices_without_link_layer_need_none() -> None:
    """Tunnels and NOARP devices send without a MAC; a tap has one, though it is of kind tun."""
    assert [None, None, None] == [
        ask(given_walk(given(device=f"t0 {words}")), "t0", "10.0.0.9").mac
        for words in ("kind wireguard", "noarp", "kind tun noarp")
    ]
    assert ask(given_walk(given(device="t0 kind tun")), "t0", "10.0.0.9").mac is not None


@pytest.mark.parametrize(
    ("entry", "mac"),
    [
        ("10.0.0.9 dev e0 lladdr 02:00:00:00:00:99 PERMANENT", "02:00:00:00:00:99"),
        ("10.0.0.8 dev e0 lladdr 02:00:00:00:00:99 PERMANENT", "02:00:00:00:00:01"),
    ],
)
def test_without_arp_an_entry_by_hand_goes_before_the_devices_own_mac(entry: str, mac: str) -> None:
    """Every neighbor that nobody put in has the MAC of the device that asks for none."""
    device = "e0 10.0.0.1/24 noarp mac 02:00:00:00:00:01"
    main = given_netns("host", device, neighbours=[entry])

    assert ask(given_walk(given_node(main)), "e0", "10.0.0.9").mac == mac


def test_without_arp_an_entry_that_runs_out_is_not_asked_for_anew() -> None:
    """It carries packets while it lasts, and nothing afterwards."""
    device = "e0 10.0.0.1/24 noarp mac 02:00:00:00:00:01"
    entry = "10.0.0.9 dev e0 lladdr 02:00:00:00:00:99 REACHABLE"
    walk = given_walk(given_node(given_netns("host", device, neighbours=[entry])))

    assert ask(walk, "e0", "10.0.0.9").mac == "02:00:00:00:00:99"
    assert len(walk.choices.made) == 1


PAIR = given_node(
    given_netns("host", "veth0 10.0.0.1/24 peer pod:eth0", sysctls=forwarding()),
    given_netns("pod", "eth0 10.0.0.2/24 mac 02:00:00:00:00:02 peer host:veth0"),
)


def test_the_owner_in_the_node_answers() -> None:
    """The namespace that has the address answers with its device's MAC."""
    found = ask(given_walk(PAIR), "veth0", "10.0.0.2")

    assert ("02:00:00:00:00:02", False) == (found.mac, found.failed)


def test_nobody_has_the_address() -> None:
    """Where everybody on the segment is known and nobody has the address, nobody answers."""
    found = ask(given_walk(PAIR), "veth0", "10.0.0.77")

    assert (True, "nothing answers for 10.0.0.77 on veth0") == (found.failed, why(found))


def test_a_bridge_of_which_no_port_is_shown_answers_by_a_guess() -> None:
    """That nobody is behind it no output says; where all who are on the segment are shown, it is
    stated.
    """
    bridge = given_node(given_netns("host", "cni0 bridge 10.0.0.1/24"))
    guessed, stated = (
        ask(given_walk(node), device, "10.0.0.77")
        for node, device in ((bridge, "cni0"), (PAIR, "veth0"))
    )

    assert (True, True) == (guessed.failed, stated.failed)
    assert guessed.rests_on is not None
    assert guessed.rests_on.is_guess
    assert stated.rests_on is None


@pytest.mark.parametrize("state", ["PERMANENT", "REACHABLE", "STALE", "DELAY", "PROBE"])
def test_a_usable_entry_is_used_though_the_owner_has_another_mac(state: str) -> None:
    """The kernel asks again only when the entry is old; an owner whose MAC no output shows is taken
    to have the entry's.
    """
    entry = f"10.0.0.2 dev veth0 lladdr 02:00:00:00:99:99 {state}"
    main = given_netns("host", "veth0 10.0.0.1/24 peer pod:eth0", neighbours=[entry])
    found = ask(given_walk(given_node(main, PAIR.namespaces["pod"])), "veth0", "10.0.0.2")

    assert "02:00:00:00:99:99" == found.mac


def test_a_request_with_the_address_of_another_device_is_noted() -> None:
    """An unnumbered device asks with an address of another: the step holds the request that binds
    it to a foreign MAC.
    """
    node = given_node(
        given_netns(
            "host",
            "mgnt 10.6.1.196/24 mac 02:00:00:00:00:01",
            "eth1 mac 02:00:00:00:00:02",
            routes=["169.254.0.0/16 dev eth1"],
        )
    )
    found = converse(node, probe("tcp 10.6.1.196 > 169.254.169.254:80"))
    step = next(step for step in found.branches[0].traces[0].steps if step.stage == "neighbour")

    assert isinstance(step.reason, ForeignSenderAsked)
    assert (
        ArpRequest(
            IfName("eth1"), Mac("02:00:00:00:00:02"), ip("10.6.1.196"), ip("169.254.169.254")
        )
        == step.reason.request
    )
    assert "mgnt" == step.reason.owner


def test_a_mac_that_was_heard_is_used_where_nobody_answers() -> None:
    """A host that asked before is known by its request, though it answers none itself."""
    host_netns = given_netns("host", "veth0 10.0.0.1/24 peer pod:eth0", sysctls=forwarding())
    pod = given_netns(
        "pod", "eth0 10.0.0.2/24 peer host:veth0", sysctls={"net.ipv4.conf.all.arp_ignore": "8"}
    )
    node = given_node(host_netns, pod)

    assert ("ALWAYS", "NEVER") == (
        converse(node, probe("tcp 10.0.0.2 > 10.0.0.1:80")).verdict,
        converse(node, probe("tcp 10.0.0.1 > 10.0.0.2:80")).verdict,
    )


@pytest.mark.parametrize("state", ["REACHABLE", "STALE", "DELAY", "PROBE"])
def test_an_entry_whose_owner_answers_no_request_lasts_for_a_while(state: str) -> None:
    """It carries packets until the kernel asks again: no moment of a snapshot makes that ALWAYS."""
    host_netns = given_netns(
        "host",
        "veth0 10.0.0.1/24 peer pod:eth0",
        neighbours=[f"10.0.0.2 dev veth0 lladdr 02:00:00:00:00:02 {state}"],
    )
    pod = given_netns(
        "pod",
        "eth0 10.0.0.2/24 mac 02:00:00:00:00:02 peer host:veth0",
        sysctls={"net.ipv4.conf.all.arp_ignore": "8"},
    )
    found = converse(given_node(host_netns, pod), probe("tcp 10.0.0.1 > 10.0.0.2:80"))

    assert ("SOMETIMES", [True, False]) == (
        found.verdict,
        [branch.works for branch in found.branches],
    )


def test_an_unreachable_next_hop_is_told_to_the_sender() -> None:
    """A local process gets EHOSTUNREACH, a forwarded packet's sender an ICMP error from the
    host.
    """
    local = converse(PAIR, probe("tcp 10.0.0.1 > 10.0.0.77:80"))
    node = given_node(
        given_netns(
            "host",
            "veth0 10.0.0.1/24 peer pod:eth0",
            "veth1 10.1.0.1/24 peer far:eth0",
            sysctls=forwarding(),
        ),
        PAIR.namespaces["pod"],
        given_netns(
            "far", "eth0 10.1.0.2/24 peer host:veth1", routes=["default via 10.1.0.1 dev eth0"]
        ),
    )
    forwarded = converse(node, probe("tcp 10.1.0.2 > 10.0.0.77:80"))

    silent = NobodyAnswers(ip("10.0.0.77"), "veth0")
    assert (
        PacketRejected("SYN", "host", StageName.NEIGHBOUR, "EHOSTUNREACH", silent)
        == local.branches[0].failure
    )
    assert (
        PacketRejected("SYN", "host", StageName.NEIGHBOUR, "icmp-host-unreachable", silent)
        == forwarded.branches[0].failure
    )
    assert ["icmp-host-unreachable"] == [trace.name for trace in forwarded.branches[0].answers]


def test_a_host_whose_addresses_are_cut_short_may_have_the_gateway() -> None:
    """Behind a device that leads to a half-known host the gateway is taken to be that host."""
    host_netns = given_netns("host", "lxc1 peer pod:eth0", complete=False)
    pod = given_netns(
        "pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=["default via 10.1.0.1 dev eth0"]
    )
    found = converse(given_node(host_netns, pod), probe("tcp 10.1.0.2 > 8.8.8.8:80"))

    assert "lxc1 in host answers for 10.1.0.1: (MAC of lxc1 in host)" in reasons(
        found.branches[0].traces[0]
    )


def test_proxy_arp_is_asked_for_where_nothing_else_would_answer() -> None:
    """A gateway that no namespace has (169.254.1.1) is answered for by proxy_arp, if the host has
    it on.
    """
    routes = ["10.1.0.2 dev cali1", "default dev eth0"]
    host_netns = given_netns(
        "host", "cali1 peer pod:eth0", "eth0 192.0.2.2/24", routes=routes,
        sysctls=forwarding(rp_filter="0"), netns={"sysctls_complete": False},
    )  # fmt: skip
    pod = given_netns(
        "pod",
        "eth0 10.1.0.2/32 peer host:cali1",
        routes=["169.254.1.1 dev eth0", "default via 169.254.1.1 dev eth0"],
    )
    found = converse(given_node(host_netns, pod), probe("tcp 10.1.0.2 > 192.0.2.2:80"))

    assert ["net.ipv4.conf.cali1.proxy_arp in netns host"] == [
        made.fact for made in found.branches[0].assumptions if "proxy" in made.fact
    ]
    assert found.branches[0].works


def test_ipv6_neighbours_are_the_owners_of_the_address() -> None:
    """In IPv6 the owner of an address answers for it."""
    node = given_node(
        given_netns("host", "veth0 2001:db8::1/64 peer pod:eth0"),
        given_netns("pod", "eth0 2001:db8::2/64 peer host:veth0"),
    )
    found = converse(node, probe("tcp 2001:db8::1 > [2001:db8::2]:80"))

    assert "ALWAYS" == found.verdict, reasons(last(found))


def test_a_station_answers_for_the_address_that_it_has() -> None:
    """How that one is known is what the answer rests on, not how a lower one is."""
    guess = Inferred(Basis.GUESSED, "nothing shows it")
    pod = given_netns("pod", "eth0 10.1.0.2/24 10.1.0.3/24")
    items = tuple(
        replace(item, inferred=guess) if str(item.address) == "10.1.0.2" else item
        for item in pod.addresses.items
    )
    pod = replace(pod, addresses=pod.addresses._replace(items=items))
    walk = given_walk(given_node(pod))
    station = Station("pod", walk.engine.namespace("pod").link("eth0"))

    assert [guess, None] == [_owned_by(walk, station, ip(f"10.1.0.{last}")) for last in (2, 3)]


@pytest.mark.parametrize(
    ("kind", "target", "shared"),
    [
        ("macvlan", "192.0.2.1", "net1"),
        ("ipvlan", "192.0.2.1", "net1"),
        ("macvlan", "192.0.2.2", None),
        ("", "192.0.2.1", None),
    ],
)
def test_a_device_that_shares_another_does_not_ask_the_node_itself(
    kind: str, target: str, shared: str | None
) -> None:
    """An address that the model holds is presumed of no host outside; whether the device below
    keeps its frames from it is not followed.
    """
    pod = given_netns("pod", f"net1 192.0.2.60/24 {'kind ' * bool(kind)}{kind}")
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.1/24"), pod))
    namespace = walk.engine.namespace("pod")
    link = namespace.link("net1")
    destination = Destination("unicast", link, None, None, given_route("default dev net1"))
    found = resolve(walk, namespace, link, destination, packet("192.0.2.60", target))

    assert (shared, shared is not None) == (found.sharing, found.failed)
