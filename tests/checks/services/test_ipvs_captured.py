"""Captures held against virtual services."""

from __future__ import annotations

import pytest

from podpath.checks.services.ipvs_captured import check
from tests.checks.pasted import found

LIST = """
# ipvsadm -Ln
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.12.7:443 rr
  -> 10.244.1.9:8443              Masq    {weight}      0          4
"""
CAPTURE = """
# tcpdump -ni any tcp
12:00:00.000001 IP 192.168.1.10.41000 > {end}: Flags [S], seq 1, win 64240, length 0
"""


@pytest.mark.parametrize(
    ("weight", "end", "certainties"),
    [
        (0, "10.244.1.9.8443", [1.0]),
        (1, "10.244.1.9.8443", []),
        (0, "10.96.12.7.443", [1.0]),
        (1, "10.96.12.7.443", []),
        (1, "10.96.12.7.80", [0.8]),
        (0, "10.96.12.8.80", []),
    ],
)
def test_where_connections_go_is_held_against_the_list(
    weight: int, end: str, certainties: list[float]
) -> None:
    """A server of weight 0, an empty service and a port without one do not serve what the capture
    shows.
    """
    text = LIST.format(weight=weight) + CAPTURE.format(end=end)

    assert [certainty for certainty, _ in found(check, text)] == certainties
