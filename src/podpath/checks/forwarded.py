"""What FORWARD does with a new connection of which the devices are known by their kind: it comes in
by a bridge, leaves by one, or both.

A rule that is for the bridges of one engine takes nothing of another's. What may accept the
connection, or is not shown, leaves it open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from podpath.checks.firewall import ends, is_plain, lets_new_in
from podpath.net.provenance import Known, Span
from podpath.node.netfilter import Chain, InterfaceMatch, Rule, Table

DEEPEST = 16
ROUNDED = 100_000
"""From which count on iptables prints thousands alone, unless -x asks for every digit."""


class Family(Enum):
    """Who makes a device behind the host."""

    DOCKER = auto()
    LIBVIRT = auto()
    LXC = auto()
    PODMAN = auto()
    PODS = auto()
    VPN = auto()


_DEVICES: Mapping[Family, re.Pattern[str]] = {
    Family.DOCKER: re.compile(r"docker\d+$|br-[0-9a-f]{12}$|docker_gwbridge$"),
    Family.LIBVIRT: re.compile(r"virbr\d+$|vnet\d+$"),
    Family.LXC: re.compile(r"lxcbr\d+$|lxdbr\d+$|incusbr\d+$|mpqemubr\d+$"),
    Family.PODMAN: re.compile(r"podman\d+$|cni-podman\d+$"),
    Family.PODS: re.compile(r"cni\d+$|cbr\d+$|kube-bridge$|weave$|flannel|cali|cilium|lxc[0-9a-f]"),
    Family.VPN: re.compile(r"wg\d*|tun\d*|tap\d*|ppp\d*|tailscale\d*|ipsec\d*|zt"),
}
_CHAINS: Mapping[str, Family] = {
    "DOCKER": Family.DOCKER, "LIBVIRT_": Family.LIBVIRT, "NETAVARK": Family.PODMAN,
    "CNI-FORWARD": Family.PODMAN, "CNI-ADMIN": Family.PODMAN, "KUBE-": Family.PODS,
    "FLANNEL-": Family.PODS, "cali-": Family.PODS, "CILIUM_": Family.PODS, "WEAVE-": Family.PODS,
    "ts-": Family.VPN,
}  # fmt: skip
"""How chains begin whose rules are for their owner's own devices, whatever is in them."""
_MARKED = re.compile(
    r"KUBE-(?:FORWARD|SERVICES|EXTERNAL-SERVICES|NODEPORTS|PROXY-FIREWALL|FIREWALL)$"
)
"""kube-proxy's chains at FORWARD accept what is marked for masquerade and what is established: of
new connections neither those of pods nor those to a pod's own address.
"""
_ADMIN = "DOCKER-USER"
"""A chain that people fill."""


class DevicePath(NamedTuple):
    """By which devices a connection comes in and leaves; None: by another one of the host."""

    comes: Family | None
    leaves: Family | None
    translated: bool = False
    """True where it may be for a service's or NodePort's address, which kube-proxy marks."""


class ForwardEnd(NamedTuple):
    """What drops it."""

    span: Span
    sure: bool
    """False where a listing without devices leaves open for whom its rules are."""
    target: str = "DROP"


def family_of(name: str) -> Family | None:
    """Return who makes a device of a name; None for a card, or a bridge that people made."""
    return next((family for family, pattern in _DEVICES.items() if pattern.match(name)), None)


def find_end(table: Table, chain: Chain, route: DevicePath) -> ForwardEnd | None:
    """Return what drops a new connection: the rule, or the chain's policy. None where some rule may
    accept it, or an unknown chain.
    """
    return _find_end(_ForwardWalk(table, route), chain)


def find_end_between(table: Table, chain: Chain, comes: str, leaves: str) -> ForwardEnd | None:
    """Return what drops a new connection that comes in by one device and leaves by another."""
    return _find_end(_NamedWalk(table, comes, leaves), chain)


