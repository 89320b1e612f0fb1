"""Cilium's load balancer, as `cilium bpf lb list` of old and new versions prints it."""

from __future__ import annotations

import pytest

from podpath.evidence.node_records import CiliumFrontendRecord
from podpath.net import protocols
from tests.evidence.consoles import block, read

# From issues of cilium/cilium (31503, 10402) and a listing of 1.17; addresses replaced.
OLD = """
SERVICE ADDRESS     BACKEND ADDRESS (REVNAT_ID) (SLOT)
10.96.0.1:443       172.18.0.3:6443 (1) (1)
                    0.0.0.0:0 (1) (0) [ClusterIP, non-routable]
172.18.0.2:32646    0.0.0.0:0 (33) (0) [NodePort, l7-load-balancer] (L7LB Proxy Port: 15735)
"""
OLDER = """
SERVICE ADDRESS       BACKEND ADDRESS
100.64.5.14:30157     100.64.5.143:8443 (30)
                      0.0.0.0:0 (30) [NodePort]
"""
NEW = """
SERVICE ADDRESS          BACKEND ADDRESS (REVNAT_ID) (SLOT)
10.96.0.1:443/TCP (1)    10.20.10.10:6443/TCP (12) (1)
10.96.0.1:443/TCP (0)    0.0.0.0:0 (12) (0) [ClusterIP, non-routable]
[fd00::1]:53/UDP (0)     [::]:0 (13) (0) [ClusterIP, non-routable]
"""


@pytest.mark.parametrize(("text", "protocol"), [(OLD, 0), (NEW, protocols.TCP)])
def test_a_frontend_and_its_backends(text: str, protocol: int) -> None:
    """Each row is a backend, or says what the frontend is."""
    reading = read(block(text, "cilium bpf lb list"))
    first, second, third = reading.of(CiliumFrontendRecord)

    assert not reading.gaps
    assert [("10.96.0.1", 443, protocol)] * 2 == [
        (str(row.address), row.port, row.protocol) for row in (first, second)
    ]
    assert first.backend is not None
    assert (6443, None, None) == (first.backend[1], second.backend, third.backend)
    assert {"ClusterIP", "non-routable"} == second.flags
    assert first.whole


def test_rows_without_slots() -> None:
    """Versions until 1.8 print no slot."""
    rows = read(block(OLDER, "cilium bpf lb list")).of(CiliumFrontendRecord)

    assert [30157, 30157] == [row.port for row in rows]
    assert [frozenset(), {"NodePort"}] == [row.flags for row in rows]


def test_a_part_of_the_maps() -> None:
    """A filter, or a table without its head, leaves rows out."""
    parts = (
        block(OLD, "cilium bpf lb list | grep 443"),
        block("\n".join(NEW.split("\n")[2:4])),
        block(NEW + "...\n", "cilium bpf lb list"),
    )

    assert {False} == {row.whole for part in parts for row in read(part).of(CiliumFrontendRecord)}
