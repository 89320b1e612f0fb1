"""Readings to a case."""

from __future__ import annotations

from podpath.assembly.case import MOST_ALTERNATIVES, assemble_case
from podpath.evidence.records import Reading
from podpath.net.provenance import Gap, Source, Span
from tests.assembly.evidence_text import Output, addresses_of, case_of, read_outputs


def test_gaps_of_readers_are_kept() -> None:
    """What a reader could not read is a gap of the case."""
    source = Source(name="t", lines=("nonsense",))
    gap = Gap(Span(source, 1, 1), "expected a route, saw 'nonsense'")
    assert assemble_case([(source, Reading((), (gap,)))]).gaps == (gap,)


def test_each_alternative_differs_in_one_fact() -> None:
    """Two facts with two values each give two alternatives, each with the other fact as the node
    has it.
    """
    shown = "{}: eth{}: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.{}.0.{}/24 scope global eth{}"
    case = case_of(
        *(Output("ip addr", shown.format(n + 2, n, n, last, n)) for n in (0, 1) for last in (4, 5))
    )
    assert [addresses_of(case.node.host, f"eth{n}") for n in (0, 1)] == [
        ["10.0.0.4/24"],
        ["10.1.0.4/24"],
    ]
    assert [[addresses_of(
        other.node.host, f"eth{n}",
    )[0] for n in (0, 1)] for other in case.alternatives] == [
        ["10.0.0.5/24", "10.1.0.4/24"], ["10.0.0.4/24", "10.1.0.5/24"],
    ]  # fmt: skip


def test_number_of_alternatives_is_bounded() -> None:
    """Many contradictions give no more alternatives than a diagnosis can walk; every one stays a
    contradiction.
    """
    shown = (
        "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    link/ether 02:00:00:00:00:{:02x} brd ff:ff:ff:ff:ff:ff"
    )
    case = case_of(*(Output("ip link show eth0", shown.format(n)) for n in range(40)))
    assert len(case.alternatives) == MOST_ALTERNATIVES
    assert len(case.contradictions[0].spans) == 40


def test_readings_may_come_from_a_generator() -> None:
    """Readings are gone through once."""
    case = assemble_case(
        pair for pair in read_outputs(Output("ip route", "default via 10.1.0.1 dev eth0"))
    )
    assert len(case.node.host.routes.items) == 1
