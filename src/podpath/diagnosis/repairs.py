"""What may mend a cause: candidate changes to the node, each with the commands that make them.

Nothing here is believed before it is proven: `proof` walks the node with each candidate and keeps what delivers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from podpath.checks import (
    bridge_netfilter,
    chain_order,
    dropped_by_rule,
    enslaved_route,
    forward_policy,
    ip_forward,
    missing_masquerade,
    no_route,
    route_localnet,
    rp_filter,
    source_refused,
    untracked,
    untranslated_reply,
)
from podpath.checks.finding import Repair
from podpath.checks.topology import device_key, find_link
from podpath.diagnosis.causes import Cause, RulePlace
from podpath.net import protocols
from podpath.net.addresses import IfName, PortRange, Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Known
from podpath.node.change import DeleteRoute, DeleteRule, InsertRule, SetPolicy, SetSysctl
from podpath.node.netfilter import Chain, Match, MatchOption, PrefixMatch, ProtocolMatch, Rule, Table, Target
from podpath.node.netfilter_text import emit_rule
from podpath.node.node import Node

CANDIDATES = 8
"""How many places in a chain are tried: a CNI plugin's jump is near the one that decides."""


def list_repairs(node: Node, cause: Cause) -> Iterator[Repair]:
    """Give the candidates for a cause, the least invasive first."""
    generate = _GENERATORS.get(cause.check)
    if generate is not None:
        yield from generate(node, cause)


def _reorder_or_accept(node: Node, cause: Cause) -> Iterator[Repair]:
    """Move a later rule that may accept the packet before the one that drops it; else accept it, or take the drop away."""
    _ = node
    if cause.place is None:
        return
    base = find_base(cause)
    if base is not None:
        chain, entry = base
        later = [rule for rule in chain.rules if rule.position > entry.position and _may_accept(cause.place.table, rule)]
        for rule in later[:CANDIDATES]:
            yield move_to(cause, rule, entry.position)
        yield _accept(cause, chain, entry, cause.trace.packet)
    yield _delete(cause.place)


def find_base(cause: Cause) -> tuple[Chain, Rule] | None:
    """Give the base chain that the packet was in, with its rule by which it came to the deciding one."""
    place = cause.place
    if place is None:
        return None
    hook = cause.step.stage.partition(" ")[0]
    chain = _chain(place.table, hook)
    if chain is None:
        return None
    if place.chain.name == chain.name:
        return chain, place.rule
    for rule in chain.rules:
        if rule.target is not None and _reaches(place.table, rule.target.name, place.chain.name, frozenset()):
            return chain, rule
    return None


def _reaches(table: Table, start: str, end: str, seen: frozenset[str]) -> bool:
    """Tell whether a chain calls another, at any depth."""
    if start == end:
        return True
    chain = _chain(table, start)
    if chain is None or start in seen:
        return False
    targets = dict.fromkeys(rule.target.name for rule in chain.rules if rule.target is not None)
    return any(_reaches(table, name, end, seen | {start}) for name in targets if name in table.chains)


def _chain(table: Table, name: str) -> Chain | None:
    fact = table.chains.get(name)
    if fact is None:
        return None
    return fact.value if isinstance(fact, Known) else fact.options[0].value


def _may_accept(table: Table, rule: Rule) -> bool:
    """Tell whether a rule accepts, or calls a chain in which some rule does."""
    if rule.target is None:
        return False
    if rule.target.name == "ACCEPT":
        return True
    chain = _chain(table, rule.target.name)
    return chain is not None and any(inner.target is not None and inner.target.name == "ACCEPT" for inner in chain.rules)


def move_to(cause: Cause, rule: Rule, position: int) -> Repair:
    """Take a rule out of its chain and put it in further up."""
    place = cause.place
    table = place.table if place is not None else Table(name=rule.table, family=4, flavour="nft", chains={})
    netns = cause.step.netns
    jumps = rule.target is not None and rule.target.name != "ACCEPT"
    what = f"the jump to {rule.target.name}" if rule.target is not None and jumps else "the rule that accepts"
    tool = _tool(table)
    return Repair(
        title=f"make {what} rule {position} of {rule.chain}",
        commands=(
            f"{tool} -t {rule.table} {emit_rule(rule, '-D')}",
            f"{tool} -t {rule.table} {emit_rule(rule, '-I', position=position)}",
        ),
        changes=(
            DeleteRule(netns=netns, family=table.family, flavour=table.flavour, rule=rule),
            InsertRule(netns=netns, family=table.family, flavour=table.flavour, rule=rule._replace(position=position)),
        ),
    )


