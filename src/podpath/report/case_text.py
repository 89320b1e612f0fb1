"""What was read, in a few lines for the terminal: the nodes, what their namespaces hold, and how
much could not be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podpath.net.provenance import Source
from podpath.node.case import Case
from podpath.node.node import Netns
from podpath.report.escape import escape
from podpath.report.quotes import quote
from podpath.report.style import Style


class NodeSummary(NamedTuple):
    """A node under the name that the evidence gives it."""

    name: str
    facts: Case


def render_cases(nodes: Sequence[NodeSummary], sources: Sequence[Source], style: Style) -> str:
    """Render what was read of each node, and how much of the evidence it came from."""
    lines: list[str] = []
    for node in nodes:
        lines += _node(node, style)
    files = len({source.name for source in sources})
    return (
        "\n".join(
            [
                *lines,
                style.paint(
                    "dim", f"read from {_count(len(sources), 'output')} in {_count(files, 'file')}"
                ),
            ]
        )
        + "\n"
    )


def _node(node: NodeSummary, style: Style) -> list[str]:
    facts = node.facts
    kernel = f", kernel {escape(facts.node.kernel)}" if facts.node.kernel else ""
    lines = [style.paint("head", f"node {escape(node.name)}") + kernel]
    names = [escape(name) for name in facts.node.namespaces]
    width = max(map(len, names))
    for name, netns in zip(names, facts.node.namespaces.values(), strict=True):
        lines.append(f"  netns {name:<{width}}  {_holdings(netns)}")
    told = _count_all(
        (len(facts.attempts) + len(facts.unplaced), "attempt", ""),
        (len(facts.sightings) + len(facts.arps), "captured packet", ""),
        (len(facts.lost), "packet lost between captures", "packets lost between captures"),
        (len(facts.contradictions), "contradiction", ""),
    )
    if told:
        lines.append(f"  {told}")
    if facts.gaps:
        lines.append(f"  {_count(len(facts.gaps), 'gap')}: evidence that could not be read or used")
        shown = facts.gaps if style.verbose else ()
        lines += [f"    {escape(quote(gap.span))}: {escape(gap.why)}" for gap in shown]
    return lines


def _holdings(netns: Netns) -> str:
    tables = netns.tables
    told = _count_all(
        (len(netns.links.items), "device", ""),
        (len(netns.addresses.items), "address", "addresses"),
        (len(netns.routes.items), "route", ""),
        (len(netns.rules.items), "policy rule", ""),
        (sum(len(table.chains) for table in tables), "chain", ""),
        (len(netns.sysctls), "sysctl", ""),
        (len(netns.conntrack.items), "conntrack entry", "conntrack entries"),
    )
    return told or "nothing known"


def _count_all(*counts: tuple[int, str, str]) -> str:
    return ", ".join(_count(*count) for count in counts if count[0])


def _count(number: int, one: str, many: str = "") -> str:
    """Spell a number of things, whose plural takes an `s` unless it is given."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or one + 's'}"
