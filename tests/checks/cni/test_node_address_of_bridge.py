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


CHOSEN = """
```
$ kubectl logs calico-node-x
2024-01-04 18:20:34.776 [INFO][55] monitor-addresses/startup.go 756: Using autodetected IPv4 address on interface {device}: 172.18.0.1/16
```
"""  # noqa: E501
UNREADY = "calico/node is not ready: BIRD is not ready: BGP not established with 192.0.2.7"


def test_an_agent_that_chose_a_bridge_and_has_no_session() -> None:
    """The choice convicts where a session is missing, and is possible alone: nobody may need it."""
    ticket = CHOSEN.format(device="br-3a10a9384428")
    (sure,) = check(case_of_document(f"{ticket}\n```\n{UNREADY}\n```\n"))
    (possible,) = check(case_of_document(ticket))

    assert sure.certainty == 1
    assert [line.text.split()[0] for line in sure.evidence] == ["2024-01-04", "calico/node"]
    assert possible.certainty < 1
    assert possible.asks


def test_an_agent_that_chose_a_card_is_right() -> None:
    """A session that is missing has another cause then."""
    ticket = CHOSEN.format(device="ens192")
    assert not list(check(case_of_document(f"{ticket}\n```\n{UNREADY}\n```\n")))


def test_a_peer_whose_address_runs_into_a_date() -> None:
    """Calico prints its message and the next line's date without a blank between them."""
    peer = "172.18.0.12020-04-09 17:42:29.565 [INFO][17961] health.go 156: Number"
    (found,) = check(case_of_document(TICKET.format(peer=peer, device="br-3a10a9384428")))

    assert found.marks[0] == "172.18.0.1"
