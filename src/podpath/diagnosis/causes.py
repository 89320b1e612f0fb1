"""Why a branch fails, by name: the step that decided, and which fault of the manual that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from podpath.checks.captures import untranslated_reply
from podpath.checks.cause import Cause, RulePlace
from podpath.checks.cni import cni_chain
from podpath.checks.conntrack import conntrack_full, stale_conntrack, untracked
from podpath.checks.host import switches
from podpath.checks.links import arp_ignore, arp_off, foreign_arp, neighbour_failed
from podpath.checks.netfilter import (
    bridge_netfilter,
    chain_order,
    dropped_by_rule,
    forward_policy,
    hairpin,
    missing_masquerade,
    route_localnet,
)
from podpath.checks.routing import ip_forward, no_route, routing_loop, rp_filter, source_refused
from podpath.checks.services import no_endpoints, no_listener, no_local_endpoints
from podpath.checks.topology import option_values
from podpath.checks.tunnels import packet_size, vxlan_outer
from podpath.datapath.reasons import Reason, bridges, routes
from podpath.datapath.reasons.boundaries import BoundaryReason
from podpath.datapath.reasons.bridges import BridgeReason
from podpath.datapath.reasons.cilium import CiliumReason
from podpath.datapath.reasons.devices import (
    DeviceReason,
    EchoIgnored,
    FrameForOther,
    OuterChecksumWrong,
)
from podpath.datapath.reasons.neighbours import (
    ArpFiltered,
    ArpIgnored,
    ArpIgnoredAcrossSubnets,
    ArpIgnoredElsewhere,
    ArpIgnoredHostScope,
    ArpRefused,
    EntryWrong,
    ForeignSenderAsked,
    NeighbourReason,
    NoArp,
    NotAddressOf,
    OnlyForItself,
    OwnMacForAll,
    Refusal,
    RequestWithoutSender,
)
from podpath.datapath.reasons.routes import RouteReason, TtlExceeded
from podpath.datapath.reasons.rules import PolicyDecided, RuleReason
from podpath.datapath.reasons.tracking import ConntrackFull, TrackingReason
from podpath.datapath.reasons.translation import TranslationReason
from podpath.datapath.tracing.trace import (
    Branch,
    Delivered,
    Dropped,
    Rejected,
    Step,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.datapath.vocabulary import (
    ConversationFailure,
    Direction,
    Hook,
    HookStage,
    StageName,
    StepDecision,
)
from podpath.diagnosis.causes_between import find_between
from podpath.diagnosis.naming import words_of
from podpath.diagnosis.unanswered import UNANSWERED
from podpath.net import nft
from podpath.net.provenance import Known, Span
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.nftables import NftRule
from podpath.node.node import HOST, NetnsRole, Node

REDIRECTING = ("REDIRECT", "TPROXY")
"""Targets by which a mesh takes a pod's connections to its proxy."""
_WITHOUT_ENDPOINTS = frozenset({"no-endpoint-services", "no-endpoint-nodeports"})
"""The maps in which kube-proxy's nftables mode keeps what it rejects and, where traffic policy
Local has no pod on the node, drops (kubernetes pkg/proxy/nftables).
"""
_ON_BRIDGE = frozenset({StageName.BRIDGE, StageName.BRIDGE_PREROUTING})


