"""What a proxy in a pod sends in the pod's name: the second half of a meshed pod's connection.

In a pod of a service mesh, rules redirect what the program sends to a proxy beside it (Envoy,
linkerd2-proxy), except what the proxy's own user sends (`-m owner --uid-owner 1337 -j RETURN`). A
walk of the program's connection ends at the proxy, so the proxy's own connection to the same
destination is asked about, too. Without it, whatever breaks beyond the pod would go unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.datapath.tracing.trace import Branch, Delivered
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.complained import Complained
from podpath.diagnosis.flows import BaselineFlow
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import World
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Span
from podpath.node.netfilter import Rule
from podpath.node.node import Netns

_REDIRECTS = frozenset({"REDIRECT", "DNAT", "TPROXY"})
_SPARES = frozenset({"RETURN", "ACCEPT"})
VALIDATED = frozenset({Address.parse("192.0.2.2"), Address.parse("2001:db8::2")})
"""Addresses for documentation (RFC 5737, RFC 3849) that `podpath protect validate` and linkerd's
validator connect to by default, since only the redirection can answer there: no proxy goes on.
"""


class ProxyUser(NamedTuple):
    """The user whose packets a pod's rules do not redirect."""

    uid: int
    span: Span | None
    """The rule that says so."""


class Proxied(NamedTuple):
    """A connection that ends at a proxy in its own pod."""

    asked: Probe
    proxy: Probe
    """What the proxy sends in its stead."""
    span: Span | None

    def __str__(self) -> str:
        """Say what was walked beside what was asked."""
        line = f" ({self.span})" if self.span is not None else ""
        return (
            f"{self.asked} is redirected to a proxy in the pod. The proxy's own connection was "
            f"walked as well: {self.proxy}. Its uid is the one that the pod's rules let pass{line}."
        )


def find_proxied(base: World, probe: Probe) -> Proxied | None:
    """Return the proxy's part of a connection; None where the pod has no proxy, or the connection
    does not go to it.
    """
    sent = probe.sending
    name = probe.netns or base.node.find_holder(probe.src)
    netns = base.node.namespaces.get(name) if name is not None else None
    if probe.protocol != protocols.TCP or probe.in_dev or sent.uid or sent.flags is not None:
        return None
    user = _find_user(netns) if netns is not None else None
    if netns is None or user is None or netns.holds(probe.dst):
        return None
    if probe.dst in VALIDATED and _is_unheld(base, probe):
        return None
    if not any(_stays_inside(branch, netns) for branch in base.converse(probe).branches):
        return None
    proxy = probe._replace(netns=netns.name, sending=sent._replace(uid=user.uid))
    return Proxied(probe, proxy, user.span)


def with_proxies(
    base: World, symptoms: Sequence[Symptom]
) -> tuple[tuple[Symptom, ...], tuple[Proxied, ...]]:
    """Return the symptoms, and behind each that ends at a proxy what the proxy sends: nobody says
    what became of that.
    """
    found: list[Symptom] = []
    proxied: list[Proxied] = []
    for symptom in symptoms:
        found.append(symptom)
        part = find_proxied(base, symptom.probe) if symptom.fails is not False else None
        if part is not None:
            proxied.append(part)
            found.append(Symptom(probe=part.proxy, fails=None, asked=symptom.asked, who="proxy"))
    return tuple(found), tuple(proxied)


def complained_by_proxies(
    base: World, complained: Iterable[Complained]
) -> Iterator[tuple[Complained, Proxied]]:
    """Yield the proxies' parts of connections that prose complains of."""
    for one in complained:
        part = find_proxied(base, one.probe)
        if part is not None:
            yield replace(one, probe=part.proxy), part


def carried_by_proxies(
    base: World, flows: Iterable[BaselineFlow]
) -> Iterator[tuple[BaselineFlow, Proxied]]:
    """Yield the proxies' parts of connections that any node should carry."""
    for flow in flows:
        part = find_proxied(base, flow.probe)
        if part is not None:
            yield flow._replace(probe=part.proxy), part


def rests_on_proxies(base: World, symptoms: Iterable[Symptom], proxied: Iterable[Proxied]) -> bool:
    """Tell whether all that breaks is what proxies are taken to send to addresses that nobody in
    the evidence has.

    To an outside address a proxy may send nothing, and for a service's it connects to an endpoint
    that it chooses by itself: what breaks there is possible, and never certain.
    """
    taken = {part.proxy for part in proxied if _is_unheld(base, part.proxy)}
    broken = [
        one.probe
        for one in symptoms
        if one.fails is not False and (one.fails or not _works(base, one.probe))
    ]
    return bool(broken) and taken.issuperset(broken)


def _works(base: World, probe: Probe) -> bool:
    return base.converse(probe).verdict is Reachability.ALWAYS


def _is_unheld(base: World, probe: Probe) -> bool:
    return base.node.find_holder(probe.dst) is None


def _stays_inside(branch: Branch, netns: Netns) -> bool:
    """Tell whether a connection's first packet is delivered where it was sent."""
    outcome = branch.traces[0].outcome
    return isinstance(outcome, Delivered) and outcome.netns == netns.name


def _find_user(netns: Netns) -> ProxyUser | None:
    """Return the first user that the rules of a namespace spare, where others are redirected."""
    rules = list(_list_rules(netns))
    if not any(rule.target is not None and rule.target.name in _REDIRECTS for rule in rules):
        return None
    for rule in rules:
        if rule.target is None or rule.target.name not in _SPARES:
            continue
        for uid in _owners(rule):
            return ProxyUser(uid, rule.span)
    return None


def _owners(rule: Rule) -> Iterator[int]:
    """Yield the users, but root, that a rule is about."""
    for match in rule.matches:
        for option in match.options if match.name == "owner" else ():
            if option.name == "uid-owner" and not option.negated and option.values:
                first = option.values[0].partition("-")[0]
                if first.isdigit() and int(first):
                    yield int(first)


def _list_rules(netns: Netns) -> Iterator[Rule]:
    for netfilter in netns.netfilter.values():
        for table in netfilter.tables:
            for chain in table.chains.values() if table.name == "nat" else ():
                if isinstance(chain, Known):
                    yield from chain.value.rules
