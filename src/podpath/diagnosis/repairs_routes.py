"""Repairs of routing: routes and policy rules that win by mistake, and routes to pods that are
missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.cause import Cause
from podpath.checks.finding import Repair
from podpath.checks.links import enslaved_route
from podpath.checks.routing.route_refused import DEAD_ENDS
from podpath.checks.topology import find_attachments
from podpath.net.addresses import Prefix
from podpath.node.change import AddRoute, DeletePolicyRule, DeleteRoute
from podpath.node.node import HOST, Node
from podpath.node.routing import Nexthop, PolicyRule, Route


def mend_routes(node: Node, cause: Cause) -> Iterator[Repair]:
    """Give a pod its route back, or take away the policy rule or route that won."""
    yield from _add_pod_route(node, cause)
    for rule in node.namespaces[cause.step.netns].rules.items:
        if rule.span is not None and rule.span in cause.step.spans and not rule.inferred:
            yield _delete_rule(cause.step.netns, rule)
    yield from _delete_routes(node, cause)


def _add_pod_route(node: Node, cause: Cause) -> Iterator[Repair]:
    target = cause.step.before.dst
    for attachment in find_attachments(node):
        own = any(item.address == target for item in attachment.addresses)
        routed = any(
            route.prefix == Prefix.of(target) and not route.inferred
            for route in node.host.routes.items
        )
        if own and not routed and attachment.outer.master is None:
            route = Route(
                prefix=Prefix.of(target),
                nexthops=(Nexthop(link=attachment.outer.name),),
                scope="link",
            )
            yield Repair(
                title=f"add the route to the pod {target}",
                commands=(f"ip route add {target} dev {attachment.outer.name} scope link",),
                changes=(AddRoute(netns=HOST, route=route),),
            )


def _delete_rule(netns: str, rule: PolicyRule) -> Repair:
    words = [f"priority {rule.priority}"]
    words += [
        f"{name} {prefix}"
        for name, prefix in (("from", rule.src), ("to", rule.dst))
        if prefix is not None
    ]
    words += [
        f"{name} {link}"
        for name, link in (("iif", rule.iif), ("oif", rule.oif))
        if link is not None
    ]
    return Repair(
        title=f"delete the policy rule of priority {rule.priority}",
        commands=(f"ip rule del {' '.join(words)}",),
        changes=(DeletePolicyRule(netns=netns, rule=rule),),
    )


def _delete_routes(node: Node, cause: Cause) -> Iterator[Repair]:
    """Take away a route that the deciding step quotes and that the kernel did not make itself."""
    for route in node.namespaces[cause.step.netns].routes.items:
        own = route.inferred or route.protocol == "kernel"
        if (
            route.span is not None
            and route.span in cause.step.spans
            and not own
            and _decided(route, cause)
            and not _closes_block(node, cause, route)
        ):
            yield _delete_route(cause.step.netns, route)


def _closes_block(node: Node, cause: Cause, route: Route) -> bool:
    """Tell whether a route refuses what is left of the node's own range of pods: without it packets
    to an address that no pod has would only leave the node.
    """
    if route.type not in DEAD_ENDS or node.find_holder(cause.step.before.dst) is not None:
        return False
    return any(
        other.prefix != route.prefix
        and route.prefix.covers(other.prefix)
        and other.table == route.table
        and other.scope == "link"
        for other in node.namespaces[cause.step.netns].routes.items
    )


def _decided(route: Route, cause: Cause) -> bool:
    """Tell whether a route may be the one that decided: one line of JSON may hold them all."""
    return route.prefix.covers(cause.step.before.dst) or route.prefix.covers(cause.step.before.src)


def delete_local_routes(node: Node, cause: Cause) -> Iterator[Repair]:
    """Take away a route of type local that makes the host take a foreign source for its own."""
    source = cause.step.before.src
    for namespace in node.namespaces.values():
        for route in namespace.routes.items:
            added = route.type == "local" and not route.inferred and route.protocol != "kernel"
            if added and route.prefix.covers(source):
                yield _delete_route(namespace.name, route)


def _delete_route(netns: str, route: Route) -> Repair:
    kind = "" if route.type == "unicast" else f"{route.type} "
    return Repair(
        title=f"delete the {kind}route to {route.prefix}",
        commands=(f"ip route del {kind}{enslaved_route.spell_route(route)}",),
        changes=(DeleteRoute(netns=netns, route=route),),
    )
