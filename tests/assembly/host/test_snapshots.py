"""Two outputs of one thing from two states."""

from __future__ import annotations

from textwrap import dedent

import pytest

from podpath.assembly.case import assemble_case
from podpath.checks.host.state_changed import check
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import read
from podpath.node.case import Case
from podpath.node.shifts import ShiftKind

GOOD = (
    "default via 192.0.2.1 dev eth0\n"
    "172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1"
)
BAD = "172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1"


def _case(*parts: tuple[str, str]) -> Case:
    lines: list[str] = []
    for label, output in parts:
        lines += [label, "", "```", "$ ip route", *output.split("\n"), "```", ""]
    return _case_of_text("\n".join(lines))


def _case_of_text(text: str) -> Case:
    sources = split_document("ticket.md", dedent(text).split("\n"))
    readings = [(source, read(source)) for source in sources]
    return assemble_case([(source, reading) for source, reading in readings if reading is not None])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("When it works:", GOOD), ("When it does not work:", BAD)),
        (("Before:", GOOD), ("After starting the VPN client:", BAD)),
        (("On the broken boot:", BAD), ("When everything is fine:", GOOD)),
        (("The routes:", GOOD), ("The routes:", BAD)),
    ],
)
def test_a_vanished_route_is_found(first: tuple[str, str], second: tuple[str, str]) -> None:
    """Labels say which state fails, and where they do not the one that lacks it does."""
    (shift,) = _case(first, second).shifts

    assert (shift.kind, shift.name, shift.bad) == (ShiftKind.ROUTE, "the default route", None)
    assert shift.good is not None
    assert shift.told is (first[0] != second[0])


def test_a_cure_is_no_loss() -> None:
    """What comes back after a fix was missing before."""
    (shift,) = _case(("Before:", BAD), ("After the fix:", GOOD)).shifts

    assert shift.bad is None
    assert shift.told


def test_what_appears_between_before_and_after_is_of_the_failing_state() -> None:
    """Nothing that is gone says which of the two fails, so the order of the words counts."""
    (shift,) = _case(("Before:", BAD), ("After:", GOOD)).shifts

    assert (None, True) == (shift.good, shift.bad is not None)


def test_two_hosts_share_nothing() -> None:
    """Without a word on it two listings that have nothing in common are of two machines."""
    other = (
        "default via 198.51.100.1 dev ens3\n"
        "198.51.100.0/24 dev ens3 proto kernel scope link src 198.51.100.7"
    )

    assert _case(("One:", BAD), ("One:", other)).shifts == ()


def test_the_same_twice_is_no_change() -> None:
    """Counters and order apart."""
    assert _case(("Before:", GOOD), ("After starting the VPN client:", GOOD)).shifts == ()


def test_the_check_doubts_without_a_complaint() -> None:
    """Nobody says that anything fails."""
    (finding,) = check(_case(("Before:", GOOD), ("After starting the VPN client:", BAD)))

    assert finding.certainty == 0.7
    assert finding.asks


def test_another_familys_routes_are_no_second_state() -> None:
    """`ip route` and `ip -6 route` list different things of one state."""
    lines = [
        "```",
        "$ ip route show table all",
        *GOOD.split("\n"),
        "$ ip -6 route show table all",
        BAD,
        "```",
    ]
    readings = [(source, read(source)) for source in split_document("ticket.md", lines)]

    assert (
        assemble_case(
            [(source, reading) for source, reading in readings if reading is not None]
        ).shifts
        == ()
    )


def test_an_output_that_lists_nothing_is_a_state() -> None:
    """At one prompt, the same command shows that the last address went, and what was typed."""
    case = _case_of_text("""
    ```
    root@lb1:~# ip -4 addr show dev eth1
    4: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
        inet 192.0.2.9/32 scope global eth1
    root@lb1:~# systemctl restart systemd-networkd
    root@lb1:~# ip -4 addr show dev eth1
    root@lb1:~# uname -r
    6.1.0
    ```
    """)
    (shift,) = case.shifts

    assert "192.0.2.9/32 on eth1" == shift.name
    assert "systemctl restart systemd-networkd" == shift.act
    assert (None, False) == (shift.bad, shift.told)


def test_an_empty_output_of_another_host_is_no_state() -> None:
    """Two prompts without a host say nothing of one host."""
    case = _case_of_text("""
    ```
    $ ip -4 addr show dev eth1
    4: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
        inet 192.0.2.9/32 scope global eth1
    $ ip -4 addr show dev eth1
    $ uname -r
    6.1.0
    ```
    """)
    assert () == case.shifts


def test_a_local_route_that_a_program_set() -> None:
    """The kernel's own follow addresses; others are what a program has the host take in."""
    case = _case_of_text("""
    ```
    root@lb1:~# ip route ls table local
    local 192.0.2.20 dev eth0 proto 66 scope host
    local 192.0.2.9 dev eth0 proto kernel scope host src 192.0.2.9
    local 127.0.0.1 dev lo proto kernel scope host src 127.0.0.1
    root@lb1:~# systemctl restart systemd-networkd
    root@lb1:~# ip route ls table local
    local 192.0.2.9 dev eth0 proto kernel scope host src 192.0.2.9
    root@lb1:~# uname -r
    6.1.0
    ```
    """)
    (shift,) = case.shifts

    assert ("the route to 192.0.2.20", None) == (shift.name, shift.bad)
