"""uplink-down: the host's uplink is down or has no carrier.

What it is
    The device of the default route, or one that has the host's address, is listed without UP, or as
    NO-CARRIER. Or the one card of a whole listing is not UP and has no address: nothing set it up.

Why it breaks
    Nothing leaves through a device that is down, nor through one without carrier, although the
    routes over it stay.

How to confirm
    ip -br link; ethtool DEVICE | grep -i 'link detected'
    journalctl -k | grep -i 'link is'

How to fix
    ip link set DEVICE up; check the cable, the switch port, the virtual machine's card, and device
    names after an upgrade.

References
    dev_open, linkwatch_do_dev (net/core/dev.c, net/core/link_watch.c v6.12)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_inner_bridge, is_tunnel, spans_of, uplinks
from podpath.checks.told import WORKLOADS, list_failing, list_lost
from podpath.net.complaints import EndKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.LINK_DOWN,)
NAME = "uplink-down"
_BY_DEVICE = re.compile(r"\s(?:-I|--interface)[ =]?(?P<device>[\w.@-]+)")


def check(case: Case) -> Iterator[Finding]:
    """Report devices of default routes that are dead, and other devices with an address that
    somebody set down; not a bridge beside which another addressed device works: nobody may need
    it.
    """
    host = case.node.host
    leading = uplinks(host)
    addressed = {
        item.link
        for item in host.addresses.items
        if item.span is not None and item.scope == "global" and not item.inferred
    }
    tried = tuple(one.span for one in case.attempts if one.is_bad)[:1]
    held = {item.link for item in host.addresses.items if item.span is not None}
    working = {link.name for link in host.links.items if link.up and link.carrier}
    complained = {word for one in list_lost(case) if not one.words & working for word in one.words}
    complained |= _list_tried(case)
    for link in host.links.items:
        if not _is_listed(link):
            continue
        dead = not link.up or not link.carrier
        bare = not link.up and link.name not in held and _is_never_set_up(case, link)
        alone = bare or (dead and link.name in addressed and _is_only_card(case, link))
        how = "is down" if not link.up else "has no carrier"
        named = link.name in complained and link.name in held and _is_card(link.name)
        if dead and (link.name in leading or named or alone):
            certainty = 1.0
        elif (
            not link.up
            and link.name in addressed
            and not is_inner_bridge(link.name)
            and not link.name.startswith("kube-ipvs")
            and not (link.name.startswith("br") and working & addressed)
        ):
            certainty = 0.7
        else:
            continue
        claim = f"{link.name} {how} and holds one of the host's addresses."
        if bare:
            claim = f"{link.name}, the host's only card, is down and has no address."
        if link.name in leading:
            claim = f"{link.name} {how}, and the host's route to other hosts uses it."
        yield _report(link, claim, tried if named else (), certainty)


def _is_listed(link: Link) -> bool:
    """Tell whether an output shows a device that may lead out of the host."""
    inner = link.name == "lo" or link.kind in {"dummy", "ipvlan"}
    return link.span is not None and not link.inferred and not inner


def _report(link: Link, claim: str, tried: tuple[Span, ...], certainty: float) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(*spans_of((link,)), *tried),
        reasoning=("Its routes and addresses stay, and packets sent there are lost.",),
        breaks=(f"everything that leaves through {link.name}",),
        prevention="Monitor the carrier of the uplink.",
        certainty=certainty,
        marks=("DOWN", "NO-CARRIER"),
    )


def _is_never_set_up(case: Case, link: Link) -> bool:
    """Tell whether a card is the only one of a whole listing, while people say that something of
    this machine fails.
    """
    inner = {EndKind.POD, EndKind.CONTAINER}
    shown = [one for one in case.node.host.links.items if one.span is not None]
    others = [one for one in shown if one.name not in {"lo", link.name}]
    said = [one for one in list_failing(case) if not {one.source, one.target} & inner]
    return bool(said) and case.node.host.links.complete and not others and _is_card(link.name)


def _is_only_card(case: Case, link: Link) -> bool:
    """Tell whether a card is the one device that is shown, while people say that something gets no
    answer, and of no pod or container.
    """
    shown = [
        one
        for one in case.node.host.links.items
        if one.span is not None and not one.inferred and one.name != "lo"
    ]
    inner = {end for one in list_lost(case) for end in (one.source, one.target)} & WORKLOADS
    return shown == [link] and _is_card(link.name) and bool(list_lost(case)) and not inner


def _list_tried(case: Case) -> set[str]:
    """Return the devices by which somebody told a program to send, in vain."""
    commands = [one.span.source.command or "" for one in case.attempts if one.is_bad]
    return {found["device"] for command in commands for found in _BY_DEVICE.finditer(command)}


def _is_card(name: str) -> bool:
    """Tell whether a device is none that the host makes for containers or tunnels: their carrier
    follows from what is behind them.
    """
    made = ("veth", "br", "vnet", "tap", "cali", "lxc", "virbr", "kube-ipvs", "dummy")
    return not (is_inner_bridge(name) or is_tunnel(name) or name.startswith(made))
