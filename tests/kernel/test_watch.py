"""Drops of twenty-odd kinds, planted in namespaces of the real kernel, watched as they happen, and
named with the line that did it.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from podpath.collect import bpf
from podpath.collect.beside import BesideWorker
from podpath.collect.changes import ChangeListener
from podpath.collect.drop_sources import ProgramSource
from podpath.collect.netns import inside
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.choice import DropChoice
from podpath.drops.instructions import Register, assemble, leave, move
from podpath.library.watch import (
    DropExplainer,
    DropWatch,
    PartReaders,
    ToldDrop,
    locate_namespaces,
)
from podpath.library.watched_node import WatchedNode, read_node, reread_apart

pytestmark = pytest.mark.kernel("iptables", "nft", "tc", "bridge")

PREFIX = f"pw{os.getpid()}"
HOST, POD, OUT, LEFT, RIGHT = (
    f"{PREFIX}{name}" for name in ("host", "pod", "out", "left", "right")
)
POD_IP, OUT_IP, HOST_IP, RIGHT_IP = "10.9.1.2", "192.0.2.2", "10.9.1.1", "10.9.2.3"
PATIENCE = 30.0
"""Seconds in which a drop must be told, on a machine that does other things too."""


def run(*words: str, netns: str = HOST, stdin: str = "") -> None:
    """Run a command in a namespace."""
    within = ("ip", "netns", "exec", netns, *words)
    done = subprocess.run(within, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"


def wire(first: str, first_name: str, second: str, second_name: str) -> None:
    """Join two namespaces by a veth pair."""
    words = f"link add {first_name} type veth peer name {second_name} netns {second}"
    subprocess.run(("ip", "-n", first, *words.split()), check=True)
    for netns, name in ((first, first_name), (second, second_name)):
        subprocess.run(("ip", "-n", netns, "link", "set", name, "up"), check=True)


def ip(netns: str, words: str) -> None:
    """Run `ip` in a namespace."""
    subprocess.run(("ip", "-n", netns, *words.split()), check=True)


@pytest.fixture
def world() -> Iterator[None]:
    """Provide a node with a routed pod, two pods on a bridge, and a host outside."""
    with ExitStack() as stack:
        for netns in (HOST, POD, OUT, LEFT, RIGHT):
            subprocess.run(("ip", "netns", "add", netns), check=True)
            stack.callback(subprocess.run, ("ip", "netns", "del", netns), check=False)
            ip(netns, "link set lo up")
            run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", netns=netns)
        wire(HOST, "v1", POD, "eth0")
        wire(HOST, "eth0", OUT, "eth0")
        ip(HOST, "link add br0 type bridge")
        ip(HOST, "link set br0 up")
        for netns, port in ((LEFT, "p1"), (RIGHT, "p2")):
            wire(HOST, port, netns, "eth0")
            ip(HOST, f"link set {port} master br0")
        for netns, words in (
            (HOST, "addr add 10.9.1.1/24 dev v1"),
            (HOST, "addr add 192.0.2.1/24 dev eth0"),
            (HOST, "addr add 10.9.2.1/24 dev br0"),
            (POD, "addr add 10.9.1.2/24 dev eth0"),
            (POD, "route add default via 10.9.1.1"),
            (OUT, "addr add 192.0.2.2/24 dev eth0"),
            (OUT, "route add default via 192.0.2.1"),
            (LEFT, "addr add 10.9.2.2/24 dev eth0"),
            (LEFT, "route add default via 10.9.2.1"),
            (RIGHT, "addr add 10.9.2.3/24 dev eth0"),
        ):
            ip(netns, words)
        run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
        PINNED.parent.mkdir()
        stack.callback(PINNED.parent.rmdir)
        subprocess.run(("mount", "-t", "bpf", "none", str(PINNED.parent)), check=True)
        stack.callback(subprocess.run, ("umount", "-l", str(PINNED.parent)), check=False)
        yield


def datagram(
    netns: str, target: str, port: int = 53, *, ttl: int = 64, size: int = 20, fragment: bool = True
) -> None:
    """Send a datagram."""
    with inside(f"/run/netns/{netns}"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
        if not fragment:
            sender.setsockopt(socket.IPPROTO_IP, 10, 3)  # IP_MTU_DISCOVER, IP_PMTUDISC_PROBE
        with suppress(OSError):
            sender.sendto(b"x" * size, (target, port))


def datagrams(count: int, netns: str, target: str, port: int, *, size: int) -> None:
    """Send datagrams one after another."""
    for _ in range(count):
        datagram(netns, target, port, size=size)


def connect(netns: str, target: str, port: int) -> None:
    """Begin a connection, and do not wait for it."""
    with inside(f"/run/netns/{netns}"), socket.socket() as client:
        client.setblocking(False)
        client.connect_ex((target, port))
        time.sleep(0.1)


def header(src: str, dst: str, protocol: int, body: bytes, *, ttl: int = 64) -> bytes:
    """Return an IPv4 packet."""
    ends = socket.inet_aton(src) + socket.inet_aton(dst)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0x4000, ttl, protocol, 0) + ends
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:] + body


def frame(netns: str, packet: bytes, towards: str = "v1") -> None:
    """Put a packet on a pod's device, for its far end."""
    shown = subprocess.run(
        ("ip", "-n", HOST, "link", "show", towards), capture_output=True, text=True, check=True
    )
    mac = bytes.fromhex(shown.stdout.split("link/ether ")[1][:17].replace(":", ""))
    with inside(f"/run/netns/{netns}"), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("eth0", 0))
        sender.send(mac + b"\x02\0\0\0\0\x01\x08\0" + packet)


