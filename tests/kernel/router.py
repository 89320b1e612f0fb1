"""A real kernel as router: three network namespaces, raw frames in on one side, what comes out on
either side.

The ends have no addresses of their own, so that their stacks never answer: a test alone says which
packets exist. The router has the devices and addresses of `tests.datapath.given.given`, so that a
test can ask kernel and model the same.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import socket
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, Self

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

SIDES: Mapping[str, tuple[str, str]] = {
    "cni0": ("10.244.0.1/24", "02:00:00:00:00:0a"),
    "eth0": ("192.0.2.1/24", "02:00:00:00:00:0b"),
}
"""The router's devices: their address, and the MAC of the far end."""
ROUTER_MAC = {"cni0": "02:00:00:00:01:0a", "eth0": "02:00:00:00:01:0b"}
FIRST_SEQUENCE = {"original": 1000, "reply": 5000}
QUIET = 0.08
"""Seconds without a frame after which none is coming: veth delivers within the sender's own system
call.
"""
LATE = 1.0
"""Seconds to wait for a packet that is predicted and has not come."""
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_RULE = re.compile(r"\[(\d+):\d+\] -A (\S+) ?(.*)")


class Entry(NamedTuple):
    """A conntrack entry as `conntrack -L` prints it."""

    original: tuple[str, str, int, int]
    reply: tuple[str, str, int, int]
    state: str
    assured: bool
    replied: bool
    mark: int


def run(*arguments: str, stdin: str = "") -> str:
    """Run a command to its end."""
    done = subprocess.run(arguments, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stderr}\n{stdin}"
    return done.stdout


