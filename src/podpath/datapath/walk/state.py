"""The state of one branch of a walk, in four parts: what is known, chosen, walked and learned."""

from __future__ import annotations

from podpath.datapath.tracing.drawn_port import PortQuestions
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.draws import Draws
from podpath.datapath.walk.learned import Learned, NeighbourTables
from podpath.datapath.walk.trace_builder import TraceBuilder
from podpath.net.provenance import Option
from podpath.net.watched import Compared


class Walk:
    """One branch of a walk or conversation.

    What is known of the node is the engine, shared by all branches. What is chosen where nothing is
    known are the choices and draws. What is walked is the trace of the packet under way. What its
    packets left behind is what was learned.
    """

    __slots__ = ("choices", "draws", "engine", "learned", "trace")

    def __init__(self, engine: Engine, choices: Choices) -> None:
        """Start a branch: no packet was sent, and nothing learned."""
        self.engine = engine
        self.choices = choices
        """The answers to what the evidence leaves open."""
        self.draws = Draws(PortQuestions(self._choose_port, self._answer_port))
        """What the kernel draws at random."""
        self.trace = TraceBuilder()
        """Of the packet that is under way; each has one of its own."""
        self.learned = Learned()
        if engine.watched:
            self.learned.bpf, self.draws.flow_ports = Compared(), Compared()
            self.learned.sockets = Compared()
            self.learned.neighbours = NeighbourTables(
                Compared(), Compared(), Compared(), Compared()
            )

    def _choose_port(self, name: str, likely: bool) -> bool:  # noqa: FBT001  # what is likely is a value
        options = (
            Option(True, "the kernel draws one of these"),
            Option(False, "the kernel draws another"),
        )
        return self.choices.choose(name, options if likely else options[::-1], random=True)

    def _answer_port(self, name: str) -> object:
        return self.choices.answer(name)
