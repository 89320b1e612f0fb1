"""What the kernel counted speaks for a cause, or against it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from podpath.checks.finding import Finding, Severity
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Trace
from podpath.diagnosis.counters import TELLTALES, add_counters
from podpath.net.provenance import Known
from podpath.node.node import HOST, Node
from podpath.report.claims import spell_link
from podpath.testing.nodes import ip, probe
from tests.checks.nodes import netns, node, span
from tests.command import podpath
from tests.diagnosis import scenes
from tests.diagnosis.test_repairs import cause_of
from tests.diagnosis.test_repairs import node as repaired


def host(**counters: int) -> Node:
    """Make a node whose kernel counted."""
    facts = {name: Known(value, span(f"{name} {value}")) for name, value in counters.items()}
    return node(replace(netns(), counters=facts))


def finding(check: str, certainty: float = 1.0, severity: Severity = Severity.CAUSE) -> Finding:
    """Make a finding."""
    return Finding(check=check, severity=severity, claim=check, evidence=(), certainty=certainty)


def test_a_counter_that_grew_is_evidence() -> None:
    """It is told and quoted."""
    (told,) = add_counters([finding("rp-filter")], host(TcpExtIPReversePathFilter=12))
    assert told.reasoning == ("The kernel counts it: TcpExtIPReversePathFilter is 12.",)
    assert [each.text for each in told.evidence] == ["TcpExtIPReversePathFilter 12"]
    assert told.certainty == 1


def test_possible_causes_are_weighed_by_what_was_counted() -> None:
    """The one whose packets were counted comes first; all shares together stay what they were."""
    possible = [finding("br-netfilter", 0.4), finding("no-route", 0.3), finding("rp-filter", 0.1)]
    told = add_counters(
        possible, host(TcpExtIPReversePathFilter=3, IpExtInNoRoutes=0, IpOutNoRoutes=0)
    )
    assert [each.check for each in told] == ["br-netfilter", "rp-filter", "no-route"]
    assert sum(each.certainty for each in told) == pytest.approx(0.8, abs=0.01)
    assert "Counting against it: IpExtInNoRoutes and IpOutNoRoutes are 0." in told[2].reasoning


def test_a_fault_that_nothing_met_yet_is_one_all_the_same() -> None:
    """A counter of 0 is no word against it, and what is not counted changes nothing."""
    assert (
        add_counters([finding("vxlan-mtu", severity=Severity.FAULT)], host(IpFragFails=0))[
            0
        ].reasoning
        == ()
    )
    assert add_counters([finding("chain-order")], host(IpFragFails=7)) == (finding("chain-order"),)


def test_only_the_namespace_that_dropped_it_counts() -> None:
    """What another namespace counted is of other packets, and IPv6 has counters of its own."""
    bad = scenes.cilium_node(scenes.known(scenes.GOOD), rp_filter="1")
    (branch, *_) = converse(
        bad, probe(f"tcp {scenes.POD} > {scenes.OUTSIDE}:80"), deviations=0
    ).branches
    counted = {"TcpExtIPReversePathFilter": Known(5, span("TcpExtIPReversePathFilter 5"))}
    shown = replace(finding("rp-filter"), shown_by=branch)
    last = branch.traces[-1]
    six = replace(
        branch,
        traces=(replace(last, packet=last.packet._replace(src=ip("fd00::1"), dst=ip("fd00::2"))),),
    )

    def told(netns: str, one: Finding) -> tuple[str, ...]:
        namespaces = {**bad.namespaces, netns: replace(bad.namespaces[netns], counters=counted)}
        return tuple(
            map(spell_link, add_counters([one], replace(bad, namespaces=namespaces))[0].reasoning)
        )

    assert last.deciding.netns == HOST
    assert told(HOST, shown) == ("The kernel counts it: TcpExtIPReversePathFilter is 5.",)
    assert [told(name, shown) for name in bad.namespaces if name != HOST] == [()]
    assert told(HOST, replace(shown, shown_by=six)) == ()


SEND, ROUTER, FAR = (f"pct{letter}-{os.getpid()}" for letter in "abc")
SETUP = (
    f"ip netns add {SEND}", f"ip netns add {ROUTER}", f"ip netns add {FAR}",
    f"ip link add a0 netns {SEND} type veth peer name r0 netns {ROUTER}",
    f"ip link add c0 netns {FAR} type veth peer name r1 netns {ROUTER}",
    f"ip -n {SEND} addr add 10.61.0.2/24 dev a0", f"ip -n {ROUTER} addr add 10.61.0.1/24 dev r0",
    f"ip -n {ROUTER} addr add 10.62.0.1/24 dev r1", f"ip -n {FAR} addr add 10.62.0.2/24 dev c0",
    f"ip -n {SEND} link set a0 up", f"ip -n {ROUTER} link set r0 up",
    f"ip -n {ROUTER} link set r1 mtu 1300 up", f"ip -n {FAR} link set c0 up",
    f"ip -n {SEND} route add default via 10.61.0.1",
    f"ip netns exec {ROUTER} sysctl -qw net.ipv4.ip_forward=1",
)  # fmt: skip
TRIED = {
    "routing-loop": ((), SEND, "ping -c 1 -W 1 -t 1 10.62.0.2"),
    "packet-size": ((), SEND, "ping -c 1 -W 1 -M do -s 1400 10.62.0.2"),
    "path-mtu-black-hole": ((), SEND, "ping -c 1 -W 1 -M do -s 1400 10.62.0.2"),
    "vxlan-mtu": ((), SEND, "ping -c 1 -W 1 -M do -s 1400 10.62.0.2"),
    "no-route": ((), SEND, "ping -c 1 -W 1 203.0.113.9"),
    "rp-filter": (
        (
            f"ip netns exec {SEND} ping -c 1 -W 1 10.61.0.1",
            f"ip netns exec {ROUTER} sysctl -qw net.ipv4.conf.all.rp_filter=1",
            f"ip -n {SEND} addr add 10.62.0.9/32 dev a0",
        ),
        SEND, "ping -c 1 -W 1 -I 10.62.0.9 10.62.0.2",
    ),
    "ip-forward": (
        (f"ip netns exec {ROUTER} sysctl -qw net.ipv4.ip_forward=0",), SEND,
        "ping -c 1 -W 1 10.62.0.2",
    ),
}  # fmt: skip
"""By fault: what is set, who sends, and what the router then has to count."""


@pytest.fixture
def router() -> Iterator[Callable[[], dict[str, int]]]:
    """Make a router between two hosts, and give what reads its counters."""

    def count() -> dict[str, int]:
        said = subprocess.run(
            ["ip", "netns", "exec", ROUTER, "nstat", "-asjz"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        counters: dict[str, int] = json.loads(said)["kernel"]
        return counters

    try:
        for command in SETUP:
            subprocess.run(command.split(), check=True)
        yield count
    finally:
        for name in (SEND, ROUTER, FAR):
            subprocess.run(["ip", "netns", "del", name], check=False)


@pytest.mark.kernel("ip", "nstat", "ping", "sysctl")
@pytest.mark.parametrize("check", TELLTALES)
def test_the_kernel_counts_what_a_fault_takes(
    router: Callable[[], dict[str, int]], check: str
) -> None:
    """One of the fault's counters grows on the node that takes the packet, and grew for nothing
    before.
    """
    commands, sender, ping = TRIED[check]
    for command in commands:
        subprocess.run(command.split(), check=True, stdout=subprocess.DEVNULL)
    before = router()
    subprocess.run(["ip", "netns", "exec", sender, *ping.split()], capture_output=True, check=False)
    after = router()

    assert {name for name in TELLTALES[check] if after[name] > before[name]}


@pytest.mark.kernel("ip", "nstat", "ping", "sysctl")
def test_an_arp_request_that_the_filter_refuses_counts_nothing(
    router: Callable[[], dict[str, int]],
) -> None:
    """It is dropped before IP (net/ipv4/arp.c:arp_process v6.12), so a counter of 0 says nothing of
    that.
    """
    for command in TRIED["rp-filter"][0][1:]:
        subprocess.run(command.split(), check=True, stdout=subprocess.DEVNULL)
    before = router()
    subprocess.run(
        ["ip", "netns", "exec", *f"{SEND} {TRIED['rp-filter'][2]}".split()],
        capture_output=True,
        check=False,
    )

    assert router()["TcpExtIPReversePathFilter"] == before["TcpExtIPReversePathFilter"]


@pytest.mark.kernel("ip", "nstat", "ping", "sysctl")
def test_nothing_counts_where_a_packet_passes(router: Callable[[], dict[str, int]]) -> None:
    """What is forwarded as it should be grows none of these counters."""
    subprocess.run([*f"ip -n {FAR} route add default via 10.62.0.1".split()], check=True)
    before = router()
    sent = subprocess.run(
        ["ip", "netns", "exec", SEND, "ping", "-c", "1", "-W", "2", "10.62.0.2"],
        capture_output=True,
        check=False,
    )
    after = router()

    assert sent.returncode == 0
    assert {
        name for names in TELLTALES.values() for name in names if after[name] > before[name]
    } == set()


@pytest.mark.kernel("ip", "nstat", "ping")
def test_this_kernel_has_every_counter() -> None:
    """Named as nstat names them, zeros included."""
    said = subprocess.run(["nstat", "-asz"], capture_output=True, text=True, check=True).stdout
    assert {name for names in TELLTALES.values() for name in names} <= {
        line.split()[0] for line in said.splitlines()
    }


def test_the_counter_of_an_incident_is_quoted(repository: Path) -> None:
    """The kernel counted what the filter dropped when the incident was recorded."""
    said = podpath(
        "diagnose", "--verbose", repository / "examples/incidents/rp-filter-reset/bundle"
    ).stdout
    assert "The kernel counts it: TcpExtIPReversePathFilter is 12." in said
    assert '"TcpExtIPReversePathFilter": 12,' in said


def test_counters_are_those_of_where_the_last_packet_ended() -> None:
    """The host's say nothing of what a pod's namespace dropped."""
    shown = replace(finding("rp-filter"), shown_by=Branch(assumptions=(), traces=(), works=False))
    at_host, in_pod = (
        cause_of(repaired("FORWARD -j DROP")).trace,
        cause_of(repaired("OUTPUT -j DROP", at="pod")).trace,
    )
    counting = host(TcpExtIPReversePathFilter=12)

    def told(*traces: Trace) -> tuple[str, ...]:
        ended = replace(shown, shown_by=Branch(assumptions=(), traces=traces, works=False))
        (weighed,) = add_counters([ended], counting)
        return tuple(map(str, weighed.reasoning))

    assert told(in_pod, at_host)
    assert not told(at_host, in_pod)
