"""What vanished between two states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.host.state_changed import check
from podpath.net.complaints import Complaint
from podpath.net.provenance import Source, Span
from podpath.node.shifts import Shift, ShiftKind
from tests.checks.pasted import case_of, ticket_of

SPAN = Span(Source(name="ticket.md", lines=("default via 192.0.2.1", "$ true")), 1, 1)
SHIFT = Shift(
    kind=ShiftKind.ROUTE, name="the default route", good=SPAN, bad=None, told=True, netns="host"
)
CASE = replace(case_of("$ true"), complaints=(Complaint(span=SPAN, works=False),))


def test_what_vanished_is_told_by_labels() -> None:
    """The words say which state fails, and a sentence says that something does."""
    (finding,) = check(replace(CASE, shifts=(SHIFT,)))

    assert finding.certainty == 1.0
    assert finding.evidence == (SPAN,)


def test_a_guessed_direction_leaves_it_open() -> None:
    """Nobody says which state fails."""
    (finding,) = check(replace(CASE, shifts=(replace(SHIFT, told=False),)))

    assert finding.certainty == 0.7


def test_what_only_appeared_is_not_lost() -> None:
    """A new route alone takes nothing away."""
    assert not list(check(replace(CASE, shifts=(replace(SHIFT, good=None, bad=SPAN),))))


APPEARED = """\
The machine {named} cannot be reached any more.

Before:

```
# ip route
192.168.1.30 dev wlan0 scope link
192.168.7.0/24 dev wlan0 scope link
```

After:

```
# ip route
192.168.1.30 dev wlan0 scope link
192.168.7.0/24 dev wlan0 scope link
192.168.1.0/24 dev tap0 scope link
```
"""


@pytest.mark.parametrize(
    ("named", "expected"), [("192.168.1.21", [0.7]), ("192.168.7.21", [])], ids=["in", "beside"]
)
def test_a_new_route_may_take_what_fails(named: str, expected: list[float]) -> None:
    """Only where an address that fails lies in it."""
    found = list(check(ticket_of(APPEARED.format(named=named))))

    assert [one.certainty for one in found] == expected
    assert all("dev tap0" in one.evidence[0].text for one in found)


RESTARTED = """
{complaint}

```
root@lb1:~# ip -4 addr show dev eth1
4: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 192.0.2.1/24 scope global eth1
    inet 192.0.2.9/32 scope global eth1
root@lb1:~# {act}
root@lb1:~# ip -4 addr show dev eth1
4: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 192.0.2.1/24 scope global eth1
root@lb1:~# uname -r
6.1.0
```
"""


@pytest.mark.parametrize(
    ("complaint", "act"),
    [
        (
            "Clients lose the VIP whenever systemd-networkd restarts.",
            "systemctl restart systemd-networkd",
        ),
        (
            "Since the openvpn-client was started nobody reaches us.",
            "systemctl start openvpn-client",
        ),
    ],
)
def test_a_command_that_people_blame_tells_the_direction(complaint: str, act: str) -> None:
    """It stands between the two outputs, and a sentence says that things fail since."""
    (finding,) = check(ticket_of(RESTARTED.format(complaint=complaint, act=act)))

    assert 1.0 == finding.certainty
    assert act in str(finding.claim)


@pytest.mark.parametrize(
    ("complaint", "act"),
    [
        ("Clients cannot connect.", "systemctl restart systemd-networkd"),
        ("Clients cannot connect. With openvpn-client everything works.",
         "systemctl start openvpn-client"),
        ("Clients cannot connect since networkd restarts.", "ip addr del 192.0.2.9/32 dev eth1"),
    ],
)  # fmt: skip
def test_a_command_that_nobody_blames_leaves_it_open(complaint: str, act: str) -> None:
    """It may have been a cure, or somebody's own change."""
    (finding,) = check(ticket_of(RESTARTED.format(complaint=complaint, act=act)))

    assert finding.certainty < 1


RULES = (
    "0:\tfrom all lookup local\n{}32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"
)
OWN = "100:\tfrom all to 10.9.0.7 lookup main\n101:\tfrom 10.9.0.7 lookup 2\n"


@pytest.mark.parametrize(
    ("prose", "act", "certainties"),
    [
        ("Since networkd was updated, rules of pods vanish.", "systemctl restart systemd-networkd",
         [1.0]),
        ("Pods are cut off at times.", "systemctl restart systemd-networkd", [1.0]),
        ("Pods are cut off at times.", "systemctl restart kubelet", [0.7]),
        ("Since networkd was updated, rules of pods vanish.", "uname -r", []),
    ],
)  # fmt: skip
def test_rules_that_are_gone_behind_a_command(
    prose: str, act: str, certainties: list[float]
) -> None:
    """Those that every host has say nothing: with a command in between it is one host all the
    same.
    """
    shown = f"# ip rule\n{RULES.format(OWN)}# {act}\n# ip rule\n{RULES.format('')}"
    case = ticket_of(f"{prose}\n\n```\n{shown}```\n")

    assert certainties == [one.certainty for one in check(case)]