def find_cause(node: Node, branch: Branch) -> Cause | None:
    """Name what ended the connection in this branch; None where it is undecided or works."""
    if branch.works is not False or not branch.traces:
        return None
    trace = _failing_trace(branch)
    if trace is None or not trace.steps:
        return None
    stored = _find_stale_translation(node, branch)
    if stored is not None:
        return Cause(check=stale_conntrack.NAME, branch=branch, trace=trace, step=stored)
    between = find_between(node, branch, trace)
    if between is not None:
        return between
    taught = _find_wrong_mac(trace)
    if taught is not None:
        return Cause(check=foreign_arp.NAME, branch=branch, trace=trace, step=taught)
    blind = _find_without_arp(trace)
    if blind is not None:
        return Cause(check=arp_off.NAME, branch=branch, trace=trace, step=blind)
    astray = _find_wrong_turn(node, trace)
    if astray is not None:
        name = cni_chain.NAME if _is_unredirected(node, trace) else no_route.NAME
        return Cause(check=name, branch=branch, trace=trace, step=astray)
    step = trace.deciding
    alone = _find_without_local(trace)
    if alone is not None and _hook_of(step):
        marked = step._replace(spans=(alone, *step.spans))
        return Cause(check=no_local_endpoints.NAME, branch=branch, trace=trace, step=marked)
    refused = _find_refusing_map(trace)
    if refused is not None:
        marked = step._replace(spans=tuple(dict.fromkeys((refused.span, *step.spans))))
        check = no_endpoints.NAME if _is_rejected(trace) else no_local_endpoints.NAME
        return Cause(check=check, branch=branch, trace=trace, step=marked)
    place = find_rule(node, step) if _hook_of(step) else None
    check = _name(branch, trace, step, place)
    return Cause(check=check, branch=branch, trace=trace, step=step, place=place)


def _find_without_local(trace: Trace) -> Span | None:
    """Return the line by which kube-proxy marks for dropping what comes for a service with traffic
    policy Local, where the node has none of its pods.
    """
    for rule in (hit.rule for hit in trace.matched if isinstance(hit.rule, Rule)):
        if any("has no local endpoints" in text for text in _comments(rule)):
            return rule.span
    return None


def _find_refusing_map(trace: Trace) -> NftRule | None:
    """Return the rule of kube-proxy's nftables mode that looked up, in a map of what has no
    endpoints, what becomes of the packet.
    """
    if not isinstance(trace.outcome, (Dropped, Rejected)):
        return None
    ways = [hit.rule for hit in trace.matched if isinstance(hit.rule, NftRule)]
    if trace.matched and not isinstance(trace.matched[-1].rule, NftRule):
        return None  # a rule of iptables decided
    if ways and _is_rejected(trace) and ways[-1].chain == "reject-chain":
        ways.pop()  # the map's element goes to it
    if not ways or ways[-1].table != "kube-proxy":
        return None
    asked = [each.data for each in ways[-1].statements if isinstance(each, nft.Vmap)]
    named = {each.name for each in asked if isinstance(each, nft.SetRef)}
    return ways[-1] if named & _WITHOUT_ENDPOINTS else None


def _is_rejected(trace: Trace) -> bool:
    return isinstance(trace.outcome, Rejected)


def _find_wrong_mac(trace: Trace) -> Step | None:
    """Return the step by which a packet that did not arrive was sent to a MAC that its next hop
    does not have.
    """
    if isinstance(trace.outcome, (Delivered, Transmitted)):
        return None
    return next(
        (step for step in trace.steps if isinstance(_resolution(step.reason), EntryWrong)), None
    )


def _find_without_arp(trace: Trace) -> Step | None:
    """Return the step by which a device without ARP sent a frame to its own MAC, which nobody
    took.
    """
    if not isinstance(trace.deciding.reason, FrameForOther):
        return None
    resolved = [step for step in trace.steps if isinstance(step.reason, NeighbourReason)]
    addressed = resolved[-1] if resolved else None
    if addressed is None or not isinstance(addressed.reason, OwnMacForAll):
        return None
    return addressed


def _resolution(reason: Reason) -> Reason:
    """Return how a MAC was found, without the request that was sent for it."""
    return reason.found if isinstance(reason, ForeignSenderAsked) else reason


def refusal_of(step: Step) -> Refusal | None:
    """Return why who has the next hop's address does not answer for it; None where something else
    decided.
    """
    found = _resolution(step.reason)
    return found.refusal if isinstance(found, ArpRefused) else None


