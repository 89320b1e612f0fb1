"""Ports of a bridge that send no frame back."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.netfilter.hairpin_off import check
from tests.checks.pasted import ticket_of

ITSELF = "Pods cannot connect to themselves through the address of their service."


def findings(said: str = ITSELF, values: str = "0 0 0", flags: str = "") -> list[Finding]:
    """Return what is found in a ticket with the ports of a bridge, set off by indentation."""
    bits = "\n".join(f"    {value}" for value in values.split())
    shown = f"```\n$ ip link\n3: docker0: <BROADCAST{flags},UP> mtu 1500\n```\n" if flags else ""
    text = (
        f"{said}\n\nOn the node:\n\n    cat /sys/devices/virtual/net/docker0/brif/veth*/"
        f"hairpin_mode\n{bits}\n\n{shown}"
    )
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(
    "said",
    [
        ITSELF,
        "A container cannot reach its own published port.",
        "The pod can be reached by others, but the pod cannot call itself by its service.",
    ],
)
def test_a_workload_that_calls_itself(said: str) -> None:
    """The first port and the sentence are quoted; that the bridge is promiscuous is not shown."""
    (finding,) = findings(said)

    assert (0.9, 2) == (finding.certainty, len(finding.evidence))


def test_a_bridge_that_is_not_promiscuous_makes_it_certain() -> None:
    """Then nothing else sends the frame back."""
    (finding,) = findings(flags=",MULTICAST")

    assert 1.0 == finding.certainty


@pytest.mark.parametrize(
    ("said", "values", "flags"),
    [
        (ITSELF, "1 1 1", ""),
        (ITSELF, "0 1 0", ""),
        (ITSELF, "0 0 0", ",PROMISC"),
        ("Pods cannot reach the Internet.", "0 0 0", ""),
        ("Pods are refused when they connect to themselves.", "0 0 0", ""),
    ],
)
def test_ports_in_hairpin_mode_and_other_complaints(said: str, values: str, flags: str) -> None:
    """A healthy bridge, a promiscuous one, another connection, and a refusal."""
    assert not findings(said, values, flags)


@pytest.mark.parametrize(
    "others",
    [
        "Other pods reach the same service, that works.",
        "Connections from elsewhere to the service work.",
        "The load balancer answers everybody else.",
    ],
)
def test_a_service_that_works_for_others_makes_it_certain(others: str) -> None:
    """Rules and endpoints are right then: the way back by the same port is what is left."""
    assert [1.0] == [one.certainty for one in findings(f"{ITSELF} {others}")]


@pytest.mark.parametrize(
    ("said", "line", "certainties"),
    [
        (
            f"{ITSELF} It works while tcpdump runs.",
            "device docker0 entered promiscuous mode",
            [1.0],
        ),
        (
            f"{ITSELF} As soon as I start capturing on the bridge, it works.",
            "[ 88.1] device cni0 entered promiscuous mode",
            [1.0],
        ),
        (
            (
                "A pod cannot reach its own service. Strange: during a capture everything is fine, "
                "with tcpdump it works."
            ),
            "kernel: docker0: entered promiscuous mode",
            [1.0],
        ),
        (ITSELF, "device docker0 entered promiscuous mode", []),
        (f"{ITSELF} It works while tcpdump runs.", "device eth0 entered promiscuous mode", []),
        (
            "Pods cannot reach the Internet. It works while tcpdump runs.",
            "device docker0 entered promiscuous mode",
            [],
        ),
    ],
)
def test_a_bridge_that_is_promiscuous_during_a_capture(
    said: str, line: str, certainties: list[float]
) -> None:
    """Then a frame goes back by its port; without such words, or on a card, it says nothing."""
    found = check(ticket_of(f"{said}\n\n```\n{line}\n```\n"))

    assert certainties == [one.certainty for one in found]


MAPPED = "iptables -t nat -A PREROUTING -d 192.0.2.7 -j DNAT --to-destination 172.17.0.2"
OWN = "The container can ping all other public addresses, but not its own."


@pytest.mark.parametrize(
    ("said", "rule", "certainties"),
    [
        (OWN, MAPPED, [0.8]),
        (ITSELF, MAPPED, [0.8]),
        (OWN, MAPPED.replace("-A", "-D"), []),
        (OWN, "iptables -t nat -A POSTROUTING -s 172.17.0.2 -j SNAT --to-source 192.0.2.7", []),
        ("The container cannot ping any public address.", MAPPED, []),
    ],
)
def test_a_rule_that_maps_an_address_to_who_asks(
    said: str, rule: str, certainties: list[float]
) -> None:
    """It is likely until an output shows the ports."""
    found = list(check(ticket_of(f"{said}\n\n```\n{rule}\n```\n")))

    assert certainties == [one.certainty for one in found]
    assert all(one.asks for one in found)


BEHIND = "The only pod behind a service cannot connect to that service."
WORKS = "Connections from elsewhere to the service work."


@pytest.mark.parametrize(
    ("said", "path", "values", "certainties"),
    [
        (f"{BEHIND} {WORKS}", "/sys/devices/virtual/net/*/brport/hairpin_mode", "0\n0", [1.0]),
        (BEHIND, "/sys/class/net/veth*/brport/hairpin_mode", "0\n0", [0.9]),
        (BEHIND, "/sys/class/net/veth*/brport/hairpin_mode", "0\n1", []),
        (
            "Pods behind a service cannot connect to the Internet.",
            "/sys/class/net/*/brport/hairpin_mode",
            "0",
            [],
        ),
        (BEHIND, "/sys/class/net/veth*/brport/learning", "0\n0", []),
    ],
)
def test_ports_whose_bridge_no_path_names(
    said: str, path: str, values: str, certainties: list[float]
) -> None:
    """A star in the place of the port names every bridge's ports."""
    case = ticket_of(f"{said}\n\n```\n$ cat {path}\n{values}\n```\n")

    assert certainties == [one.certainty for one in check(case)]


def test_another_bridge_that_is_promiscuous_leaves_it_out() -> None:
    """It may be that of the ports."""
    text = (
        f"{BEHIND}\n\n```\n$ cat /sys/class/net/*/brport/hairpin_mode\n0\n0\n$ ip link\n"
        "3: cbr0: <BROADCAST,PROMISC,UP> mtu 1500\n```\n"
    )

    assert not list(check(ticket_of(text)))
