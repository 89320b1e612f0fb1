"""Traces by the library."""

from __future__ import annotations

import pytest

from podpath.diagnosis.forbids import RestsOnInference
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.trace import EXIT_CODES, UNDECIDED, TraceResult, trace
from tests.clusters import RECORDED
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
