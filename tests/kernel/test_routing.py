"""Routing, source validation and ARP held against the real kernel: the same node, the same packet,
the same end.
"""

from __future__ import annotations

import pytest

from podpath.node.node import Netns, Node
from podpath.testing.nodes import forwarding, given_netns, given_node
from tests.kernel.kernel_twin import Agreed, agree

pytestmark = pytest.mark.kernel("ip", "sysctl")

WORKS = Agreed("ALWAYS", "", "")
TO_WORLD = "tcp 10.1.0.2:40000 > 203.0.113.1:80 from pod"
TO_POD = "tcp 192.0.2.1:40000 > 10.1.0.2:80 from world"
POD_ROUTES = ("169.254.1.1 dev eth0 scope link", "default via 169.254.1.1 dev eth0")


def hasty(*devices: str) -> dict[str, str]:
    """Return the sysctls by which ARP gives up at once, so that a test need not wait for three
    seconds.
    """
    keys = {"mcast_solicit": "1", "retrans_time_ms": "4"}
    return {
        f"net.ipv4.neigh.{device}.{key}": value for device in devices for key, value in keys.items()
    }


def pod(**parts: object) -> Netns:
    """Return a pod with a /32 address whose gateway answers by proxy_arp, as Calico makes it."""
    fields = {"routes": POD_ROUTES, "sysctls": hasty("eth0"), **parts}
    return given_netns("pod", "eth0 10.1.0.2/32 mac 02:00:00:00:00:02 peer host:lxc1", **fields)  # type: ignore[arg-type]


def world(*routes: str) -> Netns:
    """Return the network outside, with an address further away."""
    device = "eth0 192.0.2.1/24 mac 02:00:00:00:00:09 peer host:eth0"
    return given_netns(
        "world", device, "lo 203.0.113.1/32",
        routes=["10.1.0.0/16 via 192.0.2.10 dev eth0", *routes], sysctls=hasty("eth0"),
    )  # fmt: skip


def given(
    *routes: str,
    sysctls: dict[str, str] | None = None,
    rules: tuple[str, ...] = (),
    lxc: str = "",
    **more: Netns,
) -> Node:
    """Return a host between a pod and the world."""
    settings = {
        **forwarding(rp_filter="0"),
        "net.ipv4.conf.lxc1.proxy_arp": "1",
        "net.ipv4.neigh.lxc1.proxy_delay": "0",
        **hasty("eth0", "lxc1"),
        **(sysctls or {}),
    }
    host = given_netns(
        "host", "eth0 192.0.2.10/24 mac 02:00:00:00:00:0a peer world:eth0",
        f"lxc1 {lxc} mac 02:00:00:00:00:01 peer pod:eth0",
        "cilium_host bridge mac 02:00:00:00:00:0c",
        routes=routes or ("10.1.0.2 dev lxc1", "default via 192.0.2.1 dev eth0"), rules=rules,
        sysctls=settings,
    )  # fmt: skip
    return given_node(host, more.get("pod", pod()), more.get("world", world()))


def rp(everywhere: str, own: str) -> dict[str, str]:
    """Return rp_filter of `all` and of the pod's device."""
    return {"net.ipv4.conf.all.rp_filter": everywhere, "net.ipv4.conf.lxc1.rp_filter": own}


ELSEWHERE = ("10.1.0.0/24 dev cilium_host", "default via 192.0.2.1 dev eth0")
"""Routes by which the way back to the pod leads over another device."""


def test_plain_forwarding() -> None:
    """A pod reaches the world and the world the pod."""
    assert (WORKS, WORKS) == (agree(given(), TO_WORLD), agree(given(), TO_POD))


@pytest.mark.parametrize(
    ("everywhere", "own"), [("1", "0"), ("0", "1"), ("2", "1"), ("2", "0"), ("0", "2")]
)
def test_rp_filter_is_the_larger_of_all_and_device(everywhere: str, own: str) -> None:
    """On an unnumbered device every mode but 0 refuses a source that is reached elsewhere: already
    its ARP goes unanswered.
    """
    assert "NEVER" == agree(given(*ELSEWHERE, sysctls=rp(everywhere, own)), TO_WORLD).verdict


