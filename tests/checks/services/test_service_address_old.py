"""Packets to an address that is no service's anymore."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.services.service_address_old import check
from tests.checks.pasted import ticket_of

SERVICE = "ss  server-svc  ClusterIP  10.96.182.195 <none>  {port}/UDP"


def find(
    to: str = "10.96.22.136", port: int = 50300, times: int = 2, more: str = ""
) -> list[Finding]:
    """Return what is found in a ticket with a capture and a list of services."""
    packets = "".join(
        f"13:48:1{number}.630335 IP 10.244.1.150.40000 > {to}.{port}: UDP, length 214\n"
        for number in range(times)
    )
    listed = SERVICE.format(port=port)
    return list(
        check(
            ticket_of(
                "Messages do not arrive.\n\n```\n# tcpdump -n -i eth0 udp\n"
                f"{packets}{more}```\n\n```\n# kubectl get svc -A -o wide | grep server\n{listed}\n"
                "```\n"
            )
        )
    )


def test_an_address_that_no_service_has() -> None:
    """The service's row comes first, then a packet; it is not certain whose the address was."""
    (finding,) = find()

    assert "10.96.182.195" in finding.evidence[0].text
    assert "10.96.22.136" in finding.evidence[1].text
    assert finding.certainty < 1
    assert finding.asks


@pytest.mark.parametrize(
    "changed",
    [
        {"to": "10.96.182.195"},
        {"to": "192.0.2.9"},
        {"port": 53},
        {"times": 1},
        {"more": "13:48:20.1 IP 10.96.22.136.50300 > 10.244.1.150.40000: UDP, length 9\n"},
    ],
    ids=["the service's", "another range", "a common port", "one packet", "answered"],
)
def test_what_may_be_somebodys(changed: dict[str, object]) -> None:
    """Whoever answers, or is in another range, is not the service's past."""
    assert not find(**changed)  # type: ignore[arg-type]  # each case changes one of them
