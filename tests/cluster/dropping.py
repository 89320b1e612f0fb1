"""Kinds of drops on a node of a real cluster: what is planted on it, what is sent through it, and
what `podpath watch` has to say.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from podpath.collect import bpf
from podpath.collect.netns import inside
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.instructions import Register, assemble, leave, move
from scripts.kubernetes import network
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.member import Member
from tests.cluster import datagrams
from tests.cluster.planted import FILL
from tests.kernel.test_watch import header, udp

SPACE = "drops"
APPS = ("web", "api")
"""Two pods on each node."""
PORT, SERVED = 5300, 7000
KEPT = Path("/run/dropping")
"""The file system of the node's BPF programs that are pinned."""
STRANGER, NOWHERE = "198.51.100.9", "203.0.113.9"
_SERVER = """\
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
server.bind(("0.0.0.0", int(sys.argv[1])))
print("ready", flush=True)
sys.stdin.read()
"""
"""A program that reads nothing of what comes to its port, and ends with its input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A node that drops, its two pods, and a pod of another node."""

    node: Member
    places: Mapping[str, str]
    """Files of network namespaces, as this process sees them: `web`, `api` and `node`, and of the
    other node `far` and `other`.
    """
    signs: Mapping[str, str]
    """What the signs in a kind's texts stand for."""

    def spell(self, text: str) -> str:
        """Return a text with what its signs stand for, the longest sign first."""
        for sign in sorted(self.signs, key=len, reverse=True):
            text = text.replace(sign, self.signs[sign])
        return text

    def run(self, words: str) -> None:
        """Run a command of a shell on the node."""
        self.node.run("sh", "-c", self.spell(words))


def open_scene(tried: Cluster, node: str, other: str) -> Scene:
    """Find the pods of two nodes."""
    here, there = tried.nodes[node], tried.nodes[other]
    inner = {app: datagrams.find_pod(tried, SPACE, f"{app}-{node}").netns for app in APPS}
    far = datagrams.find_pod(tried, SPACE, f"web-{other}").netns
    places = {name: _see(here, netns) for name, netns in inner.items()}
    places |= {"far": _see(there, far), "node": here.netns, "other": there.netns}
    links = {each["ifname"]: each for each in _list_links(here)}
    ports = {each["ifindex"]: name for name, each in links.items()}
    signs = {
        "@node": tried.plan.node_address(node),
        "@other": tried.plan.node_address(other),
        "@silent": f"10.199.{tried.plan.net}.77",
        "@way": f"default via {tried.plan.control_address} dev eth0",
        "@far": _address(tried, f"web-{other}"),
        "@bridge": links["cni0"]["address"],
        "@tunnel": links[network.FLANNEL]["address"],
        "@kept": str(KEPT),
        "@nobody": tried.read("service", "nobody", "-n", SPACE)["spec"]["clusterIP"],
    }
    for app, netns in inner.items():
        enter = ("nsenter", f"--net={netns}")
        (shown,) = [each for each in _list_links(here, *enter) if each["ifname"] == "eth0"]
        signs |= {
            f"@in_{app}": shlex.join(enter),
            f"@mac_{app}": shown["address"],
            f"@port_{app}": ports[shown["link_index"]],
            f"@{app}": _address(tried, f"{app}-{node}"),
            f"@machere_{app}": links[ports[shown["link_index"]]]["address"],
        }
    return Scene(node=here, places=places, signs=signs)


def _see(node: Member, netns: str) -> str:
    return f"/proc/{node.process}/root{netns}"


def _list_links(node: Member, *entering: str) -> list[Any]:
    listed: list[Any] = json.loads(node.run(*entering, "ip", "-j", "link", "show"))
    return listed


def _address(tried: Cluster, pod: str) -> str:
    return str(tried.read("pod", pod, "-n", SPACE)["status"]["podIP"])


class DropKind(NamedTuple):
    """A kind of drop on a node, each text with signs."""

    name: str
    send: Callable[[Scene], None]
    reason: str
    line: str = ""
    """Words of the line that decides; empty where the packet itself is the cause."""
    plant: str = "true"
    undo: str = "true"
    stage: str = ""
    """The step of the model; empty where it has none."""
    agreement: DropAgreement = DropAgreement.NAMED
    served: bool = False
    """True: a server of the node is there that takes nothing."""
    pinned: tuple[int, int] | None = None
    """A kind of BPF program, and what it answers for every packet."""


