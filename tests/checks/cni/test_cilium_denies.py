"""cilium-denies: Cilium's policy dropped the packet."""

from __future__ import annotations

import pytest

from podpath.checks.cni.cilium_denies import NAME, check
from tests.checks.pasted import ticket_of
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        (
            "xx drop (Policy denied) flow 0x1 to endpoint 9, identity 6->12: 10.0.0.9:5 -> "
            "10.0.1.7:80 tcp SYN"
        ),
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [
        ("fault", 1.0, line)
    ]


@pytest.mark.parametrize(
    ("reason", "cure"),
    [
        ("Policy denied", "allow the source's identity"),
        ("Policy denied by denylist", "deny rule"),
        ("First logical datagram fragment not found", "lower the pods' MTU"),
        ("CT: Map insertion failed", "raise bpf-ct-global-tcp-max"),
        ("No mapping for NAT masquerade", "raise bpf-nat-global-max"),
        ("FIB lookup failed", "no route or neighbor"),
        ("CT: Can't create entry from packet", "open the connection again"),
        ("Stale or unroutable IP", "fix what the reason names"),
    ],
)
def test_the_cure_is_for_the_reason(reason: str, cure: str) -> None:
    """What no policy dropped no policy mends."""
    line = f"xx drop ({reason}) flow 0x1 to endpoint 9, identity 6->12: 10.0.0.9:5 -> 10.0.1.7:80"

    (found,) = find_by_lines(NAME, line)

    assert cure in found.repairs[0].title
    assert reason in str(found.claim)


def test_a_reason_that_healthy_nodes_log_too_only_asks() -> None:
    """Packets of other protocols are dropped everywhere: the line is no cause before its addresses
    are compared.
    """
    (found,) = find_by_lines(
        NAME,
        (
            "xx drop (Unsupported L3 protocol) flow 0x0 to endpoint 0, identity 6->0: 10.0.0.9 -> "
            "ff02::2"
        ),
    )
    assert (found.certainty < 1, len(found.asks)) == (True, 1)


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert (
        find_by_lines(
            NAME,
            (
                "-> endpoint 9 flow 0x1 identity 6->12 state new ifindex lxc1: 10.0.0.9:5 -> "
                "10.0.1.7:80 tcp SYN"
            ),
        )
        == []
    )


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []


VERDICT = (
    "Policy verdict log: flow 0x0 local EP ID 3130, remote ID remote-node, proto 6, ingress, "
    "action deny, auth: disabled, match none,\n10.0.0.1:58416 -> 10.0.1.2:9090 tcp SYN"
)


@pytest.mark.parametrize(
    ("prose", "certainty"),
    [
        ("Calls to the controller on port 9090 time out.", 1.0),
        ("Calls to the controller time out.", 1.0),
        ("Calls to the shop on port 8443 time out.", 0.6),
    ],
)
def test_a_verdict_on_another_port_only_asks(prose: str, certainty: float) -> None:
    """What people name a port of, no line of the drop has."""
    (found,) = check(ticket_of(f"{prose}\n\n```\n{VERDICT}\n```\n"))

    assert certainty == found.certainty
