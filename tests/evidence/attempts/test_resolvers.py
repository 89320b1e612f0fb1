"""Whether a name server answered."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.resolvers import read_resolver, recognise_resolver
from tests.evidence.attempted import attempted
from tests.evidence.consoles import block

TEXTS = [
    ("nslookup web 10.9.0.10", ";; connection timed out; no servers could be reached", "timeout"),
    ("dig @10.9.0.10 web", ";; communications error to 10.9.0.10#53: timed out", "timeout"),
    (
        "dig @10.9.0.10 web", ";; communications error to 10.9.0.10#53: connection refused",
        "refused",
    ),
    ("nslookup web", ("Server:    10.9.0.10\nAddress 1: 10.9.0.10 dns.example\n\nName:      web\n"
                     "Address 1: 10.9.0.1 web"), "ok"),
    (
        None, "Server:\t\t10.9.0.10\nAddress:\t10.9.0.10#53\n\n** server can't find web: NXDOMAIN",
        "name unknown",
    ),
    (
        None, "Server:\t\t10.9.0.10\nAddress:\t10.9.0.10#53\n\n** server can't find web: SERVFAIL",
        "name server fails",
    ),
    ("dig @10.9.0.10 web", (";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1\n;; "
                           "SERVER: 10.9.0.10#53(10.9.0.10)"),
     "name unknown"),
    ("dig @10.9.0.10 web", (";; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1\n;; "
                           "SERVER: 10.9.0.10#53(10.9.0.10)"), "ok"),
    ("host web 10.9.0.10", ("Using domain server:\nAddress: 10.9.0.10#53\n\n"
                           "Host web not found: 3(NXDOMAIN)"), "name unknown"),
    ("dig @10.9.0.10 web", (";; communications error to 10.9.0.10#53: host unreachable\n;; "
                           "no servers could be reached"),
     "no route to host"),
    ("nslookup web", ("nslookup: write to '10.9.0.10': Connection refused\n;; connection timed "
                     "out; no servers could be reached"), "refused"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "text", "result"), TEXTS)
def test_answers(command: str | None, text: str, result: str) -> None:
    """An answer is a success, whatever it says; silence is a timeout."""
    source = block(text, command)
    assert recognise_resolver(source)
    assert [
        ("udp", "10.9.0.10:53", result, "DNS lookup", "host" if command else None)
    ] == attempted(read_resolver(source))