def _find_wrong_turn(node: Node, trace: Trace) -> Step | None:
    """Return the host's routing step by which a packet came to a namespace that it was not for, and
    that ended it.
    """
    last = trace.deciding
    if (
        last.netns == HOST
        or isinstance(trace.outcome, (Delivered, Transmitted))
        or isinstance(last.reason, TtlExceeded)
    ):
        return None
    namespace = node.namespaces.get(last.netns)
    routed = last.stage in (StageName.ROUTE_INPUT, StageName.FORWARD)
    if namespace is None or namespace.role == NetnsRole.HOST or not routed:
        return None
    if namespace.holds(last.before.dst):
        return None
    turns = [
        step
        for step in trace.steps
        if step.netns == HOST and step.decision in (StepDecision.FORWARD, StepDecision.ROUTE)
    ]
    return turns[-1] if turns else None


def _is_unredirected(node: Node, trace: Trace) -> bool:
    """Tell whether a pod sent to where a mesh's proxy should have taken it, as pods do that started
    outside the mesh's chain.
    """
    sender = node.namespaces.get(trace.start)
    if sender is None or sender.name == HOST or not any(cni_chain.find_unchained(node)):
        return False
    tables = (table for netfilter in sender.netfilter.values() for table in netfilter.tables)
    chains = (
        fact.value for table in tables for fact in table.chains.values() if isinstance(fact, Known)
    )
    return not any(
        rule.target is not None and rule.target.name in REDIRECTING
        for chain in chains
        for rule in chain.rules
    )


def _find_stale_translation(node: Node, branch: Branch) -> Step | None:
    """Return the step by which an entry of the evidence sent the first packet to an endpoint that
    is gone.
    """
    first = branch.traces[0]
    for entry, _ in stale_conntrack.list_stale(node):
        for step in first.steps:
            if (
                step.decision is StepDecision.DNAT
                and step.after.dst == entry.reply.src
                and entry.span is not None
                and entry.span in step.spans
            ):
                return step
    return None


def _failing_trace(branch: Branch) -> Trace | None:
    """Return the trace that ended the connection: the last one that did not arrive, else the last
    one.
    """
    lost = [trace for trace in branch.traces if isinstance(trace.outcome, (Dropped, Rejected))]
    if lost:
        return lost[-1]
    last = branch.last
    return None if isinstance(last.outcome, Undecided) else last


def find_rule(node: Node, step: Step) -> RulePlace | None:
    """Return the rule that a netfilter step was decided by: the one whose line the step quotes
    first.
    """
    namespace = node.namespaces.get(step.netns)
    if namespace is None or not step.spans or not isinstance(step.stage, HookStage):
        return None
    span = step.spans[0]
    netfilter = namespace.netfilter.get(step.before.family)
    for table in netfilter.tables if netfilter is not None else ():
        if table.name == step.stage.runs:
            for chain in _chains(table, step):
                for rule in chain.rules:
                    if rule.span == span:
                        return RulePlace(netns=step.netns, table=table, chain=chain, rule=rule)
    return None


def _chains(table: Table, step: Step) -> Iterator[Chain]:
    """Yield the chain that the step names, in every state that the evidence leaves possible; all
    where it names none.
    """
    named = [table.chains[name] for name in words_of(step.reason) if name in table.chains]
    for fact in named or table.chains.values():
        if isinstance(fact, Known):
            yield fact.value
        else:
            yield from (option.value for option in fact.options)


def _hook_of(step: Step) -> Hook | None:
    """Return the hook of a netfilter step; None for any other."""
    return step.stage.hook if isinstance(step.stage, HookStage) else None


def _name(branch: Branch, trace: Trace, step: Step, place: RulePlace | None) -> str:
    if branch.kind is UNANSWERED:
        return missing_masquerade.NAME
    if branch.kind is ConversationFailure.REFUSED:
        return no_listener.NAME
    if _is_unanswerable(branch, trace, step):
        return missing_masquerade.NAME
    if branch.kind is ConversationFailure.UNTRANSLATED and _was_untracked(trace):
        return untracked.NAME
    if branch.kind is ConversationFailure.UNTRANSLATED:
        return bridge_netfilter.NAME if _is_bridged(trace) else untranslated_reply.NAME
    named = _name_decided(trace, step, place)
    if named == chain_order.NAME and any(_was_untracked(other) for other in branch.traces):
        return (
            untracked.NAME
        )  # INVALID is what follows: conntrack was kept from the beginning of the connection
    return named or (
        untranslated_reply.NAME if branch.kind is ConversationFailure.STRAY else no_route.NAME
    )


