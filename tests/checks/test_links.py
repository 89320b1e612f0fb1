"""Faults of devices and neighbors: each is found where it is, and nothing where it only seems to
be.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Severity
from podpath.report.claims import spell_claim
from tests.checks.made_captures import (
    arp,
    case_of,
    faults,
    found,
    framed,
)
from tests.checks.nodes import address, netns, node
from tests.checks.scenes import bonded, findings, foreign_arp

HOST, PEER, ROUTER, STRANGER = (
    "02:00:00:00:00:01",
    "02:00:00:00:00:02",
    "02:00:00:00:00:03",
    "02:00:00:00:00:99",
)


def test_a_route_over_a_slave_is_found_where_it_wins() -> None:
    """The finding quotes the winning route first, and its repair deletes that route alone."""
    (found,) = findings(bonded(1002), "enslaved-route")
    assert found.evidence[0].text == "169.254.0.0/16 dev p1p1 metric 1002"
    assert found.repairs[0].commands == ("ip route del 169.254.0.0/16 dev p1p1 metric 1002",)
    assert found.severity == Severity.FAULT


def test_a_route_over_a_slave_that_loses_is_no_fault() -> None:
    """With a higher metric the slave's route decides nothing."""
    assert findings(bonded(1009), "enslaved-route") == []


def test_an_arp_with_a_foreign_mac_is_the_cause_of_lost_frames() -> None:
    """The finding names the route that made the host ask so, and the time that inbound frames were
    lost for.
    """
    (found,) = findings(foreign_arp(), "foreign-arp")
    assert found.severity == Severity.CAUSE
    assert "169.254.0.0/16" in spell_claim(found.claim)
    assert "29 s" in found.breaks[0]
    assert [repair.commands for repair in found.repairs] == [
        ("ip route del 169.254.0.0/16 dev p1p1 metric 1002",)
    ]


def test_arp_with_the_right_mac_is_no_finding() -> None:
    """A host that speaks with one MAC has nothing wrong."""
    case = foreign_arp()
    assert findings(replace(case, arps=case.arps[1:]), "foreign-arp") == []


def test_an_address_on_two_devices_is_found() -> None:
    """Loopback's service addresses may be elsewhere too."""
    twice = netns(addresses=[address("eth0", "10.0.0.1"), address("eth1", "10.0.0.1")])
    shared = netns(addresses=[address("lo", "10.0.0.1"), address("eth1", "10.0.0.1")])
    assert len(findings(node(twice), "duplicate-address")) == 1
    assert findings(node(shared), "duplicate-address") == []


def test_frames_with_a_foreign_mac_are_found_with_their_time() -> None:
    """Frames to an address with a MAC that it never speaks with are lost from the first until those
    with its own come again.
    """
    lines = (
        framed(0, f"{HOST} > {ROUTER}", "10.7.0.5.5000 > 10.7.0.9.53"),
        framed(0.1, f"{ROUTER} > {HOST}", "10.7.0.9.53 > 10.7.0.5.5000"),
        framed(5, f"{HOST} > {ROUTER}", "10.7.0.5.5000 > 10.7.0.9.53"),
        framed(5.1, f"{ROUTER} > {STRANGER}", "10.7.0.9.53 > 10.7.0.5.5000"),
        framed(6, f"{ROUTER} > {STRANGER}", "10.7.0.9.53 > 10.7.0.5.5000"),
        framed(30, f"{ROUTER} > {HOST}", "10.7.0.9.53 > 10.7.0.5.5000"),
    )
    (finding,) = found(case_of(*lines, command="tcpdump -enn -i eth0"), "wrong-mac")

    assert "from 10:00:05.100000 until 10:00:30.000000" in spell_claim(finding.claim)
    assert STRANGER in spell_claim(finding.claim)


def test_two_gateways_are_no_wrong_mac() -> None:
    """An address behind routers is spoken to by one and heard from another, all the time."""
    lines = tuple(
        line
        for after in (0.0, 1.0, 2.0)
        for line in (
            framed(after, f"{HOST} > {ROUTER}", "10.7.0.5.5000 > 192.0.2.9.53"),
            framed(after + 0.1, f"{PEER} > {HOST}", "192.0.2.9.53 > 10.7.0.5.5000"),
        )
    )

    assert faults(case_of(*lines, command="tcpdump -enn -i eth0")) == []


def test_two_machines_with_one_address_are_found() -> None:
    """Two MACs that answer one question are a duplicate address."""
    lines = (
        arp(0, f"{PEER} > ff:ff:ff:ff:ff:ff", "Request who-has 10.7.0.5 tell 10.7.0.9"),
        arp(0.001, f"{HOST} > {PEER}", f"Reply 10.7.0.5 is-at {HOST}"),
        arp(0.002, f"{STRANGER} > {PEER}", f"Reply 10.7.0.5 is-at {STRANGER}"),
    )
    (finding,) = found(case_of(*lines, command="tcpdump -enn -i eth0 arp"), "duplicate-address")

    assert HOST in spell_claim(finding.claim)
    assert STRANGER in spell_claim(finding.claim)


def test_mac_of_an_address_that_flaps_is_found() -> None:
    """An address whose MAC goes to and fro is told, with how often."""
    lines = tuple(
        arp(after, f"{mac} > ff:ff:ff:ff:ff:ff", "Request who-has 10.7.0.9 tell 10.7.0.5")
        for after, mac in enumerate((HOST, STRANGER, HOST, STRANGER))
    )
    (finding,) = found(case_of(*lines, command="tcpdump -enn -i eth0 arp"), "mac-flap")

    assert "changes 3 times" in spell_claim(finding.claim)


def moved(*, announced: bool) -> tuple[str, ...]:
    """Write an address that moves to another MAC, while its peer goes on sending to the old one."""
    news = (arp(5.0, f"{STRANGER} > ff:ff:ff:ff:ff:ff", "Request who-has 10.7.0.5 tell 10.7.0.5"),)
    return (
        arp(0, f"{HOST} > {PEER}", f"Reply 10.7.0.5 is-at {HOST}"),
        framed(1, f"{HOST} > {PEER}", "10.7.0.5.5000 > 10.7.0.9.53"),
        *(news if announced else ()),
        framed(5.1, f"{STRANGER} > {PEER}", "10.7.0.5.5000 > 10.7.0.9.53"),
        *(
            framed(
                6 + turn,
                f"{PEER} > {STRANGER if announced else HOST}",
                "10.7.0.9.53 > 10.7.0.5.5000",
            )
            for turn in range(3)
        ),
    )


def test_move_without_gratuitous_arp_is_found() -> None:
    """Frames that still go to the old MAC are lost, since nobody was told."""
    (finding,) = found(
        case_of(*moved(announced=False), command="tcpdump -enn -i eth0"), "gratuitous-arp"
    )

    assert "no gratuitous ARP is seen" in spell_claim(finding.claim)
    assert finding.severity == Severity.FAULT


def test_announced_move_is_a_note() -> None:
    """An address that moves and says so is worth knowing, and no fault."""
    case = case_of(*moved(announced=True), command="tcpdump -enn -i eth0")

    assert ["note"] == [finding.severity for finding in found(case, "gratuitous-arp")]
    assert "announces it" in spell_claim(found(case, "gratuitous-arp")[0].claim)
    assert faults(case) == []
