"""What typed commands leave of a connection: policies that drop, and what is accepted beside."""

from __future__ import annotations

import pytest

from podpath.checks.typed_policies import has_workloads, list_typed_policies
from podpath.library.given import Pasted
from podpath.library.reading import read_together

SHUT = "iptables -P FORWARD DROP"
SERVER = "Clients cannot reach port 8080 of this server."
PODS = "Pods cannot reach the internet."


def left(prose: str, *commands: str) -> tuple[list[str], list[str]]:
    """Return the chains whose policy was set to drop: alone, and beside commands that accept."""
    typed = "\n".join(f"# {command}" for command in commands)
    case = read_together([Pasted(f"{prose}\n\n```\n{typed}\n```\n", "ticket.md")]).facts
    found = list_typed_policies(case)
    return list(found.alone), list(found.beside)


@pytest.mark.parametrize(
    ("commands", "alone", "beside"),
    [
        ((SHUT,), ["FORWARD"], []),
        ((SHUT, "iptables -P FORWARD ACCEPT"), [], []),
        ((SHUT, "iptables -A FORWARD -j ACCEPT"), [], []),
        ((SHUT, "iptables -A FORWARD -i docker0 -j ACCEPT"), [], []),
        ((SHUT, "iptables -A FORWARD -i lo -j ACCEPT"), ["FORWARD"], []),
        ((SHUT, "iptables -A FORWARD -p tcp --dport 8080 -j ACCEPT"), [], ["FORWARD"]),
        ((SHUT, "iptables -A FORWARD -p tcp --dport 8080 -j DROP"), ["FORWARD"], []),
        ((SHUT, "iptables -A FORWARD -p icmp -j ACCEPT"), ["FORWARD"], []),
    ],
)
def test_a_policy_that_was_typed_drops_what_no_command_accepts(
    commands: tuple[str, ...], alone: list[str], beside: list[str]
) -> None:
    """Whatever is typed last holds; loopback, ping and what shuts accept nothing that fails."""
    assert (alone, beside) == left(SERVER, *commands)


def test_what_pods_send_is_accepted_by_device_alone() -> None:
    """A rule for a port says nothing of what pods send."""
    assert (["FORWARD"], []) == left(PODS, SHUT, "iptables -A FORWARD -p tcp --dport 22 -j ACCEPT")


@pytest.mark.parametrize(("prose", "speaks"), [(PODS, True), (SERVER, False)])
def test_a_ticket_speaks_of_pods_or_containers_or_of_neither(prose: str, *, speaks: bool) -> None:
    """By the ends of what fails, or by software that runs them."""
    assert speaks is has_workloads(read_together([Pasted(prose, "ticket.md")]).facts)
