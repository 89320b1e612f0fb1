"""A node whose pods, services and sysctls the page can offer, as somebody pasted it."""

from __future__ import annotations

from collections.abc import Callable

from podpath.library.case import Case
from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath_ui.ends import AskedEnds

TICKET = """\
web-0 cannot reach the api.

```
root@node1:~# kubectl get pods -A -o wide
NAMESPACE   NAME    READY   STATUS    RESTARTS   AGE   IP           NODE    NOMINATED NODE   READINESS GATES
shop        web-0   1/1     Running   0          5d    10.244.1.5   node1   <none>           <none>
shop        api-0   1/1     Running   0          5d    10.244.1.6   node1   <none>           <none>
root@node1:~# kubectl get svc -A
NAMESPACE   NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
shop        api    ClusterIP   10.96.0.10   <none>        80/TCP,53/UDP   5d
root@node1:~# ip route
default via 192.0.2.1 dev eth0
10.244.1.5 dev veth1 scope link
10.244.1.6 dev veth2 scope link
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10
root@node1:~# sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 0
root@node1:~# iptables-save
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.244.1.6:8080
COMMIT
root@web-0:~# ping -c 1 203.0.113.9
PING 203.0.113.9 (203.0.113.9) 56(84) bytes of data.

--- 203.0.113.9 ping statistics ---
1 packets transmitted, 0 received, 100% packet loss, time 0ms
```
"""  # noqa: E501  # as kubectl prints it
HEALTHY = TICKET.replace("ip_forward = 0", "ip_forward = 1")
SERVICE = "svc/shop/api:80 (tcp)"


def read_ticket(text: str = TICKET) -> Case:
    """Read the node."""
    return read(Pasted(text, "ticket.md"))


def reader(text: str = TICKET) -> Callable[[], Case]:
    """Return what reads the node when it is asked to."""
    return lambda: read_ticket(text)


def asking(**said: str) -> AskedEnds:
    """Return what the page asks, but for what a test says: web-0 to the api's port 80."""
    ends = AskedEnds(source="pod/shop/web-0", target=SERVICE, protocol="tcp", port="", options="")
    return AskedEnds(**{**ends, **said})  # type: ignore[typeddict-item]  # a test's own words
