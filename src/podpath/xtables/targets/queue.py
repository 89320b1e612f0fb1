"""`-j QUEUE` and `-j NFQUEUE`: a program in userspace decides (net/netfilter/xt_NFQUEUE.c
v6.12).
"""

from __future__ import annotations

from podpath.net.provenance import Option
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, draw, make_options
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.verdicts import ACCEPT, Drop, Verdict
from podpath.xtables.wording import make_form

FREED = Drop("NOT_SPECIFIED")
"""What is not queued is freed without a reason (net/netfilter/nf_queue.c:nf_queue v6.12)."""
ASK = "cat /proc/net/netfilter/nfnetlink_queue"
OPTIONS = make_options("queue-num", "queue-balance", flags=("queue-bypass", "queue-cpu-fanout"))


def compile_target(target: Target, context: RuleContext) -> TargetAct:
    """Compile to a fork: the program accepts the packet, or drops it. Where no program listens the
    kernel drops it, too, unless the rule says that it goes on then.
    """
    options = {option.name: option for option in target.options}
    if not options.keys() <= OPTIONS.keys():
        raise ValueError(f"expected options of NFQUEUE, saw {sorted(options)}")
    number = single(options["queue-num"]) if "queue-num" in options else "0"
    choices = (
        Option(True, f"the program on queue {number} accepts the packet"),
        Option(False, f"the program on queue {number} drops the packet, or none listens"),
    )
    listens = (
        Option(True, f"a program listens on queue {number}"),
        Option(False, f"no program listens on queue {number}"),
    )
    place = f"netfilter queue {number} of netns {context.netns}"

    def queue(state: RuleActions) -> Verdict:
        accepted = state.choose(f"the program on {place} accepts the packet", choices, ask=ASK)
        if not accepted and "queue-bypass" in options:
            accepted = not state.choose(f"a program listens on {place}", listens, ask=ASK)
        state.take_queue(accepted=accepted)
        return ACCEPT if accepted else FREED

    return queue


NFQUEUE = TargetExtension(
    name="NFQUEUE",
    options=OPTIONS,
    forms=(
        make_form(
            "NFQUEUE",
            r"NFQUEUE (?:num (?P<queue_num>\d+)|balance (?P<queue_balance>\S+))",
            r"?(?P<flag_queue_bypass>bypass)",
            r"?(?P<flag_queue_cpu_fanout>cpu-fanout)",
        ),
    ),
    compiler=compile_target,
    draws=(draw("queue-num 7"), draw("queue-num 7", "queue-bypass")),
)
QUEUE = TargetExtension(
    name="QUEUE", compiler=compile_target, not_drawn="this iptables cannot spell it"
)
