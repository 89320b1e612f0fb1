"""Devices that programs are configured for."""

from __future__ import annotations

from podpath.checks.links.program_device_missing import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: enp3s0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP mode DEFAULT group default
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
root@box:~# cat {path}
{text}
```
"""  # noqa: E501


def test_a_device_that_is_not_there() -> None:
    """The setting is quoted."""
    (found,) = check(
        case_of_document(
            TICKET.format(
                path="/etc/dnsmasq.conf", text="interface=eth1\ndhcp-range=10.0.0.10,10.0.0.20,1h"
            )
        )
    )

    assert "interface=eth1" == found.evidence[0].text


def test_a_flag_of_a_unit() -> None:
    """Flannel's and k3s' own option."""
    text = "[Service]\nExecStart=/usr/local/bin/k3s agent --flannel-iface=eth0\nRestart=always"
    (found,) = check(
        case_of_document(TICKET.format(path="/etc/systemd/system/k3s.service", text=text))
    )

    assert ("eth0",) == found.marks


def test_devices_that_are_there_or_are_patterns() -> None:
    """A present device, a VLAN of one, and a pattern."""
    for text in (
        "interface=enp3s0",
        "interface=enp3s0.7",
        "interface=eth*",
        "except-interface=eth9",
    ):
        assert not list(
            check(
                case_of_document(
                    TICKET.format(path="/etc/dnsmasq.conf", text=f"{text}\ndomain-needed")
                )
            )
        )
