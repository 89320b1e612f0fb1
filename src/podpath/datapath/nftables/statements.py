"""Statements of a rule, compiled to what they do to a packet
(net/netfilter/nf_tables_core.c:nft_do_chain v6.12).

A statement gives None where the rule goes on, `BREAK` where it ends without a verdict, a jump, or
what becomes of the packet.
"""

from __future__ import annotations

from collections.abc import Callable

from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.rules import ACT
from podpath.datapath.netfilter.state import Act, Answer, Check, Decision, Doubt, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Verdict
from podpath.datapath.nftables.conditions import compile_match
from podpath.datapath.nftables.mangling import compile_change
from podpath.datapath.nftables.translation import compile_nat
from podpath.datapath.nftables.unfollowed import stop_at
from podpath.datapath.nftables.values import RulePosition, compile_lookup, compile_value
from podpath.datapath.reasons.rules import (
    KeptFromConntrack,
    RuleDecided,
    SentByRule,
    StatementTaken,
)
from podpath.datapath.tracing.trace import RuleHit
from podpath.datapath.vocabulary import CtInfo, StepDecision
from podpath.datapath.walk.skb import is_untouched
from podpath.datapath.xtables.registry import perform
from podpath.net import nft
from podpath.net.provenance import Option
from podpath.node.netfilter import MatchOption, Rule, Target
from podpath.node.nftables import NftRule
from podpath.node.nftables_text import emit_statement
from podpath.xtables.context import RuleContext
from podpath.xtables.seen import TargetAct
from podpath.xtables.targets import queue, reject

BREAK = nft.NftVerdict("break")
"""NFT_BREAK: the rule does not match, the next one is tried."""
Result = nft.NftVerdict | Verdict | None
Op = Callable[[HookState], Result]
DROPPING = ("xt target", "synproxy", "tproxy")
"""Statements that are not modeled and may end a packet."""
DECIDING = nft.OpaqueStatement | nft.Vmap | nft.NftReject | nft.Queue | nft.Forward
"""What may give a verdict."""
PASSING = (
    "xt match",
    "ct ",
    "meter ",
    "quota ",
    "limit ",
    "log",
    "add @",
    "update @",
    "delete @",
    "dup ",
    "last",
)
"""Beginnings of statements that are not modeled and cannot give a verdict, as nft(8) lists them."""


def compile_rule(rule: NftRule, place: RulePosition) -> tuple[Op, ...]:
    """Compile a rule to its statements, the last of which records that it matched where it has no
    counter.
    """
    ops: list[Op] = []
    counts = any(isinstance(statement, nft.Counter) for statement in rule.statements)
    if rule.unread:
        ops.append(
            _ask(
                f"the packet matches {place.where}, whose text is not whole ({rule.unread})", place
            )
        )
    for statement in rule.statements:
        ends = isinstance(
            statement, nft.NftVerdict | nft.Nat | nft.NftReject | nft.Queue | nft.Forward | nft.Vmap
        )
        if ends and not counts:
            ops.append(_record_hit(place))
            counts = True
        ops.append(compile_statement(statement, place))
    if not counts:
        ops.append(_record_hit(place))
    return tuple(ops)


def compile_statement(statement: nft.Statement, place: RulePosition) -> Op:  # noqa: C901, PLR0911  # one arm for each kind
    """Compile one statement; one that is not modeled forks the walk."""
    try:
        match statement:
            case nft.NftMatch():
                return _compile_condition(compile_match(statement, place), place)
            case nft.Vmap():
                return _compile_vmap(statement, place)
            case nft.NftVerdict():
                return _compile_verdict(statement, place)
            case nft.Counter():
                return _record_hit(place)
            case nft.Mangle():
                return compile_change(statement, place)
            case nft.Nat():
                return compile_nat(statement, place)
            case nft.NftReject():
                return _compile_reject(statement, place)
            case nft.Queue(text):
                target = _translate_queue(text)
                return borrow(place, lambda context: queue.compile_target(target, context))
            case nft.Notrack():
                return _compile_notrack(place)
            case nft.Forward():
                return _compile_forward(statement, place)
            case nft.Limit():
                return _compile_limit(statement, place)
            case nft.Log() | nft.Duplicate() | nft.SetUpdate(text=""):
                return lambda _: None
            case _:
                return _compile_unknown(statement, place)
    except ValueError as error:
        return _compile_unknown(statement, place, str(error))


