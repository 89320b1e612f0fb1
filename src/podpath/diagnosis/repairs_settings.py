"""Repairs of settings: sysctls, modules and attributes of devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.cause import Cause
from podpath.checks.conntrack import stale_conntrack
from podpath.checks.finding import Repair
from podpath.checks.netfilter import bridge_netfilter
from podpath.checks.routing import ip_forward
from podpath.checks.topology import device_key, find_link
from podpath.datapath.reasons.devices import EchoIgnored
from podpath.datapath.reasons.routes import LoopbackFromWire, LoopbackStays, ReversePathFailed
from podpath.diagnosis.causes import refusal_of
from podpath.net.addresses import IfName
from podpath.net.provenance import Known
from podpath.node.change import SetLink, SetSysctl
from podpath.node.node import HOST, Node


def switch_filter_off(node: Node, cause: Cause) -> Iterator[Repair]:
    """Set the reverse-path filter to 0 for the device, and for `all`, unless that alone is known to
    be 0 already.
    """
    refusal = refusal_of(cause.step)
    asked = refusal if isinstance(refusal, ReversePathFailed) else None
    netns = HOST if asked is not None else cause.step.netns
    device = asked.device if asked is not None else _last_device(cause)
    yield from _set_for_device(
        node, netns, device, ("rp_filter", "0"), "turn the reverse-path filter off"
    )


def answer_arp(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let the host answer ARP for all its addresses: every setting of arp_ignore that is not 0 goes
    to 0.
    """
    _ = cause
    keys = [
        key
        for key, fact in node.host.sysctls.items()
        if key.endswith(".arp_ignore") and isinstance(fact, Known) and fact.value != "0"
    ]
    if keys:
        yield _write(
            HOST, dict.fromkeys(keys, "0"), "let the host answer ARP for all its addresses"
        )


def let_bridge_be_seen(node: Node, cause: Cause) -> Iterator[Repair]:
    """Load br_netfilter where it may be missing, and switch it on."""
    _ = cause
    yield bridge_netfilter.switch_on(module=bridge_netfilter.MODULE not in node.modules.items)


def let_host_forward(node: Node, cause: Cause) -> Iterator[Repair]:
    """Switch forwarding on: for the host, and for a device whose own switch is off."""
    yield ip_forward.switch_on()
    device = _last_device(cause)
    if device is not None:
        key = device_key(4, IfName(device), "forwarding")
        if key in node.namespaces[cause.step.netns].sysctls:
            yield _write(cause.step.netns, {key: "1"}, f"forward packets that come in on {device}")


def let_loopback_in(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let loopback addresses in (and out) on the device that refuses them."""
    _ = node
    match cause.step.reason:
        case LoopbackFromWire(link=link) | LoopbackStays(link=link):
            device = IfName(link)
        case _:
            device = IfName(cause.step.link or "all")
    yield _write(
        cause.step.netns,
        {device_key(4, device, "route_localnet"): "1"},
        f"allow loopback addresses on {device} (route_localnet)",
    )


def answer_pings(node: Node, cause: Cause) -> Iterator[Repair]:
    """Answer the echo requests that the host ignores."""
    _ = node
    if isinstance(cause.step.reason, EchoIgnored):
        key = cause.step.reason.key
        yield _write(cause.step.netns, {key: "0"}, "answer pings again")


def let_own_source_in(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let own source addresses in on the device."""
    _ = node
    key = device_key(4, IfName(cause.step.link or "all"), "accept_local")
    yield _write(
        cause.step.netns, {key: "1"}, "accept packets with the host's own source addresses"
    )


def forget_connection(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let conntrack forget the entry that the packet was translated by."""
    for entry, _ in stale_conntrack.list_stale(node):
        if entry.span in cause.step.spans:
            yield stale_conntrack.forget_entries(entry)


def switch_hairpin_on(node: Node, cause: Cause) -> Iterator[Repair]:
    """Let a bridge send frames back out of the port that they came in on."""
    for step in reversed(cause.trace.steps):
        link = (
            find_link(node.host, step.link)
            if step.netns == HOST and step.link is not None
            else None
        )
        if link is not None and link.master is not None:
            yield Repair(
                title=f"let the bridge send frames back out of {link.name}",
                commands=(f"bridge link set dev {link.name} hairpin on",),
                changes=(SetLink(netns=HOST, link=link.name, attributes=(("hairpin", "on"),)),),
            )
            return


def _set_for_device(
    node: Node, netns: str, device: str | None, setting: tuple[str, str], title: str
) -> Iterator[Repair]:
    """Write a setting for `all` and for the device, leaving out what has the value already and what
    has no known name.
    """
    name, value = setting
    link = find_link(node.namespaces[netns], device) if device is not None else None
    sysctls = node.namespaces[netns].sysctls
    shown = device is not None and isinstance(
        sysctls.get(device_key(4, IfName(device), name)), Known
    )
    named = (
        device
        if shown or (device is not None and not (link is not None and link.inferred))
        else None
    )
    keys = [device_key(4, IfName(where), name) for where in ("all", named) if where is not None]
    wrong = {key: value for key in keys if not _is_known(sysctls, key, value)}
    if wrong:
        yield _write(netns, wrong, f"{title} for {named}" if named is not None else title)


def _write(netns: str, values: Mapping[str, str], title: str) -> Repair:
    return Repair(
        title=title,
        commands=tuple(f"sysctl -w {key}={value}" for key, value in values.items()),
        changes=tuple(
            SetSysctl(netns=netns, key=key, value=value) for key, value in values.items()
        ),
    )


def _is_known(sysctls: Mapping[str, object], key: str, value: str) -> bool:
    fact = sysctls.get(key)
    return isinstance(fact, Known) and fact.value == value


def _last_device(cause: Cause) -> str | None:
    return cause.step.link or next(
        (step.link for step in reversed(cause.trace.steps) if step.link), None
    )
