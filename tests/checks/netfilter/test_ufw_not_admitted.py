"""Ports that an active ufw does not list."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.ufw_not_admitted import check
from tests.checks.pasted import ticket_of

TICKET = """{prose}

```
$ sudo ufw status
Status: {state}

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW       Anywhere
{rule}
```
"""
PODS = "ufw is on and does not admit pods to port 6443 of the API server."
PORT = "Agents cannot connect to 10.0.0.5 port 9345, the connection times out."


def tell(prose: str = PORT, state: str = "active", rule: str = "443 ALLOW Anywhere") -> list[str]:
    """Return the claims about a ticket."""
    case = ticket_of(TICKET.format(prose=prose, state=state, rule=rule))
    return [str(found.claim) for found in check(case)]


def test_a_port_that_is_not_listed() -> None:
    """It gets no answer."""
    assert ["ufw is on and admits no connection to port 9345."] == tell()


@pytest.mark.parametrize(
    ("default", "found"),
    [
        ("", [False]),
        ("Default: deny (incoming), allow (outgoing), deny (routed)\n", [True]),
        ("Default: allow (incoming), allow (outgoing), deny (routed)\n", []),
    ],
    ids=["not stated", "deny", "allow"],
)
def test_what_is_not_listed_is_dropped_where_ufw_denies_by_default(
    default: str, found: list[bool]
) -> None:
    """Only then is it certain; where nothing says, the question is which default it has."""
    text = TICKET.format(prose=PORT, state=f"active\n{default}", rule="443 ALLOW Anywhere")

    assert found == [bool(one.proves) for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    "rule", ["9345/tcp ALLOW Anywhere", "9000:9400/tcp ALLOW Anywhere", "Anywhere ALLOW 10.0.0.0/8"]
)
def test_a_port_that_may_be_admitted(rule: str) -> None:
    """It is listed itself, in a range, or for whoever asks."""
    assert not tell(rule=rule)


def test_ufw_is_off_or_the_port_refuses() -> None:
    """What is off drops nothing, and what ufw drops is not refused."""
    assert not tell(state="inactive")
    assert not tell(prose="Agents cannot connect to 10.0.0.5 port 9345, it is refused.")


def test_a_cluster_without_the_port_of_its_api_server() -> None:
    """Its pods cannot reach the server on their own host."""
    assert [PODS] == tell(prose="The install script of k3s hangs on our node, nothing comes up.")


@pytest.mark.parametrize(
    ("source", "claims"),
    [("192.168.77.0/24", 1), ("10.42.0.0/16", 0), ("10.0.0.0/8", 0), ("10.42.0.9", 0)],
)
def test_a_range_that_no_pod_is_in_admits_none(source: str, claims: int) -> None:
    """The bridge shows which addresses the node's pods have."""
    prose = "Pods of our k3s node time out at 10.43.0.1:443."
    bridge = "```\n$ ip -br addr\ncni0 UP 10.42.0.1/24\n```\n"

    assert [PODS] * claims == tell(prose + "\n\n" + bridge, rule=f"6443/tcp ALLOW {source}")


def test_a_rule_for_what_is_routed_may_admit_it() -> None:
    """Without one, what is denied by default is denied."""
    prose = "Our pods cannot reach the internet, every connection times out."
    default = "Default: deny (incoming), allow (outgoing), deny (routed)"
    text = TICKET.replace("{state}", f"active\n{default}")
    told = [
        [str(found.claim) for found in check(ticket_of(text.format(prose=prose, rule=rule)))]
        for rule in ("443/tcp ALLOW IN 192.168.77.0/24", "Anywhere ALLOW FWD 10.42.0.0/16")
    ]

    assert [["ufw denies what the host would route."], []] == told


def test_routed_packets_are_denied() -> None:
    """Containers count as routed."""
    text = """A client in the LAN cannot reach the container on our node, it hangs.

```
$ sudo ufw status verbose
Status: active
Logging: on (low)
Default: allow (incoming), allow (outgoing), deny (routed)
New profiles: skip
```
"""

    assert ["ufw denies what the host would route."] == [
        str(found.claim) for found in check(ticket_of(text))
    ]


def test_what_is_routed_is_told_before_the_ports_of_the_host() -> None:
    """The rules for ports are about the host itself, and not about its containers."""
    text = """The container at 172.17.77.3 port 9090 cannot be reached from other hosts, it hangs.

```
$ sudo ufw status verbose
Status: active
Logging: on (low)
Default: allow (incoming), allow (outgoing), deny (routed)
New profiles: skip

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW       Anywhere
```
"""

    assert ["ufw denies what the host would route."] == [
        str(found.claim) for found in check(ticket_of(text))
    ]