def _find_end(walk: _ForwardWalk, chain: Chain) -> ForwardEnd | None:
    if not chain.complete or walk.may_accept(chain, DEEPEST):
        return None
    doubts = [
        rule for rule in walk.doubts if rule not in chain.rules or not _comes_back(chain, rule)
    ]
    last = next((rule for rule in chain.rules if is_plain(rule) and ends(rule)), None)
    if last is not None:
        target = last.target.name if last.target is not None else ""
        return ForwardEnd(last.span, not doubts, target)
    dropped = chain.policy == "DROP" and chain.span is not None
    return ForwardEnd(chain.span, not doubts) if dropped and chain.span else None


def _comes_back(chain: Chain, jump: Rule) -> bool:
    """Tell whether counters show that a chain that is not shown ended none of the packets that
    entered it: as many were ended behind it, or met the policy.
    """
    if not jump.packets or not chain.packets or not is_plain(jump) or _accepts(jump):
        return False
    if jump.packets >= ROUNDED and jump.packets % 1000 == 0:
        return False
    behind = (rule for rule in chain.rules if rule.position > jump.position)
    ended = sum(rule.packets or 0 for rule in behind if ends(rule) or _accepts(rule))
    return jump.packets == ended + chain.packets


def _accepts(rule: Rule) -> bool:
    return rule.target is not None and rule.target.name == "ACCEPT"


class _ForwardWalk:
    """Looks for a rule that may accept a connection. Local to one call."""

    def __init__(self, table: Table, route: DevicePath) -> None:
        self.table = table
        self.route = route
        self.doubts: list[Rule] = []

    def may_accept(self, chain: Chain, depth: int) -> bool:
        """Tell whether a chain may accept it before anything ends it."""
        for rule in chain.rules:
            if is_plain(rule) and ends(rule):
                return False
            if lets_new_in(rule) and self._is_met(rule) and self._lets_in(rule, depth):
                return True
        return False

    def _lets_in(self, rule: Rule, depth: int) -> bool:
        name = rule.target.name if rule.target is not None else ""
        if name == "ACCEPT":
            return not self._is_doubt(rule)
        fact = self.table.chains.get(name)
        if isinstance(fact, Known) and fact.value.rules and depth:
            return not fact.value.complete or self.may_accept(fact.value, depth - 1)
        if name == _ADMIN:
            self.doubts.append(rule)
            return False
        if _MARKED.match(name) and not self.route.translated:
            return False
        owner = next((one for start, one in _CHAINS.items() if name.startswith(start)), None)
        return owner is None or owner in {self.route.comes, self.route.leaves}

    def _is_doubt(self, rule: Rule) -> bool:
        """Tell whether a listing hides for which devices an accepting rule is, which those of
        engines always name.
        """
        hidden = {"in-interface", "out-interface"} & set(rule.hidden)
        if hidden:
            self.doubts.append(rule)
        return bool(hidden)

    def _is_met(self, rule: Rule) -> bool:
        return _fits(rule.in_link, self.route.comes) and _fits(rule.out_link, self.route.leaves)


class _NamedWalk(_ForwardWalk):
    """Follows a connection whose devices are known by name. Local to one call."""

    def __init__(self, table: Table, comes: str, leaves: str) -> None:
        super().__init__(table, DevicePath(family_of(comes), family_of(leaves)))
        self.comes, self.leaves = comes, leaves

    def _is_met(self, rule: Rule) -> bool:
        return _names(rule.in_link, self.comes) and _names(rule.out_link, self.leaves)


def _names(link: InterfaceMatch | None, device: str) -> bool:
    if link is None:
        return True
    same = device.startswith(link.name) if link.wildcard else device == link.name
    return same is not link.negated


def _fits(link: InterfaceMatch | None, family: Family | None) -> bool:
    """Tell whether a connection by a device of a family may match a rule's device."""
    if link is None:
        return True
    same = family_of(link.name) is family
    return True if link.negated else same
