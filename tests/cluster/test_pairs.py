"""Every pair of a healthy cluster: what podpath predicts of it is what really happens, and nothing
is claimed.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Delivered
from podpath.datapath.vocabulary import Reachability
from podpath.library.case import Case
from podpath.library.cluster import ClusterQuestion, ClusterViews, ask_between, starts_on
from podpath.library.reading import gather, read
from podpath.library.why import why
from podpath.net import nft
from podpath.net.packet import Packet
from podpath.node.nftables import NftRule
from scripts.kubernetes import control, network
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.member import Member
from scripts.kubernetes.node import start_proxy
from scripts.kubernetes.plan import NFTABLES
from tests.cluster import pods, shop
from tests.cluster.connecting import CLIENT, Fact, Target, connect, enter
from tests.cluster.planted import PROXY
from tests.cluster.shapes import SEED, SHAPES
from tests.cluster.shop import SPACE

ASKED = 40
"""Of how many pairs it is asked what is wrong, for those who have a few minutes."""
NATIVE = "ip kube-proxy"
_OF_SERVICES = re.compile("KUBE-(SVC|SEP|XLB)-|service-|endpoint-|external-")
"""Chains of one service or endpoint."""
_RULE = re.compile(r"\[(\d+):\d+\] -A (\S+)")
TRIES = 40
"""Connections after which each of a service's few endpoints has answered."""


class Pair(NamedTuple):
    """One connection: where it starts and goes as users say it, and what is connected to."""

    source: str
    destination: str
    target: Target


def read_cases(tried: Cluster, folder: Path) -> Mapping[str, Case]:
    """Return the evidence of each node."""
    nodes, objects = shop.take_evidence(tried, folder)
    shared = gather(objects)
    return {name: read(bundle, shared=shared) for name, bundle in nodes.items()}


def list_pairs(tried: Cluster) -> Iterator[Pair]:
    """Yield pods and nodes with pods and services, and the client outside with node ports."""
    names = tried.plan.node_names
    addresses = address_pods(tried)
    services = {
        item["metadata"]["name"]: item["spec"]
        for item in tried.read("services", "-n", SPACE)["items"]
    }
    inside = [*(f"pod/{SPACE}/{pod}" for pod in addresses), *(f"node/{node}" for node in names)]
    for source in inside:
        for pod, address in addresses.items():
            if source != f"pod/{SPACE}/{pod}":
                yield Pair(source, f"pod/{SPACE}/{pod}:{pods.PORT}", Target(address, pods.PORT))
        for name, spec in services.items():
            target = Target(spec["clusterIP"], 80, TRIES if name == "api" else 1)
            yield Pair(source, f"svc/{SPACE}/{name}:http", target)
    for node in names:
        address = tried.plan.node_address(node)
        ports = [
            each["nodePort"]
            for spec in services.values()
            for each in spec["ports"]
            if "nodePort" in each
        ]
        for port in ports:
            yield Pair(CLIENT, f"node/{node}:{port}", Target(address, port))


def address_pods(tried: Cluster) -> dict[str, str]:
    """Return the address of each pod."""
    listed = tried.read("pods", "-n", SPACE)["items"]
    return {each["metadata"]["name"]: each["status"]["podIP"] for each in listed}


def connect_all(tried: Cluster, pairs: list[Pair]) -> Iterator[tuple[Pair, Fact]]:
    """Yield every pair with what became of its connections, which are really made."""
    for source in dict.fromkeys(pair.source for pair in pairs):
        own = [pair for pair in pairs if pair.source == source]
        yield from zip(
            own, connect(enter(tried, source), [pair.target for pair in own]), strict=True
        )


class Walked(NamedTuple):
    """What podpath says of a connection, and the ways of it that work."""

    fact: Fact
    home: str
    """The node as which it was walked."""
    ways: Mapping[pods.Answer, Sequence[Branch]]
    """Several to one answer where no evidence tells which rules are met on the way there: of NAT's
    chains with one priority, native ones and iptables', whichever was registered last runs alone.
    """