@contextmanager
def inside(netns: str) -> Iterator[None]:
    """Be in a network namespace for the length of a block."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    try:
        assert _libc.setns(there, _CLONE_NEWNET) == 0
        yield
    finally:
        assert _libc.setns(home, _CLONE_NEWNET) == 0
        os.close(there)
        os.close(home)


class Router:
    """The router and its two ends; gone with the `with` block."""

    def __init__(self, sysctls: Mapping[str, str]) -> None:
        """Say what the router's namespace is to be like."""
        self.name = f"pnf-{os.getpid()}"
        self.sysctls = {
            "net.ipv4.ip_forward": "1",
            "net.ipv4.conf.all.rp_filter": "0",
            "net.ipv4.conf.default.rp_filter": "0",
        }
        self.sysctls |= sysctls
        self.taps: dict[str, socket.socket] = {}

    def __enter__(self) -> Self:
        """Build the namespaces."""
        run("ip", "netns", "add", self.name)
        self._exec("ip", "link", "set", "lo", "up")
        for key, value in self.sysctls.items():
            self._exec("sysctl", "-qw", f"{key}={value}")
        for link, (address, mac) in SIDES.items():
            far = f"{self.name}-{link}"
            run("ip", "netns", "add", far)
            self._exec(
                "ip", "link", "add", link, "type", "veth", "peer", "name", "end", "netns", far
            )
            self._exec("ip", "link", "set", link, "address", ROUTER_MAC[link], "up")
            self._exec(
                "sysctl",
                "-qw",
                f"net.ipv6.conf.{link}.disable_ipv6=1",
                f"net.ipv4.conf.{link}.rp_filter=0",
            )
            run("ip", "netns", "exec", far, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            run("ip", "-n", far, "link", "set", "end", "address", mac, "up", "arp", "off")
            self._exec("ip", "addr", "add", address, "dev", link)
            with inside(far):
                tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
                tap.bind(("end", 0x0800))
            self.taps[link] = tap
        self._exec(
            "ip",
            "neigh",
            "replace",
            "192.0.2.254",
            "lladdr",
            SIDES["eth0"][1],
            "dev",
            "eth0",
            "nud",
            "permanent",
        )
        self._exec("ip", "route", "add", "default", "via", "192.0.2.254", "dev", "eth0")
        for host in (5, 6, 9):
            self.neighbour(f"10.244.0.{host}", "cni0")
            self.neighbour(f"192.0.2.{host}", "eth0")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take everything down."""
        for tap in self.taps.values():
            tap.close()
        for name in (self.name, *(f"{self.name}-{link}" for link in SIDES)):
            subprocess.run(("ip", "netns", "del", name), check=False, capture_output=True)

    def _exec(self, *arguments: str, stdin: str = "") -> str:
        return run("ip", "netns", "exec", self.name, *arguments, stdin=stdin)

    def neighbour(self, address: str, link: str) -> None:
        """Let the router know the MAC of a host without asking for it."""
        self._exec(
            "ip",
            "neigh",
            "replace",
            address,
            "lladdr",
            SIDES[link][1],
            "dev",
            link,
            "nud",
            "permanent",
        )

    def command(self, *arguments: str, stdin: str = "") -> str:
        """Run a command in the router."""
        return self._exec(*arguments, stdin=stdin)

    def load(self, text: str, flavour: str = "nft") -> None:
        """Load rules as `iptables-restore` takes them."""
        self._exec(f"iptables-{flavour}-restore", stdin=text + "\n")

    def save(self, flavour: str = "nft") -> str:
        """Print the rules as the kernel holds them."""
        return self._exec(f"iptables-{flavour}-save")

    def counters(self, flavour: str = "nft") -> dict[tuple[str, str, int], int]:
        """Return how often each rule matched, by table, chain and position; rules that never did
        are left out.
        """
        table, positions = "", dict[tuple[str, str], int]()
        counts: dict[tuple[str, str, int], int] = {}
        for line in self._exec(f"iptables-{flavour}-save", "-c").splitlines():
            if line.startswith("*"):
                table = line[1:]
            found = _RULE.match(line)
            if found is None:
                continue
            position = positions[table, found[2]] = positions.get((table, found[2]), 0) + 1
            if int(found[1]):
                counts[table, found[2], position] = int(found[1])
        return counts

    def conntrack(self) -> list[Entry]:
        """Return the router's conntrack entries."""
        return sorted(
            entry
            for line in self._exec("conntrack", "-L").splitlines()
            if (entry := _parse_entry(line)) is not None
        )

    def send(self, link: str, packet: Packet, way: str = "original") -> None:
        """Put a packet on the wire at the far end of one of the router's devices."""
        head = (
            bytes.fromhex(ROUTER_MAC[link].replace(":", ""))
            + bytes.fromhex(SIDES[link][1].replace(":", ""))
            + b"\x08\x00"
        )
        self.taps[link].send(head + encode(packet, way))

    def emit(self, packet: Packet, way: str = "original") -> bool:
        """Send a packet from the router itself through a raw socket; False where netfilter refused
        it.
        """
        with (
            inside(self.name),
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw,
        ):
            try:
                raw.sendto(encode(packet, way), (str(packet.dst), 0))
            except (PermissionError, OSError):
                return False
        return True

    def receive(self, predicted: int) -> list[tuple[str, Packet]]:
        """Return what has come out of the router since the last call, with the device that it came
        out of; before as many packets are there as are predicted, silence only means that the
        machine is busy.
        """
        found: list[tuple[str, Packet]] = []
        while True:
            silence = QUIET if len(found) >= predicted else LATE
            ready, _, _ = select.select(list(self.taps.values()), [], [], silence)
            if not ready:
                return found
            for tap in ready:
                data, address = tap.recvfrom(65536)
                link = next(name for name, each in self.taps.items() if each is tap)
                if address[2] != 4:
                    found.append((link, decode(data[14:])))


def _parse_entry(line: str) -> Entry | None:
    numbers = {"sport": "0", "dport": "0"}
    pairs = re.findall(r"(\w+)=(\S+)", line)
    tuples: list[dict[str, str]] = []
    mark = 0
    for key, value in pairs:
        if key == "src":
            tuples.append(dict(numbers))
        if key == "mark":
            mark = int(value)
        elif tuples and key in {"src", "dst", "sport", "dport", "id"}:
            if key == "id" and "type" not in line:
                continue
            tuples[-1].update({"sport": value, "dport": value} if key == "id" else {key: value})
    if len(tuples) != 2:
        return None
    state = re.search(
        r"\b(SYN_SENT2?|SYN_RECV|ESTABLISHED|FIN_WAIT|CLOSE_WAIT|LAST_ACK|TIME_WAIT|CLOSE|NONE)\b",
        line,
    )
    one, two = (
        (each["src"], each["dst"], int(each["sport"]), int(each["dport"])) for each in tuples
    )
    return Entry(
        one, two, state[1] if state else "", "[ASSURED]" in line, "[UNREPLIED]" not in line, mark
    )


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def encode(packet: Packet, way: str) -> bytes:
    """Write a packet as bytes; sequence numbers start where the direction's do."""
    body = _encode_transport(packet, way)
    flags = 0x4000 if packet.dont_fragment else 0
    fragment = 185 if packet.fragment else 0
    head = struct.pack(
        "!BBHHHBBHII", 0x45, packet.tos, 20 + len(body), 1, flags | fragment, packet.ttl,
        packet.protocol, 0, packet.src.value, packet.dst.value,
    )  # fmt: skip
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def _encode_transport(packet: Packet, way: str) -> bytes:
    payload = b"x" * packet.payload
    if packet.protocol == protocols.TCP:
        other = "reply" if way == "original" else "original"
        seq = packet.seq + FIRST_SEQUENCE[way]
        ack = packet.ack + FIRST_SEQUENCE[other] if packet.flags & protocols.ACK else 0
        segment = (
            struct.pack(
                "!HHIIBBHHH", packet.sport, packet.dport, seq, ack, 0x50, packet.flags, 64240, 0, 0
            )
            + payload
        )
        return _with_checksum(packet, segment, 16)
    if packet.protocol == protocols.UDP:
        return _with_checksum(
            packet,
            struct.pack("!HHHH", packet.sport, packet.dport, 8 + len(payload), 0) + payload,
            6,
        )
    if packet.protocol == protocols.ICMP:
        quoted = encode(packet.quoted, way)[:28] if packet.quoted is not None else b""
        head = struct.pack(
            "!BBHHH",
            packet.icmp_type,
            packet.icmp_code,
            0,
            0 if quoted else packet.sport,
            0 if quoted else 1,
        )
        message = head + quoted + payload
        return message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    return payload


def _with_checksum(packet: Packet, segment: bytes, offset: int) -> bytes:
    pseudo = struct.pack(
        "!IIBBH", packet.src.value, packet.dst.value, 0, packet.protocol, len(segment)
    )
    value = checksum(pseudo + segment) ^ (0x1111 if packet.bad_checksum else 0)
    return segment[:offset] + struct.pack("!H", value) + segment[offset + 2 :]


def decode(data: bytes) -> Packet:
    """Read the fields of a packet that rules and NAT change."""
    src, dst = (Address(4, int.from_bytes(data[at : at + 4], "big")) for at in (12, 16))
    packet = Packet(src, dst, data[9], ttl=data[8], tos=data[1])
    body = data[20:]
    if packet.protocol in {protocols.TCP, protocols.UDP} and len(body) >= 4:
        sport, dport = struct.unpack_from("!HH", body)
        flags = body[13] & 0x3F if packet.protocol == protocols.TCP and len(body) >= 14 else 0
        return packet._replace(sport=sport, dport=dport, flags=flags)
    if packet.protocol == protocols.ICMP and len(body) >= 8:
        kind, code, _, identifier = struct.unpack_from("!BBHH", body)
        quoted = None if kind in {0, 8} else decode(body[8:])
        number = identifier if kind in {0, 8} else 0
        return packet._replace(
            icmp_type=kind, icmp_code=code, sport=number, dport=number, quoted=quoted
        )
    return packet