def _name_decided(trace: Trace, step: Step, place: RulePlace | None) -> str:
    """Name the fault that the deciding step stands for; empty where what it says is no fault by
    itself.
    """
    reason = step.reason
    if isinstance(reason, RuleReason | TranslationReason | TrackingReason):
        return (
            conntrack_full.NAME
            if isinstance(reason, ConntrackFull)
            else _name_rule(trace, step, place)
        )
    if isinstance(reason, RouteReason):
        return _name_route(trace, step, reason)
    if isinstance(reason, NeighbourReason):
        return _name_neighbour(step)
    if isinstance(reason, BridgeReason):
        return _name_bridge(reason)
    if isinstance(reason, OuterChecksumWrong):
        return vxlan_outer.NAME
    if isinstance(reason, DeviceReason):
        return _name_device(reason)
    if isinstance(reason, CiliumReason | BoundaryReason):
        return ""
    assert_never(reason)


def _name_route(trace: Trace, step: Step, reason: RouteReason) -> str:  # noqa: C901, PLR0911  # one arm for each fault
    match reason:
        case routes.ForwardingOff():
            return ip_forward.NAME
        case routes.MtuExceeded():
            return packet_size.NAME
        case routes.TtlExceeded():
            return routing_loop.NAME
        case routes.ReversePathFailed():
            return rp_filter.NAME
        case routes.LoopbackFromWire() | routes.LoopbackStays():
            return route_localnet.NAME
        case routes.OwnSource() | routes.SourceOfType():
            return hairpin.NAME if _returns_home(trace, step) else source_refused.NAME
        case routes.MartianSource():
            return source_refused.NAME
        case routes.MartianDestination() | routes.DestinationOfType():
            return no_route.NAME
        case (
            routes.NoRoute()
            | routes.RouteRefuses()
            | routes.PolicyRuleRefuses()
            | routes.NoAddressOf()
            | routes.NoDeviceChosen()
            | routes.NoStreamToMany()
        ):
            return route_localnet.NAME if _leaves_loopback(step) else no_route.NAME
        case routes.IntoOwnTunnel() | routes.GivenToSocket():
            return no_route.NAME
        case routes.NotForOneHost() | routes.RedirectSent() | routes.ReversePathHolds():
            return ""
        case (
            routes.RoutedOut()
            | routes.RoutedOn()
            | routes.LocalAddress()
            | routes.LimitedBroadcast()
            | routes.Fragmented()
        ):
            return ""
        case _:
            assert_never(reason)


def _name_device(reason: DeviceReason) -> str:
    if isinstance(reason, EchoIgnored):
        every = reason.key.endswith("ignore_all")
        return switches.PINGS_IGNORED if every else ""
    return foreign_arp.NAME if isinstance(reason, FrameForOther) else ""


def _name_neighbour(step: Step) -> str:  # one arm for each fault
    refusal = refusal_of(step)
    match refusal:
        case (
            ArpIgnored() | ArpIgnoredElsewhere() | ArpIgnoredAcrossSubnets() | ArpIgnoredHostScope()
        ):
            return arp_ignore.NAME
        case routes.ForwardingOff():
            return ip_forward.NAME
        case routes.ReversePathFailed():
            return rp_filter.NAME
        case routes.OwnSource() | routes.SourceOfType(type="local"):
            return source_refused.NAME
        case NotAddressOf() | OnlyForItself() | RequestWithoutSender() | ArpFiltered() | None:
            return neighbour_failed.NAME
        case NoArp():
            return neighbour_failed.NAME
        case (
            routes.NoRoute()
            | routes.RouteRefuses()
            | routes.PolicyRuleRefuses()
            | routes.LoopbackFromWire()
        ):
            return neighbour_failed.NAME
        case (
            routes.MartianSource()
            | routes.MartianDestination()
            | routes.DestinationOfType()
            | routes.SourceOfType()
        ):
            return neighbour_failed.NAME
        case routes.LocalAddress() | routes.LimitedBroadcast() | routes.ReversePathHolds():
            return neighbour_failed.NAME
        case _:
            assert_never(refusal)


