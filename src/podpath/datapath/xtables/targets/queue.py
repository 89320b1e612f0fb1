"""`-j QUEUE` and `-j NFQUEUE`: a program in userspace decides (net/netfilter/xt_NFQUEUE.c v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, Drop, Verdict
from podpath.datapath.reasons.rules import QueueTaken
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.net.provenance import Option
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

FREED = Drop("NOT_SPECIFIED")
"""What is not queued is freed without a reason (net/netfilter/nf_queue.c:nf_queue v6.12)."""
KNOWN = frozenset({"queue-num", "queue-balance", "queue-bypass", "queue-cpu-fanout"})


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile to a fork: the program accepts the packet, or drops it (as the kernel does where no
    program listens).
    """
    options = {option.name: option for option in target.options}
    if not options.keys() <= KNOWN:
        raise ValueError(f"expected options of NFQUEUE, saw {sorted(options)}")
    number = single(options["queue-num"]) if "queue-num" in options else "0"
    choices = (
        Option(True, f"the program on queue {number} accepts the packet"),
        Option(False, f"the program on queue {number} drops the packet, or none listens"),
    )

    def queue(state: HookState, compiled: CompiledRule) -> Verdict:
        name = (
            f"the program on netfilter queue {number} of netns {context.netns} accepts the packet"
        )
        accepted = state.walk.choices.choose(
            name, choices, ask="cat /proc/net/netfilter/nfnetlink_queue"
        )
        rule = compiled.rule
        word = StepDecision.ACCEPT if accepted else StepDecision.DROP
        state.decision = Decision(word, QueueTaken(rule, word), rule.span)
        return ACCEPT if accepted else FREED

    return queue
