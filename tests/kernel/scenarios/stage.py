"""The stage of the scenarios: a node with pods and the world behind it, in a private world of
namespaces; servers on it, clients that really connect, and a snapshot of it all.

Namespaces: `host` forwards between `pod` (10.9.0.2), `other` (10.9.1.2) and `out` (192.0.2.2), and
has the bridge br0 with `left` (10.9.2.2) and `right` (10.9.2.3). All of them are in the snapshot,
so that nothing has to be guessed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from podpath.collect import bpf
from podpath.collect.namespaces import CollectedNamespace
from podpath.collect.snapshot import collect_bundle
from podpath.drops.instructions import Register, assemble, leave, move
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath_lab.apply import NETNS_DIRECTORY, inside, run
from podpath_lab.cases.crafted import encode_frame
from podpath_lab.script import WRITE_SYSCTLS, ScriptCommand

HOST = "host"
NAMESPACES = (HOST, "pod", "other", "left", "right", "out")
PORTS = {HOST: (22,), "pod": (8080,), "other": (8080,), "left": (8080,), "right": (8080,),
         "out": (80, 443, 53)}  # fmt: skip
PINNED = NETNS_DIRECTORY / "bpf" / "program"
"""Where a line `pin KIND ANSWER` leaves a BPF program that gives every packet the same answer."""
PROXY = "proxy "
"""Begins a line that names a port of a proxy."""
_TRANSPARENT = {
    socket.AF_INET: (socket.IPPROTO_IP, 19), socket.AF_INET6: (socket.IPPROTO_IPV6, 75)
}  # fmt: skip
"""IP_TRANSPARENT and IPV6_TRANSPARENT (linux/in.h, linux/in6.h), with their levels."""
SMALL, BULK = 64, 20_000
"""Bytes of data where a probe names no size, by UDP and by TCP."""
_MTU_DISCOVER, _MTU_DISCOVER6, _DONT, _DO = 10, 23, 0, 2
"""IP_MTU_DISCOVER and IPV6_MTU_DISCOVER with IP_PMTUDISC_DONT and _DO (linux/in.h, linux/in6.h),
which Python does not name.
"""
_GET_FLAGS, _RUNNING = 0x8913, 0x40
"""SIOCGIFFLAGS and IFF_RUNNING (linux/sockios.h, linux/if.h)."""
PATIENCE = 0.6
"""Seconds that a connection is given which is said to fail: everything is on this machine."""
LONG_PATIENCE = 15.0
"""Seconds that one is given which is said to work, however busy the machine is."""
SERVER_PATIENCE = 3.0
"""Seconds in which a server has to have all of a request."""

LINKS = """
link add v0 netns host address 02:00:00:00:00:01 type veth peer name eth0 netns pod address 02:00:00:00:00:02
link add v1 netns host address 02:00:00:00:01:01 type veth peer name eth0 netns other address 02:00:00:00:01:02
link add eth0 netns host address 02:00:00:00:0f:01 type veth peer name eth0 netns out address 02:00:00:00:0f:02
link add p2 netns host address 02:00:00:00:02:12 type veth peer name eth0 netns left address 02:00:00:00:02:02
link add p3 netns host address 02:00:00:00:02:13 type veth peer name eth0 netns right address 02:00:00:00:02:03
"""  # noqa: E501
"""The cables, which are laid from outside."""
WORLD = {
    HOST: """
link add br0 address 02:00:00:00:02:01 type bridge
link set p2 master br0
link set p3 master br0
addr add 10.9.0.1/24 dev v0
addr add 10.9.1.1/24 dev v1
addr add 10.9.2.1/24 dev br0
addr add 192.0.2.1/24 dev eth0
addr add fd00:9::1/64 dev v0 nodad
addr add fd00:91::1/64 dev v1 nodad
addr add fd00:92::1/64 dev br0 nodad
addr add 2001:db8::1/64 dev eth0 nodad
link set v0 up
link set v1 up
link set br0 up
link set p2 up
link set p3 up
link set eth0 up
link set lo up
""",
    "pod": """