def _accept(cause: Cause, chain: Chain, entry: Rule, packet: Packet) -> Repair:
    """Put in a rule that accepts this connection's packets before the one that decides."""
    place = cause.place
    table = place.table if place is not None else Table(name=chain.name, family=4, flavour="nft", chains={})
    rule = accept_rule(table, chain.name, entry.position, cause.step.before if place is not None else packet)._replace(
        span=entry.span
    )
    return Repair(
        title=f"accept this connection before rule {entry.position} of {chain.name}",
        commands=(f"{_tool(table)} -t {table.name} {emit_rule(rule, '-I', position=rule.position)}",),
        changes=(InsertRule(netns=cause.step.netns, family=table.family, flavour=table.flavour, rule=rule),),
    )


def accept_rule(table: Table, chain: str, position: int, packet: Packet) -> Rule:
    """Make a rule that accepts one direction of a packet's connection; its span is to be set by the caller."""
    ports: tuple[Match, ...] = ()
    if packet.protocol in (protocols.TCP, protocols.UDP):
        name = protocols.protocol_name(packet.protocol)
        low = min(packet.sport, packet.dport)
        option = MatchOption("dport" if low == packet.dport else "sport", (str(PortRange(low, low)),))
        ports = (Match(name, (option,)),)
    return Rule(
        table=table.name, chain=chain, position=position, span=None, target=Target("ACCEPT"),  # type: ignore[arg-type]  # the caller's
        src=PrefixMatch(Prefix.of(packet.src)), dst=PrefixMatch(Prefix.of(packet.dst)),
        protocol=ProtocolMatch(packet.protocol), matches=ports,
    )  # fmt: skip


def _delete(place: RulePlace) -> Repair:
    rule, table = place.rule, place.table
    return Repair(
        title=f"take rule {rule.position} of {rule.chain} away",
        commands=(f"{_tool(table)} -t {rule.table} {emit_rule(rule, '-D')}",),
        changes=(DeleteRule(netns=place.netns, family=table.family, flavour=table.flavour, rule=rule),),
    )


def _tool(table: Table) -> str:
    return "ip6tables" if table.family == 6 else "iptables"


def _accept_by_policy(node: Node, cause: Cause) -> Iterator[Repair]:
    hook, _, name = cause.step.stage.partition(" ")
    netfilter = node.namespaces[cause.step.netns].netfilter.get(cause.step.before.family)
    for table in netfilter.tables if netfilter is not None else ():
        chain = _chain(table, hook)
        if table.name == (name or "filter") and chain is not None and chain.policy == "DROP":
            yield Repair(
                title=f"let {hook} accept what no rule decides",
                commands=(f"{_tool(table)} -t {table.name} -P {hook} ACCEPT",),
                changes=(
                    SetPolicy(
                        netns=cause.step.netns, family=table.family, flavour=table.flavour, table=table.name, chain=hook,
                        policy="ACCEPT",
                    ),
                ),
            )  # fmt: skip


def _switch_filter_off(node: Node, cause: Cause) -> Iterator[Repair]:
    """Set the filter to 0 for the device, and for `all`, unless that alone is known to be 0 already."""
    namespace = node.namespaces[cause.step.netns]
    device = cause.step.link or next((step.link for step in reversed(cause.trace.steps) if step.link), None)
    link = find_link(namespace, device) if device is not None else None
    if link is not None and link.inferred:
        device = None  # its name is made up: a command must not name it
    names = [IfName("all"), *((IfName(device),) if device else ())]
    keys = [device_key(4, name, "rp_filter") for name in names]
    wrong = [key for key in keys if not _is_known(namespace.sysctls, key, "0")]
    yield Repair(
        title=f"switch the reverse-path filter off{f' for {device}' if device else ''}",
        commands=tuple(f"sysctl -w {key}=0" for key in wrong),
        changes=tuple(SetSysctl(netns=cause.step.netns, key=key, value="0") for key in wrong),
    )