def stand_in(rule: NftRule, target: str = "") -> Rule:
    """Return a rule of iptables that has the place of this one, for what both do alike."""
    return Rule(rule.table, rule.place, rule.position, rule.span, Target(target))


def borrow(place: RulePosition, compile_act: Callable[[RuleContext], TargetAct]) -> Op:
    """Do what a target of iptables does."""
    rule = stand_in(place.rule)
    compiled: dict[int, Act] = {}

    def run(state: HookState) -> Result:
        family = state.skb.packet.family
        act = compiled.get(family)
        if act is None:
            context = RuleContext(rule, place.table.netns, family, "nft", place.table.no_sets)
            act = compiled[family] = perform(compile_act(context))
        return act(state, CompiledRule(rule, (), ACT, act))

    return run


def _translate_queue(text: str) -> Target:
    """Return the target of iptables that does what the words behind `queue` say."""
    words = text.replace(",", " ").split()
    number = next((word for word in words if word[:1].isdigit()), "0")
    options = [MatchOption("queue-num", (number.partition("-")[0],))]
    if "bypass" in words:
        options.append(MatchOption("queue-bypass"))
    return Target("NFQUEUE", tuple(options))


def _record_hit(place: RulePosition) -> Op:
    netns, rule = place.table.netns, place.rule

    def record(state: HookState) -> None:
        state.walk.trace.matched.append(RuleHit(netns, "native", state.hook, rule))

    return record


def _compile_condition(check: Check, place: RulePosition) -> Op:
    def decide(state: HookState) -> Result:
        return None if settle(state, check(state)) else BREAK

    del place
    return decide


def settle(state: HookState, answer: Answer) -> bool:
    """Take a condition's answer, or ask for what it depends on."""
    if isinstance(answer, Doubt):
        chosen = state.walk.choices.choose(
            answer.fact, answer.options(), ask=answer.ask, random=answer.random
        )
        return chosen is not answer.negated
    return answer


def _ask(fact: str, place: RulePosition) -> Op:
    doubt = Doubt(fact, likely=False, ask=place.show)
    return lambda state: None if settle(state, doubt) else BREAK


def _compile_verdict(verdict: nft.NftVerdict, place: RulePosition) -> Op:
    rule = place.rule
    if verdict.kind not in {"accept", "drop"}:
        return lambda _: verdict
    word = StepDecision(verdict.kind)
    final = ACCEPT if word is StepDecision.ACCEPT else DROP
    decided = RuleDecided(rule, word)

    def decide(state: HookState) -> Result:
        state.decision = Decision(word, decided, rule.span)
        return final

    return decide


def _compile_vmap(statement: nft.Vmap, place: RulePosition) -> Op:
    find = compile_lookup(statement.key, statement.data, place)
    if isinstance(statement.data, nft.SetRef):
        place.table.data_types(statement.data)
    ops: dict[int, Op] = {}
    fact = f"what {emit_statement(statement)} at {place.where} finds"
    verdicts = _list_verdicts(statement.data, place)
    options = [
        Option(-1, "no verdict"),
        *(Option(number, emit_statement(one)) for number, one in enumerate(verdicts)),
    ]
    unread = _compile_unknown(statement, place, "it leads to no verdict that is known")
    found_by_guess = tuple(_compile_verdict(verdict, place) for verdict in verdicts)

    def run(state: HookState) -> Result:
        entry = find(state)
        if isinstance(entry, Doubt):
            chosen = state.walk.choices.choose(fact, options, ask=place.show)
            if chosen < 0:
                return BREAK
            return found_by_guess[chosen](state)
        if entry is None:
            return BREAK
        if not isinstance(entry.data, nft.NftVerdict):
            return unread(state)
        op = ops.get(id(entry))
        if op is None:
            op = ops[id(entry)] = _compile_verdict(entry.data, place)
        return op(state)

    return run


def _list_verdicts(data: nft.SetRef | nft.SetOf, place: RulePosition) -> tuple[nft.NftVerdict, ...]:
    """Return the verdicts that a map may lead to, each once."""
    if isinstance(data, nft.SetOf):
        elements = data.elements
    else:
        elements = place.table.named(data.name).elements
    return tuple(
        dict.fromkeys(
            element.data for element in elements if isinstance(element.data, nft.NftVerdict)
        )
    )


