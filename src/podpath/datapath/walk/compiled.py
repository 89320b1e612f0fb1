"""What is worked out once for a node and used by every walk through it: compiled rulesets, routing
tables by prefix.

The caller that walks many packets (a conversation and all its branches, a diagnosis) makes one
`Engine` for its node and hands it to every `Walk`. It lives and dies with that caller; nothing is
kept in a module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk.cilium_config import CiliumConfig
from podpath.net.addresses import Address, Family, Mac
from podpath.node.links import Peer
from podpath.node.node import Node
from podpath.node.wires import Wire


class Engine:
    """The compiled form of one node. It is filled as walks need it; what it holds never depends on
    a walk's choices.
    """

    __slots__ = (
        "any_port",
        "cilium",
        "device_chains",
        "flow_tables",
        "lines",
        "macvlans",
        "namespace",
        "namespaces",
        "node",
        "rulesets",
        "tracked",
        "watch_target",
        "watched",
        "wires",
    )

    def __init__(self, node: Node, *, watched: bool = False, any_port: bool = False) -> None:
        """Start empty: nothing is compiled before a packet meets it."""
        self.node = node
        self.watched = watched
        """True where its packets have headers that note who looks at them (`net.watched`)."""
        self.any_port = any_port
        """True where the first port that is free stands for one that the kernel draws, and not one
        that a hash of the packet's own ends picks.
        """
        self.watch_target: Callable[[str, Any, Any], Any] | None = None
        """Puts a watched address in place of the one that a rule rewrites destinations to: given
        the namespace, the rule and its range, returns the range; None where nobody watches.
        """
        self.rulesets: dict[tuple[str, Family], Any] = {}
        """By namespace and family. Like what follows, typed where it is made: the engine keeps it
        and knows nothing of it.
        """
        self.device_chains: dict[str, Any] = {}
        """Native chains at devices, by namespace."""
        self.flow_tables: dict[str, Any] = {}
        """The compiled flows of Open vSwitch, by bridge."""
        self.tracked: dict[str, Any] = {}
        """The conntrack entries of the evidence, by namespace."""
        self.lines: dict[str, Any] = {}
        """What stands in which line of the evidence, by namespace."""
        self.macvlans: dict[Peer, tuple[Peer, ...]] | None = None
        """The macvlan devices by the device whose wire they share; None before one is asked for."""
        self.wires: dict[tuple[str, str], tuple[Wire, ...]] = {}
        """The wires to other nodes, by namespace and device."""
        for wire in node.wires:
            for end in wire.ends:
                place = (end.netns, str(end.link))
                self.wires[place] = (*self.wires.get(place, ()), wire)
        macs: dict[Address, Mac] = {}
        for netns in node.namespaces.values():
            for entry in netns.neighbours.items:
                if entry.mac is not None and entry.state not in {"FAILED", "INCOMPLETE"}:
                    macs[entry.address] = entry.mac
        self.namespaces: dict[str, Namespace] = _Namespaces(node, macs)
        """Those that were asked for, by name."""
        self.namespace: Callable[[str], Namespace] = self.namespaces.__getitem__
        """Gives a namespace of the node by name, indexed when it is first asked for."""
        self.cilium = CiliumConfig(node.cilium, node.kernel) if node.cilium is not None else None
        """What Cilium's programs do; None where nothing speaks of Cilium."""


class _Namespaces(dict[str, Namespace]):
    """The indexed namespaces of a node by name; what is there is found without a call in Python."""

    __slots__ = ("_macs", "_node")

    def __init__(self, node: Node, macs: Mapping[Address, Mac]) -> None:
        super().__init__()
        self._node = node
        self._macs = macs

    def __missing__(self, name: str) -> Namespace:
        found = self[name] = Namespace(self._node.namespaces[name], self._macs)
        return found
