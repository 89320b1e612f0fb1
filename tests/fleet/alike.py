"""Nodes with several pods of which some are unlike the others, and random headers of what is told
of all: each is walked by itself, from another pod than the one that was walked.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Listing
from podpath.node.case import Case as Facts
from podpath.node.links import Neighbour
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.node import HOST, Netns, Node, Socket
from podpath.node.routing import DEFAULT_RULES, Nexthop, PolicyRule, Route
from podpath_fleet.alike_pods import rename
from podpath_fleet.alike_sources import (
    TARGET,
    AlikeFound,
    enumerate_alike,
    exchange_all,
    group_spaces,
)
from podpath_fleet.header_region import holds
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace, ReachClass
from podpath_fleet.reach_space import list_spaces
from tests.fleet.sampled import SampledTally, draw_probe
from tests.fleet.served import insert

PODS = 8
SERVICES = 12
WALKS = 120
"""Walks that one source is enumerated by."""


def list_pods() -> list[Address]:
    """Return the addresses of a node's pods."""
    return [Address(4, POD.value + place) for place in range(PODS)]


def make_alike_case(seed: int) -> Case:
    """Make a node whose pods are `pod`, `pod1` and so on, a few of them disturbed."""
    chance = Random(f"{seed} alike")
    services = generate_services(SERVICES, chance.randint(1, 2), seed)
    for place, service in enumerate(services):
        ends = (_move(end, chance) for end in service.endpoints)
        services[place] = service._replace(endpoints=tuple(dict.fromkeys(ends)))
    lines = emit_ruleset(services).splitlines()
    for _ in range(chance.randint(0, 3)):
        table, rule = _draw_rule(chance)
        lines = insert(lines, table, rule, chance)
    node = assemble_node("\n".join(lines), list_pods())
    for _ in range(chance.randint(0, 3)):
        node = _disturb(node, chance)
    return Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))


def _move(end: str, chance: Random) -> str:
    """Put an endpoint onto the node itself, at times."""
    _, _, port = end.rpartition(":")
    return f"{chance.choice(list_pods())}:{port}" if chance.random() < 0.15 else end


def _draw_rule(chance: Random) -> tuple[str, str]:
    own = chance.choice(list_pods())
    return chance.choice(
        (
            ("filter", f"-A FORWARD -s {own}/32 -j DROP"),
            ("filter", f"-A FORWARD -d {own}/31 -j DROP"),
            ("filter", f"-A FORWARD -s {own}/30 -p tcp -m tcp --dport 80 -j REJECT"),
            ("filter", f"-A FORWARD -m iprange --src-range {POD}-{own} -j DROP"),
            ("filter", f"-A FORWARD -i veth{own.value & 0xFF} -j DROP"),
            ("filter", f"-A FORWARD -m physdev --physdev-in veth{own.value & 0xFF} -j DROP"),
            ("filter", "-A FORWARD -m physdev --physdev-in veth1+ -p udp -j DROP"),
            ("filter", "-A FORWARD -p tcp -m tcp --dport 25 -j DROP"),
            ("nat", f"-A PREROUTING -s {own}/29 -d 198.51.100.9/32 -j DNAT --to-destination {own}"),
            ("nat", f"-A KUBE-SERVICES -s {own}/32 -j RETURN"),
            ("mangle", f"-A PREROUTING -s {own}/32 -d 10.96.0.0/16 -j DROP"),
        )
    )  # fmt: skip


def _disturb(node: Node, chance: Random) -> Node:
    """Change something of one pod, or something of the host that is about one."""
    number = chance.randrange(PODS)
    own = list_pods()[number]
    name = "pod" if number == 0 else f"pod{number}"
    host, pod = node.host, node.namespaces[name]
    kind = chance.randrange(9)
    if kind == 0:
        pod = _with_sysctl(pod, "net.ipv4.conf.all.rp_filter", chance.choice("12"))
    elif kind == 1:
        pod = replace(pod, routes=Listing(pod.routes.items[1:], True, "ip route"))
    elif kind == 2:
        sockets = (Socket(protocol=protocols.TCP, local=None, port=80),)
        pod = replace(pod, sockets=Listing(sockets, True, "ss -tuln"))
    elif kind == 3:
        mac = Mac("02:00:00:00:99:99")
        known = Neighbour(address=own, link=IfName("cni0"), mac=mac, state="PERMANENT")
        host = replace(host, neighbours=Listing((known,), False, "ip neigh"))
    elif kind == 4:
        lost = Route(prefix=Prefix.of(own), type=chance.choice(("blackhole", "unreachable")))
        host = replace(host, routes=Listing((*host.routes.items, lost), True, "ip route"))
    elif kind == 5:
        rule = PolicyRule(
            family=4, priority=50, src=Prefix.of(own, chance.choice((30, 32))), table=77
        )
        rules = Listing((rule, *DEFAULT_RULES[4]), True, "ip rule")
        away = Nexthop(link=IfName("eth0"), gateway=Address.parse("192.168.3.3"))
        route = Route(prefix=Prefix.parse("0.0.0.0/0"), nexthops=(away,), table=77)
        routes = Listing((*host.routes.items, route), True, "ip route")
        host = replace(host, rules=rules, routes=routes)
    elif kind < 8:
        host = _with_connection(host, own, chance)
    else:
        host = _with_sysctl(host, f"net.ipv4.conf.veth{own.value & 0xFF}.rp_filter", "1")
    return replace(node, namespaces={**node.namespaces, HOST: host, name: pod})


