"""Why a branch fails, by name: the step that decided, and which fault of the manual that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from podpath.checks import (
    bridge_netfilter,
    chain_order,
    dropped_by_rule,
    foreign_arp,
    forward_policy,
    hairpin,
    ip_forward,
    missing_masquerade,
    neighbour_failed,
    no_listener,
    no_route,
    packet_size,
    route_localnet,
    routing_loop,
    rp_filter,
    source_refused,
    untracked,
    untranslated_reply,
)
from podpath.checks.topology import option_values
from podpath.datapath.trace import Branch, Dropped, Rejected, Step, Trace, Undecided
from podpath.diagnosis.unanswered import UNANSWERED
from podpath.net.provenance import Known, Span
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.node import Node

HOOKS = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlace:
    """A rule, with the chain and table that it stands in."""

    netns: str
    table: Table
    chain: Chain
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What ended a connection."""

    check: str
    """The fault's name in the manual."""
    branch: Branch
    trace: Trace
    """The packet that did not arrive."""
    step: Step
    """What decided."""
    place: RulePlace | None = None
    """The rule that decided, where one did."""

    @property
    def key(self) -> tuple[object, ...]:
        """Tell causes apart: two connections that one rule drops have one cause."""
        where = self.place.rule.span if self.place is not None else None
        return self.check, self.step.netns, where or self.step.stage


def find_cause(node: Node, branch: Branch) -> Cause | None:
    """Name what ended the connection in this branch; None where it is undecided or works."""
    if branch.works is not False or not branch.traces:
        return None
    trace = _failing_trace(branch)
    if trace is None or not trace.steps:
        return None
    step = trace.deciding
    place = find_rule(node, step) if _hook_of(step) else None
    check = _name(branch, trace, step, place)
    return Cause(check=check, branch=branch, trace=trace, step=step, place=place)


def _failing_trace(branch: Branch) -> Trace | None:
    """Give the trace that ended the connection: the last one that did not arrive, else the last one."""
    lost = [trace for trace in branch.traces if isinstance(trace.outcome, (Dropped, Rejected))]
    if lost:
        return lost[-1]
    last = branch.last
    return None if isinstance(last.outcome, Undecided) else last


def find_rule(node: Node, step: Step) -> RulePlace | None:
    """Give the rule that a netfilter step was decided by: the one whose line the step quotes first."""
    namespace = node.namespaces.get(step.netns)
    if namespace is None or not step.spans:
        return None
    span = step.spans[0]
    netfilter = namespace.netfilter.get(step.before.family)
    for table in netfilter.tables if netfilter is not None else ():
        if table.name == step.stage.partition(" ")[2] or not step.stage.partition(" ")[2]:
            for chain in _chains(table, step):
                for rule in chain.rules:
                    if rule.span == span:
                        return RulePlace(netns=step.netns, table=table, chain=chain, rule=rule)
    return None


def _chains(table: Table, step: Step) -> Iterator[Chain]:
    """Give the chains that the step names, in every state that the evidence leaves possible; all where it names none."""
    named = [table.chains[name] for name in step.arguments if isinstance(name, str) and name in table.chains]
    for fact in named or table.chains.values():
        if isinstance(fact, Known):
            yield fact.value
        else:
            yield from (option.value for option in fact.options)


def _hook_of(step: Step) -> str:
    """Give the hook of a netfilter step; empty for any other."""
    hook = step.stage.partition(" ")[0]
    return hook if hook in HOOKS else ""


def _name(branch: Branch, trace: Trace, step: Step, place: RulePlace | None) -> str:
    reason = trace.outcome.reason if isinstance(trace.outcome, (Dropped, Rejected)) else ""
    if branch.kind == UNANSWERED:
        return missing_masquerade.NAME
    if branch.kind == "refused":
        return no_listener.NAME
    if branch.kind == "reply not translated":
        return bridge_netfilter.NAME if _is_bridged(trace) else untranslated_reply.NAME
    if _hook_of(step):
        return _name_rule(trace, step, place)
    if reason == "IP_RPFILTER":
        return rp_filter.NAME
    for fits, name in _BY_STEP:
        if fits(trace, step, reason):
            return name
    return untranslated_reply.NAME if branch.kind == "stray" else no_route.NAME


def _name_rule(trace: Trace, step: Step, place: RulePlace | None) -> str:
    states = _states(place.rule) if place is not None else ()
    if "INVALID" in states:
        return chain_order.NAME
    if place is None and _hook_of(step) == "FORWARD":
        return forward_policy.NAME
    if any(other.decision in ("untracked", "notrack") for other in trace.steps):
        return untracked.NAME
    return dropped_by_rule.NAME


def _states(rule: Rule) -> tuple[str, ...]:
    return option_values(rule, "conntrack", "ctstate") or option_values(rule, "state", "state")


def _is_bridged(trace: Trace) -> bool:
    return any(step.stage.startswith("bridge") for step in trace.steps)


def _says(*words: str) -> Callable[[Trace, Step, str], bool]:
    """Make a test for words in the step's template or the drop reason."""
    return lambda _, step, reason: any(word in step.template or word in reason for word in words)


def _at(*stages: str) -> Callable[[Trace, Step, str], bool]:
    return lambda _, step, __: step.stage in stages


_BY_STEP: tuple[tuple[Callable[[Trace, Step, str], bool], str], ...] = (
    (_says("does not forward", "IP_INADDRERRORS"), ip_forward.NAME),
    (_says("do not fit the MTU", "PKT_TOO_BIG"), packet_size.NAME),
    (_says("its TTL of"), routing_loop.NAME),
    (_says("does not have the MAC", "the frame is for {0}"), foreign_arp.NAME),
    (_at("neighbour"), neighbour_failed.NAME),
    (_says("hairpin"), hairpin.NAME),
    (_says("IP_LOCALNET", "127.0.0.0/8", "route_localnet"), route_localnet.NAME),
    (_at("rp_filter"), source_refused.NAME),
    (_says("IP_INVALID_SOURCE", "IP_LOCAL_SOURCE"), source_refused.NAME),
    (_at("route input", "route output", "reroute"), no_route.NAME),
)
"""The fault that a deciding step stands for: the first row that fits. A step of netfilter is judged by its rule."""


def marks_of(cause: Cause) -> tuple[str, ...]:
    """Give the words within the evidence lines that decide."""
    words = [str(argument) for argument in cause.step.arguments if isinstance(argument, (str, int)) and len(str(argument)) > 1]
    if cause.place is not None:
        rule = cause.place.rule
        words += [*_states(rule), *((rule.target.name,) if rule.target is not None else ())]
    if cause.check == rp_filter.NAME:
        words.append("rp_filter")
    return tuple(dict.fromkeys(word for word in words if " " not in word))


def spans_of(cause: Cause, telling: Iterable[Step]) -> tuple[Span, ...]:
    """Give the lines that decide: those of the deciding step first, then those of the steps that led to it."""
    spans = list(cause.step.spans)
    for step in telling:
        spans += step.spans
    return tuple(dict.fromkeys(spans))
