"""bridge-calls-disabled: the runtime says that bridged packets do not pass iptables."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.bridge_calls_disabled import NAME, check
from tests.checks.pasted import ticket_of
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: bridge-nf-call-iptables is disabled",
    ],
)
def test_the_line_leaves_it_open(line: str) -> None:
    """It may have nothing to do with the failure: the finding is not certain, and asks what would
    make it so.
    """
    found = find_by_lines(NAME, line)
    assert [one.certainty < 1 and len(one.asks) for one in found] == [1]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "bridge-nf-call-iptables is enabled") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []


LINE = 'dockerd[627]: level=warning msg="WARNING: bridge-nf-call-iptables is disabled"'


@pytest.mark.parametrize(
    ("prose", "certainty"),
    [
        (
            (
                "A container cannot open a port that another one publishes on the same host. From "
                "outside it works."
            ),
            1.0,
        ),
        (
            (
                "A container times out on the published port of another one on the same host, "
                "but clients from the LAN reach it."
            ),
            1.0,
        ),
        ("A container cannot open a port that another one publishes on the same host.", 0.5),
        ("Containers cannot reach the internet. From outside published ports work.", 0.5),
        (
            (
                "A container is refused by a published port of another on the same host. From "
                "outside it works."
            ),
            0.5,
        ),
    ],
)
def test_who_is_cut_off_settles_it(prose: str, certainty: float) -> None:
    """Only a workload that comes back to its own host, while others get through."""
    assert [certainty] == [one.certainty for one in check(ticket_of(f"{prose}\n\n{LINE}\n"))]


@pytest.mark.parametrize(
    ("prose", "lines", "told"),
    [
        ("Hosts cannot ping each other.", ("ip6tables",), False),
        ("Pods cannot ping each other over IPv6.", ("ip6tables",), True),
        ("Pods cannot ping 2001:db8::9.", ("ip6tables",), True),
        ("Pods cannot ping each other.", ("iptables", "ip6tables"), True),
    ],
)
def test_the_switch_of_ipv6_alone(prose: str, lines: tuple[str, ...], *, told: bool) -> None:
    """It is no matter of IPv4, whose own switch the same output would name."""
    warned = "\n".join(f"WARNING: bridge-nf-call-{line} is disabled" for line in lines)
    found = list(check(ticket_of(f"{prose}\n\n```\n$ docker info\n{warned}\n```\n")))

    assert told is bool(found)
