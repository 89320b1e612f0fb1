"""What the kernel logged before it dropped it."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.logged_drop import check
from tests.checks.pasted import found, ticket_of


def test_a_containers_packet() -> None:
    """The device is a bridge of containers."""
    text = """
[UFW BLOCK] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == [
        (
            1.0,
            "[UFW BLOCK] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432",
        )
    ]


def test_the_worlds_noise() -> None:
    """Somebody outside tries the host's ports."""
    text = """
[UFW BLOCK] IN=eth0 OUT= SRC=203.0.113.9 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == []


def test_between_private_addresses() -> None:
    """It may be a node's packet."""
    text = """
[UFW BLOCK] IN=eth0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == [
        (
            0.6,
            "[UFW BLOCK] IN=eth0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432",
        )
    ]


def test_an_audit_line() -> None:
    """A rule that logs what it accepts."""
    text = """
[UFW ALLOW] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == []


ASKED = (
    "[UFW BLOCK] IN=eth0 OUT= MAC=fe:fd SRC={src} DST=203.0.113.9 LEN=100 TOS=0x00 TTL=23 ID=3 "
    "PROTO={protocol}"
)
PORTS = "TCP SPT=40000 DPT=8443 WINDOW=100"


@pytest.mark.parametrize(
    ("prose", "src", "protocol", "certainties"),
    [
        ("From 198.51.100.7 port 8443 gets no answer.", "198.51.100.7", PORTS, [1.0]),
        ("203.0.113.9:8443 times out.", "198.51.100.7", PORTS, [1.0]),
        ("IPv6 by the tunnel is dead, all of it is lost.", "198.51.100.7", "41", [1.0]),
        ("The GRE tunnel is dead, nothing arrives.", "198.51.100.7", "47", [1.0]),
        ("IPsec peers get no answer through the tunnel.", "198.51.100.7", "ESP", [1.0]),
        ("203.0.113.9:8443 times out.", "198.51.100.7", f"{PORTS} SYN URGP=0", [1.0]),
        ("203.0.113.9:8443 times out.", "198.51.100.7", f"{PORTS} ACK SYN URGP=0", [1.0]),
        ("203.0.113.9:8443 times out.", "198.51.100.7", f"{PORTS} ACK FIN URGP=0", []),
        ("203.0.113.9:8443 times out.", "198.51.100.7", f"{PORTS} RST URGP=0", []),
        ("IPv6 by the tunnel is dead, all of it is lost.", "198.51.100.7", "47", []),
        ("From 198.51.100.7 port 22 gets no answer.", "198.51.100.7", PORTS, []),
        ("Port 8443 of another server gets no answer.", "198.51.100.7", PORTS, []),
        ("Web pages time out.", "198.51.100.7", "41", []),
        ("The GRE tunnel works.", "198.51.100.7", "47", []),
    ],
)
def test_what_was_dropped_is_what_people_miss(
    prose: str, src: str, protocol: str, certainties: list[float]
) -> None:
    """Its address and port are those of the complaint, or it carries the tunnel that is lost; what
    scans a public address is dropped all day.
    """
    line = ASKED.format(src=src, protocol=protocol)
    findings = check(ticket_of(f"{prose}\n\n```\n{line}\n```\n"))

    assert certainties == [one.certainty for one in findings]


def test_csf_says_blocked() -> None:
    """Its prefix is a whole sentence."""
    line = (
        "kernel: Firewall: *TCP_IN Blocked* IN=docker0 OUT= SRC=172.17.0.2 DST=172.17.0.1 "
        "PROTO=TCP SPT=43122 DPT=3306"
    )

    assert [1.0] == [certainty for certainty, _ in found(check, f"\n{line}\n")]
