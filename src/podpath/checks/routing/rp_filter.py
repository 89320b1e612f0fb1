"""rp-filter: the reverse-path filter drops a pod's packets as they enter the host.

What it is
    net.ipv4.conf.DEVICE.rp_filter = 1 (or that of `all`: the larger of the two counts) makes the
    kernel look up, for each packet that comes in on DEVICE, the route back to its source. If that
    route uses another device, the packet is dropped silently (drop reason IP_RPFILTER, counter
    TcpExt IPReversePathFilter). Mode 2 only requires that some route exists, but on a device
    without an address of its own it is as strict as 1.

Why it breaks
    Many CNI plugins route the pods' range through a device of their own (cilium_host, a tunnel, a
    bridge), while a pod's packets come in on its veth device (lxc*, cali*, veth*). The route back
    then uses the other device and the check fails: what a pod sends to addresses outside its range,
    and its replies to the host itself, are lost; pod to pod works if BPF forwards it before the
    check. Plugins set rp_filter to 0 when they start. Whatever writes the sysctls later (a restart
    of tuned or systemd-sysctl, often caused by a package upgrade) resets it, and nothing sets it to
    0 again until the plugin's agent restarts.

How to confirm
    sysctl net.ipv4.conf.all.rp_filter net.ipv4.conf.DEVICE.rp_filter
    ip route get POD_ADDRESS  # the device that it names is not the pod's own device
    nstat -az TcpExtIPReversePathFilter        # grows while the pod tries
    sysctl -w net.ipv4.conf.all.log_martians=1; dmesg | grep martian

How to fix
    sysctl -w net.ipv4.conf.all.rp_filter=0 and the same for the device. To make it permanent: a
    file in /etc/sysctl.d that sorts last (99-zz-...), with `net.ipv4.conf.all.rp_filter = 0` and
    `net.ipv4.conf.lxc*.rp_filter = 0` for the plugin's device pattern; and make sure that tuned's
    profile does not set it.

References
    fib_validate_source, __fib_validate_source (net/ipv4/fib_frontend.c);
    Documentation/networking/ip-sysctl.rst, rp_filter; RFC 3704
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.checks.topology import (
    Attachment,
    best_routes,
    device_key,
    find_attachments,
    known_sysctl,
    only_default_rules,
    strictest,
)
from podpath.net.addresses import Address, IfName
from podpath.net.complaints import Complaint
from podpath.net.provenance import Known, Span
from podpath.net.statements import RouteAnswer
from podpath.node.case import Case, Sighting
from podpath.node.change import SetSysctl
from podpath.node.node import HOST, Netns, Node
from podpath.node.routing import Route

CATEGORIES = (Category.REVERSE_PATH_FILTER, Category.SYSCTL)
NAME = "rp-filter"
TOLD, CARD, ALONE = 0.85, 0.8, 0.65
_FELT = frozenset({None, *LOSSES})
_KEY = re.compile(r"net\.ipv4\.conf\.(?P<device>[^.]+)\.rp_filter")
_MADE_LATE = re.compile(
    r"(?:lxc|cali|veth|eni|gre|gretap|gwi|tun|tap|wg|vti|ipsec|ipip|tunl|sit|ppp|xfrm|vxlan|geneve)"
    r"(?=[\d_-]|[0-9a-f]{4}|$)"
)
"""Devices that agents and tunnels make while the host runs, by the kind in their names."""
PREVENTION = (
    "Put the setting in a file in /etc/sysctl.d that sorts last, and find out what else writes "
    "it: tuned profiles and systemd-sysctl reset it when their services restart."
)


def check(case: Case) -> Iterator[Finding]:
    """Report each pod device whose filter is on while the route back to its pod leads over another
    device.
    """
    node = case.node
    if not only_default_rules(node.host):
        return
    for attachment in find_attachments(node):
        mode = strictest(node.host, attachment.outer.name, "rp_filter")
        if mode is None or mode[0] == 0:
            continue
        if mode[0] == 2 and any(
            item.link == attachment.outer.name for item in node.host.addresses.items
        ):
            continue
        for item in attachment.addresses:
            route = find_way_back(node, attachment, item.address)
            if item.address.family == 4 and route is not None:
                yield _report(attachment, item.address, mode, route)
                break
    found = list(_check_sighted(case)) or list(_check_told(case))
    yield from found or _check_alone(case)


class WayBack(NamedTuple):
    """By which device the host answers an address, and the line that says so."""

    device: str
    span: Span


def _check_sighted(case: Case) -> Iterator[Finding]:
    """Report the first packet for an address of the host that a capture shows on a device which is
    not the way back to its source, where the filter is strict and no answer is shown.
    """
    host = case.node.host
    answered = {(one.packet.dst, one.packet.src) for one in case.sightings}
    own_sources = {
        answer.prefsrc
        for answer, stated in statements_of(case, RouteAnswer)
        if stated.netns == HOST
    }
    for seen in case.sightings:
        source, target = seen.packet.src, seen.packet.dst
        held = host.holds(target) or target in own_sources
        came = seen.netns == HOST and held and not host.holds(source)
        if not came or seen.link is None or (source, target) in answered or source.family != 4:
            continue
        device = IfName(seen.link)
        own = known_sysctl(host, device_key(4, device, "rp_filter"))
        mode, back = strictest(host, device, "rp_filter"), _find_back(case, source, device)
        if back is not None and own and mode is not None and mode[0] == 1:
            yield _report_sighted(seen, mode, back)
            return
        card = _find_card(host, target, device) if not host.routes.complete else ""
        if card and own and mode is not None and mode[0] == 1:
            yield _report_card(seen, mode, card)
            return


def _find_card(host: Netns, address: Address, device: IfName) -> str:
    """Return the device that has an address, where another one in the same network is meant; empty
    where there is none.
    """
    shown = [one for one in host.addresses.items if one.span is not None]
    beside = [one.prefix for one in shown if one.link == device]
    held = (one for one in shown if one.address == address and one.link != device)
    return next((str(one.link) for one in held if one.prefix in beside), "")


def _report_card(seen: Sighting, mode: tuple[int, Known[str]], card: str) -> Finding:
    spans = (seen.span, mode[1].span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Answers to {seen.packet.dst}, the address of {card}, come in on {seen.link}, where "
            "the reverse-path filter is strict: it drops them if the route back uses "
            f"{card}."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            "With two cards in one network, each answers ARP for the addresses of both.",
            f"rp_filter is 1, the larger of all and {seen.link}.",
        ),
        breaks=(f"what is bound to {card}",),
        repairs=(_loosen(IfName(str(seen.link))),),
        prevention="Let each card answer ARP for its own addresses alone (arp_ignore=1).",
        certainty=CARD,
        asks=(
            FollowUp(
                "through which card the route back goes, and which MAC its neighbors have for each",
                f"ip route get {seen.packet.src}; sysctl -a | grep -e arp_ignore -e arp_announce",
                f"through {card}: what comes in on {seen.link} is dropped",
            ),
        ),
        marks=("rp_filter", mode[1].value, str(seen.link)),
    )


def _find_back(case: Case, source: Address, device: IfName) -> WayBack | None:
    """Return the way back to an address where it is another device: by a whole table, or by what
    the kernel answered.
    """
    host = case.node.host
    routes = best_routes(host, source) if host.routes.complete else ()
    if routes and routes[0].type == "unicast" and routes[0].span is not None:
        ways = [str(hop.link) for hop in routes[0].nexthops]
        return None if device in ways else WayBack(", ".join(ways), routes[0].span)
    for answer, stated in statements_of(case, RouteAnswer):
        plain = answer.src is None and answer.iif is None and stated.netns == HOST
        if (
            answer.dst == source
            and plain
            and answer.type == "unicast"
            and answer.link not in {None, device}
        ):
            return WayBack(str(answer.link), stated.span)
    return None


def _check_told(case: Case) -> Iterator[Finding]:
    """Report what people say comes in by a device with a strict filter, where the table leads back
    by another one. Which device it comes in by, only they say.
    """
    known = {str(link.name) for link in case.node.host.links.items}
    for complaint in list_failing(case):
        if complaint.failure not in _FELT:
            continue
        named = sorted(complaint.words & known)
        sources = [
            *complaint.sources,
            *(Address(one.family, one.network) for one in complaint.prefixes),
        ]
        for name in map(IfName, named):
            mode = strictest(case.node.host, name, "rp_filter")
            found = (_find_back(case, one, name) for one in sources)
            back = next((one for one in found if one is not None), None)
            if back is not None and mode is not None and mode[0] == 1:
                yield _report_told(name, complaint, mode, back)
                return


def _report_told(
    device: IfName, complaint: Complaint, mode: tuple[int, Known[str]], back: WayBack
) -> Finding:
    spans = (mode[1].span, back.span, complaint.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reverse-path filter drops what comes in on {device} from there: the route back "
            f"uses {back.device}."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(f"rp_filter is 1, the larger of all and {device}.",),
        breaks=(f"what comes in on {device} from networks that {back.device} leads to",),
        repairs=(_loosen(device),),
        prevention="Give each card a table and a rule for its own address, so that answers return.",
        certainty=TOLD,
        asks=(
            FollowUp(
                f"whether the packets come in on {device}",
                f"tcpdump -ni {device}; nstat -az TcpExtIPReversePathFilter",
                "they do, and the counter grows: the filter drops them",
            ),
        ),
        marks=("rp_filter", mode[1].value, back.device),
    )


def _check_alone(case: Case) -> Iterator[Finding]:
    """Report a device made at run time whose own filter is on, while that of all, or of a device of
    the same kind, is off.
    """
    if not any(one.failure in _FELT for one in list_failing(case)):
        return
    values = dict(_list_own_filters(case.node.host))
    total = values.pop("all", None)
    if total is not None and total.value != "0":
        return
    straight = {
        str(answer.link)
        for answer, stated in statements_of(case, RouteAnswer)
        if stated.netns == HOST
    }
    for name, fact in values.items():
        sibling = next((one for one in values if _are_alike(name, one, values)), None)
        on = fact.value in {"1", "2"} and _MADE_LATE.match(name) is not None
        if on and name not in straight and (total is not None or sibling is not None):
            yield _report_alone(name, fact, values.get(sibling or "", total))
            return


def _list_own_filters(host: Netns) -> Iterator[tuple[str, Known[str]]]:
    """Yield the devices whose own value is stated."""
    for key, fact in host.sysctls.items():
        found = _KEY.fullmatch(key)
        if found is not None and isinstance(fact, Known) and fact.span is not None:
            yield found["device"].replace("/", "."), fact


def _are_alike(name: str, other: str, values: Mapping[str, Known[str]]) -> bool:
    """Tell whether another device is of the same kind by its name, and its filter is off."""
    mine, its = _MADE_LATE.match(name), _MADE_LATE.match(other)
    same = mine is not None and its is not None and mine[0] == its[0]
    return same and name != other and values[other].value == "0"


def _report_alone(name: str, fact: Known[str], off: Known[str] | None) -> Finding:
    spans = (fact.span, off.span if off is not None else None)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reverse-path filter of {name} is on ({fact.value}), and may drop what comes in "
            "there: others are off."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            (
                "A device that is made at run time takes the value of `default`, or that of a file "
                "that is applied when it appears."
            ),
            "On a device without an address of its own, 2 is as strict as 1.",
        ),
        breaks=(f"packets that come in on {name} and whose route back uses another device",),
        repairs=(_loosen(IfName(name), "0"),),
        prevention=PREVENTION,
        certainty=ALONE,
        asks=(
            FollowUp(
                f"whether the route back for what comes in on {name} uses another device",
                f"ip route get SOURCE; ip addr show {name}; nstat -az TcpExtIPReversePathFilter",
                "another device, and the counter grows: the filter drops the packets",
            ),
        ),
        marks=("rp_filter", fact.value),
    )


def _loosen(device: IfName, value: str = "2") -> Repair:
    key = device_key(4, device, "rp_filter")
    return Repair(
        title="let any route back count" if value == "2" else "turn the filter off there",
        commands=(f"sysctl -w net.ipv4.conf.all.rp_filter={value}", f"sysctl -w {key}={value}"),
    )


def _report_sighted(seen: Sighting, mode: tuple[int, Known[str]], back: WayBack) -> Finding:
    key = device_key(4, IfName(str(seen.link)), "rp_filter")
    spans = (mode[1].span, seen.span, back.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reverse-path filter drops packets from {seen.packet.src}: they come in on "
            f"{seen.link}, and the route back uses {back.device}."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            f"rp_filter is 1, the larger of all and {seen.link}.",
            f"The capture shows the packet on {seen.link}, and no answer to it.",
        ),
        breaks=(f"what comes in on {seen.link} from networks that {back.device} leads to",),
        repairs=(
            Repair(
                title="let any route back count, for both devices",
                commands=(
                    "sysctl -w net.ipv4.conf.all.rp_filter=2",
                    f"sysctl -w {key}=2",
                ),
            ),
        ),
        prevention="Give each card a table and a rule for its own address, so that answers return.",
        marks=("rp_filter", mode[1].value, back.device),
    )


def find_way_back(node: Node, attachment: Attachment, address: Address) -> Route | None:
    """Return the route to a pod where it leads over another device than the pod's own; None where
    it is right or unknown.
    """
    routes = best_routes(node.host, address)
    if not routes or not node.host.routes.complete or routes[0].type != "unicast":
        return None
    devices = {hop.link for hop in routes[0].nexthops}
    own = {attachment.outer.name, attachment.outer.master}
    return routes[0] if not devices & own else None


def switch_off(devices: tuple[str, ...]) -> Repair:
    """Return the repair that switches the filter off for all devices and for these."""
    keys = [device_key(4, name, "rp_filter") for name in ("all", *devices)]  # type: ignore[arg-type]  # device names
    return Repair(
        title="turn the reverse-path filter off for the pod's device",
        commands=tuple(f"sysctl -w {key}=0" for key in keys),
        changes=tuple(SetSysctl(netns=HOST, key=key, value="0") for key in keys),
    )


def _report(
    attachment: Attachment, address: Address, mode: tuple[int, Known[str]], route: Route
) -> Finding:
    device = attachment.outer.name
    spans = [span for span in (mode[1].span, route.span, attachment.outer.span) if span is not None]
    other = ", ".join(str(hop.link) for hop in route.nexthops)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reverse-path filter drops packets from {address}: they come in on {device}, and "
            f"the route back uses {other}."
        ),
        evidence=tuple(spans),
        reasoning=(
            (
                f"For a packet from {address} on {device}, the kernel looks up the route back: "
                f"{route.prefix} via {other}."
            ),
            (
                f"That is another device, and rp_filter is {mode[0]} (the larger of all and "
                f"{device}), so the packet is dropped."
            ),
        ),
        breaks=(
            (
                f"packets from {address} to anything that BPF does not forward before the check: "
                "external hosts, the host itself"
            ),
        ),
        repairs=(switch_off((device,)),),
        prevention=PREVENTION,
        marks=("rp_filter", mode[1].value, other),
    )