def test_rp_filter_drops_the_packet_itself() -> None:
    """Where ARP is settled beforehand the packet is dropped for its source."""
    settled = pod(neighbours=["169.254.1.1 dev eth0 lladdr 02:00:00:00:00:01 PERMANENT"])
    node = given(*ELSEWHERE, sysctls=rp("1", "0"), pod=settled)

    assert Agreed("NEVER", "dropped", "IP_RPFILTER") == agree(node, TO_WORLD)


def test_loose_mode_lets_an_asymmetric_source_in_on_a_numbered_device() -> None:
    """With an address on the device the loose mode passes; the reply then goes where the route
    says, and is lost there.
    """
    settled = pod(neighbours=["169.254.1.1 dev eth0 lladdr 02:00:00:00:00:01 PERMANENT"])
    routes = (
        "10.1.0.0/24 dev eth0",
        "10.1.0.2 dev lxc1 metric 5 table 100",
        "default via 192.0.2.1 dev eth0",
    )
    rules = ("100: iif eth0 to 10.1.0.2 lookup 100",)
    node = given(*routes, rules=rules, sysctls=rp("2", "0"), lxc="10.7.0.1/24", pod=settled)

    assert WORKS == agree(node, TO_WORLD)


def test_own_address_as_source_is_refused_without_rp_filter() -> None:
    """A pod that sends from the host's own address is refused even with rp_filter 0."""
    thief = given_netns(
        "pod", "eth0 192.0.2.10/32 mac 02:00:00:00:00:02 peer host:lxc1", routes=POD_ROUTES,
        neighbours=["169.254.1.1 dev eth0 lladdr 02:00:00:00:00:01 PERMANENT"],
    )  # fmt: skip

    found = agree(given(pod=thief), "tcp 192.0.2.10:40000 > 203.0.113.1:80 from pod")
    assert ("NEVER", "dropped", True) == (
        found.verdict,
        found.kind,
        found.reason in {"IP_LOCAL_SOURCE", "NOT_SPECIFIED"},
    )


def test_a_custom_local_route_refuses_its_sources() -> None:
    """`ip route add local` on the host silently refuses packets from there."""
    node = given("local 203.0.113.0/24 dev lo table local", "10.1.0.2 dev lxc1")
    found = agree(node, "tcp 203.0.113.1:40000 > 10.1.0.2:80 from world")

    assert "NEVER" == found.verdict


def test_forwarding_off_is_silent() -> None:
    """Without forwarding nothing tells the sender."""
    node = given(sysctls={"net.ipv4.ip_forward": "0"})

    assert Agreed("NEVER", "dropped", "IP_INADDRERRORS") == agree(node, TO_POD)


def test_forwarding_of_the_ingress_device_decides() -> None:
    """Only the device that the packet comes in on has to forward."""
    assert Agreed("NEVER", "dropped", "IP_INADDRERRORS") == agree(
        given(sysctls={"net.ipv4.conf.eth0.forwarding": "0"}), TO_POD
    )


@pytest.mark.parametrize(
    ("route", "answer"),
    [
        ("unreachable 10.1.0.2", "icmp-host-unreachable"),
        ("prohibit 10.1.0.2", "icmp-pkt-filtered"),
        ("throw 10.1.0.2", "icmp-net-unreachable"),
    ],
)
def test_route_types_answer_differently(route: str, answer: str) -> None:
    """Each type of route that refuses has its own ICMP error."""
    assert Agreed("NEVER", "rejected", answer) == agree(given(route), TO_POD)


def test_a_blackhole_is_silent() -> None:
    """A blackhole route drops without a word."""
    found = agree(given("blackhole 10.1.0.2"), TO_POD)

    assert ("NEVER", "dropped") == (found.verdict, found.kind)


@pytest.mark.parametrize(
    ("rule", "works"),
    [
        ("100: from 192.0.2.0/24 lookup 100", False),
        ("100: not from 192.0.2.0/24 lookup 100", True),
        ("100: iif eth0 lookup 100", False),
        ("100: iif lxc1 lookup 100", True),
        ("100: ipproto tcp dport 80 lookup 100", False),
        ("100: ipproto tcp dport 81-90 lookup 100", True),
        ("100: to 10.1.0.2 prohibit", False),
        ("100: to 10.1.0.2 goto 200", True),
    ],
)
def test_policy_rules(rule: str, works: bool) -> None:  # noqa: FBT001
    """Policy rules choose by their selectors; table 100 holds a blackhole for the pod."""
    routes = ("10.1.0.2 dev lxc1", "default via 192.0.2.1 dev eth0", "blackhole 10.1.0.2 table 100")
    rules = (
        (rule, "200: from all lookup main", "300: from all blackhole")
        if "goto" in rule
        else (rule,)
    )

    assert works == (agree(given(*routes, rules=rules), TO_POD).verdict == "ALWAYS")