addr add 10.9.0.2/24 dev eth0
addr add fd00:9::2/64 dev eth0 nodad
""",
    "other": """
addr add 10.9.1.2/24 dev eth0
addr add fd00:91::2/64 dev eth0 nodad
""",
    "left": """
addr add 10.9.2.2/24 dev eth0
addr add fd00:92::2/64 dev eth0 nodad
""",
    "right": """
addr add 10.9.2.3/24 dev eth0
addr add fd00:92::3/64 dev eth0 nodad
""",
    "out": """
addr add 192.0.2.2/24 dev eth0
addr add 2001:db8::2/64 dev eth0 nodad
""",
}
"""What ip(8) is told in each namespace."""
SETTINGS = {
    HOST: """\
net/ipv4/ip_forward = 1
net/ipv6/conf/all/forwarding = 1
net/ipv4/conf/all/rp_filter = 0
net/ipv4/icmp_ratelimit = 0
net/ipv6/icmp/ratelimit = 0
net/ipv4/conf/v0/rp_filter = 0
net/ipv4/conf/v1/rp_filter = 0
net/ipv4/conf/br0/rp_filter = 0
net/ipv4/conf/p2/rp_filter = 0
net/ipv4/conf/p3/rp_filter = 0
net/ipv4/conf/eth0/rp_filter = 0
"""
}
GATEWAYS = {
    "pod": ("10.9.0.1", "fd00:9::1"), "other": ("10.9.1.1", "fd00:91::1"),
    "left": ("10.9.2.1", "fd00:92::1"), "right": ("10.9.2.1", "fd00:92::1"),
    "out": ("192.0.2.1", "2001:db8::1"),
}  # fmt: skip
ADDRESSES = {"pod": "10.9.0.2", "other": "10.9.1.2", "left": "10.9.2.2", "right": "10.9.2.3",
             "out": "192.0.2.2"}  # fmt: skip
SETTLES = 0.05
"""Seconds after which a handshake is over at both ends, its last ACK included."""


class Scenario(NamedTuple):
    """What is done to the stage, and the connections that are asked for."""

    name: str
    lines: tuple[str, ...]
    """Shell commands; in the namespace of the host unless a line begins with `in NAME:`."""
    probes: tuple[str, ...]
    open: frozenset[str] = frozenset()
    """Probes that the model may leave undecided: it names what it does not follow."""


class Tried(NamedTuple):
    """What a client was told."""

    ending: str
    """`ok`, `timeout`, or the name of an error such as `ECONNREFUSED`."""
    seen: str = ""
    """The client's address as the server saw it, where it answered; of a ping its own."""


def read_scenarios(folder: Path) -> Iterator[Scenario]:
    """Read the scenarios of a folder: each begins with `== NAME`, has its commands, and then its
    probes behind `?`, or behind `~` where the model may leave one undecided.
    """
    for file in sorted(folder.glob("*.txt")):
        _, *parts = file.read_text(encoding="utf-8").split("\n== ")
        for part in parts:
            name, *lines = part.strip().splitlines()
            probes = [line for line in lines if line.startswith(("? ", "~ "))]
            yield Scenario(
                f"{file.stem}: {name}",
                tuple(line for line in lines if line not in probes),
                tuple(line[2:] for line in probes),
                frozenset(line[2:] for line in probes if line.startswith("~")),
            )


def build() -> None:
    """Build the stage before a scenario's own lines."""
    _run_batch("\n".join(f"netns add {name}" for name in NAMESPACES))
    for name in NAMESPACES:
        _write_settings("net/ipv6/conf/default/accept_dad = 0", name)
    _run_batch(LINKS)
    for name in NAMESPACES:
        _run_batch(WORLD[name], name)
        _write_settings(SETTINGS.get(name, ""), name)
    for name, (gateway, gateway6) in GATEWAYS.items():
        _run_batch(
            "link set lo up\nlink set eth0 up\n"
            f"route add default via {gateway}\nroute add default via {gateway6}\n",
            name,
        )
    hasten()
    _settle()