class Kind(NamedTuple):
    """A kind of drop: what is planted, what is sent, and what the watch has to say."""

    name: str
    plant: Sequence[str]
    """Commands in the host's namespace; one that begins with `@NAME ` in another."""
    send: Callable[[], None]
    reason: str
    stage: str
    line: str
    """Words of the line that decides; empty where the packet itself is the cause."""
    agreement: DropAgreement = DropAgreement.NAMED


def forwarded() -> None:
    """Send a datagram from the pod to the world."""
    datagram(POD, OUT_IP)


def delivered() -> None:
    """Send a datagram from the pod to the host."""
    datagram(POD, HOST_IP)


def udp(sport: int = 1024, dport: int = 53, checksum: int = 0) -> bytes:
    """Return a UDP header with data."""
    return struct.pack("!HHHH", sport, dport, 12, checksum) + b"data"


PINNED = Path(f"/run/{PREFIX}/program")
KEPT: list[socket.socket] = []


KNOWN = f"@{POD} ip neigh replace 10.9.1.1 lladdr 02:00:00:00:00:77 dev eth0"
DROP = "-d 192.0.2.2 -j DROP"
KINDS = [
    Kind(
        "iptables FORWARD",
        [f"iptables -A FORWARD {DROP}"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD filter",
        "-A FORWARD -d 192.0.2.2/32",
    ),
    Kind(
        "legacy FORWARD",
        [f"iptables-legacy -A FORWARD {DROP}"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD filter",
        "-A FORWARD -d 192.0.2.2/32",
    ),
    Kind(
        "raw PREROUTING",
        [f"iptables -t raw -A PREROUTING {DROP}"],
        forwarded,
        "NETFILTER_DROP",
        "PREROUTING raw",
        "-A PREROUTING",
    ),
    Kind(
        "mangle FORWARD",
        [f"iptables -t mangle -A FORWARD {DROP}"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD mangle",
        "-A FORWARD",
    ),
    Kind(
        "INPUT",
        ["iptables -A INPUT -p udp --dport 53 -j DROP"],
        delivered,
        "NETFILTER_DROP",
        "INPUT filter",
        "--dport 53",
    ),
    Kind(
        "OUTPUT in the pod",
        [f"@{POD} iptables -A OUTPUT {DROP}"],
        forwarded,
        "NETFILTER_DROP",
        "OUTPUT filter",
        "-A OUTPUT",
    ),
    Kind(
        "policy",
        ["iptables -P FORWARD DROP"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD filter",
        ":FORWARD DROP",
    ),
    Kind(
        "chain below",
        ["iptables -N DENY", "iptables -A DENY -p udp -j DROP", "iptables -A FORWARD -j DENY"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD filter",
        "-A DENY",
    ),
    Kind(
        "REJECT",
        ["iptables -A FORWARD -p udp -j REJECT"],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD filter",
        "-j REJECT",
    ),
    Kind(
        "native nft",
        [
            "nft add table inet t",
            "nft add chain inet t c { type filter hook forward priority 0 ; }",
            "nft add rule inet t c udp dport 53 drop",
        ],
        forwarded,
        "NETFILTER_DROP",
        "FORWARD inet t c",
        "udp dport 53",
    ),
    Kind(
        "rp_filter",
        ["sysctl -qw net.ipv4.conf.v1.rp_filter=1"],
        lambda: frame(POD, header("198.51.100.9", OUT_IP, 17, udp())),
        "IP_RPFILTER",
        "rp_filter",
        "rp_filter = 1",
    ),
    Kind("no route", [], lambda: datagram(POD, "203.0.113.9"), "IP_INNOROUTES", "route input", ""),
    Kind(
        "blackhole",
        ["ip route add blackhole 203.0.113.0/24"],
        lambda: datagram(POD, "203.0.113.9"),
        "NOT_SPECIFIED",
        "route input",
        "203.0.113.0/24",
    ),
    Kind(
        "unreachable",
        ["ip route add unreachable 203.0.113.0/24"],
        lambda: datagram(POD, "203.0.113.9"),
        "NOT_SPECIFIED",
        "route input",
        "203.0.113.0/24",
    ),
    Kind(
        "forwarding off",
        ["sysctl -qw net.ipv4.ip_forward=0"],
        forwarded,
        "IP_INADDRERRORS",
        "route input",
        "forwarding = 0",
    ),
    Kind("TTL", [], lambda: datagram(POD, OUT_IP, ttl=1), "IP_INHDR", "forward", ""),
    Kind(
        "martian source",
        [],
        lambda: frame(POD, header("127.0.0.1", OUT_IP, 17, udp())),
        "IP_LOCALNET",
        "route input",
        "",
    ),
    Kind(
        "own source",
        [],
        lambda: frame(POD, header("192.0.2.1", OUT_IP, 17, udp())),
        "IP_LOCAL_SOURCE",
        "rp_filter",
        "",
    ),
    Kind(
        "MTU",
        ["ip link set eth0 mtu 1000"],
        lambda: datagram(POD, OUT_IP, size=1200, fragment=False),
        "PKT_TOO_BIG",
        "forward",
        "",
    ),
    Kind("nobody on UDP", [], delivered, "NO_SOCKET", "socket", ""),
    Kind("nobody on TCP", [], lambda: connect(POD, HOST_IP, 81), "NO_SOCKET", "socket", ""),
    Kind(
        "another's MAC",
        [],
        lambda: frame(POD, header(POD_IP, OUT_IP, 17, udp()), "eth0"),
        "OTHERHOST",
        "ip receive",
        "",
    ),
    Kind(
        "isolated ports",
        [
            "bridge link set dev p1 isolated on",
            "bridge link set dev p2 isolated on",
            f"@{LEFT} ip neigh replace {RIGHT_IP} lladdr @RIGHT dev eth0",
        ],
        lambda: datagram(LEFT, RIGHT_IP),
        "NO_TX_TARGET",
        "bridge",
        "isolated",
    ),
    Kind(
        "invalid state",
        ["iptables -A FORWARD -m conntrack --ctstate INVALID -j DROP"],
        lambda: frame(
            POD,
            header(
                POD_IP, OUT_IP, 6, struct.pack("!HHIIBBHHH", 40000, 80, 1, 1, 0x50, 0x3F, 500, 0, 0)
            ),
        ),
        "NETFILTER_DROP",
        "FORWARD filter",
        "--ctstate INVALID",
    ),
    Kind(
        "silent neighbor",
        [],
        lambda: datagram(POD, "192.0.2.77"),
        "NEIGH_FAILED",
        "neighbour",
        "",
    ),
    Kind(
        "bad checksum",
        [],
        lambda: frame(POD, header(POD_IP, HOST_IP, 17, udp(checksum=0x1234))),
        "UDP_CSUM",
        "",
        "",
        DropAgreement.OUTSIDE,
    ),
    Kind(
        "full socket",
        ["full socket"],
        partial(datagrams, 20, POD, HOST_IP, 7000, size=1000),
        "SOCKET_RCVBUFF",
        "",
        ":7000",
        DropAgreement.OUTSIDE,
    ),
    Kind(
        "XDP",
        ["pin 6 1", "ip link set dev v1 xdpgeneric pinned @PIN", KNOWN],
        forwarded,
        "NOT_SPECIFIED",
        "",
        "xdp",
        DropAgreement.OUTSIDE,
    ),
    Kind(
        "tc ingress",
        [
            "pin 3 2",
            "tc qdisc add dev v1 clsact",
            "tc filter add dev v1 ingress bpf da object-pinned @PIN",
            KNOWN,
        ],
        forwarded,
        "TC_INGRESS",
        "",
        '"ifname":"v1"',
        DropAgreement.OUTSIDE,
    ),
    Kind(
        "tc egress",
        [
            "pin 3 2",
            "tc qdisc add dev eth0 clsact",
            "tc filter add dev eth0 egress bpf da object-pinned @PIN",
        ],
        forwarded,
        "TC_EGRESS",
        "",
        '"ifname":"eth0"',
        DropAgreement.OUTSIDE,
    ),
    Kind(
        "shaped device",
        ["tc qdisc add dev eth0 root tbf rate 8kbit burst 2000 limit 1500"],
        partial(datagrams, 5, POD, OUT_IP, 53, size=1200),
        "QDISC_DROP",
        "",
        '"ifname":"eth0"',
        DropAgreement.OUTSIDE,
    ),
]


def plant(commands: Sequence[str]) -> None:
    """Plant a fault."""
    for command in commands:
        if command == "full socket":
            with inside(f"/run/netns/{HOST}"):
                server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
                server.bind((HOST_IP, 7000))
                KEPT.append(server)
            continue
        if command.startswith("pin "):
            pin(*map(int, command.split()[1:]))
            continue
        netns, words = HOST, command
        if command.startswith("@"):
            netns, _, words = command[1:].partition(" ")
        if "@RIGHT" in words:
            shown = subprocess.run(
                ("ip", "-n", RIGHT, "link", "show", "eth0"),
                capture_output=True,
                text=True,
                check=True,
            )
            words = words.replace("@RIGHT", shown.stdout.split("link/ether ")[1][:17])
        run(*words.replace("@PIN", str(PINNED)).split(), netns=netns)


def pin(kind: int, answer: int) -> None:
    """Pin a program that gives every packet the same answer."""
    program = bpf.load_program(kind, assemble([move(Register.R0, answer), leave()]))
    path = ctypes.create_string_buffer(str(PINNED).encode())
    bpf._bpf(6, struct.pack("=QI", ctypes.addressof(path), program), "pin a program")
    os.close(program)


@pytest.mark.parametrize("program", ["iptables-nft", "iptables-legacy"])
def test_a_rule_that_comes_meanwhile_is_named(
    program: str,
    world: None,  # noqa: ARG001  # it is there
    say: Callable[[str], None],
) -> None:
    """While it is watched: the kernel announces rules of nftables, and legacy ones show in that
    their drops do not fit. The node is not read again for either.
    """
    whole: list[float] = []

    def reread() -> WatchedNode:
        whole.append(time.monotonic())
        return read_node(node=HOST)

    source = ProgramSource(1000)
    changes = ChangeListener(f"/run/netns/{HOST}")
    try:
        explainer = DropExplainer(
            time.monotonic,
            BesideWorker(),
            reread,
            lambda: locate_namespaces(HOST),
            parts=PartReaders(reread_apart, changes),
        )
        seen = DropWatch(source, explainer, DropChoice(), time.monotonic)
        end = time.monotonic() + PATIENCE
        list(seen.run(0.5, lambda: True))
        run(program, "-I", "FORWARD", "-d", OUT_IP, "-p", "udp", "--dport", "5300", "-j", "DROP")
        datagram(POD, OUT_IP, 5300)
        named = (
            told
            for told in seen.run(0.5, lambda: time.monotonic() > end)
            if isinstance(told, ToldDrop) and told.explanation.agreement is DropAgreement.NAMED
        )
        told = next(named)
    finally:
        source.close()
        changes.close()

    assert "--dport 5300 -j DROP" in told.explanation.spans[0].text
    assert told.age == 0
    assert len(whole) == 1
    say(f"{program}: named {told.seconds * 1000:.0f} ms after the drop")


def watch(send: Callable[[], None], reason: str) -> ToldDrop | None:
    """Watch while something is sent, and return the first drop of a reason in the world."""
    source = ProgramSource(1000)
    try:
        explainer = DropExplainer(
            time.monotonic,
            BesideWorker(),
            lambda: read_node(node=HOST),
            lambda: locate_namespaces(HOST),
        )
        end = time.monotonic() + PATIENCE
        seen = DropWatch(source, explainer, DropChoice(), time.monotonic)
        source.read()
        send()
        for told in seen.run(0.5, lambda: time.monotonic() > end):
            if isinstance(told, ToldDrop) and told.drop.key.reason == reason:
                return told
        return None
    finally:
        source.close()


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_drop_is_named_with_its_line(
    kind: Kind,
    world: None,  # noqa: ARG001  # it is there
    say: Callable[[str], None],
) -> None:
    """The kernel's reason, and of the model the stage and the line that did it."""
    plant(kind.plant)
    try:
        told = watch(kind.send, kind.reason)
    finally:
        while KEPT:
            KEPT.pop().close()

    assert told is not None
    found = told.explanation
    assert found.agreement is kind.agreement
    assert (str(found.step.stage) if found.step is not None else "") == kind.stage
    assert kind.line in "\n".join(span.text for span in found.spans)
    say(f"{kind.name}: {told.seconds * 1000:.1f} ms, {found.netns}, {told.function}")
