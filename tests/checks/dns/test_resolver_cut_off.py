"""A name server that gets no answer from anybody."""

from __future__ import annotations

import pytest

from podpath.checks.dns.resolver_cut_off import check
from tests.checks.pasted import ticket_of

SILENT = "[ERROR] plugin/errors: 2 a.org. A: read udp 10.42.0.9:41020->192.0.2.53:53: i/o timeout"
API = (
    "[WARNING] plugin/kubernetes: Kubernetes API connection failure: "
    'Get "https://10.43.0.1:443/version": dial tcp 10.43.0.1:443: i/o timeout'
)


def claims(*lines: str) -> list[str]:
    """Return what is claimed of a log; it is never certain, and asks for the node's rules."""
    text = "CoreDNS is not ready.\n\n```\n" + "\n".join(lines) + "\n```\n"
    found = list(check(ticket_of(text)))
    assert all(one.certainty < 1 and "FORWARD" in one.asks[0].command for one in found)
    return [str(one.claim) for one in found]


def test_two_servers_are_silent() -> None:
    """The way out is broken."""
    (claim,) = claims(SILENT, API)
    assert "no answer from 192.0.2.53 or 10.43.0.1" in claim


def test_two_name_servers_of_different_networks() -> None:
    """They are hardly both down."""
    (claim,) = claims(SILENT, SILENT.replace("192.0.2.53", "10.88.0.53"))
    assert "no answer from 192.0.2.53 or 10.88.0.53" in claim


@pytest.mark.parametrize(
    "lines",
    [
        (SILENT,),
        (API,),
        (SILENT, SILENT.replace("192.0.2.53", "192.0.2.54")),
        (SILENT, SILENT),
        (SILENT, API.replace("i/o timeout", "connect: connection refused")),
        (SILENT.replace("i/o timeout", "read: connection refused"), API),
        (SILENT, "```", "", "Another machine's:", "", "```", API),
    ],
    ids=[
        "upstream",
        "api-server",
        "two-upstreams",
        "again",
        "refused",
        "upstream-refuses",
        "other-log",
    ],
)
def test_one_silence_or_none(lines: tuple[str, ...]) -> None:
    """Name servers of one owner may be silent together; a refusal is an answer; another log may be
    of another pod.
    """
    assert not claims(*lines)
