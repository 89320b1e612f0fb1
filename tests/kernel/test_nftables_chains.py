"""Native base chains against the real kernel: order, verdicts, jumps and policies."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import ChainsTooDeep
from podpath.datapath.tracing.trace import Undecided
from podpath.net.probe import Probe
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import MatchOption, Rule, Target
from podpath.node.node import HOST
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import routed_pods
from tests.kernel.native import IN, LOCAL, OUT, hold
from tests.nftables import native_tables

pytestmark = pytest.mark.kernel("nft", "iptables-nft-restore")

NOWHERE = Span(Source(name="generated", lines=("",)), 1, 1)


def mark_rule(value: str) -> Rule:
    """Return a rule of iptables that sets the mark."""
    return Rule(
        "", "", 0, NOWHERE, Target("MARK", (MatchOption("set-xmark", (f"{value}/0xffffffff",)),))
    )


@pytest.mark.parametrize("hook", ["prerouting", "forward", "postrouting"])
def test_chains_run_in_the_order_of_their_priorities(hook: str) -> None:
    """Each chain sees the mark that the ones before it set, and iptables' tables stand among
    them.
    """
    chains = "".join(
        f"""
        chain c{place} {{
            type filter hook {hook} priority {priority}
            meta l4proto tcp meta mark & 0xff == {place:#x} counter meta mark set {place + 1:#x}
            meta l4proto tcp meta mark {place + 1:#x} counter
        }}"""
        for place, priority in enumerate((-400, -149, 1, 200))
    )

    def prepare(host: DraftNetns) -> None:
        mangle = host.table("mangle", "nft")
        mangle.chains[hook.upper()].append(mark_rule("0x1"))

    assert hold(f"table inet t {{{chains}\n}}", prepare=prepare).verdict == "ALWAYS"


def test_of_equal_priority_the_chain_made_last_runs_first() -> None:
    """The chain that stands last in the listing sets the mark that the one before it sees."""
    text = """
    table ip t {
        chain one { type filter hook forward priority 0; counter meta mark set 0x1; }
        chain two { type filter hook forward priority 0; meta mark 0x1 counter drop; }
    }
    table inet u {
        chain three { type filter hook forward priority 0; meta mark 0x0 counter; meta mark 0x1 counter; }
    }
    """  # noqa: E501
    assert hold(text).verdict == "ALWAYS"


def test_accept_ends_only_its_own_base_chain() -> None:
    """A later base chain drops what an earlier one accepted."""
    text = """
    table ip t {
        chain early { type filter hook forward priority -10; policy drop; counter accept; counter; }
        chain late { type filter hook forward priority 10; policy accept; tcp dport 80 counter drop; }
    }
    """  # noqa: E501
    assert hold(text).verdict == "NEVER"


def test_drop_is_final() -> None:
    """What an early chain drops no later one sees."""
    text = """
    table ip t {
        chain late { type filter hook forward priority 10; counter accept; }
        chain early { type filter hook forward priority -10; ct direction reply counter drop; }
    }
    """
    assert hold(text).verdict == "NEVER"


@pytest.mark.parametrize("policy", ["accept", "drop"])
def test_jumps_gotos_and_returns(policy: str) -> None:
    """A jump comes back, a goto does not, and return at the base ends in the policy."""
    text = f"""
    table inet t {{
        chain deep {{ tcp dport 80 counter return; counter; }}
        chain mid {{ counter jump deep; counter goto last; counter; }}
        chain last {{ ct state new counter continue; counter; }}
        chain base {{ type filter hook forward priority filter; policy {policy};
            counter jump mid
            udp dport 53 counter
            iifname "lxc1" counter goto last
            counter accept
        }}
    }}
    """
    assert hold(text).verdict == ("ALWAYS" if policy == "accept" else "NEVER")


def test_a_statement_before_a_condition_that_fails_is_done() -> None:
    """The mark is set although the rule does not match in the end."""
    text = """
    table ip t {
        chain base { type filter hook forward priority filter
            counter meta mark set 0x7 tcp dport 81 drop
            meta mark 0x7 counter drop
        }
    }
    """
    assert hold(text).verdict == "NEVER"


@pytest.mark.parametrize("probe", [IN, LOCAL, OUT])
def test_tables_of_a_family_see_its_packets_alone(probe: str) -> None:
    """ip and inet chains count, ip6 ones do not."""
    hooks = ("prerouting", "input", "forward", "output", "postrouting")

    def table(family: str, name: str, rule: str) -> str:
        chains = "".join(
            f"chain {hook} {{ type filter hook {hook} priority 5; {rule}; }}\n" for hook in hooks
        )
        return f"table {family} {name} {{ {chains} }}\n"

    text = table(
        "inet", "a", "meta nfproto ipv4 counter; meta l4proto tcp counter; ip6 nexthdr tcp counter"
    )
    text += table("ip", "b", "counter") + table("ip6", "c", "meta l4proto tcp counter")
    assert hold(text, probe).verdict == "ALWAYS"


@pytest.mark.parametrize("kind", ["route", "filter"])
def test_only_a_chain_of_type_route_has_packets_routed_again(kind: str) -> None:
    """A mark set at output leads by another table only from a chain of type route."""

    def prepare(host: DraftNetns) -> None:
        from podpath.net.addresses import MaskedMark  # noqa: PLC0415  # only here
        from podpath.node.routing import PolicyRule  # noqa: PLC0415

        host.add_route("default", type="unreachable", table=100)
        host.rules.append(PolicyRule(family=4, priority=100, table=100, mark=MaskedMark(7)))

    text = (
        f"table ip t {{ chain c {{ type {kind} hook output priority mangle; tcp dport 80 counter "
        f"meta mark set 0x7; }}\n}}"
    )
    assert hold(text, LOCAL, prepare=prepare).verdict == ("NEVER" if kind == "route" else "ALWAYS")


@pytest.mark.parametrize(
    "answer", ["", "with icmp host-unreachable", "with tcp reset", "with icmpx admin-prohibited"]
)
def test_reject_answers_as_it_says(answer: str) -> None:
    """The sender is told what the rule wants."""
    text = (
        f"table inet t {{ chain c {{ type filter hook forward priority 0; tcp dport 80 counter "
        f"reject {answer}; }}\n}}"
    )
    assert hold(text).verdict == "NEVER"


def nested(calls: int, how: str) -> str:
    """Return a base chain with so many calls one within the other; the last chain drops."""
    onwards = [f"chain c{place} {{ counter {how} c{place + 1}; }}" for place in range(1, calls)]
    base = f"chain base {{ type filter hook forward priority 0; counter {how} c1; }}"
    return "\n".join(
        ("table ip t {", f"chain c{calls} {{ counter drop; }}", *reversed(onwards), base, "}")
    )


@pytest.mark.parametrize("how", ["jump", "goto"])
def test_fifteen_calls_within_each_other_are_walked(how: str) -> None:
    """The kernel loads them, and the packet comes to the last of the chains."""
    assert hold(nested(15, how)).verdict == "NEVER"


@pytest.mark.parametrize("how", ["jump", "goto"])
def test_the_sixteenth_call_is_refused(how: str) -> None:
    """The kernel does not load it, and the walk says that such rules were never loaded."""
    text = nested(16, how)
    topology = routed_pods()
    topology.draft.namespaces[HOST].nftables.extend(native_tables(text))
    outcome = converse(topology.draft.freeze(), Probe.parse(OUT)).branches[0].last.outcome

    with pytest.raises(AssertionError, match="Too many links"):
        hold(text)
    assert isinstance(outcome, Undecided)
    assert isinstance(outcome.reason, ChainsTooDeep)
