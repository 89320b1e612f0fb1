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
PORT = "Agents cannot connect to 10.0.0.5 port 9345, the connection times out."


def tell(prose: str = PORT, state: str = "active", rule: str = "443 ALLOW Anywhere") -> list[str]:
    """Return the claims about a ticket."""
    case = ticket_of(TICKET.format(prose=prose, state=state, rule=rule))
    return [str(found.claim) for found in check(case)]


def test_a_port_that_is_not_listed() -> None:
    """It gets no answer."""
    assert ["ufw is on and admits no connection to port 9345."] == tell()


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
    assert ["ufw is on and admits neither pods nor port 6443 of the API server."] == tell(
        prose="The install script of k3s hangs on our node, nothing comes up."
    )


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
