"""Objects of Kubernetes, its plugins and Docker as the evidence states them: what somebody wants,
not what the kernel holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.provenance import Span
from podpath.net.trees import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiObject:
    """One sight of an object, in its API's own field names; several outputs may show the same
    object, each a part of it.
    """

    kind: str
    """`Service`, `NetworkPolicy`, `IPPool`, ...; `Container` and `Network` of Docker; `Corefile`,
    `ResolvConf`, `SubnetEnv`.
    """
    namespace: str
    """Empty where nothing tells it, and for what has none."""
    name: str
    tree: Tree
    netns: str = "host"
    """The namespace that the output shows: whose resolv.conf it is."""
    partial: bool = False
    """True where lines of its output were left out."""

    @property
    def span(self) -> Span:
        """All its lines."""
        return self.tree.span

    @property
    def title(self) -> str:
        """Its name with its namespace."""
        if self.namespace:
            return f"{self.namespace}/{self.name}"
        return self.name
