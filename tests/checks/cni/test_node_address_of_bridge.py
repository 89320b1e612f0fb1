"""Addresses that are taken for the node's."""

from __future__ import annotations

from podpath.checks.cni.node_address_of_bridge import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl describe pod calico-node
  Warning  Unhealthy  1m  kubelet  Readiness probe failed: BIRD is not ready: BGP not established with {peer}
```
```
$ ip addr
14: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 02:42:3a:f3:45:18 brd ff:ff:ff:ff:ff:ff
    inet 172.18.0.1/16 brd 172.18.255.255 scope global {device}
```
"""  # noqa: E501


def test_the_address_of_a_bridge_for_containers() -> None:
    """The peer and the bridge's address are quoted."""
    (found,) = check(case_of_document(TICKET.format(peer="172.18.0.1", device="br-3a10a9384428")))

    assert ("172.18.0.1", "br-3a10a9384428") == found.marks
    assert "inet 172.18.0.1/16" in found.evidence[1].text


def test_a_cards_address_or_another_peer_is_right() -> None:
    """A node's address is that of its card."""
    assert not list(check(case_of_document(TICKET.format(peer="172.18.0.1", device="eth0"))))
    assert not list(
        check(case_of_document(TICKET.format(peer="172.18.0.2", device="br-3a10a9384428")))
    )
