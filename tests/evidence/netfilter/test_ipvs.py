"""`ipvsadm -Ln`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.addresses import Address
from podpath.net.firewall import ForwardingMethod, RealServer, VirtualServer
from tests.evidence.consoles import block, read

SERVICE = Address.parse("10.96.0.1")


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_weights_are_summed() -> None:
    """IPv6 ends stand in brackets; a service without servers has none."""
    text = """
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.1:443 rr persistent 10800
  -> 192.0.2.7:6443               Masq    1      4          0
  -> 192.0.2.8:6443               Masq    0      0          0
UDP  [fd00::a]:53 rr
"""
    assert stated(text) == [
        RealServer(
            "tcp",
            SERVICE,
            443,
            Address.parse("192.0.2.7"),
            6443,
            ForwardingMethod.MASQUERADING,
            1,
            4,
            0,
        ),
        RealServer(
            "tcp",
            SERVICE,
            443,
            Address.parse("192.0.2.8"),
            6443,
            ForwardingMethod.MASQUERADING,
            0,
            0,
            0,
        ),
        VirtualServer("tcp", SERVICE, 443, 2, 1),
        VirtualServer("udp", Address.parse("fd00::a"), 53, 0, 0),
    ]
