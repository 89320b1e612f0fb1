"""Objects as the records of walks."""

from __future__ import annotations

from podpath.evidence.kubernetes.manifest import read_manifest
from podpath.evidence.kubernetes.records import ServiceRecord
from podpath.evidence.kubernetes.spoken import read_port
from tests.evidence.consoles import block


def test_a_service_has_all_its_addresses() -> None:
    """The cluster's, external ones and the balancer's; a port that is none is left out."""
    text = """apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  clusterIP: 10.96.0.20
  externalIPs:
  - 192.0.2.7
  ports:
  - port: 80
    nodePort: 30080
  - port: none
status:
  loadBalancer:
    ingress:
    - ip: 192.0.2.8"""
    (record,) = [
        one for one in read_manifest(block(text)).records if isinstance(one, ServiceRecord)
    ]

    assert ["10.96.0.20", "192.0.2.7", "192.0.2.8"] == [str(one) for one in record.addresses]
    assert [(80, 30080)] == [(port.port, port.node_port) for port in record.ports]


def test_ports() -> None:
    """A name, a negative number and one that is too large are none."""
    assert [80, None, None, None] == [read_port(text) for text in ("80", "http", "-1", "70000")]