def _name_bridge(reason: BridgeReason) -> str:
    match reason:
        case bridges.NotSentOut(hold=bridges.HairpinOff()):
            return hairpin.NAME
        case bridges.SwitchFloods():
            return foreign_arp.NAME
        case (
            bridges.NotTakenIn()
            | bridges.NotSentOut()
            | bridges.FloodedForNobody()
            | bridges.HiddenFromNetfilter()
        ):
            return ""
        case (
            bridges.Bridged()
            | bridges.SentOutOfPort()
            | bridges.SentWhileResolving()
            | bridges.StaysOnBridge()
        ):
            return ""
        case bridges.RoutedAfterTranslation() | bridges.HandedToSwitch() | bridges.Switched():
            return ""
        case bridges.SentByFlows() | bridges.DroppedByFlows():
            return ""
        case _:
            assert_never(reason)


def _is_unanswerable(branch: Branch, trace: Trace, step: Step) -> bool:
    """Tell whether a machine beyond the node has no way to answer a pod, whose own address it
    sees.
    """
    first = branch.traces[0]
    beyond = (
        trace.direction is Direction.REPLY
        and step.netns == trace.start != HOST
        and step.stage is StageName.ROUTE_OUTPUT
    )
    return beyond and first.start != HOST and trace.packet.dst == first.packet.src


def _name_rule(trace: Trace, step: Step, place: RulePlace | None) -> str:
    states = _states(place.rule) if place is not None else ()
    if place is not None and any("has no endpoints" in value for value in _comments(place.rule)):
        return no_endpoints.NAME
    if "INVALID" in states:
        return chain_order.NAME
    if isinstance(step.reason, PolicyDecided) and _hook_of(step) is Hook.FORWARD:
        return forward_policy.NAME
    return untracked.NAME if _was_untracked(trace) else dropped_by_rule.NAME


def _was_untracked(trace: Trace) -> bool:
    """Tell whether a rule kept a packet from conntrack."""
    return any(step.decision is StepDecision.UNTRACKED for step in trace.steps)


def _states(rule: Rule) -> tuple[str, ...]:
    return option_values(rule, "conntrack", "ctstate") or option_values(rule, "state", "state")


def _comments(rule: Rule) -> Iterator[str]:
    for match in rule.matches:
        if match.name == "comment":
            for option in match.options:
                yield " ".join(option.values)


def _is_bridged(trace: Trace) -> bool:
    return any(step.stage in _ON_BRIDGE for step in trace.steps)


def _returns_home(trace: Trace, step: Step) -> bool:
    """Tell whether a pod refuses its own packet, which came back to it from its own service."""
    return step.netns == trace.start and step.netns != HOST


def _leaves_loopback(step: Step) -> bool:
    """Tell whether a packet with a loopback source was sent to another device by a rule."""
    return step.before.src.is_loopback and step.stage in (StageName.ROUTE_OUTPUT, StageName.REROUTE)


def marks_of(cause: Cause) -> tuple[str, ...]:
    """Return the words within the evidence lines that decide."""
    words = [word for word in words_of(cause.step.reason) if len(word) > 1]
    if cause.place is not None:
        rule = cause.place.rule
        words += [*_states(rule), *((rule.target.name,) if rule.target is not None else ())]
    if cause.check == rp_filter.NAME:
        words.append("rp_filter")
    return tuple(dict.fromkeys(word for word in words if " " not in word))


def spans_of(cause: Cause, telling: Iterable[Step]) -> tuple[Span, ...]:
    """Return the lines that decide: those of the deciding step first, then those of the steps that
    led to it.
    """
    spans = list(cause.step.spans)
    for step in telling:
        spans += step.spans
    return tuple(dict.fromkeys(spans))
