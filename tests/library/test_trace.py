"""Traces by the library."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from podpath.collect.namespaces import find_namespaces
from podpath.collect.snapshot import collect_bundle
from podpath.datapath.tracing.trace import Transmitted
from podpath.diagnosis.forbids import RestsOnInference
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.trace import EXIT_CODES, UNDECIDED, TraceResult, trace
from tests.clusters import RECORDED
from tests.collect.machines import PREFIX, Machine, add_netns, ip
from tests.library.samples import NO_FORWARDING, PROBE, RP_FILTER


def test_verdict_follows_the_walk() -> None:
    """A node that does not forward drops the SYN; the exit code says so."""
    result = trace(NO_FORWARDING, PROBE)

    assert ("NEVER", 1) == (result.verdict, result.exit_code)
    assert "SYN" == result.branches[0].traces[0].name


def test_what_nobody_knows_is_undecided() -> None:
    """Every verdict has an exit code, also one that is new."""
    result = trace(Pasted("10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1\n"), PROBE)

    assert result.exit_code == EXIT_CODES.get(result.verdict, UNDECIDED)
    assert isinstance(result, TraceResult)
    assert result.gaps == ()


@pytest.mark.parametrize("node", ["node1", "node2"])
def test_what_a_tunnel_carries_to_a_node_without_evidence_is_undecided(node: str) -> None:
    """No packet is said to go astray, and none to arrive."""
    bundle, probe = str(RECORDED / f"{node}.tar.gz"), "tcp 10.244.1.2 > 10.244.0.3:8080"
    result, answer = trace(bundle, probe), diagnose(bundle, [probe])

    assert answer.exit_code == UNDECIDED
    assert (result.verdict, result.exit_code) == ("UNDECIDED", UNDECIDED)
    assert [RestsOnInference] == [type(each) for each in result.forbids]


SHORT = (
    "$ ip -br addr\neth0             UP             192.168.50.11/24\n"
    "$ ip route\ndefault via 192.168.50.1 dev eth0\n"
)
SHOWN = "$ ip link\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n"
LONG = "udp 192.168.50.11 > 8.8.8.8:53 from host size 1600 df"


def test_an_mtu_that_no_output_shows_decides_nothing() -> None:
    """Ethernet's is taken, and the device may have another."""
    guessed, stated = trace(Pasted(SHORT), LONG), trace(Pasted(SHORT + SHOWN), LONG)

    assert ("UNDECIDED", "NEVER") == (guessed.verdict, stated.verdict)


@pytest.mark.parametrize(
    "probe",
    [
        "tcp 10.88.5.16 > 10.88.5.61:9187",
        "tcp 10.88.5.61 > 10.88.5.16:80",
        "tcp 10.88.5.203 > 10.88.5.16:80",
        "tcp 10.88.5.61 > 10.88.2.16:80",
        "tcp 10.88.5.203 > 10.88.2.16:80",
    ],
)
def test_an_address_that_nothing_shows_is_not_said_to_fail(probe: str) -> None:
    """Which device a pod has that no output shows, and which node, is not known: nothing drops its
    packets for certain, and what would tell is asked for.
    """
    result = trace(RP_FILTER / "bundle", probe)

    assert ("UNDECIDED", UNDECIDED) == (result.verdict, result.exit_code)
    assert "  next: " in result.text()


def test_a_device_that_nothing_shows_refuses_nothing_for_certain() -> None:
    """The reverse-path filter goes by the device that a packet comes in on: it is named as what the
    walk rests on.
    """
    (forbids,) = trace(RP_FILTER / "bundle", "tcp 10.88.5.16 > 10.88.5.61:9187").forbids

    assert isinstance(forbids, RestsOnInference)
    assert "does not come in on the device of the route back" in forbids.guesses[0].why
    assert forbids.guesses[0].ask == "tcpdump -eni any host 10.88.5.16"


@pytest.mark.kernel("ip", "ping")
def test_an_answer_by_a_second_uplink_that_is_a_veth_arrives(tmp_path: Path) -> None:
    """What comes in on one cable and is answered on another is one client's, as it really is."""
    client = f"{PREFIX}-c"
    with Machine(nodes=("a",), pods=0) as machine, ExitStack() as stack:
        node, wire = machine.nodes[0], machine.wire
        add_netns(stack, client)
        ip("addr", "add", "192.0.2.254/24", "dev", "switch", netns=wire)
        for name, far, addresses in (
            ("eth1", node, ("198.51.100.254/24", "198.51.100.1/24")),
            ("eth0", client, ("203.0.113.254/24", "203.0.113.5/24")),
        ):
            port = f"to{name}"
            ip("link", "add", port, "type", "veth", "peer", name, "netns", far, netns=wire)
            for netns, device, address in ((wire, port, addresses[0]), (far, name, addresses[1])):
                ip("link", "set", device, "up", netns=netns)
                ip("addr", "add", address, "dev", device, netns=netns)
        ip("route", "add", "default", "via", "203.0.113.254", netns=client)
        ip("route", "add", "203.0.113.0/24", "via", "198.51.100.254", netns=node)
        for place, key in ((wire, "ip_forward=1"), (node, "conf.eth0.rp_filter=0")):
            words = ("sysctl", "-qw", f"net.ipv4.{key}", "net.ipv4.conf.all.rp_filter=0")
            subprocess.run(("ip", "netns", "exec", place, *words), check=True)
        ping = ("ip", "netns", "exec", client, "ping", "-c1", "-W5", "192.0.2.1")
        subprocess.run(ping, check=True, capture_output=True)
        bundle = tmp_path / "node.tar.gz"
        collect_bundle(bundle, find_namespaces(node=node), now=0, logs=False)

    result = trace(str(bundle), "icmp 203.0.113.5 > 192.0.2.1 in eth0")
    (left,) = [each.outcome for each in result.branches[0].traces[1:]]
    assert isinstance(left, Transmitted)
    assert left.link == "eth1"
    assert result.verdict == "ALWAYS"
