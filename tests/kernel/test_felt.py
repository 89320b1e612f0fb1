"""What a program is told of a connection that ends, row by row of the table, by the real kernel.

A client, a router and a server stand in three namespaces; each row breaks the way between them and
tries TCP, UDP and ping.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import pytest

from podpath.checks.explains import FELT, PacketEnd
from podpath.evidence.attempts.failures import parse_result
from podpath.net import protocols
from podpath.net.failures import Ending, FailureKind, Result

pytestmark = pytest.mark.kernel("ip", "iptables", "ping", "sysctl")

CLIENT, ROUTER, SERVER = (f"felt-{os.getpid()}-{part}" for part in ("client", "router", "server"))
TARGET = "10.2.0.2"
PATIENCE = 1.5
"""Seconds that one is given which may hear nothing."""
LONG_PATIENCE = 20.0
"""Seconds that one is given which is told something, however busy the machine is."""
TRY = """
import errno, socket, sys
kind = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}[sys.argv[1]]
tried = socket.socket(socket.AF_INET, kind)
tried.settimeout(float(sys.argv[3]))
try:
    tried.connect((sys.argv[2], 80))
    if kind == socket.SOCK_DGRAM:
        tried.send(b"x")
        tried.recv(9)
    print("OK")
except TimeoutError:
    print("ETIMEDOUT")
except OSError as error:
    print(errno.errorcode[error.errno])
