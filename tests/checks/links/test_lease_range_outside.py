"""DHCP servers and the networks of their devices."""

from __future__ import annotations

from podpath.checks.links.lease_range_outside import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
/etc/default/isc-dhcp-server:
```
INTERFACES="eth1"
```

/etc/dhcp/dhcpd.conf:
```
default-lease-time 600;
subnet 192.168.1.0 netmask 255.255.255.0 {{
  option routers {router};
  range 192.168.1.10 {last};
}}
```

```
root@box:~# ip -4 addr show eth1
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    inet {address} brd 192.168.1.255 scope global eth1
```
"""
DNSMASQ = """
```
root@box:~# ip -4 addr show eth1
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    inet 10.0.0.1/24 brd 10.0.0.255 scope global eth1
root@box:~# cat /etc/dnsmasq.conf
interface=eth1
dhcp-range={start},12h
```
"""


def test_a_device_in_no_subnet() -> None:
    """The server does not listen there."""
    (found,) = check(
        case_of_document(
            TICKET.format(router="192.168.1.1", last="192.168.1.90", address="169.254.1.175/16")
        )
    )

    assert ("eth1",) == found.marks


def test_a_router_or_a_range_outside() -> None:
    """What a client could not use."""
    (router,) = check(
        case_of_document(
            TICKET.format(router="192.168.2.1", last="192.168.1.90", address="192.168.1.1/24")
        )
    )
    (last,) = check(
        case_of_document(
            TICKET.format(router="192.168.1.1", last="192.168.2.90", address="192.168.1.1/24")
        )
    )

    assert ["option routers 192.168.2.1;", "range 192.168.1.10 192.168.2.90;"] == [
        found.evidence[0].text.strip() for found in (router, last)
    ]


def test_a_server_in_its_subnet_is_right() -> None:
    """All of it is one network."""
    assert not list(
        check(
            case_of_document(
                TICKET.format(router="192.168.1.1", last="192.168.1.90", address="192.168.1.1/24")
            )
        )
    )


def test_the_range_of_dnsmasq() -> None:
    """Its device's network decides."""
    (found,) = check(case_of_document(DNSMASQ.format(start="10.0.1.10,10.0.1.20")))

    assert "dhcp-range=10.0.1.10,10.0.1.20,12h" == found.evidence[0].text
    assert not list(check(case_of_document(DNSMASQ.format(start="10.0.0.10,10.0.0.20"))))