@contextmanager
def planted(scene: Scene, kind: DropKind) -> Iterator[None]:
    """Plant what drops, and take it away again."""
    with ExitStack() as undone:
        if kind.served:
            undone.enter_context(_serve(scene))
        if kind.pinned is not None:
            undone.enter_context(_pin(scene, *kind.pinned))
        undone.callback(scene.run, kind.undo)
        scene.run(kind.plant)
        yield


@contextmanager
def _serve(scene: Scene) -> Iterator[None]:
    """Have a server on the node that takes nothing."""
    with subprocess.Popen(
        scene.node.enter(sys.executable, "-I", "-c", _SERVER, str(SERVED)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield
        server.communicate()


@contextmanager
def _pin(scene: Scene, kind: int, answer: int) -> Iterator[None]:
    """Keep a program on the node that gives every packet the same answer."""
    scene.run("mkdir @kept && mount -t bpf none @kept")
    try:
        program = bpf.load_program(kind, assemble([move(Register.R0, answer), leave()]))
        seen = f"/proc/{scene.node.process}/root{KEPT}/program"
        path = ctypes.create_string_buffer(seen.encode())
        bpf._bpf(6, struct.pack("=QI", ctypes.addressof(path), program), "pin a program")
        os.close(program)
        yield
    finally:
        scene.run("umount @kept; rmdir @kept")


@contextmanager
def hooked(scene: Scene) -> Iterator[None]:
    """Keep a program at FORWARD of the node that drops every packet (BPF_PROG_TYPE_NETFILTER): it
    is no rule of any table.
    """
    code = ctypes.create_string_buffer(assemble([move(Register.R0, 0), leave()]), 16)
    licence = ctypes.create_string_buffer(b"GPL")
    loaded = struct.pack(
        "=IIQQIIQII16sII", 32, 2, ctypes.addressof(code), ctypes.addressof(licence),
        0, 0, 0, 0, 0, b"dropping", 0, _BPF_NETFILTER,
    )  # fmt: skip
    program = bpf._bpf(5, loaded, "load a program")
    try:
        with inside(scene.places["node"]):
            hook = (socket.AF_INET, 2, 50)  # NF_INET_FORWARD, behind filter's chains
            link = bpf._bpf(
                28, struct.pack("=IIIIIIiI", program, 0, _BPF_NETFILTER, 0, *hook, 0), "attach it"
            )
        yield
        os.close(link)
    finally:
        os.close(program)


@dataclass(frozen=True, slots=True)
class Datagrams:
    """Datagrams that are sent from a place one after another."""

    to: str = "@far"
    port: int = PORT
    place: str = "web"
    ttl: int = 64
    body: bytes = bytes(20)
    times: int = 1
    whole: bool = False
    """True: never cut into fragments."""

    def __call__(self, scene: Scene) -> None:
        """Send them."""
        place = scene.places[self.place]
        with inside(place), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, self.ttl)
            if self.whole:
                sender.setsockopt(socket.IPPROTO_IP, 10, 3)  # IP_MTU_DISCOVER, IP_PMTUDISC_PROBE
            for _ in range(self.times):
                with suppress(OSError):
                    sender.sendto(self.body, (scene.spell(self.to), self.port))


def connect(scene: Scene, to: str = "@node", port: int = PORT) -> None:
    """Begin a connection from a pod, and do not wait for it."""
    with inside(scene.places["web"]), socket.socket() as client:
        client.setblocking(False)
        client.connect_ex((scene.spell(to), port))
        time.sleep(0.1)


def packet(
    scene: Scene, source: str, to: str, body: bytes, *, protocol: int = 17, mac: str = "@bridge"
) -> None:
    """Put a packet on a pod's device, of any source."""
    ends = scene.spell(source), scene.spell(to)
    macs = [bytes.fromhex(scene.spell(each).replace(":", "")) for each in (mac, "@mac_web")]
    with (
        inside(scene.places["web"]),
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender,
    ):
        sender.bind(("eth0", 0))
        sender.send(b"".join(macs) + b"\x08\0" + header(*ends, protocol, body))


_BPF_NETFILTER = 45
_TO_FAR = f"-d @far/32 -p udp -m udp --dport {PORT} -j DROP"
_PAST = DropAgreement.OUTSIDE
_STRANGE = struct.pack("!HHIIBBHHH", 40000, 80, 1, 1, 0x50, 0x3F, 500, 0, 0)
"""A TCP header with every flag."""
_WRAPPED = b"\x08\0\0\0" + (99).to_bytes(3) + bytes(64)
"""A frame of another VXLAN network."""


def _of_rule(name: str, table: str, chain: str, stage: str, tool: str = "iptables") -> DropKind:
    """Return an admin's DROP in a chain of a table."""
    words = f"{chain} {_TO_FAR}"
    return DropKind(
        name, Datagrams(), "NETFILTER_DROP", f"-A {chain} -d @far/32",
        f"{tool} -t {table} -I {words}", f"{tool} -t {table} -D {words}", stage,
    )  # fmt: skip


def _of_route(kind: str) -> DropKind:
    """Return a route that refuses."""
    return DropKind(
        f"{kind} route", Datagrams(NOWHERE), "NOT_SPECIFIED",
        f'"type":"{kind}","dst":"203.0.113.0/24"',
        f"ip route add {kind} 203.0.113.0/24", f"ip route del {kind} 203.0.113.0/24", "route input",
    )  # fmt: skip


KINDS = (
    _of_rule("rule in nft", "filter", "FORWARD", "FORWARD filter"),
    _of_rule("rule in legacy", "filter", "FORWARD", "FORWARD filter", "iptables-legacy"),
    _of_rule("rule in raw", "raw", "PREROUTING", "PREROUTING raw"),
    _of_rule("rule in mangle", "mangle", "FORWARD", "FORWARD mangle"),
    DropKind(
        "rule of INPUT",
        Datagrams("@node"),
        "NETFILTER_DROP",
        f"-A INPUT -p udp -m udp --dport {PORT}",
        f"iptables -I INPUT -p udp --dport {PORT} -j DROP",
        f"iptables -D INPUT -p udp --dport {PORT} -j DROP",
        "INPUT filter",
    ),
    DropKind(
        "rule in the pod",
        Datagrams(),
        "NETFILTER_DROP",
        "-A OUTPUT -d @far/32",
        f"@in_web iptables -I OUTPUT {_TO_FAR}",
        f"@in_web iptables -D OUTPUT {_TO_FAR}",
        "OUTPUT filter",
    ),
    DropKind(
        "policy of a chain",
        Datagrams(),
        "NETFILTER_DROP",
        ":FORWARD DROP",
        "iptables -P FORWARD DROP",
        "iptables -P FORWARD ACCEPT",
        "FORWARD filter",
    ),
    DropKind(
        "chain of a NetworkPolicy",
        Datagrams(place="far", to="@web"),
        "NETFILTER_DROP",
        "-A POLICY-WEB -j DROP",
        "iptables -N POLICY-WEB; iptables -A POLICY-WEB -s 192.0.2.0/24 -j RETURN; "
        "iptables -A POLICY-WEB -j DROP; iptables -I FORWARD -d @web/32 -j POLICY-WEB",
        "iptables -D FORWARD -d @web/32 -j POLICY-WEB; iptables -F POLICY-WEB; "
        "iptables -X POLICY-WEB",
        "FORWARD filter",
    ),
    DropKind(
        "REJECT",
        Datagrams(),
        "NETFILTER_DROP",
        "-j REJECT",
        "iptables -I FORWARD -d @far/32 -j REJECT",
        "iptables -D FORWARD -d @far/32 -j REJECT",
        "FORWARD filter",
    ),
    DropKind(
        "rule of native nftables",
        Datagrams(),
        "NETFILTER_DROP",
        f"udp dport {PORT}",
        "nft add table inet admin; "
        "nft 'add chain inet admin deny { type filter hook forward priority 5; }'; "
        f"nft add rule inet admin deny udp dport {PORT} drop",
        "nft delete table inet admin",
        "FORWARD inet admin deny",
    ),
    DropKind(
        "invalid to conntrack",
        partial(packet, source="@web", to="@far", body=_STRANGE, protocol=6),
        "NETFILTER_DROP",
        "--ctstate INVALID -j DROP",
        stage="FORWARD filter",
    ),
    DropKind(
        "untracked",
        Datagrams(),
        "NETFILTER_DROP",
        "--ctstate UNTRACKED",
        f"iptables -t raw -I PREROUTING -p udp --dport {PORT} -j NOTRACK; "
        "iptables -I FORWARD -m conntrack --ctstate UNTRACKED -j DROP",
        f"iptables -t raw -D PREROUTING -p udp --dport {PORT} -j NOTRACK; "
        "iptables -D FORWARD -m conntrack --ctstate UNTRACKED -j DROP",
        "FORWARD filter",
    ),
    DropKind(
        "service without endpoint",
        partial(connect, to="@nobody", port=80),
        "NETFILTER_DROP",
        "@nobody",
        stage="FORWARD filter",
    ),
    DropKind(
        "conntrack full",
        Datagrams(),
        "NETFILTER_DROP",
        "nf_conntrack_count",
        FILL,
        f"{FILL} empty",
        "PREROUTING conntrack",
    ),
    DropKind(
        "rp_filter",
        partial(packet, source=STRANGER, to="@far", body=udp()),
        "IP_RPFILTER",
        "rp_filter = 1",
        "sysctl -qw net.ipv4.conf.cni0.rp_filter=1",
        "sysctl -qw net.ipv4.conf.cni0.rp_filter=0",
        "rp_filter",
    ),
    DropKind(
        "no route",
        Datagrams(NOWHERE),
        "IP_INNOROUTES",
        plant="ip route del default",
        undo="ip route add @way",
        stage="route input",
    ),
    *map(_of_route, ("blackhole", "unreachable", "prohibit")),
    DropKind(
        "rule of policy routing",
        Datagrams(),
        "NOT_SPECIFIED",
        '"src":"@web","action":"blackhole"',
        "ip rule add from @web pref 50 blackhole",
        "ip rule del from @web pref 50 blackhole",
        "route input",
    ),
    DropKind(
        "forwarding off",
        Datagrams(),
        "IP_INADDRERRORS",
        "forwarding = 0",
        "sysctl -qw net.ipv4.ip_forward=0",
        "sysctl -qw net.ipv4.ip_forward=1",
        "route input",
    ),
    DropKind("TTL", Datagrams(ttl=1), "IP_INHDR", stage="forward"),
    DropKind(
        "martian source",
        partial(packet, source="224.0.0.1", to="@far", body=udp()),
        "IP_INVALID_SOURCE",
        stage="route input",
    ),
    DropKind(
        "loopback address from outside",
        partial(packet, source="@web", to="127.0.0.1", body=udp()),
        "NETFILTER_DROP",
        "-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8",
        stage="INPUT filter",
    ),
    DropKind(
        "the node's own source",
        partial(packet, source="@node", to="@far", body=udp()),
        "IP_LOCAL_SOURCE",
        stage="rp_filter",
    ),
    DropKind(
        "MTU of the tunnel",
        Datagrams(body=bytes(1300), whole=True),
        "PKT_TOO_BIG",
        plant="ip link set flannel.1 mtu 1000",
        undo="ip link set flannel.1 mtu 1450",
        stage="forward",
    ),
    DropKind("nobody listens, UDP", Datagrams("@node"), "NO_SOCKET", stage="socket"),
    DropKind("nobody listens, TCP", partial(connect, port=81), "NO_SOCKET", stage="socket"),
    DropKind(
        "nobody listens in the pod",
        Datagrams(place="far", to="@web", port=53),
        "NO_SOCKET",
        stage="socket",
    ),
    DropKind(
        "silent neighbor",
        Datagrams("@silent"),
        "NEIGH_FAILED",
        '"ifname":"eth0"',
        "ip neigh del @silent dev eth0 2>/dev/null || true",
        agreement=_PAST,
    ),
    DropKind(
        "another's MAC",
        partial(packet, source="@web", to="@far", body=udp(), mac="02:00:00:00:00:77"),
        "OTHERHOST",
        stage="ip receive",
    ),
    DropKind(
        "isolated ports of the bridge",
        Datagrams("@api"),
        "NOT_SPECIFIED",
        "isolated",
        "for port in @port_web @port_api; do bridge link set dev $port isolated on; done; "
        "bridge fdb replace @mac_api dev @port_api master static; "
        "@in_web ip neigh replace @api lladdr @mac_api dev eth0",
        "for port in @port_web @port_api; do bridge link set dev $port isolated off; done; "
        "bridge fdb del @mac_api dev @port_api master; "
        "@in_web ip neigh del @api dev eth0",
        "bridge",
    ),
    DropKind(
        "tunnel without a forwarding entry",
        Datagrams(),
        "NO_TX_TARGET",
        '"ifname":"flannel.1"',
        "bridge fdb show dev flannel.1 >/tmp/fdb; "
        "for mac in $(cut -d ' ' -f 1 /tmp/fdb); do bridge fdb del $mac dev flannel.1; done",
        "while read mac sign far rest; do bridge fdb replace $mac dev flannel.1 dst $far; "
        "done </tmp/fdb",
        "device transmit",
    ),
    DropKind(
        "tunnel of another network",
        Datagrams(place="other", to="@node", port=network.FLANNEL_PORT, body=_WRAPPED),
        "VXLAN_VNI_NOT_FOUND",
        '"id":1',
        agreement=_PAST,
    ),
    DropKind(
        "bad checksum",
        partial(packet, source="@web", to="@node", body=udp(checksum=0x1234)),
        "UDP_CSUM",
        agreement=_PAST,
    ),
    DropKind(
        "full socket",
        Datagrams("@node", port=SERVED, body=bytes(1000), times=20),
        "SOCKET_RCVBUFF",
        f":{SERVED}",
        agreement=_PAST,
        served=True,
    ),
    DropKind(
        "XDP",
        partial(packet, source="@web", to="@far", body=udp()),
        "NOT_SPECIFIED",
        "xdp",
        "ip link set @port_web xdpgeneric pinned @kept/program",
        "ip link set @port_web xdpgeneric off",
        agreement=_PAST,
        pinned=(6, 1),
    ),
    DropKind(
        "tc ingress",
        partial(packet, source="@web", to="@far", body=udp()),
        "TC_INGRESS",
        '"ifname":"@port_web"',
        "tc qdisc add dev @port_web clsact; "
        "tc filter add dev @port_web ingress bpf da object-pinned @kept/program",
        "tc qdisc del dev @port_web clsact",
        agreement=_PAST,
        pinned=(3, 2),
    ),
    DropKind(
        "tc egress",
        Datagrams(),
        "TC_EGRESS",
        '"ifname":"flannel.1"',
        "tc qdisc add dev flannel.1 clsact; "
        "tc filter add dev flannel.1 egress bpf da object-pinned @kept/program",
        "tc qdisc del dev flannel.1 clsact",
        agreement=_PAST,
        pinned=(3, 2),
    ),
    DropKind(
        "shaped device",
        Datagrams(body=bytes(1200), times=5),
        "QDISC_DROP",
        '"ifname":"flannel.1"',
        "tc qdisc add dev flannel.1 root tbf rate 8kbit burst 2000 limit 1500",
        "tc qdisc del dev flannel.1 root",
        agreement=_PAST,
    ),
    DropKind(
        "nft at a device's ingress",
        partial(packet, source="@web", to="@far", body=udp()),
        "NETFILTER_DROP",
        "udp dport 53 drop",
        "nft add table netdev admin; "
        "nft 'add chain netdev admin deny "
        "{ type filter hook ingress device @port_web priority 0; }'; "
        "nft add rule netdev admin deny udp dport 53 drop",
        "nft delete table netdev admin",
        stage="INGRESS netdev admin deny",
    ),
    DropKind(
        "nft of the bridge",
        Datagrams("@api"),
        "NETFILTER_DROP",
        f"udp dport {PORT}",
        "nft add table bridge admin; "
        "nft 'add chain bridge admin deny { type filter hook forward priority 0; }'; "
        f"nft add rule bridge admin deny udp dport {PORT} drop; "
        "@in_web ip neigh replace @api lladdr @mac_api dev eth0",
        "nft delete table bridge admin; @in_web ip neigh del @api dev eth0",
        agreement=_PAST,
    ),
    DropKind(
        "device without carrier",
        Datagrams("192.0.2.9"),
        "QDISC_DROP",
        "NO-CARRIER",
        "ip link add down0 type veth peer name down1; ip addr add 192.0.2.1/24 dev down0; "
        "ip link set down0 up; ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:77 dev down0",
        "ip link del down0",
        stage="device transmit",
    ),
    DropKind(
        "IPsec policy",
        Datagrams(),
        "XFRM_POLICY",
        plant="ip xfrm policy add dir fwd src @web dst @far action block",
        undo="ip xfrm policy del dir fwd src @web dst @far",
        agreement=_PAST,
    ),
)
