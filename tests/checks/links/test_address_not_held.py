"""An address that a file or a flag takes for the host's own."""

from __future__ import annotations

from podpath.checks.links.address_not_held import check
from tests.checks.pasted import found

LISTED = """\
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    link/ether fa:16:3e:11:22:33 brd ff:ff:ff:ff:ff:ff
    inet {address}/24 brd 10.0.0.255 scope global eth0
$ cat /etc/netplan/01.yaml
network:
  version: 2
  ethernets:
    eth0:
      addresses: [10.0.0.2/24]
"""


def test_a_file_that_is_not_in_force() -> None:
    """Its line and the device's are quoted; whether it is to be in force stays open."""
    text = LISTED.format(address="10.0.0.77")

    assert [(0.7, "addresses: [10.0.0.2/24]")] == found(check, text)


def test_the_device_has_the_address() -> None:
    """The file is in force."""
    assert not found(check, LISTED.format(address="10.0.0.2"))


def test_an_address_is_told_once() -> None:
    """A flag and a file may name the same one."""
    text = (
        LISTED.format(address="10.0.0.77") + "$ ps aux\nroot 1 kubelet --node-ip=10.0.0.2 --v=2\n"
    )

    assert 1 == len(found(check, text))
