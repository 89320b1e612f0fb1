"""Devices that two programs configure."""

from __future__ import annotations

from podpath.checks.host.two_managers import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# nmcli device
DEVICE  TYPE      STATE      CONNECTION
eth0    ethernet  {state}  {profile}
lo      loopback  unmanaged  --
root@box:~# networkctl list
IDX LINK TYPE     OPERATIONAL SETUP
  1 lo   loopback carrier     unmanaged
  2 eth0 ether    routable    {setup}
root@box:~# cat /etc/network/interfaces
iface {device} inet static
    address 10.0.0.2
    netmask 255.255.255.0
```
"""


def test_both_have_set_it_up() -> None:
    """Both rows are quoted."""
    text = TICKET.format(
        state="connected", profile="Wired connection 1", setup="configured", device="eth9"
    )
    (found,) = check(case_of_document(text))

    assert ("eth0",) == found.marks
    assert 1.0 == found.certainty


def test_a_file_of_ifupdown_is_possible() -> None:
    """NetworkManager leaves what ifupdown has alone, unless it is told otherwise."""
    text = TICKET.format(
        state="connected", profile="Wired connection 1", setup="unmanaged", device="eth0"
    )
    (found,) = check(case_of_document(text))

    assert 0.6 == found.certainty


def test_one_of_them_alone_is_right() -> None:
    """The other does not manage it."""
    assert not list(
        check(
            case_of_document(
                TICKET.format(state="unmanaged", profile="--", setup="configured", device="eth0")
            )
        )
    )
    text = TICKET.format(
        state="connected", profile="Wired connection 1", setup="unmanaged", device="eth9"
    )
    assert not list(check(case_of_document(text)))
