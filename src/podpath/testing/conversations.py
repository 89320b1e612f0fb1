"""Conversations held by a given node, told in the words that a test asks about: does it work, and
what stopped which packet.

heard = ask(node, "tcp 10.1.0.2 > 203.0.113.9:80 from pod")
assert heard.fails_at == ("SYN", "rp_filter")
assert "rp_filter = 1" in heard.quotes[0]
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation, Step, Trace
from podpath.net.probe import Probe
from podpath.node.node import Node


@dataclass(frozen=True, slots=True)
class ConversationResult:
    """What became of one connection."""

    conversation: Conversation

    @property
    def verdict(self) -> str:
        """Tell whether it works: `ALWAYS`, `SOMETIMES`, `NEVER` or `UNDECIDED`."""
        return self.conversation.verdict

    @property
    def branch(self) -> Branch:
        """The likeliest branch that fails; where none does, the likeliest of all."""
        failing = (branch for branch in self.conversation.branches if branch.works is False)
        return next(failing, self.conversation.branches[0])

    @property
    def packets(self) -> tuple[str, ...]:
        """The names of the packets that were walked in that branch."""
        return tuple(trace.name for trace in self.branch.traces)

    @property
    def fails_at(self) -> tuple[str, str] | None:
        """The packet at which the branch fails, and the stage that decided; None where no branch
        fails.
        """
        if self.branch.works is not False:
            return None
        return self._last.name, self._decision.stage

    @property
    def quotes(self) -> tuple[str, ...]:
        """The lines that the last packet's last decision rests on."""
        return tuple(span.text for span in self._decision.spans)

    @property
    def _last(self) -> Trace:
        return self.branch.traces[-1]

    @property
    def _decision(self) -> Step:
        return self._last.steps[-1]


def ask(node: Node, probe: str) -> ConversationResult:
    """Hold the conversation that a probe asks about."""
    return ConversationResult(converse(node, Probe.parse(probe)))
