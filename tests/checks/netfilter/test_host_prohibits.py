"""Hosts that are there and say `No route to host`."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.host_prohibits import check
from tests.checks.pasted import ticket_of

PING = """\
$ ping -c 2 {host}
PING {host} ({host}) 56(84) bytes of data.
64 bytes from {host}: icmp_seq=1 ttl=63 time=0.534 ms
64 bytes from {host}: icmp_seq=2 ttl=63 time=0.464 ms

--- {host} ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1030ms
"""
CURL = "$ curl http://{host}:8080/\ncurl: (7) Failed to connect to {host} port 8080: {error}\n"
NC = "$ nc -vz {host} 5432\nnc: connect to {host} port 5432 (tcp) failed: {error}\n"
DIG = (
    "5b4ecd5adc6e:~# dig ctr1\n;; communications error to {host}#53: host unreachable\n"
    ";; communications error to {host}#53: host unreachable\n"
)
PROSE = "The database cannot be reached from the other machine."
NO_ROUTE = "No route to host"


def certainties(prose: str, *outputs: str) -> list[float]:
    """Return how sure the findings of a ticket with these outputs are."""
    fences = "".join(f"```\n{output}```\n\n" for output in outputs)
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n{fences}"))]


@pytest.mark.parametrize("form", [CURL, NC])
def test_an_address_that_answers_a_ping(form: str) -> None:
    """A rule of REJECT may tell one from the other, or the port leads to somebody who is gone."""
    host = "10.20.0.5"

    assert [0.6] == certainties(
        PROSE, PING.format(host=host), form.format(host=host, error=NO_ROUTE)
    )


DNAT = "-A PREROUTING -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.17.0.9:8080"


@pytest.mark.parametrize(("rules", "expected"), [((), [1.0]), ((DNAT,), [0.6])])
def test_a_bridge_that_answers_a_ping(rules: tuple[str, ...], expected: list[float]) -> None:
    """The host is there, and nothing of it is translated: its firewall is left."""
    host = "172.17.0.1"
    saved = "\n".join(("# iptables-save -t nat", "*nat", ":PREROUTING ACCEPT [0:0]", *rules))

    assert expected == certainties(
        "A Docker container cannot reach the host.",
        PING.format(host=host),
        CURL.format(host=host, error=NO_ROUTE),
        f"{saved}\nCOMMIT\n",
    )


@pytest.mark.parametrize(
    ("prose", "host", "expected"),
    [
        ("A container of Podman resolves no names; the host runs firewalld.", "10.89.0.1", [1.0]),
        ("With firewalld on the host a Docker container gets no DNS.", "172.17.0.1", [1.0]),
        ("A container of Podman resolves no names.", "10.89.0.1", [0.6]),
        ("A container of Podman resolves no names; the host runs firewalld.", "10.89.0.7", []),
        ("My laptop resolves no names; the host runs firewalld.", "10.89.0.1", []),
    ],
)
def test_the_address_of_a_containers_own_bridge(
    prose: str, host: str, expected: list[float]
) -> None:
    """It is the host itself, which is there; certain beside a firewall that is named."""
    assert expected == certainties(prose, DIG.format(host=host))


@pytest.mark.parametrize(
    "outputs",
    [
        (CURL.format(host="10.20.0.5", error=NO_ROUTE),),
        (PING.format(host="10.20.0.6"), CURL.format(host="10.20.0.5", error=NO_ROUTE)),
        (PING.format(host="10.20.0.5"), CURL.format(host="10.20.0.5", error="Connection refused")),
    ],
)
def test_a_host_that_may_not_be_there_and_other_errors(outputs: tuple[str, ...]) -> None:
    """No answer from it at all, another host's answer, and a port that refuses."""
    assert [] == certainties(PROSE, *outputs)
