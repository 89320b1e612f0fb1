"""What the client of a walked connection gets to feel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.explains import PacketEnd
from podpath.datapath.tracing.trace import Dropped
from podpath.diagnosis.felt import can_look_like, felt_by, find_way
from podpath.net.failures import VAGUE, FailureKind
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.conversations import ask
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.given import given_rules, given_tables

TCP, UDP, PING = (
    "tcp 10.1.0.2 > 10.2.0.2:80 from client",
    "udp 10.1.0.2 > 10.2.0.2:80 from client",
    "icmp 10.1.0.2 > 10.2.0.2 from client",
)


def network(
    *rules: str,
    at: str = "host",
    forward: str = "1",
    routes: tuple[str, ...] = (),
    own: tuple[str, ...] = (),
) -> Node:
    """Return two pods with a host between them: rules of one namespace, routes of the host, and
    routes of the client alone.
    """
    shut = Netfilter(complete=True, sets_complete=True)
    ruled = Netfilter(complete=True, sets_complete=True, tables=given_tables(given_rules(*rules)))
    fields = {
        name: {"netfilter": {4: ruled if name == at else shut, 6: shut}}
        for name in ("host", "client", "server")
    }
    switches = {"net.ipv4.ip_forward": forward}
    host = given_netns(
        "host", "a0 10.1.0.1/24 mac 02:00:00:00:00:01 peer client:eth0",
        "b0 10.2.0.1/24 mac 02:00:00:00:00:02 peer server:eth0", sysctls=switches,
        routes=list(routes), netns=fields["host"],
    )  # fmt: skip
    client = given_netns(
        "client", "eth0 10.1.0.2/24 mac 02:00:00:00:00:03 peer host:a0",
        routes=[*own, "default via 10.1.0.1 dev eth0"] if "none" not in own else [],
        netns=fields["client"],
    )  # fmt: skip
    server = given_netns(
        "server", "eth0 10.2.0.2/24 mac 02:00:00:00:00:04 peer host:b0",
        routes=["default via 10.2.0.1 dev eth0"], netns=fields["server"],
    )  # fmt: skip
    return given_node(host, client, server)


def felt(node: Node, probe: str = TCP) -> set[str]:
    """Return what a connection's client may meet."""
    return {kind.value for kind in felt_by(ask(node, probe).branch)}


def reject(answer: str) -> Node:
    """Return the network whose host rejects what it forwards."""
    return network(f"FORWARD -j REJECT --reject-with {answer}")


REJECTS = [
    ("icmp-port-unreachable", {"refused"}), ("icmp-host-prohibited", {"no route to host"}),
    ("tcp-reset", {"refused"}), ("icmp-admin-prohibited", {"no route to host"}),
    ("icmp-net-unreachable", {"network unreachable"}),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "kinds"), REJECTS)
def test_a_rejection_is_what_its_answer_says(answer: str, kinds: set[str]) -> None:
    """REJECT tells TCP by its answer, as the kernel does."""
    assert kinds == felt(reject(answer))


def test_silence_is_a_timeout() -> None:
    """A drop on the way, and a host that does not forward, tell the client nothing."""
    assert (
        {"timeout"}
        == felt(network("FORWARD -j DROP"))
        == felt(network(forward="0"), UDP)
        == felt(network(forward="0"))
    )


def test_an_error_that_does_not_come_back_is_silence() -> None:
    """The host rejects the packet, and its own rules drop the answer."""
    assert {"timeout"} == felt(network("FORWARD -j REJECT", "OUTPUT -p icmp -j DROP"))


def test_the_own_output_says_so_to_datagrams() -> None:
    """A drop in the client's OUTPUT is EPERM for UDP, and silence for TCP."""
    dropped = network("OUTPUT -j DROP", at="client")

    assert ({"timeout"}, {"operation not permitted"}) == (felt(dropped), felt(dropped, UDP))


@pytest.mark.parametrize(
    ("own", "kind"),
    [
        ("none", "network unreachable"), ("unreachable 10.2.0.2", "no route to host"), ("prohibit 10.2.0.2", "permission denied"),  # noqa: E501
        ("blackhole 10.2.0.2", "invalid argument"),
    ],
)  # fmt: skip
def test_the_own_routes_give_their_errno(own: str, kind: str) -> None:
    """What the client's own routing refuses has an error number of its own."""
    assert {kind} == felt(network(own=(own,)))


