"""`wg show`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.statements import WireguardPeer
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
