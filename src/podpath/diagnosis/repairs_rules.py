"""Repairs of rules: their order, what they accept, a chain's policy, and translations that are
missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.cause import Cause, RulePlace
from podpath.checks.finding import Repair
from podpath.checks.netfilter import missing_masquerade
from podpath.checks.topology import find_chain, find_tables
from podpath.datapath.vocabulary import HookStage
from podpath.net import protocols
from podpath.net.addresses import Family, PortRange, Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.change import Change, DeleteRule, InsertRule, SetPolicy
from podpath.node.netfilter import (
    Chain,
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Table,
    Target,
)
from podpath.node.netfilter_text import emit_rule
from podpath.node.node import HOST, Node
from podpath.xtables.legality import ChainPolicy

CANDIDATES = 8
"""How many places in a chain are tried: a CNI plugin's jump is near the one that decides."""
PROPOSED = Span(Source(name="(proposed)", lines=("",)), 1, 1)
"""The line of a rule that stands in no evidence."""


def reorder_or_accept(node: Node, cause: Cause) -> Iterator[Repair]:
    """Move a later rule that may accept the packet before the one that drops it; else accept it, or
    take the drop away.
    """
    place = cause.place
    if place is None:
        return
    base = _find_base(cause, place)
    if base is not None:
        chain, entry = base
        later = [
            rule
            for rule in chain.rules
            if rule.position > entry.position and _may_accept(place.table, rule)
        ]
        for rule in later[:CANDIDATES]:
            yield move_to(node, place, rule, entry.position)
        yield _accept(node, place, entry, cause.step.before)
    yield _delete(node, place)


def _find_base(cause: Cause, place: RulePlace) -> tuple[Chain, Rule] | None:
    """Return the base chain that the packet was in, with its rule by which it came to the deciding
    one.
    """
    stage = cause.step.stage
    chain = find_chain(place.table, stage.hook) if isinstance(stage, HookStage) else None
    if chain is None:
        return None
    if place.chain.name == chain.name:
        return chain, place.rule
    for rule in chain.rules:
        if rule.target is not None and _reaches(
            place.table, rule.target.name, place.chain.name, frozenset()
        ):
            return chain, rule
    return None


def _reaches(table: Table, start: str, end: str, seen: frozenset[str]) -> bool:
    """Tell whether a chain calls another, at any depth."""
    if start == end:
        return True
    chain = find_chain(table, start) if start in table.chains else None
    if chain is None or start in seen:
        return False
    targets = dict.fromkeys(rule.target.name for rule in chain.rules if rule.target is not None)
    return any(
        _reaches(table, name, end, seen | {start}) for name in targets if name in table.chains
    )


def _may_accept(table: Table, rule: Rule) -> bool:
    """Tell whether a rule accepts, or calls a chain in which some rule does."""
    if rule.target is None:
        return False
    if rule.target.name == "ACCEPT":
        return True
    chain = find_chain(table, rule.target.name)
    return chain is not None and any(
        inner.target is not None and inner.target.name == "ACCEPT" for inner in chain.rules
    )


def move_to(node: Node, place: RulePlace, rule: Rule, position: int) -> Repair:
    """Take a rule out of its chain and put it in further up."""
    table = place.table
    jumps = rule.target is not None and rule.target.name != "ACCEPT"
    what = (
        f"the jump to {rule.target.name}"
        if rule.target is not None and jumps
        else "the rule that accepts"
    )
    tool = name_tool(table, node, place.netns)
    return Repair(
        title=f"make {what} rule {position} of {rule.chain}",
        commands=(
            f"{tool} -t {rule.table} {emit_rule(rule, '-D')}",
            f"{tool} -t {rule.table} {emit_rule(rule, '-I', position=position)}",
        ),
        changes=(
            _deletion(place.netns, table, rule),
            _insertion(place.netns, table, rule._replace(position=position)),
        ),
    )


def _accept(node: Node, place: RulePlace, entry: Rule, packet: Packet) -> Repair:
    """Put in a rule that accepts this connection's packets before the one that decides."""
    rule = _accepting_rule(place.table, entry, packet)
    tool = name_tool(place.table, node, place.netns)
    return Repair(
        title=f"accept this connection before rule {entry.position} of {entry.chain}",
        commands=(f"{tool} -t {rule.table} {emit_rule(rule, '-I', position=rule.position)}",),
        changes=(_insertion(place.netns, place.table, rule),),
    )


def _accepting_rule(table: Table, entry: Rule, packet: Packet) -> Rule:
    ports: tuple[Match, ...] = ()
    if packet.protocol in (protocols.TCP, protocols.UDP):
        low = min(packet.sport, packet.dport)
        option = MatchOption(
            "dport" if low == packet.dport else "sport", (str(PortRange(low, low)),)
        )
        ports = (Match(protocols.protocol_name(packet.protocol), (option,)),)
    return Rule(
        table.name,
        entry.chain,
        entry.position,
        PROPOSED,
        Target("ACCEPT"),
        src=PrefixMatch(Prefix.of(packet.src)),
        dst=PrefixMatch(Prefix.of(packet.dst)),
        protocol=ProtocolMatch(packet.protocol),
        matches=ports,
    )


