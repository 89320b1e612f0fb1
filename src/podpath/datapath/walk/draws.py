"""What the kernel draws at random, as numbers that stand for any: no value is made up twice, and
whatever rests on one says so.
"""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass, field

from podpath.datapath.tracing.drawn_port import DrawnPort, PortQuestions

FLOW_PORT = "the hash of a flow that is a tunnel's source port"
"""What a question about such a port is called."""


@dataclass(slots=True)
class Draws:
    """The draws of one branch."""

    questions: PortQuestions
    """How the branch is asked where in its range a port lies."""
    packets: int = 0
    """How many packets were sent before the one under way."""
    first_drawn: dict[str, int] = field(default_factory=dict)
    """The packet that each fact was drawn for first, by its number."""
    flow_ports: MutableMapping[Hashable, DrawnPort] = field(default_factory=dict)
    """The source port of a tunnel's outer packets by the flow that they carry: the kernel takes a
    hash of it.
    """
    ports: dict[str, DrawnPort] = field(default_factory=dict)
    """Every port that was drawn, by its name."""

    def name(self, fact: str) -> str:
        """Return the name of what the kernel draws for the packet under way: each packet has a draw
        of its own.
        """
        later = self.packets - self.first_drawn.setdefault(fact, self.packets)
        return f"{fact}, {later} packets later" if later else fact

    def port(self, number: int, limits: tuple[int, int], what: str) -> DrawnPort:
        """Draw a port of a range that a number stands for; `what` names it together with the
        number.
        """
        name = f"{what} ({number})"
        port = self.ports.get(name)
        if port is None or (port.low, port.high) != limits:
            port = self.ports[name] = DrawnPort.draw(number, limits, name, self.questions)
        return port

    def name_flow(self, protocol: int, one: Hashable, other: Hashable) -> Hashable:
        """Return what a flow between two ends is called: as it was met first, either way."""
        turned = (protocol, other, one)
        return turned if turned in self.flow_ports else (protocol, one, other)

    def flow_port(self, flow: Hashable, limits: tuple[int, int], lowest: int) -> DrawnPort:
        """Return the port that stands for the hash of a flow; the first is the lowest."""
        port = self.flow_ports.get(flow)
        if port is None:
            number = lowest + len(self.flow_ports)
            port = self.flow_ports[flow] = self.port(number, limits, FLOW_PORT)
        return port
