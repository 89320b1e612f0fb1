"""port-taken: who has the port that a program cannot get."""

from __future__ import annotations

import pytest

from podpath.checks.services.port_taken import check
from tests.checks.pasted import ticket_of

TICKET = """The exporter restarts all the time.

```
F0712 18:16:20 main.go:197] Failed to listen: listen {wanted}: bind: address already in use
```
```
{listed}
```
"""
SS = "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
NETSTAT = "Proto Recv-Q Send-Q Local Address Foreign Address State PID/Program name\n"
LSOF = "COMMAND  PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n"


def claim_of(wanted: str, listed: str) -> str:
    """Return what the check says of the port."""
    (found,) = check(ticket_of(TICKET.format(wanted=wanted, listed=listed)))
    assert found.certainty == 1
    assert isinstance(found.claim, str)
    return found.claim


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        ("tcp :9100", SS + 'LISTEN 0  128  :::9100  :::*  users:(("oldexporter",pid=890,fd=3))'),
        ("tcp 10.1.2.3:9100", SS + 'LISTEN 0 128 *:9100 *:* users:(("oldexporter",pid=890,fd=3))'),
        (
            "tcp :9100",
            NETSTAT
            + "tcp        0      0 127.0.0.1:9100    0.0.0.0:*         LISTEN   890/oldexporter",
        ),
        (
            "tcp :9100",
            LSOF + "oldexporter 890 root    6u  IPv6  21393      0t0  TCP *:9100 (LISTEN)",
        ),
    ],
)
def test_the_holder_is_named_and_quoted(wanted: str, listed: str) -> None:
    """ss, netstat and lsof list it; one address of it is enough to keep all from somebody else."""
    assert claim_of(wanted, listed) == (
        "The port 9100 is taken by oldexporter, so the new listener does not start."
    )


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        ("tcp :9100", SS + 'LISTEN 0  128  :::9101  :::*  users:(("other",pid=890,fd=3))'),
        ("tcp 10.1.2.3:9100", SS + 'LISTEN 0 128 10.9.9.9:9100 *:* users:(("other",pid=8,fd=3))'),
        ("tcp :9100", SS + "LISTEN 0  128  :::9100  :::*"),
        ("tcp :9100", SS + 'ESTAB 0 0 10.1.2.3:9100 10.1.2.4:443 users:(("client",pid=8,fd=3))'),
        ("udp :9100", LSOF + "other 890 root    6u  IPv6  21393      0t0  TCP *:9100 (LISTEN)"),
    ],
)
def test_nobody_is_accused_who_does_not_stand_in_the_way(wanted: str, listed: str) -> None:
    """Another port, address or protocol, a connection, or a socket without its program."""
    assert "9100 is in use already" in claim_of(wanted, listed)


@pytest.mark.parametrize(
    ("command", "rows", "certainty"),
    [
        ("netstat -tlnp", "tcp 0 0 0.0.0.0:22 0.0.0.0:* LISTEN 700/sshd", 0.6),
        ("netstat -tlnp", "tcp 0 0 0.0.0.0:9100 0.0.0.0:* LISTEN -", 1.0),
        ("netstat -tlnp | head -1", "tcp 0 0 0.0.0.0:22 0.0.0.0:* LISTEN 700/sshd", 1.0),
        ("netstat -ulnp", "udp 0 0 0.0.0.0:68 0.0.0.0:* 700/dhclient", 1.0),
    ],
)
def test_a_whole_listing_without_the_port_leaves_it_open(
    command: str, rows: str, certainty: float
) -> None:
    """What has the port is no listening socket; another protocol's listing tells nothing."""
    listed = f"$ {command}\n{NETSTAT}{rows}"
    (found,) = check(ticket_of(TICKET.format(wanted="tcp :9100", listed=listed)))

    assert found.certainty == certainty


def test_a_log_that_says_who_listens_is_quoted() -> None:
    """The same program, started once before, says so in its own log."""
    listed = "2019/02/01 10:00:50 redirector listening on 9100 ..."
    (found,) = check(ticket_of(TICKET.format(wanted="tcp :9100", listed=listed)))

    assert listed in [span.text for span in found.evidence]


def test_a_container_that_publishes_the_port_is_named() -> None:
    """Docker's own list says who has it."""
    (found,) = check(
        ticket_of("""A second web server does not start.

```
docker: Error: Bind for 0.0.0.0:8080 failed: port is already allocated.
$ docker ps
CONTAINER ID   IMAGE   COMMAND   CREATED       STATUS       PORTS                  NAMES
0c5f4d0a1b2c   nginx   "nginx"   2 weeks ago   Up 2 weeks   0.0.0.0:8080->80/tcp   first
```
""")
    )

    assert found.claim == (
        "The port 8080 is taken by the container first, so the new listener does not start."
    )


def test_without_a_message_a_listener_is_no_fault() -> None:
    """A list of sockets alone says nothing."""
    text = "Nothing answers.\n\n```\n" + SS + 'LISTEN 0 9 *:80 *:* users:(("nginx",pid=1))\n```\n'

    assert not list(check(ticket_of(text)))


@pytest.mark.parametrize(
    ("failed", "listed", "named"),
    [
        ("127.0.0.1: Address already in use", "0.0.0.0:53     0.0.0.0:*  611/unbound", True),
        ("127.0.0.1: Address already in use", "127.0.0.53:53  0.0.0.0:*  611/unbound", False),
        ("127.0.0.1: Permission denied", "0.0.0.0:53     0.0.0.0:*  611/unbound", False),
    ],
)
def test_who_has_a_name_servers_port_is_named(failed: str, listed: str, *, named: bool) -> None:
    """A name server does not say which port it wants: it is 53, by both protocols."""
    said = f"dnsmasq[7712]: failed to create listening socket for {failed}"
    found = list(check(ticket_of(f"```\n{said}\n```\n```\n{NETSTAT}udp 0 0 {listed}\n```\n")))

    assert ["port-taken"] * named == [finding.check for finding in found]
    assert all("taken by unbound" in str(finding.claim) for finding in found)
