"""What FORWARD does with packets that a bridge passes on, where br_netfilter shows them to it: they
come in and leave by the bridge.
"""

from __future__ import annotations

from podpath.checks.firewall import ends, is_plain, lets_new_in
from podpath.checks.stated import is_inner_bridge
from podpath.net.provenance import Known, Span
from podpath.node.netfilter import Chain, InterfaceMatch, Rule, Table

DEEPEST = 16
_BY_DEVICE = ("DOCKER-ISOLATION", "DOCKER-FORWARD", "DOCKER-CT", "DOCKER-BRIDGE", "LIBVIRT_")
"""How chains begin whose rules are for their engine's own bridges alone, whatever is in them."""
_ENGINE = frozenset(
    {"DOCKER", "DOCKER-INTERNAL", "CNI-FORWARD", "NETAVARK_FORWARD", "KUBE-FORWARD"}
)


def find_end(table: Table, chain: Chain) -> Span | None:
    """Return what drops a new connection that comes in and leaves by a bridge of no engine's: the
    rule, or the chain's policy. None where some rule may accept it, or an unknown chain.
    """
    if not chain.complete or _may_be_accepted(table, chain, DEEPEST):
        return None
    last = next((rule for rule in chain.rules if is_plain(rule) and ends(rule)), None)
    if last is not None:
        return last.span
    return chain.span if chain.policy == "DROP" else None


def _may_be_accepted(table: Table, chain: Chain, depth: int) -> bool:
    for rule in chain.rules:
        if is_plain(rule) and ends(rule):
            return False
        if lets_new_in(rule) and not _is_of_engine(rule) and _may_accept(table, rule, depth):
            return True
    return False


def _may_accept(table: Table, rule: Rule, depth: int) -> bool:
    name = rule.target.name if rule.target is not None else ""
    if name == "ACCEPT":
        return True
    fact = table.chains.get(name)
    if isinstance(fact, Known) and fact.value.rules and depth:
        return not fact.value.complete or _may_be_accepted(table, fact.value, depth - 1)
    return not (name.startswith(_BY_DEVICE) or name in _ENGINE)


def _is_of_engine(rule: Rule) -> bool:
    """Tell whether a rule is for the packets of an engine's bridge, which come in or leave by
    it.
    """
    return any(_names_engine(link) for link in (rule.in_link, rule.out_link))


def _names_engine(link: InterfaceMatch | None) -> bool:
    return link is not None and not link.negated and is_inner_bridge(link.name)
