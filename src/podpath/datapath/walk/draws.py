"""What the kernel draws at random, as numbers that stand for any: no value is made up twice, and
whatever rests on one says so.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Draws:
    """The draws of one branch."""

    packets: int = 0
    """How many packets were sent before the one under way."""
    first_drawn: dict[str, int] = field(default_factory=dict)
    """The packet that each fact was drawn for first, by its number."""
    flow_ports: dict[Hashable, int] = field(default_factory=dict)
    """The source port of a tunnel's outer packets by the flow that they carry: the kernel takes a
    hash of it.
    """

    def name(self, fact: str) -> str:
        """Return the name of what the kernel draws for the packet under way: each packet has a draw
        of its own.
        """
        later = self.packets - self.first_drawn.setdefault(fact, self.packets)
        return f"{fact}, {later} packets later" if later else fact

    def flow_port(self, flow: Hashable, lowest: int) -> int:
        """Return the port that stands for the hash of a flow; the first is the lowest."""
        return self.flow_ports.setdefault(flow, lowest + len(self.flow_ports))
