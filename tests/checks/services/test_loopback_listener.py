"""A program that listens on the loopback alone."""

from __future__ import annotations

from podpath.checks.services.loopback_listener import check
from tests.assembly.evidence_text import case_of_document

REFUSED_AT_THE_NODES_ADDRESS_IS_CERTAIN = """
```
root@node1:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@node1:~# ss -ltn
State   Recv-Q  Send-Q   Local Address:Port   Peer Address:Port
LISTEN  0       128          127.0.0.1:8080        0.0.0.0:*
root@node1:~# curl http://192.168.1.10:8080/
curl: (7) Failed to connect to 192.168.1.10 port 8080: Connection refused
```
"""
LISTENING_ON_ALL_IS_NONE_OF_IT = """
```
root@node1:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@node1:~# ss -ltn
State   Recv-Q  Send-Q   Local Address:Port   Peer Address:Port
LISTEN  0       128          0.0.0.0:8080        0.0.0.0:*
root@node1:~# curl http://192.168.1.10:8080/
curl: (7) Failed to connect to 192.168.1.10 port 8080: Connection refused
```
"""
NOBODY_ASKS_FOR_IT = """
```
root@node1:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@node1:~# ss -ltn
State   Recv-Q  Send-Q   Local Address:Port   Peer Address:Port
LISTEN  0       128          127.0.0.1:8080        0.0.0.0:*
root@node1:~# curl http://192.168.1.10:9/
curl: (7) Failed to connect to 192.168.1.10 port 9: Connection refused
```
"""


def test_refused_at_the_nodes_address_is_certain() -> None:
    """The port is listened on at 127.0.0.1 and refused at the node's own address."""
    (found,) = check(case_of_document(REFUSED_AT_THE_NODES_ADDRESS_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "127.0.0.1:8080" in found.evidence[0].text


def test_listening_on_all_is_none_of_it() -> None:
    """A listener on every address takes the connection."""
    assert not list(check(case_of_document(LISTENING_ON_ALL_IS_NONE_OF_IT)))


def test_nobody_asks_for_it() -> None:
    """A loopback listener that nobody else asks for is as it should be."""
    assert not list(check(case_of_document(NOBODY_ASKS_FOR_IT)))