def _compile_reject(statement: nft.NftReject, place: RulePosition) -> Op:
    def compile_act(context: RuleContext) -> TargetAct:
        answer = reject_answer(statement, context.family)
        return reject.compile_target(
            Target("REJECT", (MatchOption("reject-with", (answer,)),)), context
        )

    return borrow(place, compile_act)


_UNIVERSAL = {
    "port-unreachable": ("icmp-port-unreachable", "icmp6-port-unreachable"),
    "admin-prohibited": ("icmp-admin-prohibited", "icmp6-adm-prohibited"),
    "host-unreachable": ("icmp-host-unreachable", "icmp6-addr-unreachable"),
    "no-route": ("icmp-net-unreachable", "icmp6-no-route"),
}
"""What `icmpx` means in each family (net/netfilter/nft_reject.c:icmp_code_v4 v6.12 and
icmp_code_v6).
"""
_ICMP = {"prot-unreachable": "icmp-proto-unreachable"}
_ICMPV6 = {"admin-prohibited": "icmp6-adm-prohibited"}


def reject_answer(statement: nft.NftReject, family: int) -> str:
    """Return a reject's answer as iptables names it; `ValueError` for one that it does not know."""
    if statement.kind == "tcp reset":
        return "tcp-reset"
    code = statement.code or "port-unreachable"
    if statement.kind in {"", "icmpx"}:
        if code not in _UNIVERSAL:
            raise ValueError(f"expected an answer of reject, saw {code!r}")
        return _UNIVERSAL[code][0 if family == 4 else 1]
    if statement.kind == "icmp":
        return _ICMP.get(code, f"icmp-{code}")
    return _ICMPV6.get(code, f"icmp6-{code}")


def _compile_notrack(place: RulePosition) -> Op:
    kept = KeptFromConntrack(place.rule)

    def leave_untracked(state: HookState) -> None:
        skb = state.skb
        if is_untouched(skb):
            skb.ctinfo = CtInfo.UNTRACKED
            state.decision = Decision(StepDecision.UNTRACKED, kept, place.rule.span)

    return leave_untracked


def _compile_forward(statement: nft.Forward, place: RulePosition) -> Op:
    """Send the packet out by a device at once (net/netfilter/nft_fwd_netdev.c v6.12); only at
    ingress and egress.
    """
    if not isinstance(statement.device, nft.Literal):
        device = compile_value(statement.device, place, "ifname_text")
    else:
        device = None
    if device is not None or not isinstance(statement.device, nft.Literal):
        raise ValueError("expected a device's name")
    name = statement.device.text

    def forward(state: HookState) -> Result:
        state.forward_to = name
        state.decision = Decision(
            StepDecision.FORWARD, SentByRule(place.rule, name), place.rule.span
        )
        return ACCEPT

    return forward


def _compile_limit(statement: nft.Limit, place: RulePosition) -> Op:
    fact = f"{emit_statement(statement)} lets the packet through at {place.where}"
    doubt = Doubt(fact, likely=not statement.over, ask=place.show)
    return lambda state: None if settle(state, doubt) else BREAK


def _compile_unknown(statement: nft.Statement, place: RulePosition, why: str = "not modeled") -> Op:
    text = emit_statement(statement)
    fact = f"what {text} does at {place.where} ({why})"
    options = [
        Option("go on", "the packet goes on behind it"),
        Option("break", "the rule ends there"),
    ]
    if isinstance(statement, nft.Mangle | nft.Nat):
        options.append(Option("stop", "it changes the packet"))
    elif text.startswith(DROPPING):
        options.append(Option("drop", "the packet ends there"))
    elif isinstance(statement, DECIDING) and not (
        isinstance(statement, nft.OpaqueStatement) and text.startswith(PASSING)
    ):
        options += [
            Option("drop", "it drops the packet"),
            Option("accept", "it accepts the packet"),
        ]

    def run(state: HookState) -> Result:
        effect = state.walk.choices.choose(fact, options, ask=place.show)
        if effect == "go on":
            return None
        if effect == "break":
            return BREAK
        if effect == "stop":
            return stop_at(state, place, text)
        word = StepDecision(effect)
        state.decision = Decision(word, StatementTaken(place.rule, word), place.rule.span)
        return ACCEPT if word is StepDecision.ACCEPT else DROP

    return run
