"""An address's on-link prefix."""

from __future__ import annotations

from podpath.net.addresses import Address, IfName
from podpath.node.links import InterfaceAddress


def test_the_prefix_is_the_peers_where_there_is_one() -> None:
    """A point-to-point address puts its far end on the link."""
    own, far = Address.parse("10.0.0.1"), Address.parse("10.9.0.7")
    plain = InterfaceAddress(link=IfName("eth0"), address=own, length=24)
    pointing = InterfaceAddress(link=IfName("tun0"), address=own, length=32, peer=far)

    assert ("10.0.0.0/24", "10.9.0.7") == (str(plain.prefix), str(pointing.prefix))