class Predictions:
    """What podpath says of connections, without having seen any."""

    def __init__(self, tried: Cluster, cases: Mapping[str, Case]) -> None:
        """Take the nodes' evidence."""
        self._views = ClusterViews(cases)
        self._first = tried.plan.node_names[0]
        self._outside = tried.plan.machine_address
        self._names = {address: name for name, address in address_pods(tried).items()}

    def walk(self, pair: Pair) -> Walked:
        """Walk a connection, and say who answers, and which address asks there."""
        source = self._outside if pair.source == CLIENT else pair.source
        view = self._views.view_of(self._first)
        question = ClusterQuestion(source, pair.destination, "tcp")
        view = self._views.view_of(starts_on(view, ask_between(view, question)))
        probe = ask_between(view, question)
        found = converse(view.case.node, probe)
        ways: dict[pods.Answer, list[Branch]] = {}
        for branch in found.branches:
            end = branch.traces[0].outcome
            if branch.works and isinstance(end, Delivered):
                ways.setdefault(self._name(end.packet), []).append(branch)
        return Walked(Fact(found.verdict, frozenset(ways)), view.name, ways)

    def _name(self, packet: Packet) -> pods.Answer:
        server = str(packet.dst)
        return pods.Answer(self._names.get(server, server), str(packet.src))


