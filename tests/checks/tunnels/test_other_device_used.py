"""An agent that takes another device than a flag names."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.other_device_used import check
from tests.checks.pasted import found

LOG = "I0307 08:20:38.533747 1 main.go:544] Using interface with name eth0 and address 10.0.2.15"


@pytest.mark.parametrize(
    "flag",
    [
        "ExecStart=/opt/bin/flanneld --iface=eth1",
        '["agent","--flannel-iface","eth1"]',
        "kubelet --node-ip=192.168.56.10",
    ],
)
def test_the_log_and_the_flag_differ(flag: str) -> None:
    """Both lines are stated; the log may be older."""
    assert [(0.7, LOG)] == found(check, f"{LOG}\n{flag}")


@pytest.mark.parametrize(
    "flag",
    [
        "ExecStart=/opt/bin/flanneld --iface=eth0",
        "kubelet --node-ip=10.0.2.77",
        "kubelet --node-ip=192.168.56.10 --iface=eth0",
        "kubelet --node-ip=192.168.56.10\nkubelet --node-ip=192.168.56.11",
        "flanneld --iface-regex=eth.*",
        "no flag",
    ],
)
def test_nothing_differs(flag: str) -> None:
    """The same device, the same network, several nodes, a pattern."""
    assert not found(check, f"{LOG}\n{flag}")
