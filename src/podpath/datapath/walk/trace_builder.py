"""The trace of the packet under way, step by step as stages decide."""

from __future__ import annotations

from podpath.datapath.reasons import Reason
from podpath.datapath.tracing.trace import Assumption, NearMiss, RuleHit, Step
from podpath.datapath.vocabulary import StepDecision, StepStage
from podpath.datapath.walk.skb import Skb
from podpath.net.packet import Packet
from podpath.net.provenance import Inferred, Span


class TraceBuilder:
    """What was recorded of one packet so far."""

    __slots__ = ("matched", "steps")

    def __init__(self) -> None:
        """Start with nothing recorded."""
        self.steps: list[Step] = []
        self.matched: list[RuleHit] = []
        """Every rule that matched, in order, whether it decided anything or not."""

    def step(  # noqa: PLR0913  # one call makes one Step: its fields are the arguments
        self,
        stage: StepStage,
        skb: Skb,
        function: str,
        before: Packet,
        decision: StepDecision,
        reason: Reason,
        *,
        spans: tuple[Span, ...] = (),
        near: tuple[NearMiss, ...] = (),
        link: str | None = None,
        rests_on: Inferred | None = None,
        assumed: tuple[Assumption, ...] = (),
    ) -> None:
        """Record a decision on the packet; `skb.packet` is what it is after it."""
        fields = (
            stage,
            skb.netns.name,
            function,
            before,
            skb.packet,
            decision,
            reason,
            spans,
            near,
            link,
            rests_on,
            assumed,
        )
        # The constructor of a named tuple unpacks its arguments once more.
        self.steps.append(tuple.__new__(Step, fields))
