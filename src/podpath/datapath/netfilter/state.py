"""One packet at one hook (`struct nf_hook_state`): what matches look at, what targets change, what
the step will say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.reasons.rules import RuleReason
from podpath.datapath.reasons.translation import TranslationReason
from podpath.datapath.tracing.trace import Assumption
from podpath.datapath.vocabulary import Hook, StepDecision
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Option, Span

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule


class Doubt(NamedTuple):
    """The third answer of a match: it depends on something that is not known, or that the kernel
    draws at random.
    """

    fact: str
    """A statement that is true or false, the same wherever it is asked: `the time is as "-m time
    --timestart 09:00" wants`.
    """
    likely: bool
    """Which of the two a walk takes first."""
    ask: str = ""
    """The command that tells; empty where none does."""
    random: bool = False
    """True where the kernel chooses for each packet."""
    negated: bool = False
    """True where the rule matches when the statement is false."""

    def options(self) -> tuple[Option[bool], Option[bool]]:
        """Return the two answers, the likelier first."""
        yes, no = Option(True, "yes"), Option(False, "no")
        return (yes, no) if self.likely else (no, yes)


class Decision(NamedTuple):
    """What one table decided about a packet: the body of its Step."""

    word: StepDecision
    reason: RuleReason | TranslationReason
    span: Span | None = None
    """The deciding rule's line, or the chain's where its policy decided."""


class HookState:
    """A packet under way through the entries of one hook. Mutable, and short-lived."""

    __slots__ = (
        "assumed",
        "decision",
        "forward_to",
        "hook",
        "in_name",
        "out_name",
        "reroute",
        "skb",
        "table",
        "walk",
    )

    def __init__(self, walk: Walk, skb: Skb, hook: Hook) -> None:
        """Look at a packet from one hook."""
        self.walk = walk
        self.skb = skb
        self.hook = hook
        self.in_name: str = skb.iif.name if skb.iif is not None else ""
        """The input device as rules see it; empty where there is none: the kernel compares with an
        empty name then.
        """
        self.out_name: str = skb.oif.name if skb.oif is not None else ""
        self.table = ""
        """The table that is being traversed."""
        self.decision: Decision | None = None
        """What the table has decided so far."""
        self.assumed: tuple[Assumption, ...] = ()
        """What was taken for granted in the table of rules that the evidence leaves out."""
        self.reroute = ""
        """Why a packet of OUTPUT has to be routed again."""
        self.forward_to = ""
        """The device that a rule at ingress or egress sends the packet out by."""


Answer = bool | Doubt
Check = Callable[[HookState], Answer]
"""One condition of a rule, compiled."""
Act = Callable[[HookState, "CompiledRule"], Verdict | None]
"""What a target does, compiled: a final verdict, or None where evaluation goes on with the next
rule.
"""
