"""Guests of another manager that lost their network with Docker."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.engine_drops_guests import LIKELY, check
from tests.checks.pasted import ticket_of

GUESTS = "The libvirt guests have no internet since Docker was installed on the host."
POLICY = "\n\n```\n# iptables -S FORWARD\n-P FORWARD {}\n```\n"


def certainties(text: str) -> list[float]:
    """Return how sure each finding is."""
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    "text",
    [
        GUESTS,
        GUESTS + POLICY.format("DROP"),
        "My Incus containers cannot reach the internet. If I stop docker it works again.",
        "Since docker runs on the Proxmox host, no guest has IPv4 any more, IPv6 still works.",
    ],
)
def test_guests_lost_their_network_with_docker(text: str) -> None:
    """It is possible; the counter of FORWARD's policy settles it."""
    assert [LIKELY] == certainties(text)


@pytest.mark.parametrize(
    "text",
    [
        GUESTS + POLICY.format("ACCEPT"),
        "The libvirt guests have no internet. Docker is installed, too.",
        "Since I installed Docker on the new server, containers cannot reach the internet.",
    ],
    ids=["accepts", "since-when", "dockers-own"],
)
def test_others_are_not_blamed_on_docker(text: str) -> None:
    """FORWARD accepts, nobody says that it came with Docker, or what fails is Docker's own."""
    assert [] == certainties(text)
