"""A change that nobody has made yet: what it does to a node, and what of it nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.provenance import Gap, Source, Span
from podpath.node.change import Change
from podpath.node.objects import ApiObject


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A change of the model, and what of it is not taken over."""

    name: str
    """As somebody named it."""
    kind: str
    """The program that would take it."""
    changes: tuple[Change, ...] = ()
    lines: tuple[Span | None, ...] = ()
    """The line that asks for each of them; None where several do."""
    objects: tuple[ApiObject, ...] = ()
    """Objects of Kubernetes that it applies: what somebody wants, not what the kernel holds."""
    refused: tuple[Gap, ...] = ()
    """Lines that are not modeled, or that the kernel would refuse: after them nothing is
    certain.
    """
    sources: tuple[Source, ...] = ()
    drained: str = ""
    """The node that is drained; empty where it is none."""
