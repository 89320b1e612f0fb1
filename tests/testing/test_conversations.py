"""Conversations as tests ask about them."""

from __future__ import annotations

from podpath.testing.conversations import ask
from podpath.testing.nodes import forwarding, given_netns, given_node

POD = given_netns(
    "pod", "eth0 10.1.0.2/24 peer host:lxc1", routes=["default via 10.1.0.1 dev eth0"]
)
DEVICES = ("eth0 192.0.2.2/24", "lxc1 10.1.0.1/24 peer pod:eth0")
ROUTES = ("default via 192.0.2.1 dev eth0",)
PROBE = "tcp 10.1.0.2 > 203.0.113.9:80 from pod"


def test_what_stops_a_packet_is_named_with_its_line() -> None:
    """A host that does not forward stops the first packet, and the line that says so is quoted."""
    node = given_node(
        given_netns("host", *DEVICES, routes=ROUTES, sysctls={"net.ipv4.ip_forward": "0"}), POD
    )
    heard = ask(node, PROBE)

    assert ("NEVER", ("SYN", "route input"), ("SYN",)) == (
        heard.verdict,
        heard.fails_at,
        heard.packets,
    )
    assert "net.ipv4.ip_forward = 0" in heard.quotes


def test_what_works_fails_nowhere() -> None:
    """A host that forwards carries every packet of the connection."""
    heard = ask(
        given_node(given_netns("host", *DEVICES, routes=ROUTES, sysctls=forwarding()), POD), PROBE
    )

    assert ("ALWAYS", None) == (heard.verdict, heard.fails_at)
    assert ("SYN", "SYN-ACK", "ACK") == heard.packets[:3]
