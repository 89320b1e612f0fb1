"""Source validation: may a packet with this source come in on this device (`fib_validate_source`).

Three checks in one: the reverse path filter (strict, loose), own addresses as a source, and sources
that no unicast route leads to. With rp_filter 0 only own addresses are refused, unless custom local
routes or policy rules ask for the full lookup (`net/ipv4/fib_frontend.c:fib_validate_source
v6.12`).
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netns.fib import FibResult, FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import routes
from podpath.datapath.reasons.routes import SourceReason
from podpath.datapath.routing.assumed import look_up
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.vocabulary import DropCause
from podpath.datapath.walk import settings
from podpath.net.provenance import Inferred, Known, Option, Span, list_spans
from podpath.node.links import Link
from podpath.node.node import Netns

FUNCTION = "net/ipv4/fib_frontend.c:fib_validate_source v6.12"


class SourceCheck(NamedTuple):
    """What source validation said."""

    cause: DropCause | None = None
    """None where the packet passes."""
    reason: SourceReason | None = None
    """Why; None where there is nothing to tell."""
    spans: tuple[Span, ...] = ()
    rests_on: Inferred | None = None
    """How the route back is known, where no listing states it."""


PASSED = SourceCheck()


def check_source(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link, oif: Link | None
) -> SourceCheck:
    """Check the source of a packet that came in on `link` and goes out on `oif` (None: it is for
    this host).
    """
    mode = _known_mode(namespace, link)
    full = _needs_lookup(namespace) or oif is link
    if mode == 0 and not full:
        return _check_own(choices, namespace, flow, link)
    found = look_up(choices, namespace, _reverse_flow(choices, namespace, flow, link, oif))
    verdict = _examine(choices, namespace, found, link)
    if verdict == "match":
        if not mode:
            return PASSED
        return _passed(flow, link, mode, found)
    if mode is None:
        mode = settings.maximum(choices, namespace, settings.RP_FILTER, link.name)
        if mode == 0 and not full:
            own = _check_own(choices, namespace, flow, link)
            if own.cause:
                return own
            return _explain(namespace, flow, link, 0, found)
    if verdict == "invalid":
        return _not_unicast(flow, link, found)
    explained = _explain(namespace, flow, link, mode, found)
    if not mode or (mode > 1 and verdict == "elsewhere" and _has_address(choices, namespace, link)):
        return explained
    return explained._replace(cause=DropCause.REVERSE_PATH)


def _known_mode(namespace: Namespace, link: Link) -> int | None:
    key = ("rp_filter", link.name)
    if key not in namespace.answers:
        namespace.answers[key] = settings.known_maximum(namespace, settings.RP_FILTER, link.name)
    mode = namespace.answers[key]
    return mode if isinstance(mode, int) else None


def _needs_lookup(namespace: Namespace) -> bool:
    """Tell whether custom rules or local routes make the kernel look the source up even with
    rp_filter off.
    """
    key = "source lookup"
    if key not in namespace.answers:
        namespace.answers[key] = namespace.routing(4).custom or _has_custom_local_routes(
            namespace.netns
        )
    return bool(namespace.answers[key])


def _has_custom_local_routes(netns: Netns) -> bool:
    """Tell whether somebody added a route of type `local` (`fib_has_custom_local_routes`): `ip
    route` shows no protocol where it is `boot`, which is that of `ip route add`.
    """
    return any(
        route.type == "local"
        and route.prefix.family == 4
        and not route.inferred
        and route.protocol != "kernel"
        for route in netns.routes.items
    )


def _check_own(choices: Choices, namespace: Namespace, flow: FlowKey, link: Link) -> SourceCheck:
    src = flow.src
    if (
        src is None
        or not namespace.owns(src)
        or settings.either(choices, namespace, settings.ACCEPT_LOCAL, link.name)
    ):
        return PASSED
    own = namespace.addresses[src]
    spans = (own.span,) if own.span is not None else ()
    return SourceCheck(DropCause.LOCAL_SOURCE, routes.OwnSource(src, own.link), spans)


def _reverse_flow(
    choices: Choices, namespace: Namespace, flow: FlowKey, link: Link, oif: Link | None
) -> FlowKey:
    if flow.mark and settings.either(choices, namespace, settings.SRC_VALID_MARK, link.name):
        mark = flow.mark
    else:
        mark = 0
    source = flow.src or flow.dst
    iif = oif.name if oif is not None else "lo"
    return FlowKey(
        source, flow.dst, iif, None, mark, flow.tos, flow.protocol, flow.dport, flow.sport
    )


def _examine(choices: Choices, namespace: Namespace, found: FibResult, link: Link) -> str:
    """Say where the way back leads: `match` (over this device), `elsewhere`, `none`, or `invalid`
    (not a unicast route).
    """
    route = found.route
    if found.error or route is None:
        return "none"
    local = route.type == "local"
    if route.type != "unicast" and not (
        local and settings.either(choices, namespace, settings.ACCEPT_LOCAL, link.name)
    ):
        return "invalid"
    if any(hop.link == link.name for hop in route.nexthops) or (local and link.name == "lo"):
        return "match"
    return "elsewhere"


def _has_address(choices: Choices, namespace: Namespace, link: Link) -> bool:
    """Tell whether the device has an IPv4 address: without one the loose mode is as strict as the
    strict one.
    """
    if namespace.is_numbered(link.name):
        return True
    if namespace.netns.addresses.complete:
        return False
    options = (
        Option(False, "it has none, so that the loose check is a strict one"),
        Option(True, "it has one"),
    )
    return choices.choose(
        f"an IPv4 address on {link.name} in netns {namespace.name}",
        options,
        ask=f"ip -4 addr show dev {link.name}",
    )


def _passed(flow: FlowKey, link: Link, mode: int, found: FibResult) -> SourceCheck:
    return SourceCheck(
        None,
        routes.ReversePathHolds(flow.src or flow.dst, link.name, mode),
        found.spans,
        found.rests_on,
    )


def _not_unicast(flow: FlowKey, link: Link, found: FibResult) -> SourceCheck:
    kind = found.type
    cause = DropCause.LOCAL_SOURCE if kind == "local" else DropCause.INVALID_SOURCE
    return SourceCheck(
        cause,
        routes.SourceOfType(flow.src or flow.dst, link.name, kind),
        found.spans,
        found.rests_on,
    )


def _explain(
    namespace: Namespace, flow: FlowKey, link: Link, mode: int, found: FibResult
) -> SourceCheck:
    hops = found.route.nexthops if found.route is not None and not found.error else ()
    way_back = tuple(str(hop.link) for hop in hops)
    facts = [
        settings.device_fact(namespace, settings.RP_FILTER, device)
        for device in (settings.ALL, link.name)
    ]
    known = sorted(
        (fact for fact in facts if isinstance(fact, Known) and fact.span is not None),
        key=lambda fact: -settings.integer(fact.value),
    )
    spans = list_spans(known) + found.spans
    unnumbered = mode > 1 and not namespace.is_numbered(link.name)
    failed = routes.ReversePathFailed(flow.src or flow.dst, way_back, mode, link.name, unnumbered)
    made_up = link.inferred if link.name not in namespace.links else None
    return SourceCheck(None, failed, spans, made_up or found.rests_on)
