"""Names that exist, and are denied for one family."""

from __future__ import annotations

import pytest

from podpath.checks.dns.aaaa_denied import check
from tests.checks.pasted import ticket_of

TICKET = """{prose}

```
{pasted}
```
"""
ALPINE = "An Alpine container cannot resolve app.lan.example; others can."
TWO = """$ nslookup -type=a app.lan.example 10.0.0.2
Server:    10.0.0.2
Address:   10.0.0.2#53

Name:   app.lan.example
Address: 10.0.0.3

$ nslookup -type=aaaa app.lan.example 10.0.0.2
Server:    10.0.0.2
Address:   10.0.0.2#53

** server can't find app.lan.example: {code}
"""
ONE = """$ nslookup app.lan.example
Server:    10.0.0.2
Address:   10.0.0.2#53

Name:   app.lan.example
Address: 10.0.0.3
** server can't find app.lan.example: {code}
"""
DIG = """$ dig app.lan.example {type}
;; Got answer:
;; ->>HEADER<<- opcode: QUERY, status: {code}, id: 32568
;; QUESTION SECTION:
;app.lan.example.    IN    {type}
"""
LOG = '10.1.0.6:6 - 1 "{type} IN app.lan.example. udp 33 false 512" {code} qr,rd 90 0.02s'


def dig(type_: str, code: str) -> str:
    """Return what dig prints of a question."""
    return DIG.format(type=type_, code=code)


def log(type_: str, code: str) -> str:
    """Return what CoreDNS logs of a question."""
    return LOG.format(type=type_, code=code)


@pytest.mark.parametrize(
    "pasted",
    [
        TWO.format(code="NXDOMAIN"),
        ONE.format(code="REFUSED"),
        dig("A", "NOERROR") + dig("AAAA", "NOTIMP"),
        log("A", "NOERROR") + "\n" + log("AAAA", "SERVFAIL"),
    ],
)
def test_a_name_that_exists_is_denied(pasted: str) -> None:
    """Certain where the client is one that minds, whichever tool shows it."""
    (found,) = check(ticket_of(TICKET.format(prose=ALPINE, pasted=pasted)))

    assert found.certainty == 1
    assert "app.lan.example, which exists" in str(found.claim)


def test_another_client_may_not_mind() -> None:
    """glibc takes the address that it got."""
    prose = "A pod cannot resolve app.lan.example."
    (found,) = check(ticket_of(TICKET.format(prose=prose, pasted=TWO.format(code="NXDOMAIN"))))

    assert (found.certainty, len(found.asks)) == (0.7, 1)


@pytest.mark.parametrize(
    "pasted",
    [
        dig("A", "NOERROR") + dig("AAAA", "NOERROR"),
        dig("A", "NXDOMAIN") + dig("AAAA", "NXDOMAIN"),
        dig("A", "SERVFAIL") + dig("A", "NOERROR") + dig("AAAA", "SERVFAIL"),
        dig("AAAA", "NXDOMAIN"),
        dig("A", "NOERROR") + dig("MX", "NXDOMAIN"),
    ],
)
def test_an_honest_answer_is_no_fault(pasted: str) -> None:
    """No record, no such name, a server that fails for both, or a question that is left out."""
    assert not list(check(ticket_of(TICKET.format(prose=ALPINE, pasted=pasted))))


def test_nobody_complains() -> None:
    """An odd server alone is no fault."""
    text = TICKET.format(prose="Notes.", pasted=TWO.format(code="NXDOMAIN"))
    assert not list(check(ticket_of(text)))
