"""What is worked out once for a node and used by every walk through it: compiled rulesets, routing tables by prefix.

The caller that walks many packets (a conversation and all its branches, a diagnosis) makes one `Engine` for its node and
hands it to every `Walk`. It lives and dies with that caller; nothing is kept in a module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.namespace import Namespace
from podpath.net.addresses import Family
from podpath.node.node import Node

if TYPE_CHECKING:
    from podpath.datapath.netfilter.ruleset import Ruleset


class Engine:
    """The compiled form of one node. It is filled as walks need it; what it holds never depends on a walk's choices."""

    __slots__ = ("namespaces", "node", "rulesets")

    def __init__(self, node: Node) -> None:
        """Start empty: nothing is compiled before a packet meets it."""
        self.node = node
        self.rulesets: dict[tuple[str, Family], Ruleset] = {}
        """By namespace and family."""
        self.namespaces: dict[str, Namespace] = {}
        """By name."""

    def namespace(self, name: str) -> Namespace:
        """Give a namespace of the node, indexed when first asked for."""
        found = self.namespaces.get(name)
        if found is None:
            found = self.namespaces[name] = Namespace(self.node.namespaces[name])
        return found
