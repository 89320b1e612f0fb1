"""Records of zone files."""

from __future__ import annotations

import pytest

from podpath.checks.dns.zone_record import check
from tests.assembly.evidence_text import case_of_document

ZONE = """
/etc/bind/zones/home.lan.db
```
$TTL 1D
home.lan. IN SOA ns.home.lan. admin.home.lan. ( 1 8H 4H 4W 1D )
home.lan. IN NS ns.home.lan.
ns IN A 192.168.1.3
{record}
```
"""


@pytest.mark.parametrize(
    "record",
    [
        "home.lan. IN MX ns.home.lan.",
        "_sip._tcp IN SRV 0 5060 ns.home.lan.",
        "www IN A 192.168.1.256",
        "www IN CNAME ns.home.lan",
        "www IN A 192.168.1.9\nwww IN CNAME ns",
        "home.lan. IN MX 10 mail\nmail IN CNAME ns",
    ],
)
def test_a_record_that_cannot_be_is_quoted(record: str) -> None:
    """Each is a fault by itself."""
    (found,) = check(case_of_document(ZONE.format(record=record)))

    assert found.evidence[0].text in record.split("\n")
    assert 1.0 == found.certainty


@pytest.mark.parametrize(
    "record",
    [
        "home.lan. IN MX 10 ns.home.lan.",
        "_sip._tcp IN SRV 0 5 5060 ns.home.lan.",
        "www IN A 192.168.1.x",
        "www IN CNAME ns",
        "www IN CNAME www.example.org",
        "www IN AAAA fd00::1",
    ],
)
def test_a_record_that_can_be_is_left(record: str) -> None:
    """The same with its numbers, its dot, or a name of its own zone."""
    assert not list(check(case_of_document(ZONE.format(record=record))))
