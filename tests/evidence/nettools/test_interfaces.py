"""`netstat -i` in its two forms."""

from __future__ import annotations

from podpath.evidence.node_records import LinkRecord
from podpath.evidence.records import StatementRecord
from podpath.net.statements import DeviceCount
from tests.evidence.consoles import block, read

NEW = """
Kernel Interface table
Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
cni0      1450      212      0      0 0           233      0      0      0 BMU
eth0      1500     9821      0    812 3          7712      0      0      0 BMRU
"""
OLD = """
Iface   MTU Met   RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
eth0   1500   0  912312      2      0      0   712331      0      0      0 BMRU
"""


def counts(text: str) -> list[tuple[str, str, int]]:
    """Return the counters that are kept."""
    found = [one.statement for one in read(block(text)).records if isinstance(one, StatementRecord)]
    return [(one.link, one.name, one.value) for one in found if isinstance(one, DeviceCount)]


def test_devices_with_mtu_and_flags() -> None:
    """Up without R has no carrier."""
    reading = read(block(NEW, "netstat -i"))
    links = [one for one in reading.records if isinstance(one, LinkRecord)]

    assert [("cni0", 1450), ("eth0", 1500)] == [(one.name, one.mtu) for one in links]
    assert [True, False] == ["NO-CARRIER" in (one.flags or ()) for one in links]
    assert not reading.gaps


def test_losses_are_kept_by_the_kernels_names() -> None:
    """Columns are told by the heading; zeros of losses tell nothing."""
    assert ("eth0", "rx_dropped", 812) in counts(NEW)
    assert ("eth0", "rx_fifo", 3) in counts(NEW)
    assert ("cni0", "rx_dropped", 0) not in counts(NEW)
    assert ("eth0", "rx_errors", 2) in counts(OLD)
    assert ("eth0", "rx_packets", 912312) in counts(OLD)


def test_a_row_of_another_width_is_not_read() -> None:
    """Something was cut off."""
    text = NEW.replace("cni0      1450      212      0 ", "cni0      1450      212 ")

    assert [gap.span.line for gap in read(block(text)).gaps]


FLAGS = """
Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
lo              65536        0      0      0 0             0      0      0      0 LRU
tun0             1500        0      0      0 0             0      0      0      0 MOPU
tap0             1500        0      0      0 0             0      0      0      0 BMPU
eth1             1500        0      0      0 0             0      0      0      0 BMsRU
"""


def test_one_letter_means_two_things() -> None:
    """P is promiscuous where a device broadcasts, else point to point; small ones are a bond's."""
    reading = read(block(FLAGS, "netstat -i"))
    flags = {one.name: one.flags or () for one in reading.records if isinstance(one, LinkRecord)}

    assert not reading.gaps
    assert {"tun0"} == {name for name, known in flags.items() if "POINTOPOINT" in known}
    assert {"tap0"} == {name for name, known in flags.items() if "PROMISC" in known}
    assert {"eth1"} == {name for name, known in flags.items() if "SLAVE" in known}
