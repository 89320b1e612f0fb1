"""The diagnosis on hand-built nodes: causes, possibilities, proven repairs, and silence where
nothing is wrong.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.registry import find_check
from podpath.diagnosis.carried import SUSPECTED
from podpath.diagnosis.connections import kind_of, observe
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.difference.chains import compare_chains
from podpath.diagnosis.flows import derive_flows
from podpath.diagnosis.symptoms import collect_symptoms
from podpath.diagnosis.verdict import Verdict
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.node.case import Case, ChangeCommand
from podpath.node.netfilter import Chain
from podpath.report.claims import spell_link
from podpath.xtables.legality import ChainPolicy
from tests.checks.nodes import route, rule, span
from tests.diagnosis.scenes import (
    BAD,
    GOOD,
    HOST_IP,
    OUTSIDE,
    POD,
    SYN,
    SYN_ACK,
    attempt,
    bridged_node,
    case,
    cilium_node,
    disputed,
    forward_chain,
    frame,
    handshake_capture,
    known,
    texts,
    whole,
)

PROBE = f"tcp {POD}:5000 > {OUTSIDE}:80"
SERVICE = "tcp 10.22.0.5 > 10.96.0.7:80"
INVALID = "-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP"


def bridge_capture() -> tuple[object, ...]:
    """See the SYN go to the endpoint and its answer come back under the endpoint's own address."""
    return (
        frame("10.22.0.5:5000 > 10.96.0.7:80", SYN, "in cni0"),
        frame("10.22.0.5:5000 > 10.22.0.6:80", SYN, "out cni0"),
        frame("10.22.0.6:80 > 10.22.0.5:5000", SYN_ACK, "in cni0", seq=99),
    )


@pytest.mark.parametrize(
    "forward",
    [known(BAD), disputed(BAD, GOOD), disputed(GOOD, BAD)],
    ids=["known", "bad first", "good first"],
)
def test_the_third_packet_of_the_handshake_is_found(forward: object) -> None:
    """Whichever of two outputs comes first, the one that reproduces the failure is taken, and the
    drop is quoted.
    """
    made = cilium_node(forward)  # type: ignore[arg-type]  # both kinds of fact
    answer = diagnose(case(made, attempt(PROBE), sightings=handshake_capture()))
    cause = answer.findings[0]
    assert ("fault", "chain-order", "cause") == (answer.verdict, cause.check, cause.severity)
    assert cause.evidence[0].text == INVALID
    assert "enable-bpf-masquerade: true" in texts(cause.evidence)
    assert cause.repairs[0].proven == "simulated"
    assert cause.repairs[0].commands == (
        "iptables -t filter -D FORWARD -j CILIUM_FORWARD",
        "iptables -t filter -I FORWARD 1 -j CILIUM_FORWARD",
    )
    assert cause.repairs[0].side_effects == ()


def test_what_differs_where_it_works_is_told() -> None:
    """The two listings of FORWARD differ by one rule that moved."""
    cause = diagnose(case(cilium_node(disputed(GOOD, BAD)), attempt(PROBE))).findings[0]
    assert any(
        "CILIUM_FORWARD is rule 2 of FORWARD here, and rule 1 where it works" in reason
        for reason in map(spell_link, cause.reasoning)
    )


def test_a_sound_node_has_no_finding() -> None:
    """Every derived connection works, and no check says a word."""
    answer = diagnose(case(whole(cilium_node(known(GOOD)))))
    assert ("none", (), 0) == (answer.verdict, answer.findings, answer.exit_code)


def test_the_filter_is_found_without_anybody_saying_what_fails() -> None:
    """Connections that any node should carry are walked where the evidence names none that
    fails.
    """
    answer = diagnose(case(cilium_node(known(GOOD), rp_filter="1")))
    assert ("fault", "rp-filter") == (answer.verdict, answer.findings[0].check)
    assert answer.findings[0].evidence[0].text == "net.ipv4.conf.all.rp_filter = 1"
    assert answer.findings[0].repairs[0].commands == ("sysctl -w net.ipv4.conf.all.rp_filter=0",)


