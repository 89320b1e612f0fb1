"""A file that names a card of yesterday."""

from __future__ import annotations

import pytest

from podpath.checks.links.configured_device_missing import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        gateway 192.168.1.1
        bridge-ports enp3s0

$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""
ALMOST = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        bridge-ports eth0

$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""
HEALTHY = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        bridge-ports enp3s0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "enp3s0" in found.evidence[0].text
    assert 0.9 == found.certainty
    assert "enp3s0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A card that is there, and no list of the devices."""
    assert [] == list(check(case_of_document(ticket)))


LAN = """The server has no network since its board was changed.

```
# cat /etc/systemd/network/20-lan.network
[Match]
Name=enp3s0
[Network]
DHCP=yes
# networkctl
IDX LINK   TYPE     OPERATIONAL SETUP
  1 lo     loopback carrier     unmanaged
  2 enp5s0 ether    {state}
```
"""


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        (LAN.format(state="off         unmanaged"), True),
        (LAN.format(state="routable    configured"), False),
        (
            LAN.format(state="off         unmanaged\n  3 enp6s0 ether    routable    configured"),
            False,
        ),
    ],
)
def test_a_managers_list_shows_what_nothing_configures(text: str, *, certain: bool) -> None:
    """It is certain where the only card that is there is left alone."""
    (finding,) = check(ticket_of(text))

    assert certain is (finding.certainty == 1)


@pytest.mark.parametrize(
    "text",
    [
        LAN.format(state="no-carrier  configuring").replace("enp3s0", "enp5s0"),
        LAN.format(state="off         unmanaged").replace("  1 lo", "  3 en9s1"),
        LAN.format(state="off         unmanaged").replace("networkctl", "networkctl | grep -v wl"),
    ],
)
def test_the_card_is_there_or_the_list_is_a_part(text: str) -> None:
    """A name that is listed misses nothing, and a part of a list shows nothing missing."""
    assert not list(check(ticket_of(text)))


def test_the_parent_of_a_plugins_network() -> None:
    """A list of names is enough to see that it is not there."""
    text = """Pods with the second network do not start.

```
{ "type": "macvlan", "master": "eno1", "ipam": { "type": "dhcp" } }
# ip -br link | awk '{print $1}'
lo
enp65s0f0
```
"""
    (finding,) = check(ticket_of(text))

    assert str(finding.claim) == "CNI's configuration names eno1, which the host does not have."
    assert not list(check(ticket_of(text.replace("eno1", "enp65s0f0"))))
