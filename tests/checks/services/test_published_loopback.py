"""A port that is published on the loopback alone."""

from __future__ import annotations

from podpath.checks.services.published_loopback import check
from tests.assembly.evidence_text import case_of_document

ASKED_AT_THE_HOSTS_ADDRESS_IS_CERTAIN = """
```
$ docker ps
CONTAINER ID   IMAGE   COMMAND   CREATED         STATUS         PORTS                    NAMES
1f2a3b4c5d6e   nginx   "nginx"   5 minutes ago   Up 5 minutes   127.0.0.1:8081->80/tcp   web
root@host:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@host:~# curl http://192.168.1.10:8081/
curl: (7) Failed to connect to 192.168.1.10 port 8081: Connection refused
```
"""
PUBLISHED_ON_ALL_IS_NONE_OF_IT = """
```
$ docker ps
CONTAINER ID   IMAGE   COMMAND   CREATED         STATUS         PORTS                    NAMES
1f2a3b4c5d6e   nginx   "nginx"   5 minutes ago   Up 5 minutes   0.0.0.0:8081->80/tcp   web
root@host:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@host:~# curl http://192.168.1.10:8081/
curl: (7) Failed to connect to 192.168.1.10 port 8081: Connection refused
```
"""
ANOTHER_PORT_IS_ASKED = """
```
$ docker ps
CONTAINER ID   IMAGE   COMMAND   CREATED         STATUS         PORTS                    NAMES
1f2a3b4c5d6e   nginx   "nginx"   5 minutes ago   Up 5 minutes   127.0.0.1:8081->80/tcp   web
root@host:~# ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 192.168.1.10/24 scope global eth0
root@host:~# curl http://192.168.1.10:22/
curl: (7) Failed to connect to 192.168.1.10 port 22: Connection refused
```
"""


def test_asked_at_the_hosts_address_is_certain() -> None:
    """The host's own address is asked for a port that 127.0.0.1 alone publishes."""
    (found,) = check(case_of_document(ASKED_AT_THE_HOSTS_ADDRESS_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "127.0.0.1:8081->80/tcp" in found.evidence[0].text


def test_published_on_all_is_none_of_it() -> None:
    """Published on every address it is reached."""
    assert not list(check(case_of_document(PUBLISHED_ON_ALL_IS_NONE_OF_IT)))


def test_another_port_is_asked() -> None:
    """What nobody asks for is no fault."""
    assert not list(check(case_of_document(ANOTHER_PORT_IS_ASKED)))