def test_an_unknown_switch_is_a_possibility_and_a_question() -> None:
    """With nothing but a time-out to go by, podpath names what may be, and the command that
    tells.
    """
    answer = diagnose(case(cilium_node(known(GOOD), rp_filter=None), attempt(PROBE)))
    assert ("possible", 3) == (answer.verdict, answer.exit_code)
    assert answer.findings[0].check == "rp-filter"
    assert answer.findings[0].certainty < 1
    assert answer.questions[0].ask == "sysctl net.ipv4.conf.all.rp_filter"
    assert len(answer.questions[0].decides) == 2


@pytest.mark.parametrize("switch", ["0", None], ids=["stated", "unknown"])
def test_a_reply_past_netfilter_is_found(switch: str | None) -> None:
    """Where the capture shows the untranslated reply, the switch need not be stated."""
    answer = diagnose(
        case(bridged_node(switch), attempt(SERVICE, FailureKind.RESET), sightings=bridge_capture())  # type: ignore[arg-type]
    )
    assert ("fault", "br-netfilter") == (answer.verdict, answer.findings[0].check)
    assert "modprobe br_netfilter" in answer.findings[0].repairs[0].commands


def test_a_stated_fact_that_cannot_have_held_is_named() -> None:
    """The sysctl reads 1, a command loaded the module before it was read, and the capture shows
    that it was 0.
    """
    change = ChangeCommand(command="modprobe br_netfilter", span=span("# modprobe br_netfilter"))
    made = case(bridged_node("1"), attempt(SERVICE, FailureKind.RESET), sightings=bridge_capture())  # type: ignore[arg-type]
    answer = diagnose(replace(made, change_commands=(change,)))
    cause = answer.findings[0]
    assert ("fault", "br-netfilter") == (answer.verdict, cause.check)
    assert "net.bridge.bridge-nf-call-iptables = 1" in texts(cause.evidence)
    assert any("cannot have been true" in reason for reason in map(spell_link, cause.reasoning))


def test_a_failure_that_nothing_explains_is_undecided() -> None:
    """No cause is made up."""
    answer = diagnose(case(cilium_node(known(GOOD)), attempt(f"tcp {HOST_IP} > {OUTSIDE}:80")))
    assert (answer.verdict, answer.exit_code) == ("possible", 3)
    assert not [finding for finding in answer.findings if finding.certainty == 1]
    assert answer.notes


def test_a_probe_that_works_is_no_fault() -> None:
    """The user may ask about any connection."""
    answer = diagnose(case(whole(cilium_node(known(GOOD)))), (Probe.parse(PROBE),))
    assert ("none", "ALWAYS") == (answer.verdict, answer.conversations[0].verdict)


def test_a_probe_that_fails_is_explained() -> None:
    """No attempt in the evidence is needed."""
    answer = diagnose(case(cilium_node(known(BAD))), (Probe.parse(PROBE),))
    assert ("fault", "chain-order") == (answer.verdict, answer.findings[0].check)


def test_a_good_node_tells_what_differs() -> None:
    """The sysctl's value there is quoted beside the one here."""
    bad, good = (
        case(cilium_node(known(GOOD), rp_filter="1")),
        case(cilium_node(known(GOOD), rp_filter="0")),
    )
    cause = diagnose(bad, good=good).findings[0]
    assert any(
        "net.ipv4.conf.all.rp_filter is 1 here, and 0 where it works." in reason
        for reason in map(spell_link, cause.reasoning)
    )
    assert "net.ipv4.conf.all.rp_filter = 0" in texts(cause.evidence)


def test_every_cause_has_a_page() -> None:
    """What a diagnosis names can be looked up."""
    for made in (
        cilium_node(known(BAD)),
        cilium_node(known(GOOD), rp_filter="1"),
        bridged_node("0"),
    ):
        for finding in diagnose(case(made)).findings:
            assert find_check(finding.check) is not None