def test_a_neighbour_that_does_not_answer() -> None:
    """The sender is told after three seconds that there is no route to the host, unless it gives up
    before.
    """
    assert "no route to host" in felt(network(own=("10.2.0.2 via 10.1.0.9 dev eth0",)), PING)


def test_what_cannot_look_alike() -> None:
    """A drop is no refusal; where nobody says how it failed, or vaguely, any branch may be it."""
    dropped = ask(network("FORWARD -j DROP"), TCP).branch

    assert not can_look_like(dropped, FailureKind.REFUSED)
    assert can_look_like(dropped, FailureKind.TIMEOUT)
    assert can_look_like(dropped, FailureKind.SOMETIMES)
    assert can_look_like(dropped, None)


def test_a_connection_that_works_is_not_felt() -> None:
    """Nothing fails."""
    assert set() == felt(network())


WAYS = [
    # an own hook that is not of output tells what anybody else's would
    (("INPUT -j DROP",), "client", "udp 10.1.0.2 > 10.1.0.2:80 from client", PacketEnd.LOST),
    (
        ("INPUT -j REJECT",), "client", "udp 10.1.0.2 > 10.1.0.2:80 from client",
        PacketEnd.PORT_UNREACHABLE,
    ),
    (("OUTPUT -j REJECT",), "client", UDP, PacketEnd.REJECTED_BY_SENDER),
    (("OUTPUT -p tcp -j REJECT --reject-with tcp-reset",), "client", TCP, PacketEnd.RESET),
    # a reply that is lost, and packets of a connection that stands
    (("FORWARD -s 10.2.0.2 -j DROP",), "host", UDP, PacketEnd.LOST),
    (("FORWARD -s 10.2.0.2 -j REJECT",), "host", TCP, PacketEnd.LOST),
    (("FORWARD -p tcp --tcp-flags SYN NONE -j DROP",), "host", TCP, PacketEnd.LATER),
    (("OUTPUT -j DROP",), "server", UDP, PacketEnd.LOST),
    # what the other end says
    (
        ("INPUT -j REJECT --reject-with icmp-proto-unreachable",), "server", TCP,
        PacketEnd.PROTOCOL_UNREACHABLE,
    ),
    (
        ("INPUT -j REJECT --reject-with icmp-net-prohibited",), "server", TCP,
        PacketEnd.NET_PROHIBITED,
    ),
    (
        ("INPUT -j REJECT --reject-with icmp-host-unreachable",), "server", PING,
        PacketEnd.HOST_UNREACHABLE,
    ),
    (("INPUT -j ACCEPT",), "server", TCP, None),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "at", "asked", "way"), WAYS)
def test_where_a_packet_ends_determines_the_way(
    rules: tuple[str, ...], at: str, asked: str, way: PacketEnd | None
) -> None:
    """By which packet it was, whose hook ended it, and what was answered."""
    assert way is find_way(ask(network(*rules, at=at), asked).branch)


def test_what_is_judged_by_no_way_may_be_any_branch() -> None:
    """Vague words, none at all, and failures of names fit a drop; a refusal fits what answers."""
    dropped, refused = (
        ask(made, TCP).branch for made in (network("FORWARD -j DROP"), reject("tcp-reset"))
    )

    assert can_look_like(dropped, None)
    assert all(can_look_like(dropped, kind) for kind in VAGUE)
    assert can_look_like(refused, FailureKind.REFUSED)
    assert not can_look_like(refused, FailureKind.TIMEOUT)
    assert can_look_like(ask(network(), TCP).branch, FailureKind.REFUSED)


def test_the_error_about_the_packet_is_what_the_sender_is_told() -> None:
    """Whatever becomes of an error about that error."""
    branch = ask(reject("tcp-reset"), TCP).branch
    (told,) = branch.answers
    lost = replace(told, outcome=Dropped(netns="host", reason="NETFILTER_DROP"))

    assert PacketEnd.RESET is find_way(replace(branch, answers=(told, lost)))
    assert PacketEnd.LOST is find_way(replace(branch, answers=(lost, told)))