def _delete(node: Node, place: RulePlace) -> Repair:
    rule = place.rule
    return Repair(
        title=f"delete rule {rule.position} of {rule.chain}",
        commands=(
            f"{name_tool(place.table, node, place.netns)} -t {rule.table} {emit_rule(rule, '-D')}",
        ),
        changes=(_deletion(place.netns, place.table, rule),),
    )


def delete_translation(node: Node, cause: Cause) -> Iterator[Repair]:
    """Take away the rule that sent the packet to an address that nobody has: one that outlived its
    pod.
    """
    sent_to = cause.step.before.dst
    known = node.find_holder(sent_to) is not None or any(
        pod.address == sent_to for pod in node.pods
    )
    if sent_to == cause.trace.packet.dst or known or len(node.namespaces) == 1:
        return
    for hit in cause.trace.matched:
        rule = hit.rule
        if not isinstance(rule, Rule) or rule.target is None or rule.target.name != "DNAT":
            continue
        for table in find_tables(node.namespaces[hit.netns], rule.table, sent_to.family):
            chain = find_chain(table, rule.chain)
            if chain is not None and rule in chain.rules:
                yield _delete(node, RulePlace(netns=hit.netns, table=table, chain=chain, rule=rule))


def accept_by_policy(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let the chain accept what no rule decides."""
    stage, netns = cause.step.stage, cause.step.netns
    if not isinstance(stage, HookStage):
        return
    hook = stage.hook
    for table in find_tables(node.namespaces[netns], stage.runs, cause.step.before.family):
        chain = find_chain(table, hook)
        if chain is not None and chain.policy == "DROP":
            yield Repair(
                title=f"set the policy of {hook} to ACCEPT",
                commands=(f"{name_tool(table, node, netns)} -t {table.name} -P {hook} ACCEPT",),
                changes=(
                    SetPolicy(
                        netns=netns,
                        family=table.family,
                        flavour=table.flavour,
                        table=table.name,
                        chain=hook,
                        policy=ChainPolicy.ACCEPT,
                    ),
                ),
            )


_MASQUERADING = Rule("nat", "POSTROUTING", 1, PROPOSED, Target("MASQUERADE"))


def masquerade_marked(node: Node, cause: Cause) -> Iterator[Repair]:
    """Translate what kube-proxy marks for that."""
    marked = missing_masquerade.find_marked(node, cause.branch)
    if marked is not None:
        match = Match("mark", (MatchOption("mark", (marked.mark,)),))
        rule = _MASQUERADING._replace(matches=(match,))
        title = "masquerade what kube-proxy marks for that"
        yield from _append_masquerade(node, cause.trace.packet.family, title, rule)


def masquerade(node: Node, cause: Cause) -> Iterator[Repair]:
    """Translate what the pod sends out of the node, on the device by which it leaves."""
    first = cause.branch.traces[0]
    out = next(
        (
            step.link
            for step in reversed(first.steps)
            if step.netns == HOST and step.link is not None
        ),
        None,
    )
    yield from _translate(
        node,
        first.packet,
        f"masquerade traffic from {first.packet.src} that leaves the node",
        out=out,
    )


def masquerade_home(node: Node, cause: Cause) -> Iterator[Repair]:
    """Translate what a pod sends to itself by way of a service, so that it takes the answer for the
    service's.
    """
    packet = cause.step.before
    yield from _translate(
        node,
        packet,
        f"masquerade traffic that {packet.src} sends to itself",
        target=packet.dst == packet.src,
    )


def _translate(
    node: Node, packet: Packet, title: str, *, out: str | None = None, target: bool = False
) -> Iterator[Repair]:
    rule = _MASQUERADING._replace(
        src=PrefixMatch(Prefix.of(packet.src)),
        dst=PrefixMatch(Prefix.of(packet.dst)) if target else None,
        out_link=InterfaceMatch(out) if out is not None else None,
    )
    yield from _append_masquerade(node, packet.family, title, rule)


def _append_masquerade(node: Node, family: Family, title: str, rule: Rule) -> Iterator[Repair]:
    """Yield a rule put at the end of POSTROUTING."""
    for table in find_tables(node.host, "nat", family):
        chain = find_chain(table, "POSTROUTING")
        if chain is None:
            continue
        last = rule._replace(position=len(chain.rules) + 1)
        yield Repair(
            title=title,
            commands=(f"{name_tool(table, node, HOST)} -t nat {emit_rule(last)}",),
            changes=(_insertion(HOST, table, last),),
        )


def name_tool(table: Table, node: Node, netns: str) -> str:
    """Name the program that reaches a table: where both flavors hold rules, the plain name may
    reach the other one.
    """
    program = "ip6tables" if table.family == 6 else "iptables"
    netfilter = (
        node.namespaces[netns].netfilter.get(table.family) if netns in node.namespaces else None
    )
    flavours = (
        {other.flavour for other in netfilter.tables if other.chains}
        if netfilter is not None
        else set()
    )
    return f"{program}-{table.flavour}" if len(flavours) > 1 else program


def _insertion(netns: str, table: Table, rule: Rule) -> Change:
    return InsertRule(netns=netns, family=table.family, flavour=table.flavour, rule=rule)


def _deletion(netns: str, table: Table, rule: Rule) -> Change:
    return DeleteRule(netns=netns, family=table.family, flavour=table.flavour, rule=rule)
