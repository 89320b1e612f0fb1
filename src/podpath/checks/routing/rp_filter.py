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

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
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
from podpath.net.provenance import Known
from podpath.node.case import Case, Sighting
from podpath.node.change import SetSysctl
from podpath.node.node import HOST, Node
from podpath.node.routing import Route

CATEGORIES = (Category.REVERSE_PATH_FILTER, Category.SYSCTL)
NAME = "rp-filter"
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
    yield from _check_sighted(case)


def _check_sighted(case: Case) -> Iterator[Finding]:
    """Report the first packet for an address of the host that a capture shows on a device which is
    not the way back to its source, where the filter is strict and no answer is shown.
    """
    host = case.node.host
    answered = {(one.packet.dst, one.packet.src) for one in case.sightings}
    for seen in case.sightings if host.routes.complete else ():
        source, target = seen.packet.src, seen.packet.dst
        came = seen.netns == HOST and host.holds(target) and not host.holds(source)
        if not came or seen.link is None or (source, target) in answered or source.family != 4:
            continue
        device = IfName(seen.link)
        own = known_sysctl(host, device_key(4, device, "rp_filter"))
        mode, routes = strictest(host, device, "rp_filter"), best_routes(host, source)
        ways = {hop.link for hop in routes[0].nexthops} if routes else set()
        plain = bool(routes) and routes[0].type == "unicast" and routes[0].span is not None
        if plain and own and mode is not None and mode[0] == 1 and device not in ways:
            yield _report_sighted(seen, mode, routes[0])
            return


def _report_sighted(seen: Sighting, mode: tuple[int, Known[str]], route: Route) -> Finding:
    other = ", ".join(str(hop.link) for hop in route.nexthops)
    key = device_key(4, IfName(str(seen.link)), "rp_filter")
    spans = (mode[1].span, seen.span, route.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reverse-path filter drops packets from {seen.packet.src}: they come in on "
            f"{seen.link}, and the route back uses {other}."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            f"rp_filter is 1, the larger of all and {seen.link}.",
            f"The capture shows the packet on {seen.link}, and no answer to it.",
        ),
        breaks=(f"what comes in on {seen.link} from networks that {other} leads to",),
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
        marks=("rp_filter", mode[1].value, other),
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
