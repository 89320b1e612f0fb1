"""Per-device settings of IPv4 (`struct ipv4_devconf`), and how a device's value and that of `all`
go together.

`include/linux/inetdevice.h` (v6.12) says for each whether the two are combined by the larger value
(IN_DEV_MAXCONF), by OR (IN_DEV_ORCONF), or whether the device's own counts alone (IN_DEV_CONF_GET).
A value that the evidence lacks is a question that forks the walk, so callers ask only where the
answer matters.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.tracing.exploration import Choices
from podpath.net.provenance import Fact, Known, Option, Span, Unknown


class DeviceSetting(NamedTuple):
    """One per-device sysctl of IPv4."""

    name: str
    default: str
    """What a fresh kernel has: the likeliest where the evidence is silent."""
    values: tuple[tuple[str, str], ...]
    """Every value with its meaning."""


RP_FILTER = DeviceSetting(
    "rp_filter", "0",
    (
        ("0", "the route back to the source is not checked"),
        ("1", "strict: the route back to the source must use the same device"),
        ("2", "loose: some route back to the source must exist"),
    ),
)  # fmt: skip
ACCEPT_LOCAL = DeviceSetting(
    "accept_local",
    "0",
    (("0", "own source addresses are refused"), ("1", "own source addresses are let in")),
)
ROUTE_LOCALNET = DeviceSetting(
    "route_localnet", "0", (("0", "127.0.0.0/8 is a martian"), ("1", "127.0.0.0/8 is routed"))
)
SRC_VALID_MARK = DeviceSetting(
    "src_valid_mark",
    "0",
    (
        ("0", "the reverse path check leaves the mark out"),
        ("1", "the reverse path check uses the mark"),
    ),
)
BC_FORWARDING = DeviceSetting(
    "bc_forwarding",
    "0",
    (("0", "directed broadcasts end here"), ("1", "directed broadcasts are forwarded")),
)
ARP_IGNORE = DeviceSetting(
    "arp_ignore", "0",
    (
        ("0", "any own address is answered for"),
        ("1", "only the device's own addresses are answered for"),
        ("2", "as 1, and only for a sender in the same subnet"),
        ("8", "no ARP request is answered"),
    ),
)  # fmt: skip
ARP_FILTER = DeviceSetting(
    "arp_filter",
    "0",
    (
        ("0", "ARP is answered on any device"),
        ("1", "only if the route back uses the device"),
    ),
)
ARP_ANNOUNCE = DeviceSetting(
    "arp_announce",
    "0",
    (("0", "any own address"), ("1", "one of the target's subnet"), ("2", "the best one")),
)
PROXY_ARP = DeviceSetting(
    "proxy_arp",
    "0",
    (("0", "no ARP for others"), ("1", "answers ARP for what it routes elsewhere")),
)
SEND_REDIRECTS = DeviceSetting(
    "send_redirects", "1", (("1", "sends ICMP redirects"), ("0", "sends none"))
)
FORWARDING = DeviceSetting(
    "forwarding", "1", (("1", "the namespace forwards"), ("0", "the namespace does not forward"))
)

ALL = "all"


def integer(text: str, default: int = 0) -> int:
    """Read a sysctl's number; what is none counts as the default."""
    if text.lstrip("-").isdigit() and text.isascii():
        return int(text)
    return default


def device_fact(namespace: Namespace, setting: DeviceSetting, device: str) -> Fact[str]:
    """Return a setting of one device (or of `all`): known, or with the value of `default` as the
    likeliest.
    """
    facts = namespace.facts
    fact = facts.get((setting.name, device))
    if fact is None:
        fact = facts[setting.name, device] = _find(namespace, setting, device)
    return fact


def _find(namespace: Namespace, setting: DeviceSetting, device: str) -> Fact[str]:
    netns = namespace.netns
    key = f"net.ipv4.conf.{device}.{setting.name}"
    fact = netns.sysctls.get(key)
    if fact is not None:
        return fact
    likeliest, reason = setting.default, "the kernel's default"
    inherited = netns.sysctls.get(f"net.ipv4.conf.default.{setting.name}")
    if netns.sysctls_complete:
        # Writing `default` sets the devices without an IPv4 address of their own
        # (net/ipv4/devinet.c:devinet_copy_dflt_conf v6.12).
        follows = device != ALL and not namespace.is_numbered(device)
        if follows and isinstance(inherited, Known):
            return inherited
        return Known(setting.default, None, f"{key} is not among the namespace's sysctls")
    if device != ALL and isinstance(inherited, Known):
        likeliest, reason = inherited.value, "net.ipv4.conf.default has it"
    options = [Option(value, meaning) for value, meaning in setting.values if value != likeliest]
    meaning = dict(setting.values).get(likeliest, likeliest)
    where = netns.place
    return Unknown(
        f"{key} in netns {netns.name}",
        f"{where}sysctl {key}",
        (Option(likeliest, f"{meaning} ({reason})"), *options),
    )