def _with_connection(host: Netns, own: Address, chance: Random) -> Netns:
    """Let a pod have a connection: to a service, or outside, translated or not."""
    there = Address.parse(chance.choice(("10.96.0.3", "198.51.100.9", "10.244.7.7")))
    ends = (there, own) if chance.random() < 0.5 else (Address.parse("10.244.0.9"), own)
    if chance.random() < 0.3:
        ends = (ends[0], Address.parse("192.168.0.1"))
    entry = ConntrackEntry(
        ConnTuple(own, there, 6, 40000, 80),
        ConnTuple(*ends, 6, 80, 40000),
        "ESTABLISHED",
        assured=True,
        replied=True,
    )
    entries = Listing((*host.conntrack.items, entry), True, "conntrack -L -o extended,id")
    return replace(host, conntrack=entries)


def _with_sysctl(netns: Netns, key: str, value: str) -> Netns:
    return replace(netns, sysctls={**netns.sysctls, key: Known(value)})


def enumerate_pods(
    case: Case, protocol: str = "tcp", targets: tuple[str, ...] = ()
) -> list[tuple[HeaderSpace, AlikeFound]]:
    """Return what is found of all pods of a case, and the first source of each group."""
    walker = ReachWalker(case)
    spaces = list_spaces(FlowSet((), targets, (protocol,)), case.node)
    asked = group_spaces(spaces, [walker.alike_pods(4)])
    return [(one.spaces[0], enumerate_alike(walker, one, 0, WALKS)) for one in asked]


def sample_alike(seeds: range, each: int) -> SampledTally:
    """Walk so many headers of each class by themselves, from any pod that it is told of."""
    tally = SampledTally()
    for seed in seeds:
        case, chance = make_alike_case(seed), Random(f"{seed} sampled")
        walker = ReachWalker(case, watched=False)
        tally.nodes += 1
        targets = chance.choice(((), ("10.96.0.0/24", _draw_pods(chance)), (_draw_pods(chance),)))
        for first, found in enumerate_pods(case, chance.choice(("tcp", "udp")), targets):
            tally.complete += all(not one.left for _, one in found.list_all())
            _check_sizes(f"node {seed}", first, found, tally)
            for space, enumeration in found.list_all():
                for one in enumeration.classes:
                    tally.classes += 1
                    for _ in range(each):
                        _sample_class(walker, space, one, tally, chance)
    return tally


def _draw_pods(chance: Random) -> str:
    """Draw one of the pods, or a range that holds some of them."""
    return f"{Address(4, chance.choice(list_pods()).value & ~1)}/{chance.choice((30, 31, 32))}"


def _check_sizes(name: str, first: HeaderSpace, found: AlikeFound, tally: SampledTally) -> None:
    """Hold what is told of each source against all that was asked about."""
    told = 0
    if found.common is not None:
        told = _size(found.common[1])
    wrong = [
        f"{name}: {told} + {_size(enumeration)} of {space.sample.netns} is not all"
        for space, enumeration in found.own
        if told + _size(enumeration) != first.region.size
    ]
    if not found.own and told != first.region.size:
        wrong.append(f"{name}: {told} is not all")
    tally.wrong += wrong


def _size(enumeration: Enumeration[ReachAnswer]) -> int:
    regions = [region for one in enumeration.classes for region in one.regions]
    return sum(region.size for region in (*regions, *enumeration.left))


def _sample_class(
    walker: ReachWalker,
    space: HeaderSpace,
    one: ReachClass[ReachAnswer],
    tally: SampledTally,
    chance: Random,
) -> None:
    """Walk a header of a class, from any of the pods that it is told of."""
    plain = space._replace(alike=())
    sample = chance.choice((space.sample, *space.alike))
    value = sample.src.value
    other = HeaderSpace(sample, plain.region._replace(src=((value, value),)))
    probe = draw_probe(other, chance.choice(exchange_all(one.regions, plain, other)), chance)
    expected = _rename(one.answer, str(space.sample.netns), probe, walker.case.node)
    own = walker.walk_alone(probe)
    tally.packets += 1
    tally.moved += probe != one.witness
    tally.shared += sample is not space.sample
    if not holds(plain.region.dst, probe.dst.value):
        tally.wrong.append(f"{probe} was not asked about")
    if own != expected:
        tally.wrong.append(f"{probe} sport {probe.sport} of {one.witness}: {own} != {expected}")


def _rename(answer: ReachAnswer, first: str, probe: Probe, node: Node) -> ReachAnswer:
    """Return what is told of the first source as it is of the probe's."""
    holder = node.find_holder(probe.dst, pods_only=True) or ""

    def exchange(text: str) -> str:
        aside = text.replace(TARGET, "@")
        return rename(aside, first, str(probe.netns)).replace("@", holder)

    netns, ask = exchange(answer.row.netns), exchange(answer.row.ask)
    row = answer.row._replace(netns=netns, ask=ask)
    return ReachAnswer(row, tuple(map(exchange, answer.ends)))
