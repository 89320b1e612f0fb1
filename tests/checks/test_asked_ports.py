"""Which ports that people say fail may be the host's own."""

from __future__ import annotations

import pytest

from podpath.checks.asked_ports import list_asked_ports
from podpath.library.given import Pasted
from podpath.library.reading import read_together

OWN = "\n\n```\n$ ip -br addr\neth0  UP  192.0.2.5/24\n```\n"


def asked(text: str) -> list[tuple[int, bool]]:
    """Return the ports of a ticket, each with whether it is the host's own."""
    case = read_together([Pasted(text, "ticket.md")]).facts
    return [(one.port, one.own) for one in list_asked_ports(case)]


@pytest.mark.parametrize(
    "text",
    [
        "Port 8080 of the server cannot be reached from outside.",
        "Clients time out when they open port 8080.",
        "The server cannot be reached on port 8080 by any client.",
        "Port 8080 cannot be opened from other machines.",
        f"Port 8080 of 192.0.2.5 times out.{OWN}",
        f"Clients cannot reach 192.0.2.5:8080 any more.{OWN}",
    ],
)
def test_a_port_that_others_cannot_reach_is_the_hosts(text: str) -> None:
    """By its address where the host's are shown."""
    assert asked(text)[0] == (8080, True)


@pytest.mark.parametrize(
    "text",
    [
        "Outgoing connections to port 8080 time out.",
        "This server cannot connect to port 8080 of the database.",
        "The host cannot reach port 8080 of db.example.com.",
        "Pods cannot reach port 8080 of a service.",
        f"Port 8080 of 192.0.2.77 times out.{OWN}",
        f"Port 8080 works.{OWN}",
    ],
)
def test_a_port_of_somebody_else_is_not_asked_about(text: str) -> None:
    """What goes out, comes from a pod to a service, or has another host's address."""
    assert asked(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The app is published on port 80. Port 8080 times out from outside.",
        "Docker runs here. Port 8080 times out from outside.",
        "Port 8080 of 192.0.2.77 times out.",
        "The exporter on port 8080 does not answer, it times out.",
        "From my laptop I cannot connect to port 8080 of the database server.",
        "Connections to port 8080 of the providers time out.",
        "Port 8080 of www.example.com times out from the internet.",
    ],
)
def test_what_may_be_forwarded_or_elsewhere_is_doubted(text: str) -> None:
    """The rules of INPUT need not see it."""
    assert asked(text)[0] == (8080, False)


def test_another_machine_that_joins_is_elsewhere() -> None:
    """Its sentence has a machine at both ends."""
    assert asked("A second node cannot join the server 192.0.2.5:6443.") == [(6443, False)]


def test_a_port_of_the_hosts_own_programs_is_asked_about_wherever_it_was_tried() -> None:
    """The kubelet's port is on the host; whose address it is, is not known."""
    error = "Error: dial tcp 192.0.2.9:10250: connect: no route to host"

    assert (10250, False) in asked(f"kubectl logs fails.\n\n```\n{error}\n```\n")
    assert asked(f"The call fails.\n\n```\n{error.replace('10250', '8080')}\n```\n") == []