def _settle() -> None:
    """Wait until the host's devices have their carriers, which a busy machine sees late
    (`linkwatch_event`): a snapshot would show them without.
    """
    until = time.monotonic() + LONG_PATIENCE
    with inside(HOST), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            question = struct.pack("16sH14x", name.encode(), 0)
            while time.monotonic() < until:
                flags = struct.unpack_from("16xH", fcntl.ioctl(asked, _GET_FLAGS, question))[0]
                if flags & _RUNNING:
                    break
                time.sleep(0.01)


def _run_batch(lines: str, netns: str | None = None) -> None:
    run(ScriptCommand(("ip", "-batch", "-"), netns=netns, stdin=lines))


def _write_settings(lines: str, netns: str) -> None:
    run(ScriptCommand(WRITE_SYSCTLS, netns=netns, stdin=lines))


def hasten() -> None:
    """Let neighbors that do not answer be given up soon, and proxies answer at once, so that a try
    need not wait for long.
    """
    for name in NAMESPACES:
        with inside(name):
            for path in Path("/proc/sys/net").glob("ipv[46]/neigh/*/retrans_time_ms"):
                path.write_text("60")
            for path in Path("/proc/sys/net").glob("ipv[46]/neigh/*/proxy_delay"):
                path.write_text("0")


def run_lines(lines: str) -> None:
    """Run shell lines, each in the namespace that it names: `in NAME: COMMAND`."""
    for line in filter(None, map(str.strip, lines.splitlines())):
        name, colon, inner = line.removeprefix("in ").partition(": ")
        named = line.startswith("in ") and colon
        run(ScriptCommand(("sh", "-ec", inner if named else line), netns=name if named else None))


def change(lines: Sequence[str]) -> None:
    """Run a scenario's lines on the host, unless they name another namespace."""
    for line in lines:
        if line.startswith("pin "):
            pin(*map(int, line.split()[1:]))
        elif not line.startswith(PROXY):
            run_lines(line if line.startswith("in ") else f"in {HOST}: {line}")


def pin(kind: int, answer: int) -> None:
    """Pin a program that gives every packet the same answer."""
    PINNED.parent.mkdir(exist_ok=True)
    run(ScriptCommand(("mount", "-t", "bpf", "none", str(PINNED.parent))))
    program = bpf.load_program(kind, assemble([move(Register.R0, answer), leave()]))
    path = ctypes.create_string_buffer(str(PINNED).encode())
    bpf._bpf(6, struct.pack("=QI", ctypes.addressof(path), program), "pin a program")
    os.close(program)


@contextmanager
def serving(lines: Sequence[str] = ()) -> Iterator[None]:
    """Answer TCP and UDP on the stage's ports with the client's address, for a block; and on those
    that lines name, `proxy PORT [ADDRESS]`, by transparent sockets of the host.
    """
    with ExitStack() as stack:
        sockets: list[socket.socket] = []
        for name, ports in PORTS.items():
            with inside(name):
                for port in ports:
                    sockets += _listen(port)
        with inside(HOST):
            for line in lines:
                if line.startswith(PROXY):
                    sockets += _listen_for_others(*line.split()[1:])
        for each in sockets:
            stack.enter_context(each)
        ended = threading.Event()
        thread = threading.Thread(target=_answer, args=(sockets, ended), daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(ended.set)
        yield


def _listen(port: int) -> Iterator[socket.socket]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        server = socket.socket(socket.AF_INET6, kind)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("::", port))
        if kind == socket.SOCK_STREAM:
            server.listen(16)
        yield server


