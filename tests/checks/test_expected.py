"""Addresses that flags and files take for the host's own."""

from __future__ import annotations

import pytest

from podpath.checks.expected import list_absent, list_expected
from tests.checks.pasted import case_of

LISTED = """\
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    link/ether fa:16:3e:11:22:33 brd ff:ff:ff:ff:ff:ff
    inet 10.0.0.2/24 brd 10.0.0.255 scope global eth0
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel master br0 state UP group default
    link/ether fa:16:3e:11:22:34 brd ff:ff:ff:ff:ff:ff
4: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether fa:16:3e:11:22:34 brd ff:ff:ff:ff:ff:ff
    inet 10.0.1.2/24 brd 10.0.1.255 scope global br0
"""
STANZA = """\
$ cat /etc/network/interfaces
iface {device} inet static
    address {address}
    netmask 255.255.255.0
"""
FLAG = "$ ps aux\nroot 1 0.0 0.0 kubelet --node-ip={address} --v=2\n"
OTHER_NODE = """\
$ kubectl get nodes -o wide
NAME   STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE
w2     Ready    <none>   61m   v1.29.1   10.0.0.77     <none>        Debian
"""


@pytest.mark.parametrize(
    ("wanted", "absent"),
    [
        (STANZA.format(device="eth0", address="10.0.0.2"), []),
        (STANZA.format(device="eth0", address="10.0.0.9"), [("10.0.0.9", "")]),
        (STANZA.format(device="eth0", address="10.0.1.2"), [("10.0.1.2", "br0")]),
        (STANZA.format(device="eth1", address="10.0.1.2"), []),
        (STANZA.format(device="eth9", address="10.0.0.9"), []),
        (STANZA.format(device="eth0", address="203.0.113.9"), []),
        (STANZA.format(device="eth0", address="10.0.x.9"), []),
        (FLAG.format(address="10.0.0.2"), []),
        (FLAG.format(address="10.0.0.9"), [("10.0.0.9", "")]),
        (FLAG.format(address="203.0.113.9"), []),
        (FLAG.format(address="10.0.0.77") + OTHER_NODE, []),
    ],
)
def test_what_is_wanted_is_held_against_what_is_listed(
    wanted: str, absent: list[tuple[str, str]]
) -> None:
    """It is absent where it is on another device or on none; what a cloud translates, another
    node's address, a masked one and a device that is not there are no evidence.
    """
    found = [
        (str(one.expected.address), one.found_on) for one in list_absent(case_of(LISTED + wanted))
    ]

    assert absent == found


def test_a_part_of_a_listing_proves_no_absence() -> None:
    """One device's addresses are not all."""
    part = "$ ip addr show eth0\n" + "\n".join(LISTED.splitlines()[3:6])

    assert not list(list_absent(case_of(f"{part}\n{FLAG.format(address='10.0.0.9')}")))


def test_flags_come_before_files() -> None:
    """Each names who takes the address for the host's own."""
    case = case_of(
        STANZA.format(device="eth0", address="10.0.0.9") + FLAG.format(address="10.0.0.8")
    )

    assert ["node-ip", "the configuration of eth0"] == [one.by for one in list_expected(case)]
