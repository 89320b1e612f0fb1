"""Addresses of devices in kernel order."""

from __future__ import annotations

from podpath.node.case import Case
from tests.assembly.evidence_text import (
    Output,
    addresses_of,
    alternative_of,
    case_of,
)


def test_addresses_in_kernel_order(recorded: Case) -> None:
    """Addresses stand in the order of `ip addr`, with the secondary ones marked."""
    host = recorded.node.host
    assert addresses_of(host, "ens4")[:2] == ["192.168.9.5/24", "192.168.9.6/24"]
    assert [own.secondary for own in host.addresses.items if own.link == "ens4"][:2] == [
        False,
        True,
    ]


def test_other_addresses_of_one_device() -> None:
    """A device with other addresses further down is another state of the node."""
    shown = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.1.0.{}/24 scope global eth0"
    case = case_of(Output("ip addr", shown.format(4)), Output("ip addr", shown.format(5)))
    assert addresses_of(case.node.host, "eth0") == ["10.1.0.4/24"]
    assert addresses_of(alternative_of(case, "addresses of eth0").node.host, "eth0") == [
        "10.1.0.5/24"
    ]