def _listen_for_others(port: str, address: str = "::") -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        server = socket.socket(family, kind)
        server.setsockopt(*_TRANSPARENT[family], 1)
        server.bind((address, int(port)))
        if kind == socket.SOCK_STREAM:
            server.listen(16)
        yield server


def _answer(sockets: Sequence[socket.socket], ended: threading.Event) -> None:
    while not ended.is_set():
        for ready in select.select(sockets, (), (), 0.05)[0]:
            with suppress(OSError):
                if ready.type == socket.SOCK_STREAM:
                    connection, client = ready.accept()
                    with connection:
                        connection.settimeout(SERVER_PATIENCE)
                        size = len(_read_whole(connection))
                        connection.sendall(_spell(client[0], size))
                else:
                    asked, client = ready.recvfrom(1 << 16)
                    ready.sendto(_spell(client[0], len(asked)), client)


def _spell(address: str, size: int) -> bytes:
    return address.removeprefix("::ffff:").encode().ljust(size)


def _read_whole(connection: socket.socket) -> bytes:
    """Read what one side sends: its first word is how long it is."""
    found = connection.recv(1 << 16)
    while found and len(found) < int(found.split()[0]):
        found += connection.recv(1 << 16)
    return found


def attempt(probe: Probe, patience: float) -> Tried:
    """Really connect as a probe says, and wait for the server's answer, so many seconds each."""
    if probe.sending.flags is not None:
        return _attempt_segment(probe, patience)
    if probe.protocol in _ECHO:
        return _attempt_echo(probe, patience)
    kind = socket.SOCK_STREAM if probe.protocol == socket.IPPROTO_TCP else socket.SOCK_DGRAM
    family = socket.AF_INET6 if probe.src.family == 6 else socket.AF_INET
    with inside(probe.netns), _open_socket(family, kind, probe.sending.uid) as client:
        client.settimeout(patience)
        _configure(client, probe)
        try:
            client.bind((str(probe.src), 0))
            client.connect((str(probe.dst), probe.dport))
            if probe.sending.midway:
                time.sleep(SETTLES)
                forget_connections()
            size = _payload(probe)
            client.sendall(str(size).encode().ljust(size))
            answer = _receive(client, size).decode().strip()
        except TimeoutError:
            return Tried("timeout")
        except OSError as error:
            return Tried(errno.errorcode.get(error.errno or 0, str(error)))
    return Tried("ok", answer) if answer else Tried("closed without an answer")


def _attempt_segment(probe: Probe, patience: float) -> Tried:
    """Send one IPv4 segment, and tell whether it comes to the namespace that it is for."""
    segment = Packet(
        probe.src, probe.dst, probe.protocol, probe.sport, probe.dport, probe.sending.flags or 0,
        length=40, seq=1, ack=1 if (probe.sending.flags or 0) & protocols.ACK else 0,
    )  # fmt: skip
    ends = encode_frame(segment)[14 + 12 : 14 + 20]
    with inside(next(name for name, own in ADDRESSES.items() if str(probe.dst) in own)):
        ear = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    with inside(probe.netns):
        mouth = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    with ear, mouth:
        mouth.sendto(encode_frame(segment)[14:], (str(probe.dst), 0))
        until = time.monotonic() + patience
        while (left := until - time.monotonic()) > 0:
            if not select.select((ear,), (), (), left)[0]:
                break
            heard = ear.recv(1 << 16)
            if (heard[9], heard[16:20], heard[22:24], heard[33]) == (
                probe.protocol, ends[4:], probe.dport.to_bytes(2, "big"), segment.flags,
            ):  # fmt: skip
                return Tried("ok", socket.inet_ntoa(heard[12:16]))
    return Tried("timeout")


_ECHO = {protocols.ICMP: (8, 0), protocols.ICMPV6: (128, 129)}
"""Types of an echo request and its reply."""


