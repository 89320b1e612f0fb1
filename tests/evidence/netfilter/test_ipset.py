"""`ipset save` and `ipset list`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from podpath.evidence.formats import CERTAIN, NO
from podpath.evidence.netfilter.ipset import read_ipset, recognise_ipset
from podpath.evidence.node_records import IpSetEntryRecord, IpSetRecord
from podpath.evidence.records import Reading
from podpath.net.provenance import Source
from tests.evidence.consoles import block, load_console
from tests.evidence.netfilter_recording import CONSOLES


def recorded(name: str) -> Source:
    """Load a recorded output."""
    return load_console(CONSOLES / f"{name}.txt")


def sets(reading: Reading) -> dict[str, IpSetRecord]:
    """Return the sets by name."""
    return {record.name: record for record in reading.records if isinstance(record, IpSetRecord)}


def members(reading: Reading) -> Mapping[str, list[tuple[tuple[str, ...], bool]]]:
    """Return the members by set, with whether they are exceptions."""
    found: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for record in reading.records:
        if isinstance(record, IpSetEntryRecord):
            found.setdefault(record.name, []).append((record.parts, record.nomatch))
    return found


def test_saved_sets_are_read() -> None:
    """Type, family and options of each set, and its members in their dimensions."""
    reading = read_ipset(recorded("ipset-save"))
    found = sets(reading)

    assert reading.gaps == ()
    assert {name: (record.type, record.family) for name, record in found.items()} == {
        "pods": ("hash:ip,port", 4), "nets": ("hash:net", 4), "links": ("hash:net,iface", 4),
        "nets6": ("hash:net", 6), "ports": ("bitmap:port", 4), "marks": ("hash:ip", 4),
        "empty": ("hash:ip", 4), "all": ("list:set", 4),
    }  # fmt: skip
    assert {key: found["pods"].options[key] for key in ("timeout", "counters", "maxelem")} == {
        "timeout": "300", "counters": "", "maxelem": "65536",
    }  # fmt: skip
    assert found["ports"].options == {"range": "0-100"}
    assert sorted(members(reading)["nets"]) == [(("10.0.0.0/8",), False), (("10.1.0.0/16",), True)]
    assert (("10.0.0.1", "tcp:80"), False) in members(reading)["pods"]
    assert sorted(members(reading)["links"]) == [
        (("10.0.0.0/8", "eth0"), False),
        (("10.0.0.0/8", "physdev:veth1"), False),
    ]


def test_a_listing_says_the_same_as_the_saved_form() -> None:
    """`ipset list` is the same in other words, with the number of entries."""
    saved, listed = read_ipset(recorded("ipset-save")), read_ipset(recorded("ipset-list"))

    assert listed.gaps == ()
    assert {
        name: (record.type, record.family, record.options) for name, record in sets(listed).items()
    } == {
        name: (record.type, record.family, record.options) for name, record in sets(saved).items()
    }
    assert {name: sorted(own) for name, own in members(listed).items()} == {
        name: sorted(own) for name, own in members(saved).items()
    }
    assert {name: record.size for name, record in sets(listed).items()} == {
        name: len(members(saved).get(name, ())) for name in sets(saved)
    }


def test_options_of_members_are_kept() -> None:
    """Comments, timeouts and marks belong to the member."""
    entries = {
        record.parts: record
        for record in read_ipset(recorded("ipset-save")).records
        if isinstance(record, IpSetEntryRecord)
    }

    assert entries["1.2.3.4",].options == (
        ("skbmark", ("0x10/0xff",)),
        ("skbprio", ("1:10",)),
        ("skbqueue", ("5",)),
    )
    assert ("comment", ("a pod",)) in entries["10.0.0.1", "tcp:80"].options


def test_a_terse_listing_has_no_members() -> None:
    """`ipset list -t` says how many entries there are and shows none."""
    reading = read_ipset(recorded("ipset-list--t"))

    assert reading.gaps == ()
    assert members(reading) == {}
    assert sets(reading)["nets"].size == 2


def test_what_is_no_member_is_a_gap() -> None:
    """A heading without a type, and lines before any set, are not guessed at."""
    reading = read_ipset(
        block(
            "10.0.0.1\nName: broken\nRevision: 3\n\ncreate good hash:ip family inet\n"
            "add good 10.0.0.1\n..."
        )
    )

    assert [gap.span.line for gap in reading.gaps] == [1, 2] or [
        gap.span.line for gap in reading.gaps
    ] == [2, 1]
    assert list(sets(reading)) == ["good"]


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("create x hash:ip family inet", CERTAIN),
        ("add x 10.0.0.1", CERTAIN),
        ("Name: x\nType: hash:net\nRevision: 6", CERTAIN),
        ("Name: web\nNamespace: prod", NO),
        ("add more memory to the node", NO),
        ("", NO),
    ],
)
def test_sets_are_recognised(text: str, degree: int) -> None:
    """A set's type is unique; a described pod has a name too."""
    assert recognise_ipset(block(text)) == degree
