"""Whose a rule, a route, a device or a sysctl is, and what will write it again.

By the signs of `net.owners`: names of chains and tables, comments, devices, the protocol of routes,
the priority of rules of the routing policy, and where a thing stands.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from functools import lru_cache

from podpath.checks.topology import find_link, option_values
from podpath.net.owners import Owner, OwnerSign, find_row, name_owner
from podpath.net.provenance import Known, Span
from podpath.node.change import Change, DeleteRoute, DeleteRule, InsertRule
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule, NftTable
from podpath.node.node import Netns, NetnsRole, Node
from podpath.node.routing import PolicyRule, Route

_LEFT_ALONE = frozenset({"DOCKER-USER", "CNI-ADMIN"})
"""Chains that their program makes for rules of others."""
_BY_RUNTIME = "cni-"
"""How a runtime begins the names of the namespaces that it makes for pods."""
_REMEMBERED = 1 << 16
"""Names of devices and sysctls whose owner is known already: each node of a cluster has the same.
"""
_AT_BOOT = "at boot, and at `sysctl --system`"


def owner_of_rule(rule: Rule | NftRule) -> Owner | None:
    """Return whose a rule is, by its chain or table, the chain that it goes to, or its comment."""
    if isinstance(rule, NftRule):
        table = name_owner(OwnerSign.TABLE, f"{rule.family} {rule.table}")
        return table or name_owner(OwnerSign.COMMENT, rule.comment)
    comment = " ".join(option_values(rule, "comment", "comment"))
    target = rule.target.name if rule.target is not None else ""
    own = find_row(OwnerSign.CHAIN, rule.chain) if rule.chain not in _LEFT_ALONE else None
    if own is not None and not (own.signs and _is_strange(rule, comment)):
        return name_owner(OwnerSign.CHAIN, rule.chain)
    return name_owner(OwnerSign.CHAIN, target) or name_owner(OwnerSign.COMMENT, comment)


def _is_strange(rule: Rule, comment: str) -> bool:
    """Tell whether a rule that names an address lacks the comment that its chain's program puts to
    such rules: somebody else put it there.
    """
    ends = rule.target is not None and rule.target.name in {"DROP", "REJECT", "ACCEPT", "RETURN"}
    return ends and not comment and (rule.src is not None or rule.dst is not None)


def owner_of_route(route: Route, pod: str = "") -> Owner | None:
    """Return whose a route is: by its protocol, else by its device; in a pod's namespace the
    default route and those to its gateway are the plugin's that set it up.
    """
    links = (hop.link for hop in route.nexthops if hop.link is not None)
    by_device = next((owner for link in links if (owner := owner_of_device(link))), None)
    by_protocol = name_owner(OwnerSign.PROTOCOL, route.protocol)
    if route.protocol == "kernel":  # it comes with an address, which is whose the device is
        return by_device or by_protocol
    found = by_protocol or by_device
    given = not route.prefix.length or route.scope == "link"
    if found is not None or not pod or not given or route.protocol not in {"", "boot"}:
        return found
    return _own_place(pod)


def spell_route(route: Route) -> str:
    """Spell a route as the table of habits does."""
    hop = route.nexthops[0] if route.nexthops else None
    gateway = "via" if hop is not None and hop.gateway is not None else "direct"
    prefix = "default" if not route.prefix.length else str(route.prefix)
    return f"{route.type} {prefix} {gateway} proto {route.protocol or 'boot'}"


def owner_of_lookup(rule: PolicyRule) -> Owner | None:
    """Return whose a rule of the routing policy is, by its priority and what it looks at."""
    return name_owner(OwnerSign.PRIORITY, spell_lookup(rule))


def spell_lookup(rule: PolicyRule) -> str:
    """Spell a rule of the routing policy as the tables of owners and habits do."""
    negated = "not " if rule.negated else ""
    looks = f"from {rule.src or 'all'} to {rule.dst or 'all'} fwmark {rule.mark or '-'}"
    goes = f"lookup {rule.table}" if rule.action == "lookup" else rule.action
    return f"{rule.priority}: {negated}{looks} {goes}"


def owner_of_policy(table: NftTable | None) -> Owner | None:
    """Return whose the policy of a base chain is: whose its table of nftables is; nobody signs the
    policies of iptables.
    """
    if table is None:
        return None
    return name_owner(OwnerSign.TABLE, f"{table.family} {table.name}")


def owner_of_link(node: Node, netns: str, name: str) -> Owner | None:
    """Return whose a device is: by its name, by that of its other end where it is a pair, and in a
    pod's namespace the plugin's that set it up.
    """
    namespace = node.namespaces.get(netns)
    own = owner_of_device(name)
    link = find_link(namespace, name) if namespace is not None else None
    if own is not None or namespace is None or link is None:
        return own
    if isinstance(link.peer, Known):
        far = owner_of_device(link.peer.value.link)
        if far is not None:
            return far
    pod = find_pod(node, namespace)
    if pod:
        return _own_place(pod)
    hardware = not link.kind and namespace.role == NetnsRole.HOST and link.span is not None
    return name_owner(OwnerSign.PLACE, f"host {name}") if hardware else None


def find_pod(node: Node, namespace: Netns) -> str:
    """Return which pod a namespace is, by what the runtime or the API calls it; empty where neither
    tells.
    """
    name = namespace.inside or namespace.name
    if namespace.role != NetnsRole.POD:
        return ""
    if name.count("/") == 1 or name.startswith(_BY_RUNTIME):
        return name
    pods = (pod for pod in node.home_of(namespace).pods if pod.netns == name)
    return next((f"{pod.namespace}/{pod.name}" for pod in pods), "")


def _own_place(pod: str) -> Owner | None:
    return name_owner(OwnerSign.PLACE, f"pod {pod}")


@lru_cache(_REMEMBERED)
def owner_of_device(name: str) -> Owner | None:
    """Return whose a device is, by its name."""
    return name_owner(OwnerSign.DEVICE, name)


@lru_cache(_REMEMBERED)
def owner_of_key(key: str) -> Owner | None:
    """Return who writes a sysctl of a device that is its own."""
    parts = key.split(".")
    found = owner_of_device(parts[3].replace("/", ".")) if len(parts) == 5 else None
    if found is None:
        return None
    row = find_row(OwnerSign.DEVICE, found.sign)
    patterns = [pattern for writes in row.writes for pattern in writes.keys] if row else []
    return found if any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns) else None


def file_owner(file: Span) -> Owner:
    """Return the owner of a sysctl that a file sets."""
    return Owner(
        program="a sysctl file",
        ground=OwnerSign.FILE,
        sign=str(file),
        again=_AT_BOOT,
        instead=str(file),
    )


def owners_of_changes(changes: Sequence[Change]) -> tuple[Owner, ...]:
    """Return who will undo changes: those whose rules and routes they delete, and do not put
    elsewhere.
    """
    moved = [change.rule[4:12] for change in changes if isinstance(change, InsertRule)]
    found: list[Owner | None] = []
    for change in changes:
        match change:
            case DeleteRule(rule=rule) if rule[4:12] not in moved:
                found.append(owner_of_rule(rule))
            case DeleteRoute(route=route):
                found.append(owner_of_route(route))
            case _:
                pass
    return tuple(dict.fromkeys(owner for owner in found if owner is not None))
