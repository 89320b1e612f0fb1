"""What the client of a walked connection gets to feel."""

from __future__ import annotations

import pytest

from podpath.diagnosis.felt import can_look_like, felt_by
from podpath.net.failures import FailureKind
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
        "host", "a0 10.1.0.1/24 mac 02:00:00:00:00:01 peer client:eth0", "b0 10.2.0.1/24 mac 02:00:00:00:00:02 peer server:eth0",
        sysctls=switches, routes=list(routes), netns=fields["host"],
    )  # fmt: skip
    client = given_netns(
        "client", "eth0 10.1.0.2/24 mac 02:00:00:00:00:03 peer host:a0",
        routes=[*own, "default via 10.1.0.1 dev eth0"] if "none" not in own else [], netns=fields["client"],
    )  # fmt: skip
    server = given_netns(
        "server", "eth0 10.2.0.2/24 mac 02:00:00:00:00:04 peer host:b0", routes=["default via 10.2.0.1 dev eth0"],
        netns=fields["server"],
    )  # fmt: skip
    return given_node(host, client, server)


def felt(node: Node, probe: str = TCP) -> set[str]:
    """Return what a connection's client may meet."""
    return {kind.value for kind in felt_by(ask(node, probe).branch)}


def reject(answer: str) -> Node:
    """Return the network whose host rejects what it forwards."""
    return network(f"FORWARD -j REJECT --reject-with {answer}")


REJECTS = [
    ("icmp-port-unreachable", {"refused"}), ("icmp-host-prohibited", {"no route to host"}), ("tcp-reset", {"refused"}),
    ("icmp-admin-prohibited", {"no route to host"}), ("icmp-net-unreachable", {"network unreachable"}),
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
        ("none", "network unreachable"), ("unreachable 10.2.0.2", "no route to host"), ("prohibit 10.2.0.2", "permission denied"),
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
