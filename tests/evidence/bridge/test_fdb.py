"""`bridge fdb`, from text and from JSON."""

from __future__ import annotations

from podpath.evidence.node_records import FdbRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read, recorded, stated


def entries(reading: Reading) -> list[FdbRecord]:
    """Return the entries of a reading."""
    return [record for record in reading.records if isinstance(record, FdbRecord)]


def test_text_and_json_give_the_same_records() -> None:
    """Every field of every entry comes out alike, flags in the same order."""
    assert [stated(record) for record in read(recorded("bridge-fdb")).records] == [
        stated(record) for record in read(recorded("bridge-j-p-fdb")).records
    ]


def test_entries_keep_port_bridge_remote_and_flags() -> None:
    """A learned MAC, a static one, an own one and a tunnel's remote end are told apart."""
    found = {(str(one.mac), str(one.link)): one for one in entries(read(recorded("bridge-fdb")))}

    assert [("cni0", ("static",), None), (None, ("self", "permanent"), "192.168.7.30")] == [
        (one.master, one.flags, one.dst and str(one.dst))
        for one in (found["52:54:00:00:00:44", "veth2b"], found["52:54:00:00:00:03", "flannel.1"])
    ]


def test_the_device_may_come_from_the_command() -> None:
    """`show dev flannel.1` does not repeat it."""
    assert [("flannel.1", "192.168.7.30")] == [
        (one.link, str(one.dst)) for one in entries(read(recorded("bridge-fdb-dev")))
    ]


def test_vlans_are_read() -> None:
    """An entry of a filtering bridge belongs to a VLAN; what else is printed changes nothing."""
    reading = read(
        block(
            "52:54:00:00:00:01 dev swp1 vlan 10 master br0 extern_learn offload\n"
            "00:00:00:00:00:00 dev vx1 dst 10.0.0.9 port 4790 via eth0 self"
        )
    )

    assert [(10, "br0", None), (None, None, "10.0.0.9")] == [
        (one.vlan, one.master, one.dst and str(one.dst)) for one in entries(reading)
    ]


def test_an_elided_mac_is_a_gap() -> None:
    """The entry cannot be used."""
    reading = read(
        block("52:54:00:xx:xx:xx dev swp1 master br0\n52:54:00:00:00:01 dev swp1 master br0")
    )

    assert (1, [True]) == (len(entries(reading)), ["elided" in gap.why for gap in reading.gaps])
