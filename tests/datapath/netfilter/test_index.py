"""Tests for indexed chains: an index leaves out no rule that matches, and costs no more for a
longer chain.
"""

from __future__ import annotations

from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

from podpath.datapath.netfilter.index import MOST_GROUPS, SHORTEST, ChainIndex
from podpath.datapath.netfilter.ruleset import Ruleset
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.tracing.drawn_port import DrawnPort, PortQuestions
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.compiled import Engine
from podpath.net.packet import Packet
from podpath.net.provenance import Known
from podpath.node.netfilter import Rule
from tests.datapath.given import Given, Sender, given, given_rules, given_tables, tcp, udp

FIELDS = st.lists(
    st.sampled_from(
        (
            "-s 10.244.0.5/32", "-s 10.244.0.0/24", "! -s 10.244.0.5/32", "-d 10.96.0.1/32",
            "-d 10.96.0.2/32", "-d 10.96.0.0/16", "! -d 10.96.0.1/32", "-d 10.96.0.1/255.0.255.255",
            "-i cni0", "-i eth0", "! -i eth0", "-i cni+", "-o eth0", "-m mark --mark 0x1/0x1",
            "-m mark --mark 0x2/0x3", "-m mark ! --mark 0x1/0x1", "-m mark --mark 0x5/0x1",
            "-m comment --comment x",
        )
    ),
    max_size=3,
    unique_by=lambda field: field.replace("! ", "").split()[0] if "-m" not in field else field.split()[1],  # noqa: E501
)  # fmt: skip
PORTS = st.sampled_from(
    (
        "", "", "-p tcp", "-p udp", "! -p tcp",
        "-p tcp -m tcp --dport 80", "-p tcp -m tcp --dport 81", "-p tcp -m tcp ! --dport 80",
        "-p tcp -m tcp --dport 80:90", "-p udp -m udp --dport 53", "-p tcp -m tcp --sport 40000",
        "-p tcp -m multiport --dports 80,81",
    )
)  # fmt: skip
TARGETS = st.sampled_from(
    (
        "",
        "",
        "",
        "-j MARK --set-xmark 0x1/0x1",
        "-j MARK --xor-mark 0x3",
        "-j RETURN",
        "-j ACCEPT",
        "-j DROP",
        "-j SUB",
        "-g SUB",
    )
)


@st.composite
def long_chains(draw: st.DrawFn) -> list[str]:
    """Draw the rules of a chain that is long enough to be indexed."""
    count = draw(st.integers(SHORTEST, SHORTEST + 24))
    return [" ".join((*draw(FIELDS), draw(PORTS), draw(TARGETS))) for _ in range(count)]


PACKETS = st.builds(
    lambda make, src, dst, port: make(src, dst, 40000, port),
    st.sampled_from((tcp, udp)),
    st.sampled_from(("10.244.0.5", "10.244.0.6", "192.0.2.9")),
    st.sampled_from(("10.96.0.1", "10.96.0.2", "10.7.0.1")),
    st.sampled_from((80, 81, 53, 85)),
)


def outcome(node: Given, packet: Packet, mark: int, *, indexed: bool) -> tuple[object, ...]:
    """Return everything that a table does to a packet: verdict, mark, and the rules that
    matched.
    """
    engine = Engine(node.node)
    engine.rulesets["host", 4] = Ruleset(node.netns, 4, indexed=indexed)
    sender = Sender(node, engine=engine)
    skb = sender.skb(packet, iif="cni0", oif="eth0", mark=mark)
    verdict = sender.send(skb, "FORWARD")
    return (
        verdict,
        skb.mark,
        [(hit.rule.chain, hit.rule.position) for hit in sender.walk.trace.matched],
    )


@settings(max_examples=150)
@hypothesis_given(long_chains(), long_chains(), PACKETS, st.integers(0, 3))
def test_indexed_and_linear_evaluation_agree(
    rules: list[str], sub: list[str], packet: Packet, mark: int
) -> None:
    """A chain gives the same verdict, mark and matches with its index and rule by rule."""
    without_jumps = [rule.replace("-j SUB", "-j RETURN").replace("-g SUB", "") for rule in sub]
    text = given_rules(
        *(f"FORWARD {rule}" for rule in rules),
        *(f"SUB {rule}" for rule in without_jumps),
        chains=["SUB"],
    )
    node = given(text)

    assert outcome(node, packet, mark, indexed=True) == outcome(node, packet, mark, indexed=False)


def services(count: int) -> list[str]:
    """Write the KUBE-SERVICES chain of a cluster."""
    addresses = [f"10.96.{number // 256}.{number % 256}" for number in range(count)]
    rules = [
        f"KUBE-SERVICES -d {address}/32 -p tcp -m tcp --dport 80 -j SVC-{number % 9}"
        for number, address in enumerate(addresses)
    ]
    return [*rules, "KUBE-SERVICES -m addrtype --dst-type LOCAL -j SVC-0"]


def chain_rules(count: int) -> tuple[Rule, ...]:
    """Return the rules of a KUBE-SERVICES chain."""
    table = given_tables(given_rules(*services(count), chains=["KUBE-SERVICES"]))[0]
    fact = table.chains["KUBE-SERVICES"]
    return tuple(fact.value.rules)  # type: ignore[union-attr]  # a known chain


def test_a_packet_meets_few_rules_of_a_long_chain() -> None:
    """Of a thousand services a packet is compared with its own, and with the rules that fit every
    packet.
    """
    index = ChainIndex(chain_rules(1000), 4)
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(dst="10.96.1.7")), Hook.PREROUTING)

    assert [263, 1000] == list(index.candidates(state))


def test_rules_of_many_shapes_are_grouped_by_fewer_fields() -> None:
    """A chain in which every rule has prefixes of its own lengths is not searched group by
    group.
    """
    rules = [
        f"FORWARD -s 10.0.0.0/{src} -d 11.0.0.0/{dst} -j ACCEPT"
        for src in range(8, 18)
        for dst in range(8, 18)
    ]
    table = given_tables(given_rules(*rules))[0]
    fact = table.chains["FORWARD"]
    index = ChainIndex(fact.value.rules, 4)  # type: ignore[union-attr]  # a known chain

    assert len(index.groups) <= MOST_GROUPS


def test_interfaces_and_ports_are_keys_too() -> None:
    """Chains that sort by device (Calico) or by port alone (node ports) are found by these."""
    devices = [f"FORWARD -i cali{number} -j ACCEPT" for number in range(100)]
    ports = [f"FORWARD -p tcp -m tcp --dport {number} -j ACCEPT" for number in range(30000, 30100)]
    fact = given_tables(given_rules(*devices, *ports))[0].chains["FORWARD"]
    index = ChainIndex(fact.value.rules, 4)  # type: ignore[union-attr]  # a known chain
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(dport=30007), iif="cali42"), Hook.FORWARD)

    assert [42, 107] == list(index.candidates(state))


def test_no_rule_is_left_out_for_a_port_that_the_kernel_draws() -> None:
    """It may be the port of any rule."""
    text = given_rules(
        *(f"FORWARD -p tcp -m tcp --dport {port} -j ACCEPT" for port in range(40000, 40040))
    )
    (table,) = given_tables(text)
    chain = table.chains["FORWARD"]
    assert isinstance(chain, Known)
    questions = PortQuestions(lambda _, __: False, lambda _: None)
    port = DrawnPort.draw(40000, (32768, 60999), "port", questions)
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp()._replace(dport=port)), Hook.FORWARD)

    assert list(range(40)) == list(ChainIndex(chain.value.rules, 4).candidates(state))