def test_a_connection_under_two_addresses_is_one() -> None:
    """The SYN's number joins the frames before and after the translation."""
    (connection,) = observe(handshake_capture())
    assert str(connection.probe) == PROBE
    assert [seen.kind for seen in connection.seen] == ["SYN", "SYN", "SYN-ACK", "ACK", "data"]
    assert {(lost.kind, lost.place.link) for lost in connection.missing} == {
        ("ACK", "eth0"),
        ("data", "eth0"),
    }


def test_an_attempt_and_its_capture_are_one_symptom() -> None:
    """The client's port does not tell them apart."""
    made = Case(
        node=cilium_node(known(BAD)),
        attempts=(attempt(f"tcp {POD} > {OUTSIDE}:80"), attempt(PROBE)),
        sightings=handshake_capture(),
    )
    (symptom,) = collect_symptoms(made, ())
    assert symptom.fails
    assert len(symptom.observed) == 1
    assert len(symptom.spans) == 2


def test_kinds_are_named_by_flags() -> None:
    """A reset with an acknowledgement is a reset; one with data is no plain ACK."""
    kinds = {
        flags: kind_of(frame("1.1.1.1:1 > 2.2.2.2:2", flags, "in a").packet)
        for flags in (0x02, 0x12, 0x10, 0x18, 0x14, 0x11)
    }
    assert list(kinds.values()) == ["SYN", "SYN-ACK", "ACK", "data", "RST", "FIN"]


def test_the_smallest_difference_of_two_chains() -> None:
    """A rule that moved is one difference, not two; one that only one of them has is one."""
    bad, good = forward_chain("A", "B", "C", name="bad"), forward_chain("C", "A", "B", name="good")
    assert [(item.kind, item.words) for item in compare_chains(bad, good)] == [
        ("moved", "C is rule 3 of FORWARD here, and rule 1 where it works")
    ]
    lacking = Chain(name="FORWARD", rules=good.rules[:2], policy=ChainPolicy.ACCEPT)
    assert [item.kind for item in compare_chains(lacking, good)] == ["missing"]
    assert [item.kind for item in compare_chains(good, lacking)] == ["extra"]


def test_connections_of_each_kind_are_derived() -> None:
    """Host to pod, pod to pod, pod to service, and outside."""
    spelled = {str(probe) for probe in derive_flows(bridged_node("1"))}
    assert f"tcp {HOST_IP} > 10.22.0.5:80 from host" in spelled
    assert "tcp 10.22.0.5 > 10.22.0.6:80 from pod-1" in spelled
    assert "tcp 10.22.0.5 > 10.96.0.7:80 from pod-1" in spelled
    assert any("> 192.0.2.80:443" in text for text in spelled)


def test_a_route_that_ends_packets_is_deleted() -> None:
    """A blackhole on the way out is named, and taking it away is proven."""
    made = cilium_node(known(GOOD))
    hole = replace(route("203.0.113.0/24", "eth0"), type="blackhole", nexthops=())
    routes = made.host.routes
    host = replace(made.host, routes=routes._replace(items=(*routes.items, hole)))
    made = replace(made, namespaces={**made.namespaces, "host": host})
    answer = diagnose(case(made, attempt(PROBE)))
    assert ("fault", "no-route") == (answer.verdict, answer.findings[0].check)
    assert answer.findings[0].repairs[0].proven == "simulated"


def test_a_rule_that_drops_is_named_where_somebody_complains() -> None:
    """The same rule may be policy where nobody does, towards the world: it is suspected then, and
    nothing is cleared.
    """
    drop = rule("FORWARD", 1, "DROP", in_link="lxc+")
    forward = replace(
        GOOD, rules=(drop, *(item._replace(position=item.position + 1) for item in GOOD.rules))
    )
    made = cilium_node(known(forward))
    unasked = diagnose(case(whole(made)))
    assert Verdict.POSSIBLE == unasked.verdict
    assert [("dropped-by-rule", SUSPECTED)] == [
        (finding.check, finding.certainty) for finding in unasked.findings
    ]
    answer = diagnose(case(made, attempt(PROBE)))
    assert ("fault", "dropped-by-rule") == (answer.verdict, answer.findings[0].check)
    assert answer.findings[0].evidence[0] == drop.span
