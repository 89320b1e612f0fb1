"""A failing walk told in sentences: what each packet met that mattered, up to the one that did not
arrive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.cause import Cause, Claim, PacketStory
from podpath.checks.ground import Ground, Unsettling
from podpath.datapath.reasons.rules import PolicyDecided
from podpath.datapath.reasons.translation import DestinationRewritten
from podpath.datapath.tracing.trace import Delivered, Dropped, Rejected, Step, Trace, Transmitted
from podpath.datapath.vocabulary import CONNTRACK, Direction, HookStage, StepDecision
from podpath.diagnosis.narrative import telling_steps
from podpath.net.packet import endpoint, spell_ends
from podpath.node.netfilter import Rule
from podpath.report.sentences.failures import spell_failure
from podpath.report.sentences.reasons import spell_reason

MOST = 3
"""Steps told of one packet."""


def spell_cause(claim: Claim) -> str:
    """Name a cause in one sentence, and say what goes with it."""
    return " ".join((_claim_of(claim.cause), *map(_too_late, claim.too_late), *claim.remarks))


_GROUNDS: Mapping[Ground, str] = {
    Ground.ENDED: (
        "It was final: the program that reports it gave up, or the unit that does this work failed."
    ),
    Ground.SAME_ERROR: "A system call trace shows the same kernel error.",
    Ground.BY_HAND: (
        "The same step works when done by hand later, so it failed because of when it ran."
    ),
    Ground.AT_CONTAINER_START: (
        "The failure starts when a container starts or stops, and that is also when its device "
        "changes."
    ),
    Ground.SAME_MECHANISM: "A second line shows the same mechanism.",
    Ground.LASTING: ("It happened more than once, and retrying does not fix this error."),
    Ground.OUTSIDE_NAMES: (
        "Names outside the cluster fail only sometimes, so the path out works: it is this server "
        "that does not answer."
    ),
    Ground.SERVICE_MASKED: (
        "The placeholder for the destination says that it is a service's address, which has to "
        "be translated."
    ),
    Ground.OTHERS_ANSWERED: (
        "Names reportedly resolve: only the query that the program sends to itself at startup "
        "goes unanswered."
    ),
    Ground.ITS_TASK: "This program sets up exactly what is reported to be lost.",
    Ground.OWN_REJECT: (
        "The ICMP error comes from the destination itself: its own host rejects the packet."
    ),
    Ground.ONE_NODE: "The cluster is a single machine: there is only a bridge between its pods.",
    Ground.WHOLE_TTL: "ping was given no TTL: its packets start with more hops than any path has.",
    Ground.SAME_PORT: (
        "It is the very port that is reported to fail, and the kernel drops requests to it."
    ),
    Ground.INSISTED: "The message keeps coming: the sender does not adopt the smaller size.",
    Ground.SYMPTOM: "What is reported to fail is exactly what this setting breaks.",
}


_DOUBTS: Mapping[Unsettling, str] = {
    Unsettling.OVER: (
        "The log continues long after this line without another like it: it passed, and may not "
        "be what fails now."
    ),
    Unsettling.WORKS: "Something was answered over it, so it works at least some of the time.",
    Unsettling.UNREAD_BESIDE: "An output about the same thing was not read, and may say why.",
    Unsettling.EXISTS: (
        "Something with the same name already exists: it may be left over from an earlier run."
    ),
    Unsettling.RECOVERED: "The same log says that it came up again, and it has not failed since.",
    Unsettling.STANDS: "Another output shows that it is up.",
    Unsettling.OTHER_DEVICE: "The connection reported to fail does not use it.",
    Unsettling.OTHER_FAILURE: (
        "A connection is reported to fail, and it may have nothing to do with what could not be "
        "created."
    ),
    Unsettling.OWN_WORDS: (
        "Another line is about the same program: it may say why it is not running, or that it is."
    ),
    Unsettling.TENTATIVE: "The address is there, but duplicate address detection has not finished.",
    Unsettling.OUTSIDE_RANGE: "None of the addresses that fail is in both ranges.",
    Unsettling.ITS_OWN: (
        "Nothing shows whose device that is: one that the network itself left behind conflicts "
        "with any range."
    ),
    Unsettling.NO_SPEED: (
        "A NIC reports no speed: LACP leaves such a link out, whatever its partner does."
    ),
    Unsettling.LATER: "The same step works when done by hand later: nothing is wrong with it.",
    Unsettling.TYPED: "It answers a command that somebody typed; no component printed it.",
    Unsettling.DONE: "The same log later says that it succeeded, and does not report this again.",
    Unsettling.LONG_AGO: "It is days older than the output next to it.",
    Unsettling.OTHER_FAMILY: (
        "Nobody says that anything fails over IPv6, and IPv4 has nothing to do with it; several "
        "addresses of one device that are given up are its own echo."
    ),
    Unsettling.NO_SERVICE: (
        "Nobody says that a service fails from a node or from outside, which is all that it breaks."
    ),
    Unsettling.TEARDOWN: (
        "It was said while an old sandbox was removed, by the configuration of its time; new pods "
        "need not be affected."
    ),
    Unsettling.ONLY_PROBED: (
        "A program only looks for it at startup, and continues without it or in another mode."
    ),
    Unsettling.PERHAPS_BUILT_IN: (
        "A container's own folder of modules lacks it; the host's kernel may have it built in."
    ),
    Unsettling.CUT_OFF: (
        "The program that said so gets no answer from others either: what it waits for may be fine."
    ),
    Unsettling.XDP_QUEUE: (
        "The driver also says that a queue that XDP sends on hangs: offloads have nothing to do "
        "with that."
    ),
    Unsettling.AGAIN: "The same command, run again later, does not report it.",
    Unsettling.NOT_LOADED: (
        "A file of rules is refused: if these are its rules, the kernel does not hold them."
    ),
    Unsettling.SUPPOSED: "It is quoted as what would or should be printed, not as what was.",
    Unsettling.RESCUE: "A rescue system was running, with a kernel and devices of its own.",
    Unsettling.OTHER_PROGRAM: "It is in the log of a program that nobody says is failing.",
    Unsettling.RUNS: "The pods of the program that said so are running and ready.",
    Unsettling.PAST: "It is said to be of another time or host, or over.",
    Unsettling.REASON_BESIDE: "It gives no reason, and a failure in the same event gives one.",
    Unsettling.AGENT_DOWN: (
        "The network plugin's own pods are reported not to run, which is why: look at them first."
    ),
}


def spell_ground(link: PacketStory | Ground | Unsettling) -> str:
    """Say one link of the chain from the evidence to the claim."""
    if isinstance(link, Ground):
        return _GROUNDS[link]
    if isinstance(link, Unsettling):
        return _DOUBTS[link]
    if link.trace is link.cause.trace:
        return _tell_failing(link.cause)
    return _tell(link.trace)


def _too_late(rule: Rule) -> str:
    name = rule.target.name if rule.target is not None else "a rule"
    return (
        f"{name} (rule {rule.position} of {rule.chain}), which would have let it pass, comes later."
    )


def _tell(trace: Trace) -> str:
    told = list(dict.fromkeys(_spell(step) for step in telling_steps(trace)))[-MOST:]
    return f"{trace.name} ({spell_ends(trace.packet)}): {'; '.join([*told, _end(trace)])}."


def _tell_failing(cause: Cause) -> str:
    trace, last = cause.trace, cause.trace.deciding
    steps = [step for step in telling_steps(trace) if step is not last]
    told = list(dict.fromkeys(_spell(step) for step in steps))[-MOST:]
    if cause.step is not last:
        told.append(_spell_place(cause.step))
    arrived = isinstance(trace.outcome, (Delivered, Transmitted))
    final = _failure(cause) if arrived else f"{_spell_place(last)}: it is {_end(trace)}"
    return f"{trace.name} ({spell_ends(trace.packet)}): {'; '.join([*told, final])}."


def _spell_place(step: Step) -> str:
    return f"{spell_reason(step.reason)} [{step.stage}, netns {step.netns}]"


def _failure(cause: Cause) -> str:
    return spell_failure(cause.branch.failure)


def _spell(step: Step) -> str:
    why = spell_reason(step.reason)
    if isinstance(step.stage, HookStage) and step.stage.runs == CONNTRACK:
        what = {
            StepDecision.NEW: "conntrack sees it as NEW",
            StepDecision.INVALID: f"conntrack marks it INVALID: {why}",
        }
        return what.get(step.decision, f"conntrack: {step.decision}")
    before, after = spell_ends(step.before), spell_ends(step.after)
    if before == after or after.partition(" > ")[0] in why:
        return why
    return f"{why}, so it is now {after}"


def _end(trace: Trace) -> str:
    match trace.outcome:
        case Delivered(netns=netns):
            return f"it arrives in netns {netns}"
        case Transmitted(link=link):
            return f"it leaves on {link}"
        case Dropped():
            return "dropped"
        case Rejected(answer=answer):
            return f"refused, and the sender gets {answer}"
        case _:
            return "not decided"


def _claim_of(cause: Cause) -> str:
    """Name the cause in one sentence."""
    special = _CLAIMS.get(cause.check)
    told = "".join(special(cause)) if special is not None else ""
    if told:
        return told
    if isinstance(cause.trace.outcome, (Delivered, Transmitted)):
        return f"{_the(cause)} goes astray: {_failure(cause)}."
    if cause.step is not cause.trace.deciding:
        ended = f"and it ends up in {cause.trace.deciding.netns}, where it does not belong"
        return f"{_the(cause)} goes astray: {spell_reason(cause.step.reason)}, {ended}."
    word = "rejected" if isinstance(cause.trace.outcome, Rejected) else "dropped"
    return (
        f"{_the(cause)} is {word} at {cause.step.stage} in netns {cause.step.netns}: "
        f"{spell_reason(cause.step.reason)}."
    )


def _the(cause: Cause) -> str:
    """Name the packet: `The handshake's ACK from 10.0.0.1 to 10.0.0.2:80`."""
    packet = cause.trace.packet
    name = {
        "ACK": "handshake's ACK",
        "SYN": "first packet (SYN)",
        "SYN-ACK": "answer (SYN-ACK)",
    }.get(cause.trace.name, cause.trace.name)
    served = cause.trace.direction is Direction.ORIGINAL and packet.has_ports
    target = endpoint(packet.dst, packet.dport) if served else str(packet.dst)
    return f"The {name} from {packet.src} to {target}"


def _rule(cause: Cause) -> Iterator[str]:
    if cause.place is not None:
        rule = cause.place.rule
        word = "rejected" if isinstance(cause.trace.outcome, Rejected) else "dropped"
        yield (
            f"{_the(cause)} is {word} by rule {rule.position} of {rule.chain} (table {rule.table})."
        )


def _order(cause: Cause) -> Iterator[str]:
    if cause.place is not None:
        rule = cause.place.rule
        yield (
            f"{_the(cause)} is dropped by rule {rule.position} of {rule.chain}, because conntrack "
            "marks it INVALID."
        )


def _filter(cause: Cause) -> Iterator[str]:
    yield (
        f"The reverse-path filter drops packets from {cause.step.before.src}: "
        f"{spell_reason(cause.step.reason)}."
    )


def _bridged(cause: Cause) -> Iterator[str]:
    first = cause.branch.traces[0].packet
    reply = cause.trace.packet
    yield (
        f"The reply of {reply.src} to {reply.dst} stays on the bridge and skips netfilter, so it "
        f"is not translated back to {endpoint(first.dst, first.dport)}."
    )


def _without_endpoints(cause: Cause) -> Iterator[str]:
    packet = cause.branch.traces[0].packet
    yield (
        f"The service {endpoint(packet.dst, packet.dport)} has no endpoints: a kube-proxy rule "
        "rejects packets to it."
    )


def _unheard(cause: Cause) -> Iterator[str]:
    yield f"{_the(cause)} is not sent: {spell_reason(cause.step.reason)}."


def _policy(cause: Cause) -> Iterator[str]:
    reason = cause.step.reason
    if isinstance(reason, PolicyDecided):
        chain = f"{reason.table} {reason.chain}" if reason.native else reason.chain
        yield f"{_the(cause)} is dropped by the policy of {chain}: no rule accepts it."


def _stale(cause: Cause) -> Iterator[str]:
    step = cause.step
    service, gone = (
        endpoint(step.before.dst, step.before.dport),
        endpoint(step.after.dst, step.after.dport),
    )
    yield (
        f"A conntrack entry still sends packets from {step.before.src} for {service} to {gone}, "
        "which is no longer an endpoint."
    )


def _untranslated(cause: Cause) -> Iterator[str]:
    first = cause.branch.traces[0].packet
    if isinstance(cause.step.reason, DestinationRewritten):
        after = cause.step.after
        yield (
            f"Traffic from {first.src} to {endpoint(first.dst, first.dport)} is sent on to "
            f"{endpoint(after.dst, after.dport)} on another node and is not masqueraded, though a "
            "rule marks it for that: the answer bypasses this node and is not translated back."
        )
        return
    yield (
        f"Traffic from {first.src} to {first.dst} leaves the node with the pod's own address as "
        "its source, and nobody there can reply to it."
    )


def _among_own(cause: Cause) -> Iterator[str]:
    address = cause.step.before.dst
    yield (
        f"Traffic for {address}, a pod of another node, stays on this node, which takes the "
        "address for one of its own pods: the pod ranges of the two nodes overlap."
    )


_CLAIMS = {
    "pod-ranges-overlap": _among_own,
    "stale-conntrack": _stale,
    "missing-masquerade": _untranslated,
    "no-endpoints": _without_endpoints,
    "arp-ignore": _unheard,
    "neighbour-failed": _unheard,
    "dropped-by-rule": _rule,
    "untracked": _rule,
    "chain-order": _order,
    "rp-filter": _filter,
    "br-netfilter": _bridged,
    "forward-policy": _policy,
}
