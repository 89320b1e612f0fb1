"""A case as the library hands it out: what the evidence says of each node, and the evidence
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podpath.library.result import Printable
from podpath.net.provenance import Gap, Source
from podpath.node import case
from podpath.node.node import Node
from podpath.report.style import Style

if TYPE_CHECKING:
    from podpath.collect.matched import MatchedCaptures


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NodeCase:
    """What the evidence says of one node."""

    name: str
    """Empty where all evidence is of one node."""
    facts: case.Case
    """The node, and what people and captures saw on it."""
    matched: MatchedCaptures | None = None
    """Its captures put together; None where no capture is among the evidence, or NumPy is missing
    for printed ones.
    """

    def __repr__(self) -> str:
        """Name the node; its facts would fill pages."""
        return f"<NodeCase of {self.name or self.facts.node.name!r}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Case(Printable):
    """All evidence, read: what it says of each node that it is of, the node that most outputs are
    of first.
    """

    nodes: tuple[NodeCase, ...]
    sources: tuple[Source, ...] = ()
    """All that was read, also what says nothing of a node, such as logs."""

    @property
    def facts(self) -> case.Case:
        """The first node's facts, with what people and captures saw on it."""
        return self.nodes[0].facts

    @property
    def node(self) -> Node:
        """The first node."""
        return self.facts.node

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What could not be read, and why."""
        return self.facts.gaps

    def text(self, style: Style | None = None) -> str:
        """Return what was read in a few lines."""
        from podpath.report.case_text import NodeSummary, render_cases  # noqa: PLC0415 - only where it is shown

        rows = [NodeSummary(one.name or one.facts.node.name, one.facts) for one in self.nodes]
        return render_cases(rows, self.sources, style or Style())

    def __repr__(self) -> str:
        """Say what was read in few words; the facts would fill pages."""
        names = ", ".join(one.name or one.facts.node.name for one in self.nodes)
        return f"<Case of {names!r}: {len(self.sources)} sources, {len(self.gaps)} gaps>"
