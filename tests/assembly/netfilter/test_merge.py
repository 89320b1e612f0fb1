"""Several outputs that show one chain."""

from __future__ import annotations

import pytest

from podpath.net.provenance import Known, Unknown
from podpath.node.netfilter import Chain
from podpath.node.netfilter_text import emit_rule
from tests.assembly.evidence_text import Output, known
from tests.assembly.test_netfilter import assembled, netfilter, spelled, table

HEADER = " pkts bytes target     prot opt in     out     source               destination"
BAD = f"""
    Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)
    {HEADER}
      169 14804 KUBE-FORWARD  all  --  *      *       0.0.0.0/0            0.0.0.0/0            /* forwarding rules */
        7   420 CILIUM_FORWARD  all  --  *      *       0.0.0.0/0            0.0.0.0/0
    """  # noqa: E501
GOOD = f"""
    Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)
    {HEADER}
     1419  148K CILIUM_FORWARD  all  --  *      *       0.0.0.0/0            0.0.0.0/0
        0     0 KUBE-FORWARD  all  --  *      *       0.0.0.0/0            0.0.0.0/0            /* forwarding rules */
    """  # noqa: E501
SAME = """
    -P FORWARD ACCEPT
    -A FORWARD -m comment --comment "forwarding rules" -j KUBE-FORWARD
    -A FORWARD -j CILIUM_FORWARD
    """
LIST, RULES = "iptables -t filter -nvL FORWARD", "iptables -S FORWARD"


def forward(*outputs: Output) -> Known[Chain] | Unknown[Chain]:
    """Return the chain FORWARD of filter."""
    return table(netfilter(*outputs), "filter").chains["FORWARD"]


def targets(chain: Chain) -> list[str]:
    """Name the targets of a chain's rules."""
    return [rule.target.name for rule in chain.rules if rule.target is not None]


def test_a_bad_and_a_good_host_are_options() -> None:
    """The one not labeled good comes first, and each says where it stands and what printed it."""
    fact = forward(
        Output(LIST, GOOD, label="On a good host:"), Output(LIST, BAD, label="On a bad host:")
    )

    assert isinstance(fact, Unknown)
    assert [targets(option.value)[0] for option in fact.options] == [
        "KUBE-FORWARD",
        "CILIUM_FORWARD",
    ]
    assert fact.options[0].meaning == f"as at ticket.md:7 (On a bad host:) from `{LIST}`"
    assert fact.ask == "iptables -t filter -S FORWARD"
    assert all(option.span is not None for option in fact.options)
    assert fact.fact == "chain FORWARD of iptables table filter (nft) in netns host"


def test_before_and_after_are_options() -> None:
    """A later state is less likely the one in which it failed."""
    fact = forward(Output(LIST, BAD), Output(LIST, GOOD, label="After the fix:"))

    assert isinstance(fact, Unknown)
    assert [targets(option.value)[0] for option in fact.options] == [
        "KUBE-FORWARD",
        "CILIUM_FORWARD",
    ]


def test_two_forms_of_one_chain_agree() -> None:
    """`-S` and `-nvL` of the same state are one known chain, counters included."""
    fact = forward(Output(RULES, SAME), Output(LIST, BAD))

    assert [rule.packets for rule in known(fact).rules] == [169, 7]
    assert known(fact).complete


def test_counters_do_not_make_a_difference() -> None:
    """The same listing some seconds later."""
    assert isinstance(
        forward(Output(LIST, BAD), Output(LIST, BAD.replace(" 169 14804", " 174 15316"))), Known
    )


def test_a_policy_makes_a_difference() -> None:
    """ACCEPT and DROP are two states."""
    assert isinstance(
        forward(Output(RULES, SAME), Output(RULES, SAME.replace("ACCEPT", "DROP"))), Unknown
    )


def test_an_unread_listing_adds_to_a_read_one() -> None:
    """`iptables -L` without `-v` may be of the same chain: the rules that were read stand."""
    listing = """
        Chain FORWARD (policy ACCEPT)
        target     prot opt source               destination
        KUBE-FORWARD  all  --  anywhere             anywhere             /* forwarding rules */
        CILIUM_FORWARD  all  --  anywhere             anywhere
        """
    chain = known(forward(Output("iptables -L FORWARD", listing), Output(RULES, SAME)))

    assert not any(rule.unread for rule in chain.rules)
    assert targets(chain) == ["KUBE-FORWARD", "CILIUM_FORWARD"]


def test_a_part_of_a_whole_chain_adds_nothing() -> None:
    """A grep shows what the listing has anyway."""
    held = netfilter(
        Output("iptables -S | grep CILIUM", "-A FORWARD -j CILIUM_FORWARD"), Output(RULES, SAME)
    )

    assert spelled(held, "filter", "FORWARD") == [
        line.strip() for line in SAME.strip().splitlines()[1:]
    ]
    assert known(table(held, "filter").chains["FORWARD"]).complete


def test_a_rule_that_the_whole_chain_lacks_is_a_contradiction() -> None:
    """The chain stays as it was listed, and the reader is told."""
    found = assembled(
        Output(RULES, SAME), Output("iptables -S | grep DROP", "-A FORWARD -i eth9 -j DROP")
    )

    assert targets(known(table(found.netfilter[4], "filter").chains["FORWARD"])) == [
        "KUBE-FORWARD",
        "CILIUM_FORWARD",
    ]
    assert [contradiction.meaning for contradiction in found.contradictions] == [
        "ticket.md:6 shows a rule that is not in the whole chain at ticket.md:1"
    ]


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (["A"], ["A", "B"], ["A", "B"]),
        (["A", "C"], ["B", "C"], ["A", "B", "C"]),
        (["A"], ["B"], ["B", "A"]),
    ],
)
def test_fragments_are_put_together(
    first: list[str], second: list[str], together: list[str]
) -> None:
    """Rules that both show keep their order; the chain stays incomplete."""
    outputs = [
        Output("iptables -S | grep X", "\n".join(f"-A FORWARD -j {name}" for name in names))
        for names in (first, second)
    ]
    chain = known(forward(*outputs))

    assert sorted(targets(chain)) == sorted(together)
    assert [rule.position for rule in chain.rules] == list(range(1, len(together) + 1))
    assert not chain.complete


def test_a_chain_of_another_host_only_is_no_fact_of_this_one() -> None:
    """What only the good host shows is the best there is, and says so."""
    fact = forward(Output(LIST, GOOD, label="On a good host:"))

    assert isinstance(fact, Unknown)
    assert [targets(option.value)[0] for option in fact.options] == ["CILIUM_FORWARD"]
    assert fact.why == "only another host's output shows it"


def test_whole_saves_of_two_times_differ_in_a_chain() -> None:
    """Only the chain that changed is unknown."""
    chains = "".join(f":{name} ACCEPT [0:0]\n" for name in ("INPUT", "FORWARD", "OUTPUT"))
    saved = f"*filter\n{chains}-A INPUT -i lo -j ACCEPT\n-A FORWARD -j {{}}\nCOMMIT"
    held = netfilter(
        Output("iptables-save", saved.format("DROP")),
        Output("iptables-save", saved.format("ACCEPT"), label="after the restart"),
    )
    found = table(held, "filter").chains

    assert isinstance(found["FORWARD"], Unknown)
    assert [emit_rule(rule) for rule in known(found["INPUT"]).rules] == ["-A INPUT -i lo -j ACCEPT"]
