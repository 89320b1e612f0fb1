"""A node that Calico knows by another address than the cluster does."""

from __future__ import annotations

import pytest

from podpath.checks.cni.node_address_differs import check
from tests.checks.pasted import ticket_of

CALICO = """\
$ calicoctl get node rowan-4 -o yaml
apiVersion: projectcalico.org/v3
kind: Node
metadata:
  name: rowan-4
spec:
  addresses:
  - address: 192.168.56.14/24
    type: CalicoNodeIP
  - address: 172.20.0.14
    type: InternalIP
"""
CLUSTER = """\
$ kubectl get node rowan-4 -o yaml
apiVersion: v1
kind: Node
metadata:
  name: rowan-4
  annotations:
    projectcalico.org/IPv4Address: 192.168.56.14/24
status:
  addresses:
  - address: 172.20.0.14
    type: InternalIP
"""
ROW = "| {} | node-to-node mesh | start | 08:12:40 | Active Socket: {} |\n"
UNKNOWN = "bird: BGP: Unexpected connect from unknown address {} (port 41023)\n"
UP = "| 192.168.56.14 | node-to-node mesh | up | 08:12:40 | Established |\n"
DOWN = ROW.format("192.168.56.14", "Host is unreachable")


def told(node: str = CALICO, said: str = DOWN) -> list[float]:
    """Return how sure each finding is; what is not certain asks."""
    text = f"Pods are not reached.\n\n```\n{node}$ calicoctl node status\n{said}```\n"
    found = list(check(ticket_of(text)))
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return [one.certainty for one in found]


@pytest.mark.parametrize("node", [CALICO, CLUSTER])
@pytest.mark.parametrize("said", [DOWN, UNKNOWN.format("172.20.0.14")])
def test_the_address_that_calico_has_is_not_reached(node: str, said: str) -> None:
    """Of Calico's own object or the cluster's, by either end of the session."""
    assert [1.0] == told(node, said)


@pytest.mark.parametrize("error", ["Connection refused", "Connection timed out"])
def test_a_session_may_fail_for_another_reason(error: str) -> None:
    """Somebody answers there, or a firewall drops what comes in for BGP."""
    assert [0.8] == told(said=ROW.format("192.168.56.14", error))


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (CALICO.replace("172.20.0.14", "192.168.56.14"), DOWN),
        (CALICO, ROW.format("192.168.56.15", "Host is unreachable")),
        (CALICO, UNKNOWN.format("172.20.0.15")),
        (CALICO, UP),
        (CALICO.partition("  - address: 172")[0], DOWN),
        (CALICO.replace("172.20.0.14", "2001:db8::14"), DOWN),
    ],
    ids=["agree", "other-peer", "other-unknown", "up", "one", "other-family"],
)
def test_addresses_that_agree_or_another_session(node: str, said: str) -> None:
    """Another node's session, one that stands, or only one address."""
    assert not told(node, said)
