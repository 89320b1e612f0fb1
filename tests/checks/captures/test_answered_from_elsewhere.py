"""Answers by UDP from an address that nobody asked."""

from __future__ import annotations

import pytest

from podpath.checks.looks import look_at_captures
from tests.checks.made_captures import case_of, found
from tests.checks.pasted import ticket_of

CLIENT, SERVER, BRIDGE = "172.17.0.3", "192.0.2.13", "172.17.0.1"
NAME = "answered-from-elsewhere"


def asks(server: str = SERVER, port: int = 38908) -> str:
    """Write a packet of the client."""
    return f"11:20:43.973286 IP {CLIENT}.{port} > {server}.56789: UDP, length 6"


def answers(source: str = BRIDGE) -> str:
    """Write an answer to it."""
    return f"11:20:50.102018 IP {source}.56789 > {CLIENT}.38908: UDP, length 6"


def refuses(whom: str = BRIDGE, port: int = 38908) -> str:
    """Write the client's refusal of an answer."""
    return (
        f"11:20:50.102129 IP {CLIENT} > {whom}: ICMP {CLIENT} udp port {port} unreachable, "
        "length 42"
    )


def test_an_answer_of_another_address_is_refused() -> None:
    """The answer is quoted first, then the refusal and the question."""
    case = case_of(asks(), answers(), refuses(), command="tcpdump -nn -i docker0")
    (finding,) = found(case, NAME)

    assert [str(span) for span in finding.evidence] == [
        "capture-0.txt:2",
        "capture-0.txt:3",
        "capture-0.txt:1",
    ]
    assert (finding.certainty, finding.marks) == (1.0, (BRIDGE, SERVER))


@pytest.mark.parametrize(
    "lines",
    [
        (asks(), answers()),
        (asks(), answers(SERVER), refuses(SERVER)),
        (asks(), asks(BRIDGE), answers(), refuses()),
        (asks(), answers(SERVER), answers(), refuses()),
        (asks().replace("11:20:43", "11:19:43"), answers(), refuses()),
        (asks(port=5000), answers(), refuses()),
        (answers(), refuses(), asks().replace("11:20:43", "11:21:43")),
        (asks(), answers(), refuses(port=1024)),
        (asks("224.0.0.252"), answers(), refuses()),
        (asks("255.255.255.255"), answers(), refuses()),
    ],
    ids=[
        "taken",
        "asked",
        "both asked",
        "answered",
        "long ago",
        "another port",
        "asked later",
        "another refused",
        "asked a group",
        "asked everybody",
    ],
)
def test_what_the_client_may_take_is_no_fault(lines: tuple[str, ...]) -> None:
    """A translation that a capture shows halfway, a second server, a socket that is closed, and a
    group, whose members answer from their own addresses.
    """
    assert not found(case_of(*lines, command="tcpdump -nn -i docker0"), NAME)


@pytest.mark.parametrize(("failing", "sure"), [(SERVER, True), ("198.51.100.7", False)])
def test_another_conversation_than_the_one_that_fails(failing: str, *, sure: bool) -> None:
    """What is refused may have to do with nothing that people complain of."""
    lines = f"{asks()}\n{answers()}\n{refuses()}"
    case = ticket_of(
        f"Requests to {failing} time out.\n\n```\n$ tcpdump -nn -i docker0\n{lines}\n```\n"
    )
    (finding,) = (one for one in look_at_captures(case) if one.check == NAME)

    assert (finding.certainty == 1) is sure
