"""What checks ask of files."""

from __future__ import annotations

from podpath.checks.files import (
    device_networks,
    files_of,
    listed_devices,
    named_devices,
    own_addresses,
)
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 10.0.0.2/24 brd 10.0.0.255 scope global eth0
root@box:~# cat /etc/dnsmasq.conf
interface=eth0,eth*,lo
```
"""


def test_files_and_the_host_s_own_devices() -> None:
    """Names are words with a number; patterns are none."""
    case = case_of_document(TICKET)
    (file,) = files_of(case, "dnsmasq")

    assert ["eth0", "lo"] == list(named_devices(file.settings[0]))
    assert {"lo", "eth0"} == listed_devices(case)
    assert {"127.0.0.1": "lo", "10.0.0.2": "eth0"} == {
        str(one): device for one, (device, _) in own_addresses(case).items()
    }
    assert ["10.0.0.0/24"] == [str(one) for one in device_networks(case, "eth0")]


def test_a_namespace_that_nothing_shows() -> None:
    """It has nothing."""
    case = case_of_document(TICKET)

    assert not any(
        (
            own_addresses(case, "pod"),
            listed_devices(case, "pod"),
            device_networks(case, "eth0", "pod"),
        )
    )
