"""A route that the evidence does not show: what a walk takes for granted where a listing is cut
short and nothing in it fits.
"""

from __future__ import annotations

from podpath.datapath.netns.fib import NO_ROUTE, FibResult, FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.tracing.exploration import Choices
from podpath.net.addresses import WIDTH, Prefix
from podpath.net.provenance import Basis, Inferred, Known, Option
from podpath.node.links import Link
from podpath.node.node import NetnsRole
from podpath.node.routing import Nexthop, PolicyRule, Route

_INNER = frozenset(
    {
        "veth",
        "bridge",
        "vxlan",
        "dummy",
        "loopback",
        "ipip",
        "tun",
        "wireguard",
        "geneve",
        "gre",
        "ifb",
        "nlmon",
    }
)
"""Kinds of device that no way out of a host leads over."""
_BEST_SHOWN = Inferred(Basis.GUESSED, "no route fits better: the listing is cut short")


def look_up(
    choices: Choices, namespace: Namespace, flow: FlowKey, *, ignore_linkstate: bool = False
) -> FibResult:
    """Look a flow up in the policy rules and tables; where an incomplete listing has nothing that
    fits, ask for the route.
    """
    routing = namespace.routing(flow.dst.family)
    met = [rule for rule in routing.doubted(flow) if _is_met(choices, namespace, rule)]
    found = routing.lookup(flow, ignore_linkstate=ignore_linkstate, met=met)
    if (
        found.route is not None
        and found.route.unread
        and not _counts(choices, namespace, found.route)
    ):
        found = routing.read_alone.lookup(flow, ignore_linkstate=ignore_linkstate, met=met)
    if found is NO_ROUTE and not routing.complete:
        return _ask(choices, namespace, flow)
    if (
        routing.cut
        and found.route is not None
        and found.route.prefix.length < WIDTH[flow.dst.family]
    ):
        return found._replace(assumed=_BEST_SHOWN)
    return found


def _counts(choices: Choices, namespace: Namespace, route: Route) -> bool:
    """Ask whether a route with attributes that nobody knows carries what it fits, as the rest of
    its line says.
    """
    fact = (
        f"the route {route.prefix} in netns {namespace.name} counts for the packet ({route.unread})"
    )
    options = (Option(True, "it does, and as if nothing stood there"), Option(False, "it does not"))
    family = "" if route.prefix.family == 4 else "-6 "
    return choices.choose(fact, options, ask=f"ip {family}route show {route.prefix} table all")


def _is_met(choices: Choices, namespace: Namespace, rule: PolicyRule) -> bool:
    """Ask whether a flow meets selectors of a policy rule that nobody knows."""
    which = f"the policy rule of priority {rule.priority} in netns {namespace.name}"
    fact = f"{which} counts for the packet ({rule.unread})"
    options = (Option(False, "it does not"), Option(True, "it does"))
    return choices.choose(
        fact,
        options,
        ask=f"ip {'' if rule.family == 4 else '-6 '}rule show priority {rule.priority}",
    )


def _ask(choices: Choices, namespace: Namespace, flow: FlowKey) -> FibResult:
    candidates = likeliest_uplinks(namespace) if flow.oif is None else [namespace.link(flow.oif)]
    options = [Option(str(link.name), f"a default route on {link.name}") for link in candidates]
    options.append(Option("", "no route"))
    if not candidates:
        options.insert(
            0, Option("(uplink)", "a default route on a device that the evidence does not show")
        )
    family = "" if flow.dst.family == 4 else "-6 "
    where = namespace.netns.place
    ask = f"{where}ip {family}route get {flow.dst}"
    chosen = choices.choose(f"route to {flow.dst} in netns {namespace.name}", options, ask=ask)
    if chosen:
        return assumed_default(namespace, flow, chosen)
    return NO_ROUTE


def assumed_default(namespace: Namespace, flow: FlowKey, device: str) -> FibResult:
    """Return the default route that is taken to exist on a device, the same one whenever it is
    asked for.
    """
    key = ("assumed default", flow.dst.family, device)
    found = namespace.answers.get(key)
    if not isinstance(found, FibResult):
        prefix = Prefix(flow.dst.family, 0, 0)
        hop = Nexthop(link=namespace.link(device).name)
        guessed = Inferred(Basis.GUESSED, "the listing is cut short")
        found = FibResult("", Route(prefix=prefix, nexthops=(hop,), inferred=guessed), (hop,))
        namespace.answers[key] = found
    return found


def likeliest_uplinks(namespace: Namespace) -> list[Link]:
    """Return the devices that a default route may be on: in a pod its only ones, on a host those
    that lead out of it.
    """
    usable = [
        link
        for link in namespace.ordered
        if link.name != "lo" and link.up and not is_slave(namespace, link)
    ]
    if namespace.netns.role == NetnsRole.HOST:
        usable = [link for link in usable if link.kind not in _INNER and not _leads_inside(link)]
    return sorted(usable, key=lambda link: link.name not in namespace.by_link)


def is_slave(namespace: Namespace, link: Link) -> bool:
    """Tell whether the device only carries frames for another: a port of a bridge, bond or Open
    vSwitch.
    """
    master = namespace.links.get(link.master) if link.master is not None else None
    return link.bond_slave_of is not None or (
        link.master is not None and (master is None or master.kind != "vrf")
    )


def _leads_inside(link: Link) -> bool:
    return isinstance(link.peer, Known)
