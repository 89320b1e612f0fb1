"""Rules as lines: what is an entry, who enters a chain, what differs, what is rewritten to."""

from __future__ import annotations

import pytest

from bench.converse import assemble_node
from podpath.net.addresses import Address
from podpath_fleet.table_lines import (
    CannotCutError,
    EntryKey,
    TableLines,
    find_rewritten,
    list_changed,
    read_tables,
)

RULES = """\
*nat
:PREROUTING ACCEPT [0:0]
:SERVICES - [0:0]
:PORTS - [0:0]
:A - [0:0]
:B - [0:0]
:BOTH - [0:0]
:MARKED - [0:0]
-A PREROUTING -j SERVICES
-A SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "a b -j MARKED" -m tcp --dport 80 -j A
-A SERVICES -d 10.96.0.2/32 -p tcp -m tcp --dport 80 -j B
-A SERVICES -m addrtype --dst-type LOCAL -j PORTS
-A PORTS -p tcp -m tcp --dport 30080 -j BOTH
-A BOTH -j B
-A A -j DNAT --to-destination 10.244.0.1:8080
-A B -j MARKED
-A B -j DNAT --to-destination 10.244.0.2:8443
-A MARKED -j MARK --set-xmark 0x4000/0x4000
COMMIT
"""
ONE, TWO = (EntryKey(Address.parse(f"10.96.0.{number}"), 0) for number in (1, 2))
PORT = EntryKey(None, 30080)


def read_lines(text: str = RULES) -> TableLines:
    """Return the one table of a ruleset."""
    (table,) = read_tables(assemble_node(text), {}).values()
    return table


def test_a_chain_belongs_to_what_its_entries_are_for() -> None:
    """To one address, to an address and a port, to all of these, or to any packet."""
    lines = read_lines()

    assert lines.find_owners("A") == frozenset((ONE,))
    assert lines.find_owners("B") == frozenset((TWO, PORT))
    assert lines.find_owners("BOTH") == frozenset((PORT,))
    assert lines.find_owners("SERVICES") is None
    assert lines.find_owners("PORTS") is None
    assert (lines.is_for_local("PORTS"), lines.is_for_local("B")) == (True, False)


def test_a_jump_within_a_remark_is_none() -> None:
    """The rule's last word is where it leads."""
    assert read_lines().find_owners("MARKED") == frozenset((TWO, PORT))


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ("10.244.0.1:8080", "10.244.0.9:8080", {ONE}),
        ("10.244.0.2:8443", "10.244.0.9:8443", {TWO, PORT}),
        ("--dport 30080", "--dport 30081", {PORT, EntryKey(None, 30081)}),
        ("-A SERVICES -d 10.96.0.2/32", "-A SERVICES -d 10.96.0.1/32", {ONE, TWO, PORT}),
        ("0.0.9", "0.0.8", set()),
    ],
)
def test_what_differs_is_met_by_its_entries_packets(
    old: str, new: str, keys: set[EntryKey]
) -> None:
    """A rule of a chain by all that enter it, an entry by its own."""
    found = set(list_changed(read_lines(), read_lines(RULES.replace(old, new))))

    assert keys - {PORT, TWO} <= found <= keys


def test_entries_may_change_places() -> None:
    """No packet matches two of them; but a rule that is none stands where it stands."""
    first, second = RULES.splitlines()[9:11]
    swapped = RULES.replace(f"{first}\n{second}\n", f"{second}\n{first}\n")
    last = RULES.splitlines()[11]
    behind = RULES.replace(f"{second}\n{last}\n", f"{last}\n{second}\n")

    assert set(list_changed(read_lines(), read_lines(swapped))) == set()
    assert set(list_changed(read_lines(), read_lines(behind))) == {TWO}


def test_a_rule_that_any_packet_may_meet_is_refused() -> None:
    """It is in a chain that is entered for whatever."""
    other = RULES.replace("-A PREROUTING -j SERVICES", "-A PREROUTING -i eth0 -j SERVICES")

    with pytest.raises(CannotCutError):
        list(list_changed(read_lines(), read_lines(other)))


@pytest.mark.parametrize("destination", ["999.1.1.1/32", "10.96/32", "1:2:3/128"])
def test_an_entry_for_no_address_is_refused(destination: str) -> None:
    """Which packets it meets is not known."""
    with pytest.raises(CannotCutError):
        read_lines(RULES.replace("10.96.0.2/32", destination))


def test_what_packets_are_rewritten_to() -> None:
    """Addresses and ports, of each translation; not a range of addresses."""
    found = find_rewritten(read_tables(assemble_node(RULES), {}))
    ranged = RULES.replace("10.244.0.2:8443", "10.244.0.2-10.244.0.5:8443")

    assert found.addresses == {Address.parse("10.244.0.1"), Address.parse("10.244.0.2")}
    assert found.ports == ((8080, 8080), (8443, 8443))
    with pytest.raises(CannotCutError):
        find_rewritten(read_tables(assemble_node(ranged), {}))
