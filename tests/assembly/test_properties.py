"""What holds for every case: order does not matter where outputs agree, and nothing that readers
give makes it raise.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.assembly.case import assemble_case
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import read
from podpath.evidence.records import Reading
from podpath.net.provenance import Listing, Source, Span
from podpath.node.case import Case
from podpath.node.node import Node
from tests.golden.renaming import make_renaming

DATA = Path(__file__).resolve().parents[1] / "data"
RECORDED = DATA / "assembly/two-namespaces/console.txt"
DEVICES = (
    "lxc3055a222b7f1",
    "mgnt",
    "bond1",
    "br-bond",
    "cni0",
    "veth05420679",
    "veth078b53a1",
    "veth0a60985d",
    "ip-172-20-121-84",
)
TICKETS = sorted(DATA.glob("tickets/*/console.txt"))


def _read(name: str, lines: list[str]) -> list[tuple[Source, Reading]]:
    sources = split_document(name, lines)
    return [(source, reading) for source in sources if (reading := read(source)) is not None]


@cache
def _recorded() -> list[tuple[Source, Reading]]:
    return _read("console.txt", RECORDED.read_text().split("\n"))


def _essence(value: object) -> object:
    """Return a value without its spans and without the order of listings: what two orders of
    evidence must agree on.
    """
    if isinstance(value, Span):
        return None
    if isinstance(value, Listing):
        return frozenset(repr(_essence(item)) for item in value.items), value.complete
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, tuple(
            (field.name, _essence(getattr(value, field.name))) for field in fields(value)
        )
    if isinstance(value, dict):
        return frozenset((repr(key), repr(_essence(item))) for key, item in value.items())
    if isinstance(value, tuple):
        return tuple(_essence(item) for item in value)
    return value


@settings(max_examples=15)
@given(order=st.permutations(range(16)))
def test_order_of_agreeing_outputs(order: list[int]) -> None:
    """The same outputs in any order give the same node."""
    outputs = _recorded()
    shuffled = [outputs[place] for place in order if place < len(outputs)]
    assert _essence(assemble_case(outputs).node) == _essence(assemble_case(shuffled).node)


def _check(case: Case) -> None:
    """Check what every case promises."""
    for node in (case.node, *(other.node for other in case.alternatives)):
        _check_node(node)
    assert all(gap.why for gap in case.gaps)
    for attempt in case.attempts:
        assert attempt.probe.netns is None or attempt.probe.netns in case.node.namespaces
        assert attempt.probe.src.family == attempt.probe.dst.family


def _check_node(node: Node) -> None:
    assert "host" in node.namespaces
    for netns in node.namespaces.values():
        names = [link.name for link in netns.links.items]
        assert len(names) == len(set(names))
        assert "lo" in names
        assert {own.link for own in netns.addresses.items} <= set(names)
        assert {
            hop.link for route in netns.routes.items for hop in route.nexthops if hop.link
        } <= set(names)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_tickets_never_raise(data: st.DataObject) -> None:
    """A ticket with lines lost, doubled, cut and moved still gives a case that keeps its
    promises.
    """
    lines = data.draw(st.sampled_from(TICKETS)).read_text().split("\n")
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(lines) - 1))
        end = min(len(lines), place + data.draw(st.integers(1, 12)))
        match data.draw(st.sampled_from(["lose", "double", "cut", "move", "swap"])):
            case "lose" if len(lines) > end - place:
                del lines[place:end]
            case "double":
                lines[place:place] = lines[place:end]
            case "cut":
                lines[place] = lines[place][: data.draw(st.integers(0, 60))]
            case "move":
                moved = lines[place:end]
                del lines[place:end]
                lines += moved
            case _:
                lines[place] = lines[place][::-1]
    _check(assemble_case(_read("ticket.txt", lines)))


@pytest.mark.parametrize("ticket", TICKETS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("seed", range(4))
def test_names_and_addresses_do_not_matter(ticket: Path, seed: int) -> None:
    """With every address, MAC and device changed, also to names that no plugin gives, a ticket
    gives a node of the same shape.
    """
    text = ticket.read_text()
    plain = assemble_case(_read("ticket.txt", text.split("\n")))
    renamed = assemble_case(
        _read("ticket.txt", make_renaming(seed, DEVICES).text(text).split("\n"))
    )
    _check(plain)
    assert _shape(plain) == _shape(renamed)


def _shape(case: Case) -> list[object]:
    netns = sorted(
        (
            len(item.links.items),
            len(item.addresses.items),
            len(item.routes.items),
            bool(item.inferred),
        )
        for item in case.node.namespaces.values()
    )
    attempts = [
        (attempt.probe.protocol, attempt.probe.dport, attempt.result) for attempt in case.attempts
    ]
    return [
        netns,
        attempts,
        len(case.alternatives),
        len(case.sightings),
        len(case.arps),
        len(case.contradictions),
    ]


def test_nothing_gives_an_empty_case() -> None:
    """No evidence gives a node with a host of which nothing is known."""
    case = assemble_case([])
    _check(case)
    assert list(case.node.namespaces) == ["host"]
    assert not case.node.host.routes.complete