"""
ERRNO: dict[str, Result] = {
    "OK": Ending.OK, "ETIMEDOUT": FailureKind.TIMEOUT, "ECONNREFUSED": FailureKind.REFUSED,
    "EPERM": FailureKind.NOT_PERMITTED, "EHOSTUNREACH": FailureKind.NO_ROUTE_TO_HOST,
    "ENETUNREACH": FailureKind.NETWORK_UNREACHABLE, "EACCES": FailureKind.ACCESS_DENIED,
    "EINVAL": FailureKind.INVALID_ARGUMENT, "ENOPROTOOPT": FailureKind.UNREACHABLE,
}  # fmt: skip


class Row(NamedTuple):
    """One way to break it."""

    way: PacketEnd
    where: str
    command: str


ROWS = (
    Row(PacketEnd.LOST, ROUTER, "sysctl -qw net.ipv4.ip_forward=0"),
    Row(PacketEnd.LOST, ROUTER, "iptables -A FORWARD -j DROP"),
    Row(PacketEnd.LOST, SERVER, "iptables -A INPUT -j DROP"),
    Row(PacketEnd.LOST, SERVER, "ip route del default"),
    Row(PacketEnd.LOST, ROUTER, f"ip route add blackhole {TARGET}/32"),
    Row(PacketEnd.NO_NEIGHBOUR, ROUTER, "sysctl -qw net.ipv4.conf.a0.rp_filter=1; ip route add "
                                        "10.1.0.2/32 dev b0"),
    Row(PacketEnd.NO_NEIGHBOUR, CLIENT, f"ip route add {TARGET}/32 via 10.1.0.9"),
    Row(PacketEnd.NO_NEIGHBOUR, ROUTER, f"ip route add {TARGET}/32 via 10.2.0.9"),
    Row(PacketEnd.DROPPED_BY_SENDER, CLIENT, "iptables -A OUTPUT -j DROP"),
    Row(PacketEnd.DROPPED_BY_SENDER, CLIENT, "iptables -t mangle -A POSTROUTING -j DROP"),
    *(
        Row(PacketEnd.REJECTED_BY_SENDER, CLIENT, f"iptables -A OUTPUT -d {TARGET} -j REJECT "
                                                  f"--reject-with {answer}")
        for answer in ("icmp-port-unreachable", "icmp-host-unreachable", "icmp-net-unreachable", "icmp-admin-prohibited")  # noqa: E501
    ),
    Row(PacketEnd.REJECTED_BY_SENDER, CLIENT, "iptables -A OUTPUT -j REJECT"),
    Row(PacketEnd.PORT_UNREACHABLE, ROUTER, "iptables -A FORWARD -j REJECT"),
    Row(PacketEnd.HOST_UNREACHABLE, ROUTER, "iptables -A FORWARD -j REJECT --reject-with "
                                            "icmp-host-unreachable"),
    Row(PacketEnd.NET_UNREACHABLE, ROUTER, "iptables -A FORWARD -j REJECT --reject-with "
                                           "icmp-net-unreachable"),
    Row(PacketEnd.HOST_PROHIBITED, ROUTER, "iptables -A FORWARD -j REJECT --reject-with "
                                           "icmp-host-prohibited"),
    Row(PacketEnd.HOST_PROHIBITED, SERVER, "iptables -A INPUT -j REJECT --reject-with "
                                           "icmp-admin-prohibited"),
    Row(PacketEnd.NET_PROHIBITED, ROUTER, "iptables -A FORWARD -j REJECT --reject-with "
                                          "icmp-net-prohibited"),
    Row(PacketEnd.PROTOCOL_UNREACHABLE, ROUTER, "iptables -A FORWARD -j REJECT --reject-with "
                                                "icmp-proto-unreachable"),
    Row(PacketEnd.TTL_EXCEEDED, ROUTER, f"iptables -t mangle -A PREROUTING -d {TARGET} -j TTL "
                                        "--ttl-set 1"),
    Row(PacketEnd.NET_UNREACHABLE, ROUTER, "ip route del 10.2.0.0/24"),
    Row(PacketEnd.HOST_UNREACHABLE, ROUTER, f"ip route add unreachable {TARGET}/32"),
    Row(PacketEnd.HOST_PROHIBITED, ROUTER, f"ip route add prohibit {TARGET}/32"),
    Row(PacketEnd.OWN_NO_ROUTE, CLIENT, "ip route del default"),
    Row(PacketEnd.OWN_NO_ROUTE, CLIENT, "ip link set e0 down"),
    Row(PacketEnd.OWN_NO_ROUTE, CLIENT, f"ip rule add to {TARGET} unreachable"),
    Row(PacketEnd.OWN_UNREACHABLE, CLIENT, f"ip route add unreachable {TARGET}/32"),
    Row(PacketEnd.OWN_PROHIBIT, CLIENT, f"ip route add prohibit {TARGET}/32"),
    Row(PacketEnd.OWN_PROHIBIT, CLIENT, f"ip rule add to {TARGET} prohibit"),
    Row(PacketEnd.OWN_BLACKHOLE, CLIENT, f"ip route add blackhole {TARGET}/32"),
)  # fmt: skip
RESET = Row(PacketEnd.RESET, ROUTER, "iptables -A FORWARD -p tcp -j REJECT --reject-with tcp-reset")


def run(command: str, *, check: bool = True) -> str:
    """Run a command of the test; what it prints, errors included."""
    done = subprocess.run(  # noqa: S602
        command,
        shell=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def network() -> Iterator[None]:
    """Build the three namespaces, and take them down."""
    for netns in (CLIENT, ROUTER, SERVER):
        run(f"ip netns add {netns} && ip -n {netns} link set lo up")
    for end, near, subnet in ((CLIENT, "a0", "10.1.0"), (SERVER, "b0", "10.2.0")):
        run(f"ip -n {end} link add e0 type veth peer name {near} netns {ROUTER}")
        run(
            f"ip -n {end} address add {subnet}.2/24 dev e0 && ip -n {ROUTER} address add "
            f"{subnet}.1/24 dev {near}"
        )
        run(f"ip -n {end} link set e0 up && ip -n {ROUTER} link set {near} up")
        run(f"ip -n {end} route add default via {subnet}.1")
    settings = (
        "net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv4.conf.all.rp_filter=0 "
        "net.ipv4.conf.a0.rp_filter=0"
    )
    run(f"ip netns exec {ROUTER} sysctl -qw {settings}")
    for netns, device in ((CLIENT, "e0"), (ROUTER, "a0"), (ROUTER, "b0"), (SERVER, "e0")):
        hasty = f"net.ipv4.neigh.{device}.retrans_time_ms=100"  # it gives up after three
        run(f"ip netns exec {netns} sysctl -qw {hasty}")
    yield
    for netns in (CLIENT, ROUTER, SERVER):
        run(f"ip netns delete {netns}", check=False)


def try_all(expected: Mapping[int, Collection[Result]]) -> dict[int, Result]:
    """Try TCP, UDP and ping side by side; what each is told."""
    inside = ["ip", "netns", "exec", CLIENT]
    waits = {
        protocol: str(PATIENCE if FailureKind.TIMEOUT in felt else LONG_PATIENCE)
        for protocol, felt in expected.items()
    }
    commands = (
        [sys.executable, "-c", TRY, "tcp", TARGET, waits[protocols.TCP]],
        [sys.executable, "-c", TRY, "udp", TARGET, waits[protocols.UDP]],
        ["ping", "-c1", f"-W{waits[protocols.ICMP]}", TARGET],
    )
    started = [
        subprocess.Popen(
            [*inside, *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) for command in commands
    ]  # fmt: skip
    tcp, udp, ping = (process.communicate(timeout=120)[0] for process in started)
    answered = " 0% packet loss" in ping
    told = Ending.OK if answered else parse_result(ping) or FailureKind.TIMEOUT
    return {
        protocols.TCP: ERRNO[tcp.strip()],
        protocols.UDP: ERRNO[udp.strip()],
        protocols.ICMP: told,
    }


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row.way.name}: {row.where.rpartition('-')[2]}: {row.command}"
)
def test_a_row_is_felt_as_the_table_says(row: Row) -> None:
    """The kernel tells each protocol's program what the table says, and nothing else."""
    run(f"ip netns exec {row.where} sh -c '{row.command}'")

    told = try_all(FELT[row.way])

    assert {} == {
        protocol: kind.value
        for protocol, kind in told.items()
        if kind not in FELT[row.way][protocol]
    }


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("command", ["true", RESET.command])
def test_a_reset_refuses_tcp_alone(command: str) -> None:
    """A port on which nobody listens, and a reset, refuse TCP; a datagram is refused by the server,
    and a ping answered.
    """
    run(f"ip netns exec {RESET.where} sh -c '{command}'")

    refused = FELT[PacketEnd.PORT_UNREACHABLE]
    told = try_all({**refused, protocols.ICMP: {Ending.OK}})

    assert FELT[PacketEnd.RESET][protocols.TCP] == {told[protocols.TCP]}
    assert told[protocols.UDP] in refused[protocols.UDP]
    assert told[protocols.ICMP] is Ending.OK
