"""A node on the real kernel, written by hand as a cluster would leave it, for faults that nobody
points at.

Namespaces: `host` with pods `web` and `api` and the DNS pod `dns` behind it, and `far`, which is
the router, another node with a pod of its own behind a VXLAN tunnel, and the world. Only `host` and
the three pods go into a bundle, as on a real node.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podpath.collect.namespaces import CollectedNamespace
from podpath.collect.snapshot import collect_bundle
from podpath_lab import conversation
from podpath_lab.apply import NETNS_DIRECTORY, inside, run
from podpath_lab.script import ScriptCommand

PODS = {"web": "10.244.1.5", "api": "10.244.1.6", "dns": "10.244.1.7"}
NAMESPACES = ("host", *PODS, "far")
NODE, FAR_POD, WORLD = "192.168.50.11", "10.244.2.5", "203.0.113.9"
PORTS = {"web": (80,), "api": (8080,), "dns": (53,), "host": (6443, 10250), "far": (80, 443, 53)}
IP_PKTINFO = 8
PATIENCE = 0.7
"""Seconds that a connection is given which shall fail: everything is on this machine."""
LONG_PATIENCE = 15.0
"""Seconds that one is given which shall work, however busy the machine is."""

_FAR = f"""
ip link add eth0 netns host type veth peer name eth0 netns far
in far: ip addr add 192.168.50.1/24 dev eth0
in far: ip addr add 192.168.50.12/24 dev eth0
in far: ip addr add {WORLD}/32 dev lo
in far: ip addr add {FAR_POD}/32 dev lo
in far: ip link set lo up
in far: ip link set eth0 up
in far: ip link add flannel.1 address 02:00:00:00:02:00 mtu 1450 type vxlan id 1 dstport 8472 local 192.168.50.12 nolearning
in far: ip addr add 10.244.2.0/32 dev flannel.1
in far: ip link set flannel.1 up
in far: ip route add 10.244.1.0/24 via 10.244.1.0 dev flannel.1 onlink
in far: iptables-nft -t raw -A PREROUTING -s 10.244.0.0/16 ! -d 10.244.0.0/16 -j DROP
in far: ip neigh add 10.244.1.0 lladdr 02:00:00:00:01:00 dev flannel.1 nud permanent
in far: bridge fdb append 02:00:00:00:01:00 dev flannel.1 dst {NODE}
"""  # noqa: E501
_UPLINK = f"""
in host: sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
in host: sysctl -qw net.ipv4.conf.eth0.rp_filter=0
in host: ip link set lo up
in host: ip addr add {NODE}/24 dev eth0
in host: ip link set eth0 up
in host: ip route add default via 192.168.50.1
in host: ip link add flannel.1 address 02:00:00:00:01:00 mtu 1450 type vxlan id 1 dstport 8472 local {NODE} nolearning
in host: ip addr add 10.244.1.0/32 dev flannel.1
in host: ip link set flannel.1 up
in host: ip route add 10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink
in host: ip neigh add 10.244.2.0 lladdr 02:00:00:00:02:00 dev flannel.1 nud permanent
in host: bridge fdb append 02:00:00:00:02:00 dev flannel.1 dst 192.168.50.12
"""  # noqa: E501
_BRIDGE = """
in host: ip link add cni0 type bridge
in host: ip addr add 10.244.1.1/24 dev cni0
in host: ip link set cni0 mtu 1450 up
in host: sysctl -qw net.bridge.bridge-nf-call-iptables=1
"""

RULES = (
    Path(__file__).parent.parent / "data" / "live" / "kube-proxy-and-flannel.rules"
).read_text()
"""What kube-proxy, the portmap plugin and flannel write on such a node."""


def emit_world(shape: str) -> Iterator[str]:
    """Yield the lines that build the node: pods on a bridge (`bridge`), or behind a veth and a
    route each (`routed`).
    """
    for name in NAMESPACES:
        yield f"ip netns add {name}"
    yield from (_FAR + _UPLINK + (_BRIDGE if shape == "bridge" else "")).strip().splitlines()
    for number, (name, address) in enumerate(PODS.items(), 1):
        device = f"veth{number}"
        yield f"ip link add eth0 netns {name} type veth peer name {device} netns host"
        yield f"in {name}: ip link set eth0 address 02:00:0a:f4:01:0{address[-1]}"
        yield f"in host: ip link set {device} mtu 1450 up"
        yield f"in {name}: ip link set lo up"
        yield f"in {name}: ip link set eth0 mtu 1450 up"
        if shape == "bridge":
            yield f"in host: ip link set {device} master cni0"
            yield f"in {name}: ip addr add {address}/24 dev eth0"
            yield f"in {name}: ip route add default via 10.244.1.1"
        else:
            yield f"in {name}: ip addr add {address}/32 dev eth0"
            yield f"in {name}: ip route add 169.254.1.1 dev eth0 scope link"
            yield f"in {name}: ip route add default via 169.254.1.1 dev eth0"
            yield f"in host: sysctl -qw net.ipv4.conf.{device}.proxy_arp=1"
            yield f"in host: sysctl -qw net.ipv4.neigh.{device}.proxy_delay=0"
            yield f"in host: ip route add {address} dev {device} scope link"


def run_lines(lines: Iterator[str] | tuple[str, ...]) -> None:
    """Run shell lines, those that begin with `in NAME:` in that namespace."""
    for line in lines:
        name, colon, inner = line.removeprefix("in ").partition(": ")
        if line.startswith("in ") and colon:
            run(ScriptCommand(("sh", "-c", inner), netns=name))
        else:
            run(ScriptCommand(("sh", "-c", line)))


@contextmanager
def standing(shape: str, backend: str) -> Iterator[None]:
    """Have the node stand for a block, with servers in every namespace."""
    run_lines(emit_world(shape))
    run(ScriptCommand((f"iptables-{backend}-restore",), RULES, "host"))
    servers = conversation.open_servers(PORTS)
    answering = threading.Event()
    thread = threading.Thread(target=_answer, args=(servers.udp, answering), daemon=True)
    thread.start()
    try:
        yield
    finally:
        answering.set()
        thread.join()
        servers.close()
        run_lines(tuple(f"ip netns del {name}" for name in NAMESPACES))


def _answer(sockets: tuple[socket.socket, ...], ended: threading.Event) -> None:
    """Answer every datagram from the socket that it came to; the kernel takes TCP connections by
    itself.
    """
    while not ended.is_set():
        for ready in select.select(sockets, (), (), 0.1)[0]:
            try:
                _, ancillary, _, client = ready.recvmsg(64, 64)
                ready.sendmsg(
                    [b"here"],
                    [(level, kind, data) for level, kind, data in ancillary if kind == IP_PKTINFO],
                    0,
                    client,
                )
            except OSError:
                continue


def connects(connection: str, patience: float = LONG_PATIENCE) -> bool:
    """Try a connection, as in `web udp 10.96.0.10 53 4444`: namespace, protocol, address, port, the
    client's own port.
    """
    netns, protocol, address, port, *own = connection.split()
    with (
        inside(netns),
        socket.socket(
            socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
        ) as client,
    ):
        client.settimeout(patience)
        client.bind(("0.0.0.0", int(own[0]) if own else 0))
        try:
            client.connect((address, int(port)))
            if protocol == "udp":
                client.send(b"there?")
                return client.recv(64) == b"here"
        except OSError:
            return False
    return True


def take_snapshot(bundle: Path) -> None:
    """Write the bundle that a snapshot on the node would write: the host's namespace and the
    pods'.
    """
    namespaces = tuple(
        CollectedNamespace(
            name=name, path=str(NETNS_DIRECTORY / name), role="host" if name == "host" else "pod"
        )
        for name in ("host", *PODS)
    )
    collect_bundle(bundle, namespaces, now=0.0)
