"""Virtual services without servers."""

from __future__ import annotations

from podpath.checks.services.ipvs_servers import check
from tests.checks.pasted import found


def test_nothing_behind_it() -> None:
    """The listing shows no server."""
    text = """
$ ipvsadm -Ln
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.10:53 rr
TCP  10.96.0.11:53 rr
  -> 10.244.0.3:53                Masq    1      0          0
"""
    assert found(check, text) == [(0.7, "TCP 10.96.0.10:53 rr")]


def test_weight_zero() -> None:
    """The only server takes no new connections."""
    text = """
$ ipvsadm -Ln
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.10:53 rr
  -> 10.244.0.3:53                Masq    0      0          0
"""
    assert found(check, text) == [(0.7, "TCP 10.96.0.10:53 rr")]


def test_a_server() -> None:
    """One takes them."""
    text = """
$ ipvsadm -Ln
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.10:53 rr
  -> 10.244.0.3:53                Masq    1      0          0
"""
    assert found(check, text) == []