def _is_known(sysctls: Mapping[str, object], key: str, value: str) -> bool:
    fact = sysctls.get(key)
    return isinstance(fact, Known) and fact.value == value


def _let_bridge_be_seen(node: Node, cause: Cause) -> Iterator[Repair]:
    _ = cause
    loaded = bridge_netfilter.MODULE in node.modules.items
    yield bridge_netfilter.switch_on(module=not loaded)


def _let_host_forward(node: Node, cause: Cause) -> Iterator[Repair]:
    """Switch forwarding on: for the host, and for a device whose own switch is off."""
    yield ip_forward.switch_on()
    link = cause.step.link or next((step.link for step in reversed(cause.trace.steps) if step.link), None)
    if link is not None:
        key = device_key(4, IfName(link), "forwarding")
        if key in node.namespaces[cause.step.netns].sysctls:
            yield Repair(
                title=f"let what comes in on {link} be forwarded",
                commands=(f"sysctl -w {key}=1",),
                changes=(SetSysctl(netns=cause.step.netns, key=key, value="1"),),
            )


def _delete_route(node: Node, cause: Cause) -> Iterator[Repair]:
    """Take away the route of an ending type that won."""
    for route in node.namespaces[cause.step.netns].routes.items:
        own = route.inferred or route.protocol == "kernel"
        if route.span is not None and route.span in cause.step.spans and not own:
            words = enslaved_route.spell_route(route)
            kind = "" if route.type == "unicast" else f"{route.type} "
            yield Repair(
                title=f"delete the {kind}route to {route.prefix}",
                commands=(f"ip route del {kind}{words}",),
                changes=(DeleteRoute(netns=cause.step.netns, route=route),),
            )


def _let_loopback_in(node: Node, cause: Cause) -> Iterator[Repair]:
    _ = node
    link = IfName(cause.step.link or "all")
    key = device_key(4, link, "route_localnet")
    yield Repair(
        title=f"let loopback addresses in on {link}",
        commands=(f"sysctl -w {key}=1",),
        changes=(SetSysctl(netns=cause.step.netns, key=key, value="1"),),
    )


def _let_own_source_in(node: Node, cause: Cause) -> Iterator[Repair]:
    yield from _delete_route(node, cause)
    link = IfName(cause.step.link or "all")
    key = device_key(4, link, "accept_local")
    yield Repair(
        title=f"let own source addresses in on {link}",
        commands=(f"sysctl -w {key}=1",),
        changes=(SetSysctl(netns=cause.step.netns, key=key, value="1"),),
    )


_GENERATORS: dict[str, Callable[[Node, Cause], Iterator[Repair]]] = {
    chain_order.NAME: _reorder_or_accept,
    dropped_by_rule.NAME: _reorder_or_accept,
    untracked.NAME: _reorder_or_accept,
    forward_policy.NAME: _accept_by_policy,
    rp_filter.NAME: _switch_filter_off,
    bridge_netfilter.NAME: _let_bridge_be_seen,
    untranslated_reply.NAME: _let_bridge_be_seen,
    ip_forward.NAME: _let_host_forward,
    no_route.NAME: _delete_route,
    route_localnet.NAME: _let_loopback_in,
    source_refused.NAME: _let_own_source_in,
}

PREVENTIONS: dict[str, str] = {
    chain_order.NAME: chain_order.PREVENTION,
    rp_filter.NAME: rp_filter.PREVENTION,
    bridge_netfilter.NAME: bridge_netfilter.PREVENTION,
    untranslated_reply.NAME: bridge_netfilter.PREVENTION,
    ip_forward.NAME: ip_forward.PREVENTION,
    dropped_by_rule.NAME: "Find who writes the rule (kube-proxy, the CNI plugin, Docker, a firewall) and change it there.",
    forward_policy.NAME: 'Keep Docker from setting it: `"ip-forward-no-drop": true` in daemon.json, or accept the pods\' range.',
    no_route.NAME: "See to the daemon that keeps the pods' routes (bird, flanneld, the cloud's controller).",
    missing_masquerade.NAME: "Let the CNI plugin write the rule (ipMasq, natOutgoing): it comes back after a flush.",
}
"""How a cause is kept from coming back."""
