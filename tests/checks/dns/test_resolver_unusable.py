"""Hosts that ask no name server."""

from __future__ import annotations

from podpath.checks.dns.resolver_unusable import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# ping -c1 {name}
ping: {name}: Name or service not known
root@box:~# cat /etc/resolv.conf
nameserver {server}
root@box:~# cat /etc/nsswitch.conf
passwd: files
hosts: {hosts}
```
"""


def test_hosts_without_dns() -> None:
    """The line and the failure are quoted."""
    (found,) = check(
        case_of_document(
            TICKET.format(name="www.example.org", server="10.0.0.1", hosts="files mymachines")
        )
    )

    assert (1.0, "hosts: files mymachines") == (found.certainty, found.evidence[0].text)


def test_mdns_that_ends_the_search() -> None:
    """Only names in .local are never asked in DNS."""
    hosts = "files mdns4_minimal [NOTFOUND=return] dns"
    (found,) = check(
        case_of_document(TICKET.format(name="nas.corp.local", server="10.0.0.1", hosts=hosts))
    )

    assert "nas.corp.local" in str(found.claim)
    assert not list(
        check(
            case_of_document(TICKET.format(name="www.example.org", server="10.0.0.1", hosts=hosts))
        )
    )


def test_a_server_by_its_name() -> None:
    """A masked address is none."""
    (found,) = check(
        case_of_document(
            TICKET.format(name="www.example.org", server="dns.example.org", hosts="files dns")
        )
    )

    assert "nameserver dns.example.org" == found.evidence[0].text
    assert not list(
        check(
            case_of_document(
                TICKET.format(name="www.example.org", server="10.x.x.1", hosts="files dns")
            )
        )
    )