def known_maximum(namespace: Namespace, setting: DeviceSetting, device: str) -> int | None:
    """Return max(all, device) where the evidence holds both; None where one has to be asked for."""
    everywhere, own = device_fact(namespace, setting, ALL), device_fact(namespace, setting, device)
    if isinstance(everywhere, Known) and isinstance(own, Known):
        return max(integer(everywhere.value), integer(own.value))
    return None


def maximum(choices: Choices, namespace: Namespace, setting: DeviceSetting, device: str) -> int:
    """Return max(all, device), asking where unknown (IN_DEV_MAXCONF)."""
    resolve = choices.resolve
    everywhere = integer(resolve(device_fact(namespace, setting, ALL)))
    return max(everywhere, integer(resolve(device_fact(namespace, setting, device))))


def either(choices: Choices, namespace: Namespace, setting: DeviceSetting, device: str) -> bool:
    """Return all OR device, asking where unknown (IN_DEV_ORCONF)."""
    resolve = choices.resolve
    own = device_fact(namespace, setting, device)
    if isinstance(own, Known) and integer(own.value):
        return True
    return bool(integer(resolve(device_fact(namespace, setting, ALL))) or integer(resolve(own)))


def assumed_maximum(namespace: Namespace, setting: DeviceSetting, device: str) -> int:
    """Return max(all, device), an unknown value counting as its likeliest: for what only colors a
    step.
    """
    key = ("assumed", setting.name, device)
    level = namespace.answers.get(key)
    if not isinstance(level, int):
        level = max(
            integer(_likeliest(device_fact(namespace, setting, name))) for name in (ALL, device)
        )
        namespace.answers[key] = level
    return level


def _likeliest(fact: Fact[str]) -> str:
    return fact.value if isinstance(fact, Known) else fact.options[0].value


def forwarding(choices: Choices, namespace: Namespace, device: str) -> bool:
    """Tell whether packets that came in on a device are forwarded (`IN_DEV_FORWARD`: the device's
    own value alone).

    Writing `net.ipv4.ip_forward` sets every device, so it stands for one that is not in the
    evidence.
    """
    known = namespace.forwards.get(device)
    if known is not None:
        return known
    fact = _find_forwarding(namespace, device)
    forwards = bool(integer(choices.resolve(fact)))
    if isinstance(fact, Known):
        namespace.forwards[device] = forwards
    return forwards


def forwarding_spans(namespace: Namespace, device: str, family: int) -> tuple[Span, ...]:
    """Return the line that says whether packets from a device are forwarded; none where no output
    says it.
    """
    return span_of(_find_forwarding(namespace, device) if family == 4 else forwarding6(namespace))


def _find_forwarding(namespace: Namespace, device: str) -> Fact[str]:
    sysctls, name = namespace.netns.sysctls, namespace.netns.name
    for key in (
        f"net.ipv4.conf.{device}.forwarding",
        "net.ipv4.ip_forward",
        "net.ipv4.conf.all.forwarding",
    ):
        fact = sysctls.get(key)
        if fact is not None:
            return fact
    if namespace.netns.sysctls_complete:
        return Known("0", None, "net.ipv4.ip_forward is not among the namespace's sysctls")
    where = namespace.netns.place
    options = tuple(Option(value, meaning) for value, meaning in FORWARDING.values)
    return Unknown(
        f"net.ipv4.ip_forward in netns {name}", f"{where}sysctl net.ipv4.ip_forward", options
    )


def forwarding6(namespace: Namespace) -> Fact[str]:
    """Return whether a namespace forwards IPv6 (`net/ipv6/ip6_output.c:ip6_forward v6.12`: the
    value of `all` counts).
    """
    fact = namespace.facts.get(("forwarding6", ALL))
    if fact is None:
        key = "net.ipv6.conf.all.forwarding"
        fact = namespace.facts["forwarding6", ALL] = namespace.netns.sysctl(
            key, "1", FORWARDING.values
        )
    return fact


def span_of(fact: Fact[str] | None) -> tuple[Span, ...]:
    """Return the line that says a known value, as spans of a step."""
    if isinstance(fact, Known) and fact.span is not None:
        return (fact.span,)
    return ()
