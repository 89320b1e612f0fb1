"""Random state of a real network namespace, printed by the real tools as text and as JSON: both are
read, and read alike.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from podpath.evidence.node_records import LinkRecord, PolicyRuleRecord, RouteRecord
from podpath.evidence.records import Record
from podpath.net.provenance import Source
from tests.evidence.consoles import read, stated, uncovered

pytestmark = pytest.mark.kernel("bridge")
DEVICES = ("pp0", "pp1", "pp2")
TYPES = ("unicast", "unicast", "unicast", "blackhole", "unreachable", "prohibit", "throw", "local")


@pytest.fixture(params=range(3))
def netns(request: pytest.FixtureRequest) -> Iterator[str]:
    """Provide a namespace with random addresses, routes, rules and neighbours."""
    name = f"ppev-{os.getpid()}"
    choices = random.Random(request.param)
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        # Nothing changes between two listings: an address that is being probed for stays tentative.
        quiet = ["sysctl", "-q", "-w", "net.ipv6.conf.default.accept_dad=0"]
        subprocess.run(["ip", "netns", "exec", name, *quiet], check=True)
        commands = [
            *devices(),
            *(address(choices) for _ in range(8)),
            *(route(choices) for _ in range(40)),
        ]
        commands += [rule(choices, priority) for priority in range(100, 140)] + [
            neighbour(choices) for _ in range(10)
        ]
        for command in commands:
            # A line that clashes with an earlier one is refused, and is then not there for either
            # form to print.
            subprocess.run(["ip", "-n", name, *command], capture_output=True, check=False)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def devices() -> Iterator[list[str]]:
    """Make a bridge with a port, and a pair of veths."""
    yield from (
        ["link", "set", "lo", "up"],
        ["link", "add", "pp0", "type", "bridge"],
        ["link", "set", "pp0", "up"],
    )
    yield ["link", "add", "pp1", "type", "veth", "peer", "name", "pp2"]
    yield from (
        ["link", "set", "pp1", "master", "pp0"],
        ["link", "set", "pp1", "up"],
        ["link", "set", "pp2", "up"],
    )
    yield ["link", "set", "pp1", "type", "bridge_slave", "hairpin", "on", "isolated", "on"]


def numbers(choices: random.Random) -> str:
    """Return an address of the test's own range."""
    return f"10.{choices.randrange(256)}.{choices.randrange(256)}.{choices.randrange(1, 255)}"


def address(choices: random.Random) -> list[str]:
    """Return the words of an address."""
    peer = ["peer", numbers(choices)] if choices.random() < 0.2 else []
    return [
        "addr",
        "add",
        f"{numbers(choices)}/{choices.choice((8, 16, 24, 32))}",
        *peer,
        "dev",
        choices.choice(DEVICES),
    ]


def route(choices: random.Random) -> list[str]:
    """Return the words of a route."""
    kind = choices.choice(TYPES)
    words = ["route", "add", kind, f"{choices.randrange(11, 220)}.{choices.randrange(256)}.0.0/16"]
    for name, values in (
        ("table", (7, 254, 1000)),
        ("metric", (1, 99)),
        ("proto", ("static", "dhcp")),
        ("tos", ("0x10", "0x08")),
    ):
        words += [name, str(choices.choice(values))] if choices.random() < 0.3 else []
    if kind == "unicast" and choices.random() < 0.3:
        hops = [
            [
                "nexthop",
                "via",
                numbers(choices),
                "dev",
                dev,
                "onlink",
                "weight",
                str(choices.randrange(1, 9)),
            ]
            for dev in DEVICES
        ]
        return words + [word for hop in hops for word in hop]
    if kind == "unicast":
        words += ["via", numbers(choices), "onlink"] if choices.random() < 0.5 else []
        words += ["mtu", "1400"] if choices.random() < 0.2 else []
    return words + (["dev", choices.choice(DEVICES)] if kind in {"unicast", "local"} else [])


def rule(choices: random.Random, priority: int) -> list[str]:
    """Return the words of a policy rule."""
    words = ["rule", "add"] + (["not"] if choices.random() < 0.2 else [])
    selectors = (
        ["from", f"{numbers(choices)}/{choices.choice((8, 24, 32))}"],
        ["to", numbers(choices)],
        ["iif", choices.choice((*DEVICES, "gone"))],
        ["oif", choices.choice(DEVICES)],
        ["fwmark", f"{choices.randrange(1, 1 << 16):#x}/{choices.choice((0xFFFF, 0xF0FF)):#x}"],
        ["ipproto", choices.choice(("tcp", "udp", "icmp", "47"))],
        ["sport", "1000-2000"],
        ["dport", "443"],
        ["uidrange", "0-99"],
        ["tos", "0x10"],
    )
    for selector in choices.sample(selectors, choices.randrange(4)):
        words += selector
    action = choices.choice(
        (
            ["lookup", "7"],
            ["lookup", "main", "suppress_prefixlength", "0"],
            ["prohibit"],
            ["goto", "32766"],
            ["nop"],
        )
    )
    return [*words, *action, "pref", str(priority)]


def neighbour(choices: random.Random) -> list[str]:
    """Return the words of a neighbour."""
    mac = ":".join(f"{choices.randrange(256) & 0xFE:02x}" for _ in range(6))
    return [
        "neigh",
        "add",
        numbers(choices),
        "lladdr",
        mac,
        "dev",
        choices.choice(DEVICES),
        "nud",
        choices.choice(("permanent", "noarp")),
    ]


def listing(netns: str, *command: str) -> Source:
    """Return what a tool prints in the namespace."""
    done = subprocess.run(
        ["ip", "netns", "exec", netns, *command], capture_output=True, text=True, check=True
    )
    return Source(name="live", lines=tuple(done.stdout.splitlines()), command=" ".join(command))


def comparable(record: Record) -> Record:
    """Leave out what iproute2 says in one form only."""
    if isinstance(record, RouteRecord):
        return replace(record, mtu_locked=False)
    return replace(record, peer_netns=None) if isinstance(record, LinkRecord) else record


@pytest.mark.parametrize(
    "command",
    [
        "ip {} link",
        "ip {} addr",
        "ip {} route",
        "ip {} route show table all",
        "ip {} route show table 7",
        "ip {} rule",
        "ip {} neigh",
        "bridge {} fdb",
        "bridge {} link",
    ],
)
def test_text_and_json_are_read_alike(netns: str, command: str) -> None:
    """Every line is accounted for, nothing is a gap, and both forms state the same."""
    for options in (("", "-j"), ("-d", "-d -j"), ("-d", "-d -j -p")):
        text, structured = (listing(netns, *command.format(option).split()) for option in options)
        one, other = read(text), read(structured)
        assert ([], []) == (uncovered(text, one), uncovered(structured, other))
        assert ((), ()) == (one.gaps, other.gaps)
        assert [stated(comparable(record)) for record in one.records] == [
            stated(comparable(record)) for record in other.records
        ]


def test_every_rule_and_route_is_there(netns: str) -> None:
    """As many are read as the kernel holds lines for."""
    rules, routes = (
        listing(netns, "ip", "-o", "rule"),
        listing(netns, "ip", "-o", "route", "show", "table", "all"),
    )

    assert min(len(rules.lines), len(routes.lines)) > 30
    assert len(rules.lines) == sum(
        isinstance(record, PolicyRuleRecord) for record in read(rules).records
    )
    assert len(routes.lines) == sum(
        isinstance(record, RouteRecord) for record in read(routes).records
    )
