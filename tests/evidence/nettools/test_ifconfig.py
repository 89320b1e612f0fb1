"""`ifconfig` in its forms."""

from __future__ import annotations

from podpath.evidence.node_records import AddressRecord, LinkRecord
from podpath.net.addresses import Address
from tests.assembly.evidence_text import case_of_document
from tests.evidence.consoles import block, read

NEW = """
docker0: flags=4099<UP,BROADCAST,MULTICAST>  mtu 9000
        inet 172.17.0.1  netmask 255.255.0.0  broadcast 172.17.255.255
        inet6 fe80::42:e2ff:fef8:c52f  prefixlen 64  scopeid 0x20<link>
        ether 02:42:e2:f8:c5:2f  txqueuelen 0  (Ethernet)
        RX packets 0  bytes 0 (0.0 B)
"""
OLD = """
eth0      Link encap:Ethernet  HWaddr 7E:61:74:99:CA:C0
          inet addr:10.1.1.1  Bcast:10.1.1.255  Mask:255.255.255.0
          UP BROADCAST RUNNING MULTICAST  MTU:1450  Metric:1
          RX packets:0 errors:0 dropped:0 overruns:0 frame:0
"""


def test_the_new_form_gives_device_and_addresses() -> None:
    """Up without RUNNING is no carrier; masks and prefix lengths are read."""
    reading = read(block(NEW, "ifconfig"))
    (link,) = [one for one in reading.records if isinstance(one, LinkRecord)]
    found = [
        f"{one.link} {one.address}/{one.length}"
        for one in reading.records
        if isinstance(one, AddressRecord)
    ]

    assert ("docker0", 9000, "02:42:e2:f8:c5:2f") == (link.name, link.mtu, link.mac)
    assert link.flags is not None
    assert "NO-CARRIER" in link.flags
    assert ["docker0 172.17.0.1/16", "docker0 fe80::42:e2ff:fef8:c52f/64"] == found
    assert not reading.gaps


def test_the_old_form_says_the_same() -> None:
    """MAC, mask and MTU stand on lines of their own."""
    reading = read(block(OLD))
    (link,) = [one for one in reading.records if isinstance(one, LinkRecord)]
    (own,) = [one for one in reading.records if isinstance(one, AddressRecord)]

    assert (1450, "7e:61:74:99:ca:c0") == (link.mtu, link.mac)
    assert link.flags is not None
    assert "LOWER_UP" in link.flags
    assert ("10.1.1.1", 24, "10.1.1.255") == (str(own.address), own.length, str(own.broadcast))


def test_a_forum_takes_the_indentation_away() -> None:
    """What stands below a device begins at the left, and goes on with it."""
    flat = "\n".join(" ".join(line.split()) for line in OLD.splitlines())
    reading = read(block(flat, "ifconfig"))
    (link,) = [one for one in reading.records if isinstance(one, LinkRecord)]
    case = case_of_document(f"It fails.\n{flat}\n\nThat is all.")

    assert (1450, True) == (link.mtu, "LOWER_UP" in (link.flags or ()))
    assert not reading.gaps
    assert not case.gaps
    assert case.node.host.holds(Address.parse("10.1.1.1"))
