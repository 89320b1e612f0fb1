"""Worlds beyond what a walk asks for: what the evidence does not show at all, and what it states of
another time.

A walk takes a chain that nobody printed for empty, and a route that must be there for present.
Where a connection fails for no stated reason, the usual faults of what is not shown are assumed one
at a time. And as a ticket mixes outputs of different times, and sysctls and modules change without
a trace, each stated switch is turned in turn where nothing else explains a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from podpath.checks.topology import find_tables
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Supposition, World
from podpath.net.addresses import Address
from podpath.net.provenance import Fact, Known
from podpath.node.alteration import apply_change, apply_changes
from podpath.node.case import Case, ChangeCommand
from podpath.node.change import DeleteRoute, SetSysctl
from podpath.node.netfilter import Chain, Netfilter, Table
from podpath.node.node import HOST, Cilium, Netns, Node
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName


class Switch(NamedTuple):
    """A family of sysctls that things hang on and that change without a trace."""

    ending: str
    """How its keys end."""
    turned: Mapping[str, str]
    """What each value is turned to."""
    meaning: str
    """What the turned value means; `{0}` is the key."""
    maker: str = ""
    """The module without which the key does not exist."""


SWITCHES: tuple[Switch, ...] = (
    Switch(
        "bridge-nf-call-iptables", {"1": "0"}, "0: bridged packets skip iptables", "br_netfilter"
    ),
    Switch(
        ".rp_filter",
        {"0": "1", "2": "1"},
        "1: the route back to the source must use the device the packet came in on",
    ),
    Switch("ip_forward", {"1": "0"}, "0: the host does not forward"),
    Switch(".forwarding", {"1": "0"}, "0: packets that come in on the device are not forwarded"),
)
"""The commonest first."""


FORWARD_ASK = "iptables -t filter -nvL FORWARD"
NAT_ASK = "iptables -t nat -nvL POSTROUTING"
WAY_BACK_ASK = "tcpdump -ni any"
_UNSHOWN_FILTER = Table(
    name=TableName.FILTER, family=4, flavour=TableFlavour.NFT, chains={}, complete=False
)
"""What tells where the rules are shown: with which source it leaves, and whether anything comes
back.
"""


def suppose_unshown(case: Case, symptoms: Iterable[Symptom]) -> Iterator[World]:
    """Yield a world for each usual fault of what the evidence does not show."""
    yield from _drop_forwarded(case.node)
    ends = dict.fromkeys(
        end
        for symptom in symptoms
        if symptom.fails
        for end in (symptom.probe.src, symptom.probe.dst)
    )
    for address in ends:
        yield from _lose_route(case.node, address)
    yield _leave_untranslated(case.node)
    yield from _masquerade_in_bpf(case.node)


def _masquerade_in_bpf(node: Node) -> Iterator[World]:
    """Suppose Cilium's masquerade in BPF on a node that runs Cilium, where nothing shows its
    configuration.
    """
    key = "enable-bpf-masquerade"
    options = node.cilium.options if node.cilium is not None else {}
    traces = [
        link.name for link in node.host.links.items if link.name.startswith(("lxc", "cilium_"))
    ]
    chains = [
        name
        for table in find_tables(node.host, "filter")
        for name in table.chains
        if "CILIUM" in name
    ]
    if key in options or not (traces or chains):
        return
    supposed: dict[str, Fact[str]] = {**options, key: Known("true", None, "supposed")}
    ask = "kubectl -n kube-system get configmap cilium-config -o yaml | grep masquerade"
    fact, meaning = f"{key} of Cilium", "true: sources are translated in BPF, past conntrack"
    supposition = Supposition(fact, meaning, "false: netfilter translates them", ask, None)
    yield World(
        replace(node, cilium=replace(node.cilium or Cilium(options={}), options=supposed)),
        (supposition,),
    )


def _drop_forwarded(node: Node) -> Iterator[World]:
    """Suppose a FORWARD chain that drops, where no output shows FORWARD."""
    netfilter = node.host.netfilter.get(4, Netfilter())
    shown = [table for table in netfilter.tables if table.name == "filter"]
    if netfilter.complete or any("FORWARD" in table.chains for table in shown):
        return
    dropping = Chain(name="FORWARD", rules=(), policy=ChainPolicy.DROP)
    chain: Known[Chain] = Known(dropping, None, "supposed")
    kept = tuple(table for table in netfilter.tables if table.name != "filter")
    filter_table = shown[0] if shown else _UNSHOWN_FILTER
    filter_table = replace(filter_table, chains={**filter_table.chains, "FORWARD": chain})
    host = replace(
        node.host,
        netfilter={**node.host.netfilter, 4: replace(netfilter, tables=(*kept, filter_table))},
    )
    fact, meaning = (
        "chain FORWARD in netns host",
        "a rule or the policy of the chain drops forwarded packets",
    )
    supposition = Supposition(
        fact, meaning, "the chain lets the connection pass", FORWARD_ASK, None
    )
    yield World(replace(node, namespaces={**node.namespaces, HOST: host}), (supposition,))


def _lose_route(node: Node, address: Address) -> Iterator[World]:
    """Suppose that the host has no route to an address that it was only taken to have one to."""
    routes = [
        route
        for route in node.host.routes.items
        if route.inferred and route.prefix.length and route.prefix.covers(address)
    ]
    if not routes or node.host.holds(address) or node.host.routes.complete:
        return
    changes = [DeleteRoute(netns=HOST, route=route) for route in routes]
    fact, meaning = f"the host's route to {address}", "the route is missing or leads elsewhere"
    supposition = Supposition(fact, meaning, "it leads to the pod", f"ip route get {address}", None)
    yield World(apply_changes(node, changes), (supposition,), unrouted=True)


def _leave_untranslated(node: Node) -> World:
    """Suppose that nobody beyond the node answers addresses of pods."""
    fact = "whether pod addresses are translated on the way out or routed by the network"
    shown = any("POSTROUTING" in table.chains for table in find_tables(node.host, "nat"))
    supposition = Supposition(
        fact,
        "neither, so nobody can reply to them",
        "they are",
        WAY_BACK_ASK if shown else NAT_ASK,
        None,
    )
    return World(node, (supposition,), unrouted=True)


def turn_stated_facts(case: Case) -> Iterator[World]:
    """Yield a world for each stated switch, turned; its supposition names the line that cannot have
    held then.
    """
    for switch in SWITCHES:
        for namespace in case.node.namespaces.values():
            yield from _turn(case, namespace, switch)


def _turn(case: Case, namespace: Netns, switch: Switch) -> Iterator[World]:
    for key, fact in namespace.sysctls.items():
        if (
            not key.endswith(switch.ending)
            or not isinstance(fact, Known)
            or fact.value not in switch.turned
        ):
            continue
        value = switch.turned[fact.value]
        change = _find_change(case.change_commands, key, switch.maker)
        supposition = Supposition(
            fact=f"{key} in netns {namespace.name}",
            meaning=f"{switch.meaning}, before `{change.command}`"
            if change is not None
            else switch.meaning,
            instead_of=fact.value,
            ask=f"sysctl {key}",
            span=change.span if change is not None else None,
            contradicts=fact.span,
            value=value,
            other=fact.value,
        )
        yield World(
            apply_change(case.node, SetSysctl(netns=namespace.name, key=key, value=value)),
            (supposition,),
        )


def _find_change(changes: tuple[ChangeCommand, ...], key: str, module: str) -> ChangeCommand | None:
    """Return the command in the evidence that set the key, or loaded its module: before it the
    value was another.
    """
    names = [key, key.replace(".", "/"), *((module,) if module else ())]
    for change in changes:
        if any(name in change.command for name in names):
            return change
    return None
