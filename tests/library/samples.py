"""Evidence that the tests of the library read: a recorded ticket, and a node as short as one can
paste it.
"""

from __future__ import annotations

from pathlib import Path

from podpath.library.given import Pasted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "incidents"
RP_FILTER = EXAMPLES / "rp-filter-reset"
NO_FORWARDING = Pasted(
    """\
root@node1:~# ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq state UP group default
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.2/24 scope global eth0
3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.244.1.1/24 scope global cni0
root@node1:~# ip route
default via 192.0.2.1 dev eth0
10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.2
root@node1:~# sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 0
""",
    "ticket.txt",
)
SECOND_NODE = Pasted(
    NO_FORWARDING.text.replace("node1", "node2")
    .replace("192.0.2.2", "192.0.2.3")
    .replace("= 0", "= 1"),
    "other.txt",
)
"""Another node, which forwards."""
PROBE = "tcp 10.244.1.5 > 198.51.100.7:443 in cni0"
LOG = Pasted(
    """\
2025-03-12T03:13:40Z kn-04 systemd[1]: Stopping tuned.service - Dynamic System Tuning Daemon...
2025-03-12T03:13:47Z kn-04 systemd[1]: Started tuned.service - Dynamic System Tuning Daemon.
2025-03-12T03:13:59Z kn-04 kubelet[812]: E0312 03:13:59.100000 812 prober.go:1] "Probe failed" err="context deadline exceeded"
""",  # noqa: E501
    "messages",
)
