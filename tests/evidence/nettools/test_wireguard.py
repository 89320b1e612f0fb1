"""`wg show`."""

from __future__ import annotations

import pytest

from podpath.evidence.records import StatementRecord
from podpath.net.addresses import IfName
from podpath.net.statements import WireguardInterface, WireguardPeer
from tests.evidence.consoles import block, read

TEXT = """
interface: wg0
  public key: abc=
  private key: (hidden)
  listening port: 51820
  fwmark: 0xca6c

peer: xyz=
  endpoint: 192.0.2.4:51820
  allowed ips: 0.0.0.0/0, ::/0
  latest handshake: 1 minute, 3 seconds ago
  transfer: 1.02 KiB received, 2 KiB sent

peer: uvw=
  endpoint: 192.0.2.5:51820
  allowed ips: 10.9.0.0/24
  transfer: 0 B received, 8.24 KiB sent
"""


def test_peers_are_read_with_what_they_may_send() -> None:
    """A peer that never shook hands has no word for it."""
    reading = read(block(TEXT, "wg show"))
    peers = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    first, second = (peer for peer in peers if isinstance(peer, WireguardPeer))

    assert ("wg0", ["default", "default"]) == (
        first.link,
        [str(prefix) for prefix in first.allowed],
    )
    assert ("1 minute, 3 seconds ago", "") == (first.handshake, second.handshake)
    assert ("0 B", "8.24 KiB") == (second.received, second.sent)
    assert not reading.gaps


RECORDED = """
interface: wg0
  public key: Iu5c8yiE/IcYp9N2ovqoSJGAXHTspAcuOOk5Mf0zoxA=
  private key: (hidden)
  listening port: 51820

peer: aM7+1iVR1eS52L8MOBqL3yMf5AZ5gfH/HbZXVtEhVAU=
  preshared key: (hidden)
  endpoint: 192.0.2.2:51820
  allowed ips: 10.2.0.0/16
  latest handshake: 2 seconds ago
  transfer: 348 B received, 404 B sent
"""
"""wireguard-tools 1.0.20210914 on Linux 6.12.117."""


def test_a_device_has_its_own_key_port_and_mark() -> None:
    """One statement of all its lines."""
    readings = [read(block(text, "wg show")) for text in (TEXT, RECORDED)]
    found = [
        (one.statement, (one.span.line, one.span.last_line))
        for reading in readings
        for one in reading.of(StatementRecord)
        if isinstance(one.statement, WireguardInterface)
    ]

    assert [
        (WireguardInterface(IfName("wg0"), "abc=", 51820, 0xCA6C), 4),
        (
            WireguardInterface(
                IfName("wg0"), "Iu5c8yiE/IcYp9N2ovqoSJGAXHTspAcuOOk5Mf0zoxA=", 51820
            ),
            3,
        ),
    ] == [(one, last - first) for one, (first, last) in found]


def test_a_preshared_key_is_noted() -> None:
    """Not what it is."""
    reading = read(block(RECORDED, "wg show"))
    (peer,) = [
        one.statement
        for one in reading.of(StatementRecord)
        if isinstance(one.statement, WireguardPeer)
    ]

    assert peer.preshared


@pytest.mark.parametrize(
    ("command", "text", "links"),
    [
        ("wg show wg0 allowed-ips", "abc=\t10.9.0.2/32 10.2.0.0/16\nuvw=\t(none)", ["wg0", "wg0"]),
        ("wg show all allowed-ips", "wg1\tabc=\t10.9.0.2/32 10.2.0.0/16", ["wg1"]),
    ],
)
def test_what_each_peer_may_send_is_read_from_its_own_listing(
    command: str, text: str, links: list[str]
) -> None:
    """A line is a peer, of the device that the command names or the line begins with; nothing is
    said of its handshake.
    """
    reading = read(block(text, command))
    peers = [one.statement for one in reading.records if isinstance(one, StatementRecord)]

    assert links == [peer.link for peer in peers if isinstance(peer, WireguardPeer)]
    first = peers[0]
    assert isinstance(first, WireguardPeer)
    assert ["10.9.0.2", "10.2.0.0/16"] == [str(prefix) for prefix in first.allowed]
    assert first.handshake == "not shown"


def test_a_line_of_a_listing_that_is_no_peer_is_a_gap() -> None:
    """An error among the peers stays one, and so does a peer without its device."""
    reading = read(
        block("abc=\t10.9.0.2/32\nUnable to access interface", "wg show all allowed-ips")
    )
    assert [gap.span.line for gap in reading.gaps] == [1, 2]