@pytest.mark.parametrize(
    "tried", [pytest.param(SHAPES[0], marks=[pytest.mark.sample]), *SHAPES[1:]], indirect=True
)
def test_every_pair_connects_as_predicted(
    tried: Cluster, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """Verdict, every server that answers and the address that it is asked from are those of the
    walk; and of some that connect, which are drawn, nothing is claimed.
    """
    pairs, cases = list(list_pairs(tried)), read_cases(tried, tmp_path)
    facts = dict(connect_all(tried, pairs))
    predictions = Predictions(tried, cases)
    wrong = {
        pair: (predicted, fact)
        for pair, fact in facts.items()
        if (predicted := predictions.walk(pair).fact) != fact
    }
    assert wrong == {}
    works = [pair for pair, fact in facts.items() if fact.verdict is Reachability.ALWAYS]
    say(f"seed {SEED}: {len(pairs)} pairs, of which {len(works)} connect")
    claim_nothing(tried, cases, random.Random(SEED).sample(works, ASKED))


def claim_nothing(tried: Cluster, cases: Mapping[str, Case], pairs: Sequence[Pair]) -> None:
    """Hold that of pairs which connect nothing is claimed."""
    for pair in pairs:
        source = tried.plan.machine_address if pair.source == CLIENT else pair.source
        answer = why(source, pair.destination, nodes=cases, protocol="tcp")
        assert answer.verdict == "none", f"{pair}\n{answer}"


@pytest.mark.parametrize("tried", SHAPES, indirect=True)
def test_nothing_is_claimed_of_any_pair(tried: Cluster, tmp_path: Path) -> None:
    """Of all pairs that connect, each is said to work."""
    pairs, cases = list(list_pairs(tried)), read_cases(tried, tmp_path)
    facts = connect_all(tried, pairs)
    works = [pair for pair, fact in facts if fact.verdict is Reachability.ALWAYS]
    claim_nothing(tried, cases, works)


class CountedRule(NamedTuple):
    """A rule on a node."""

    node: str
    table: str
    chain: str
    position: int

    @property
    def is_own(self) -> bool:
        """Tell whether only pods' new connections meet it, and none of the node's own."""
        return self.table in {"nat", NATIVE} and _OF_SERVICES.match(self.chain) is not None


def read_counters(tried: Cluster) -> dict[CountedRule, int]:
    """Return how many packets each rule has matched that counts any."""
    native = tried.plan.proxy == NFTABLES
    return {
        CountedRule(name, *place): count
        for name, node in tried.nodes.items()
        for place, count in (*read_iptables(node), *(read_native(node) if native else ()))
    }


def read_iptables(node: Member) -> Iterator[tuple[tuple[str, str, int], int]]:
    """Yield each rule's table, chain and position with its count."""
    table, places = "", Counter[tuple[str, str]]()
    for line in node.run("iptables-save", "-c").splitlines():
        table = line[1:] if line.startswith("*") else table
        if found := _RULE.match(line):
            places[table, found[2]] += 1
            yield (table, found[2], places[table, found[2]]), int(found[1])


def read_native(node: Member) -> Iterator[tuple[tuple[str, str, int], int]]:
    """Yield the same of the rules of the nftables mode."""
    places = Counter[str]()
    listed = json.loads(node.run("nft", "-j", "list", "table", "ip", "kube-proxy"))["nftables"]
    for rule in (item["rule"] for item in listed if "rule" in item):
        chain = rule["chain"]
        places[chain] += 1
        for part in rule["expr"]:
            if "counter" in part:
                yield (NATIVE, chain, places[chain]), part["counter"]["packets"]


def find_grown(
    before: Mapping[CountedRule, int], after: Mapping[CountedRule, int]
) -> dict[CountedRule, int]:
    """Return the rules that have counted in between, and how much."""
    assert after.keys() == before.keys()
    return {rule: grown for rule, count in after.items() if (grown := count - before[rule])}


@contextmanager
def counting(tried: Cluster) -> Iterator[None]:
    """Let the rules of every kube-proxy count, and none be written anew, which would begin their
    counters again.
    """
    native = tried.plan.proxy == NFTABLES
    for each in tried.nodes.values():
        each.run("sh", "-c", f"kill -{'KILL' if native else 'STOP'} {PROXY}")
        if native:
            start_proxy(each, counters=True)
    try:
        control.wait(lambda: all(map(counts, tried.nodes.values())), "counters")
        yield
    finally:
        for each in tried.nodes.values():
            each.run("sh", "-c", f"kill -{'KILL' if native else 'CONT'} {PROXY}")
            if native:
                start_proxy(each)


def forget_tunnels(tried: Cluster) -> None:
    """Let tunnels' packets be new ones: their ports depend on what they carry, and they may have
    carried that before.
    """
    for each in tried.nodes.values():
        for port in (network.FLANNEL_PORT, network.CALICO_PORT):
            each.run("conntrack", "-D", "-p", "udp", "--orig-port-dst", str(port), check=False)


def counts(each: Member) -> bool:
    """Tell whether rules of kube-proxy count on a node."""
    return "counter" in each.run("sh", "-c", "nft list table ip kube-proxy || echo counter")


def list_predicted(walked: Walked, way: Branch) -> Counter[CountedRule]:
    """Return the rules that are to match, and how often; of tables that see every packet, once."""
    hits: Counter[CountedRule] = Counter()
    for trace in way.traces:
        for hit in trace.matched:
            rule, (away, _, inside) = hit.rule, hit.netns.rpartition("/")
            assert inside == "host"
            table = rule.table
            if isinstance(rule, NftRule):
                if not any(isinstance(each, nft.Counter) for each in rule.statements):
                    continue
                table = f"{rule.family} {rule.table}"
            hits[CountedRule(away or walked.home, table, rule.chain, rule.position)] += 1
    return hits


@pytest.mark.parametrize("tried", SHAPES, indirect=True)
def test_rules_count_what_is_predicted(
    tried: Cluster, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """Of all pairs that connect the rules that count are those of the walk, on every node: those of
    services exactly, and as often; others at all, since a real connection has more packets, and
    nodes have connections of their own. Where the order of NAT's chains is open, it is one of the
    walks that are left.
    """
    with counting(tried):
        predictions = Predictions(tried, read_cases(tried, tmp_path))
        facts = dict(connect_all(tried, list(list_pairs(tried))))
        works = [pair for pair, fact in facts.items() if fact.verdict is Reachability.ALWAYS]
        counters, differing = read_counters(tried), dict[Pair, str]()
        for pair in works:
            before, walked = counters, predictions.walk(pair)
            answer = connect_once(tried, pair)
            counters = read_counters(tried)
            told = differ(find_grown(before, counters), walked, answer)
            differing |= {pair: told} if told else {}
        say(f"rules counted of {len(works)} pairs")
    assert not differing, "\n".join(f"{pair}: {told}" for pair, told in differing.items())


def connect_once(tried: Cluster, pair: Pair) -> pods.Answer:
    """Connect once, and return who answered."""
    entering = enter(tried, pair.source)
    if tried.plan.overlay == "vxlan":
        forget_tunnels(tried)
    (fact,) = connect(entering, [pair.target._replace(tries=1)])
    (answer,) = fact.answers
    return answer


def differ(grown: Mapping[CountedRule, int], walked: Walked, answer: pods.Answer) -> str:
    """Tell how the rules that counted differ from those of each walk to who answered."""
    told = [compare(grown, list_predicted(walked, way)) for way in walked.ways[answer]]
    return "" if "" in told else " OR ".join(told)


def compare(grown: Mapping[CountedRule, int], predicted: Mapping[CountedRule, int]) -> str:
    """Tell how the rules that counted differ from those of one walk."""
    counted = {rule: number for rule, number in grown.items() if rule.is_own}
    expected = {rule: number for rule, number in predicted.items() if rule.is_own}
    lacking = predicted.keys() - grown.keys()
    if counted == expected and not lacking:
        return ""
    return f"counted {counted}, predicted {expected}, did not count {lacking}"
