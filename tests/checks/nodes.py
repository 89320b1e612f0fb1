"""Small nodes for tests of checks and of the diagnosis: facts with spans that quote a line of
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.provenance import Known, Listing, Source, Span
from podpath.node.links import Bridge, InterfaceAddress, Link, Peer
from podpath.node.netfilter import (
    Chain,
    InterfaceMatch,
    Match,
    MatchOption,
    Netfilter,
    Rule,
    Table,
    Target,
)
from podpath.node.node import HOST, Netns, NetnsRole, Node
from podpath.node.routing import DEFAULT_RULES, Nexthop, Route
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName


def span(text: str, line: int = 1, name: str = "evidence.txt") -> Span:
    """Make a span over one line."""
    return Span(Source(name=name, lines=(text,), first_line=line), line, line)


def listing(*items: object) -> Listing:  # type: ignore[type-arg]  # of whatever the caller needs
    """Make a whole listing."""
    return Listing(items, True, "")


def link(name: str, **fields: object) -> Link:
    """Make a device whose line is its name."""
    return Link(name=IfName(name), span=span(f"{name}: <UP>"), **fields)  # type: ignore[arg-type]  # the caller's


def address(device: str, text: str, length: int = 24) -> InterfaceAddress:
    """Make an address of a device."""
    return InterfaceAddress(
        link=IfName(device),
        address=Address.parse(text),
        length=length,
        span=span(f"inet {text} {device}"),
    )


def route(prefix: str, device: str, metric: int = 0, gateway: str | None = None) -> Route:
    """Make a route whose line spells it."""
    hop = Nexthop(link=IfName(device), gateway=Address.parse(gateway) if gateway else None)
    line = f"{prefix} dev {device} metric {metric}"
    return Route(prefix=Prefix.parse(prefix, 4), nexthops=(hop,), metric=metric, span=span(line))


def rule(
    chain: str,
    position: int,
    target: str,
    *,
    in_link: str | None = None,
    state: str = "",
    table: str = "filter",
) -> Rule:
    """Make a rule with a ctstate match or an input device; its line spells it."""
    matches = (Match("conntrack", (MatchOption("ctstate", (state,)),)),) if state else ()
    device = InterfaceMatch(in_link.removesuffix("+"), in_link.endswith("+")) if in_link else None
    words = f"-A {chain}{f' -i {in_link}' if in_link else ''}{f' -m conntrack --ctstate {state}' if state else ''} -j {target}"  # noqa: E501
    return Rule(
        table,
        chain,
        position,
        span(words, position),
        Target(target),
        in_link=device,
        matches=matches,
    )


def chain(name: str, *targets: Rule, policy: str | None = None) -> Known[Chain]:
    """Make a known chain."""
    return Known(
        Chain(
            name=name,
            rules=targets,
            policy=ChainPolicy(policy) if policy else None,
            span=span(f":{name}"),
        ),
        span(f":{name}"),
    )


def table(name: str, *chains: Known[Chain]) -> Table:
    """Make a whole table of the nft flavour."""
    return Table(
        name=TableName(name),
        family=4,
        flavour=TableFlavour.NFT,
        chains={fact.value.name: fact for fact in chains},
    )


def sysctl(key: str, value: str) -> Known[str]:
    """Make a stated sysctl."""
    return Known(value, span(f"{key} = {value}"))


def netns(
    name: str = HOST,
    *,
    links: Iterable[Link] = (),
    addresses: Iterable[InterfaceAddress] = (),
    routes: Iterable[Route] = (),
    sysctls: Mapping[str, str] | None = None,
    tables: Iterable[Table] = (),
) -> Netns:
    """Make a namespace whose listings are whole."""
    return Netns(
        name=name,
        role=NetnsRole.HOST if name == HOST else NetnsRole.POD,
        links=listing(*links),
        addresses=listing(*addresses),
        routes=listing(*routes),
        rules=Listing(DEFAULT_RULES[4], True, "ip rule"),
        sysctls={key: sysctl(key, value) for key, value in (sysctls or {}).items()},
        netfilter={4: Netfilter(tables=tuple(tables), complete=True)},
    )


def node(*namespaces: Netns) -> Node:
    """Make a node of these namespaces."""
    return Node(name="node1", namespaces={namespace.name: namespace for namespace in namespaces})


def pod(host_side: str = "lxc1", text: str = "10.0.1.5") -> tuple[Link, Netns]:
    """Make a pod's namespace and the host's end of its veth pair."""
    inner = link(
        "eth0",
        kind="veth",
        mac=Mac("0a:00:00:00:00:05"),
        peer=Known(Peer(netns=HOST, link=IfName(host_side))),
    )
    outer = link(host_side, kind="veth", peer=Known(Peer(netns="pod", link=IfName("eth0"))))
    inside = netns(
        "pod",
        links=[inner],
        addresses=[address("eth0", text, 32)],
        routes=[route("0.0.0.0/0", "eth0")],
    )
    return outer, inside


def bridge(name: str) -> Link:
    """Make a bridge."""
    return link(name, kind="bridge", bridge=Bridge())