def _attempt_echo(probe: Probe, patience: float) -> Tried:
    """Ping, and tell whether the reply comes; what the far end sees it does not say."""
    six = probe.src.family == 6
    asks, answers = _ECHO[probe.protocol]
    asked = struct.pack("!BBHHH", asks, 0, 0, os.getpid() & 0xFFFF, 1)
    if not six:
        asked = asked[:2] + struct.pack("!H", _checksum(asked)) + asked[4:]
    family = socket.AF_INET6 if six else socket.AF_INET
    with inside(probe.netns), socket.socket(family, socket.SOCK_RAW, probe.protocol) as client:
        client.bind((str(probe.src), 0))
        try:
            client.sendto(asked, (str(probe.dst), 0))
        except OSError as error:
            return Tried(errno.errorcode.get(error.errno or 0, str(error)))
        until = time.monotonic() + patience
        while (left := until - time.monotonic()) > 0 and select.select((client,), (), (), left)[0]:
            heard = client.recv(1 << 16)[0 if six else 20 :]
            if (heard[0], heard[4:8]) == (answers, asked[4:8]):
                return Tried("ok", str(probe.src))
    return Tried("timeout")


def _checksum(data: bytes) -> int:
    words: tuple[int, ...] = struct.unpack(f"!{len(data) // 2}H", data)
    total = sum(words)
    return ~(total + (total >> 16)) & 0xFFFF


def _open_socket(family: int, kind: int, uid: int) -> socket.socket:
    """Open a socket that a user owns: it keeps who opened it."""
    os.seteuid(uid)
    try:
        return socket.socket(family, kind)
    finally:
        os.seteuid(0)


def _configure(client: socket.socket, probe: Probe) -> None:
    """Set the options that a probe names on its client's socket."""
    sending, six = probe.sending, probe.src.family == 6
    level = socket.IPPROTO_IPV6 if six else socket.IPPROTO_IP
    if sending.device:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, sending.device.encode())
    if sending.mark:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, sending.mark)
    if sending.ttl is not None:
        client.setsockopt(level, socket.IPV6_UNICAST_HOPS if six else socket.IP_TTL, sending.ttl)
    if sending.dscp:
        client.setsockopt(level, socket.IPV6_TCLASS if six else socket.IP_TOS, sending.dscp << 2)
    if sending.dont_fragment is not None:
        name = _MTU_DISCOVER6 if six else _MTU_DISCOVER
        client.setsockopt(level, name, _DO if sending.dont_fragment else _DONT)


def _receive(client: socket.socket, size: int) -> bytes:
    """Receive the answer, whole; what a server that closes early has sent."""
    answer = client.recv(1 << 16)
    while answer and len(answer) < size:
        more = client.recv(1 << 16)
        if not more:
            break
        answer += more
    return answer


def _payload(probe: Probe) -> int:
    """Return how many bytes of data make a packet of the size that a probe names."""
    length = probe.sending.size
    if length is None:
        return BULK if probe.protocol == socket.IPPROTO_TCP else SMALL
    tcp = probe.protocol == socket.IPPROTO_TCP
    return length - (20 if probe.src.family == 4 else 40) - (32 if tcp else 8)


def forget_connections() -> None:
    """Let conntrack forget all connections, which goes on under those that stand."""
    for name in NAMESPACES:
        run(ScriptCommand(("conntrack", "-F"), netns=name))


def forget() -> None:
    """Let nothing that one try left behind help the next: neighbors, tracked
    connections, and MTUs that were learned.
    """
    for name in NAMESPACES:
        _run_batch("neigh flush all\nroute flush cache\n", name)
        run(ScriptCommand(("ip", "-6", "route", "flush", "cache"), netns=name))
    forget_connections()


def take_snapshot(bundle: Path) -> None:
    """Write the bundle that a snapshot of every namespace would write."""
    namespaces = tuple(
        CollectedNamespace(
            name=name, path=str(NETNS_DIRECTORY / name), role="host" if name == HOST else "pod"
        )
        for name in NAMESPACES
    )
    collect_bundle(bundle, namespaces, now=0.0)
