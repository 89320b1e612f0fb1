"""Evidence for the tests of the assembly: text as it stands in tickets, read by the real readers,
and records by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import NamedTuple, TypeVar

from podpath.assembly.case import assemble_case
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import read
from podpath.evidence.records import Reading, Record
from podpath.net.addresses import Address
from podpath.net.provenance import Fact, Known, Source, Span, Unknown
from podpath.node.case import Alternative, Case
from podpath.node.links import Link
from podpath.node.node import Netns
from podpath.node.routing import Route

T = TypeVar("T")
Read = tuple[Source, Reading]


class Output(NamedTuple):
    """One command's output."""

    command: str | None
    text: str
    netns: str | None = None
    label: str | None = None


def read_outputs(*outputs: Output, name: str = "ticket.md") -> list[Read]:
    """Read outputs that stand below one another in one file, as the document reader would cut them."""  # noqa: E501
    found: list[Read] = []
    line = 1
    for order, output in enumerate(outputs):
        lines = tuple(dedent(output.text).strip("\n").split("\n")) if output.text else ()
        source = Source(
            name=name, lines=lines, first_line=line, command=output.command, netns=output.netns, label=output.label,  # noqa: E501
            order=order, prompt="root@n1:~#",
        )  # fmt: skip
        reading = read(source)
        assert reading is not None, f"no reader knows {output.command!r}"
        found.append((source, reading))
        line += len(lines) + 2
    return found


def case_of(*outputs: Output) -> Case:
    """Return the case of outputs that stand below one another in one file."""
    return assemble_case(read_outputs(*outputs))


def case_of_document(text: str, name: str = "ticket.md") -> Case:
    """Return the case of a whole ticket."""
    sources = split_document(name, dedent(text).strip("\n").split("\n"))
    return assemble_case(
        [(source, reading) for source in sources if (reading := read(source)) is not None]
    )


def by_hand(
    make: Callable[[Span], tuple[Record, ...]], *, command: str | None = None, text: str = "(made by hand)",  # noqa: E501
    label: str | None = None, first_line: int = 1, prompt: str | None = "root@n1:~#",
) -> Read:  # fmt: skip
    """Return a source with records made by hand, all with the span of its lines."""
    lines = tuple(text.split("\n"))
    source = Source(
        name="ticket.md",
        lines=lines,
        first_line=first_line,
        command=command,
        label=label,
        prompt=prompt,
    )
    span = Span(source, first_line, first_line + len(lines) - 1)
    return source, Reading(make(span), ())


def link_of(netns: Netns, name: str) -> Link:
    """Return a device by name."""
    return next(link for link in netns.links.items if link.name == name)


def addresses_of(netns: Netns, link: str) -> list[str]:
    """Spell the addresses of a device."""
    return [f"{own.address}/{own.length}" for own in netns.addresses.items if own.link == link]


def spell_route(route: Route) -> str:
    """Spell a route by what tells it from others."""
    hops = " ".join(
        f"via {hop.gateway} dev {hop.link}" if hop.gateway else f"dev {hop.link}"
        for hop in route.nexthops
    )
    metric = f" metric {route.metric}" if route.metric else ""
    return f"{route.prefix} {hops}{metric}"


def known(fact: Fact[T] | None) -> T:
    """Return the value of a fact that must be known."""
    assert isinstance(fact, Known), fact
    value: T = fact.value
    return value


def options_of(fact: Fact[str] | None) -> list[str]:
    """Return the values of a fact that must be unknown, the likeliest first."""
    assert isinstance(fact, Unknown), fact
    return [option.value for option in fact.options]


def address(text: str) -> Address:
    """Read an address."""
    return Address.parse(text)


def alternative_of(case: Case, fact: str) -> Alternative:
    """Return the alternative in which a fact is otherwise."""
    return next(item for item in case.alternatives if fact in item.fact)