def test_suppressed_default_route() -> None:
    """`suppress_prefixlength 0` skips the default route of main and goes on with the next rule."""
    routes = ("default via 192.0.2.1 dev eth0", "10.1.0.2 dev lxc1 table 100")
    rules = ("100: from all lookup main suppress_prefixlength 0", "101: from all lookup 100")

    assert WORKS == agree(given(*routes, rules=rules), TO_POD)


@pytest.mark.parametrize(
    ("rules", "works"), [((), True), (("5000: from 198.51.100.1 lookup 100",), False)]
)
def test_local_and_main_are_one_trie_without_rules(rules: tuple[str, ...], works: bool) -> None:  # noqa: FBT001
    """A wide route of the local table hides a longer one of main only once the namespace has policy
    rules.
    """
    routes = (
        "prohibit 10.1.0.0/16 table local",
        "10.1.0.2 dev lxc1",
        "default via 192.0.2.1 dev eth0",
    )

    assert ("ALWAYS" if works else "NEVER") == agree(given(*routes, rules=rules), TO_POD).verdict


def test_lowest_metric_wins() -> None:
    """Of two equal prefixes the one with the lower metric is used, though it leads nowhere."""
    routes = (
        "10.1.0.2 dev lxc1 metric 100",
        "prohibit 10.1.0.2 metric 50",
        "default via 192.0.2.1 dev eth0",
    )

    assert Agreed("NEVER", "rejected", "icmp-pkt-filtered") == agree(given(*routes), TO_POD)


def test_rp_filter_blocks_arp() -> None:
    """A request from an address that the strict check refuses is not answered, though the owner is
    right there.
    """
    sysctls = {"net.ipv4.conf.eth0.rp_filter": "1"}
    node = given("10.1.0.2 dev lxc1", "203.0.113.0/24 dev lxc1", sysctls=sysctls)

    assert Agreed("NEVER", "rejected", "EHOSTUNREACH") == agree(
        node, "tcp 203.0.113.1:40000 > 192.0.2.10:80 from world"
    )


@pytest.mark.parametrize(
    ("level", "works"), [("0", True), ("1", False), ("2", False), ("8", False)]
)
def test_arp_ignore(level: str, works: bool) -> None:  # noqa: FBT001
    """arp_ignore keeps a host from answering for an address of another device."""
    routes = ("10.1.0.2 dev lxc1", "default via 192.0.2.1 dev eth0")
    node = given(*routes, sysctls={"net.ipv4.conf.lxc1.arp_ignore": level}, lxc="10.7.0.1/24",
                 pod=pod(routes=("192.0.2.10 dev eth0 scope link",)))  # fmt: skip

    assert works == (agree(node, "tcp 10.1.0.2:40000 > 192.0.2.10:80 from pod").verdict == "ALWAYS")


def test_nobody_answers() -> None:
    """A next hop that nobody has is unreachable: the local sender is told so."""
    node = given("10.1.0.2 dev lxc1", "10.1.0.77 dev lxc1")

    assert "NEVER" == agree(node, "tcp 192.0.2.10:40000 > 10.1.0.77:80 from host").verdict


def test_loopback_addresses_do_not_come_in_from_a_wire() -> None:
    """127.0.0.0/8 is a martian, unless route_localnet lets it in."""
    strange = pod(
        routes=("127.9.9.9 dev eth0 scope link table 100", *POD_ROUTES),
        rules=["1: to 127.9.9.9 lookup 100"],
    )
    found = agree(given(pod=strange), "tcp 10.1.0.2:40000 > 127.9.9.9:80 from pod")

    assert "ALWAYS" == found.verdict


def test_udp_and_icmp_are_routed_alike() -> None:
    """Echo and datagrams take the same way."""
    assert (WORKS, WORKS) == (
        agree(given(), "udp 10.1.0.2:40000 > 203.0.113.1:80 from pod"),
        agree(given(), "icmp 10.1.0.2 > 203.0.113.1 from pod"),
    )
