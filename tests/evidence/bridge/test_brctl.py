"""`brctl show` and `brctl showmacs`."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.node_records import BridgeRecord, FdbRecord
from podpath.evidence.records import HeadingRecord, Reading
from tests.evidence.consoles import block, read, recorded


def bridges(reading: Reading) -> list[BridgeRecord]:
    """Return the bridges of a reading."""
    return [record for record in reading.records if isinstance(record, BridgeRecord)]


def test_a_bridge_has_its_ports_below_it() -> None:
    """Ports on lines of their own belong to the bridge above."""
    assert [("cni0", ("veth1a", "veth2b"), False, "8000.0a580af40101", False)] == [
        (one.name, one.ports, one.stp, one.bridge_id, one.partial)
        for one in bridges(read(recorded("brctl-show")))
    ]


def test_tabs_that_became_blanks_do_not_matter() -> None:
    """Pasted into an article the columns no longer stand below their titles; an ellipsis cuts the
    list of ports.
    """
    reading = read(
        block("""
    bridge name bridge id       STP enabled interfaces
    cni0        8000.0a5864603601   no      veth05420679
                                            veth078b53a1
    ...
    docker0     8000.024224e1c1f5   yes
""")
    )

    assert [("cni0", ("veth05420679", "veth078b53a1"), True), ("docker0", (), False)] == [
        (one.name, one.ports, one.partial) for one in bridges(reading)
    ]
    assert [False, True] == [
        record.partial for record in reading.records if isinstance(record, HeadingRecord)
    ]
    assert () == reading.gaps


def test_a_bridges_line_is_enough() -> None:
    """Without the heading the identifier tells what it is."""
    assert [("br-lan",)] == [
        (one.name,) for one in bridges(read(block("br-lan\t\t8000.000000000000\tno")))
    ]


def test_what_stands_between_ports_is_a_gap() -> None:
    """A sentence is no port."""
    reading = read(
        block(
            "bridge name bridge id STP enabled interfaces\nbr0 8000.0a5864603601 no veth1\n"
            "   and so on\n      veth2"
        )
    )

    assert ([("veth1", "veth2")], [3]) == (
        [one.ports for one in bridges(reading)],
        [gap.span.line for gap in reading.gaps],
    )


def test_macs_are_read_with_their_port_number() -> None:
    """The bridge's name stands in the command; local addresses are permanent entries."""
    found = [
        record
        for record in read(recorded("brctl-showmacs")).records
        if isinstance(record, FdbRecord)
    ]

    assert {("cni0", None)} == {(one.master, one.link) for one in found}
    assert {1, 2} == {one.port_no for one in found}
    assert [("permanent",)] * 2 == [one.flags for one in found if one.flags]


def test_an_elided_mac_is_a_gap() -> None:
    """The row is not used."""
    reading = read(
        block("  1\txx:xx:xx:xx:xx:xx\tno\t\t   1.00\n  1\t0a:00:00:00:00:01\tno\t\t   1.00")
    )

    assert (1, [1]) == (len(reading.records), [gap.span.line for gap in reading.gaps])


def test_prose_about_bridges_is_no_listing() -> None:
    """The heading must stand there as brctl prints it."""
    assert None is recognition.recognise(block("bridge cni0 has no interfaces"))
