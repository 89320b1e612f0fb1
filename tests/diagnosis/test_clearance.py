"""The law of the all-clear: it is given where nothing forbids it, and evidence that is taken away
never brings it.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.clearance import WalkedConnection, forbid_all_clear, forbid_failure
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.forbids import (
    Forbids,
    NothingWalked,
    NotShown,
    RestsOnInference,
    RulesLeftOut,
    SomeBranchesFail,
)
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled
from podpath.diagnosis.verdict import Verdict
from podpath.net.nft import NftChainType, NftFamily, NftHook, NftPolicy
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, GapKind
from podpath.node.case import Case
from podpath.node.nftables import NftChain, NftTable
from podpath.node.node import HOST, Netns
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.json_documents import render_diagnosis_json
from podpath.report.style import Style
from tests.checks.nodes import span
from tests.clusters import healthy
from tests.diagnosis.scenes import GOOD, OUTSIDE, POD, case, cilium_node, known, whole
from tests.diagnosis.test_repairs import DROP, cause_of, node
from tests.report.diagnoses import diagnoses

PROBE = Probe.parse(f"tcp {POD}:5000 > {OUTSIDE}:80")
SOUND = case(whole(cilium_node(known(GOOD))))
LISTINGS = ("links", "addresses", "routes", "rules", "nftables")
WORDS = {
    Verdict.FAULT: ("CAUSE", "FAULT"),
    Verdict.POSSIBLE: ("UNDECIDED",),
    Verdict.NONE: ("NOTHING WRONG FOUND",),
}


def with_host(made: Case, host: Netns) -> Case:
    """Put another host into a case."""
    return replace(made, node=replace(made.node, namespaces={**made.node.namespaces, HOST: host}))


def kinds(answer: Diagnosis) -> list[type[Forbids]]:
    """Return the kinds of what forbids the all-clear."""
    return [type(one) for one in answer.forbids]


def test_a_whole_node_that_works_is_cleared() -> None:
    """Nothing forbids the all-clear, and exit code and headline give it."""
    answer = diagnose(SOUND, (PROBE,))
    assert (Verdict.NONE, (), 0) == (answer.verdict, answer.forbids, answer.exit_code)
    assert () == answer.questions


@pytest.mark.parametrize("asked", [True, False])
def test_what_a_tunnel_carries_away_forbids_it_where_somebody_asks(*, asked: bool) -> None:
    """Of a connection that any such node carries the node is in question, not the far end of its
    tunnel.
    """
    found = healthy()["node1"].facts
    probe = Probe.parse("tcp 10.244.1.2 > 10.244.0.3:8080")
    walked = WalkedConnection(probe, converse(found.node, probe), asked=asked)
    forbids = forbid_all_clear(found, (walked,))

    assert [RestsOnInference] * asked == [type(one) for one in forbids]


@pytest.mark.parametrize(("kept", "verdict"), [(True, Verdict.NONE), (False, Verdict.POSSIBLE)])
def test_a_table_of_connections_that_lost_entries_forbids_it(
    verdict: Verdict, *, kept: bool
) -> None:
    """A rule goes by the state of a connection: an entry that was lost may be the one that it
    meets.
    """
    host = SOUND.node.host
    tracked = host.conntrack._replace(complete=kept, span=span("conntrack -L"))
    answer = diagnose(with_host(SOUND, replace(host, conntrack=tracked)), (PROBE,))

    assert verdict is answer.verdict


@given(st.sets(st.sampled_from(LISTINGS), min_size=1))
def test_a_listing_that_is_not_whole_forbids_it(cut: set[str]) -> None:
    """What a listing that was cut does not show was only taken for absent."""
    host = SOUND.node.host
    partial = {name: getattr(host, name)._replace(complete=False) for name in cut}
    answer = diagnose(with_host(SOUND, replace(host, **partial)), (PROBE,))
    assert answer.verdict is Verdict.POSSIBLE
    assert NotShown in kinds(answer)


@given(st.sampled_from((GapKind.UNREAD, GapKind.CUT, GapKind.NOT_MODELLED)), st.text(max_size=20))
def test_a_line_that_was_not_read_forbids_it(kind: GapKind, why: str) -> None:
    """Garbage in place of a line, a cut file, a rule that the model does not know: each could hold
    what decides.
    """
    answer = diagnose(
        replace(SOUND, gaps=(Gap(span("-A FORWARD -j ?"), why, kind=kind),)), (PROBE,)
    )
    expected = {
        GapKind.UNREAD: LinesUnread,
        GapKind.CUT: InputCut,
        GapKind.NOT_MODELLED: NotModelled,
    }[kind]
    assert (Verdict.POSSIBLE, [expected]) == (answer.verdict, kinds(answer))


def test_a_line_of_a_log_forbids_nothing() -> None:
    """No line of a log decides what becomes of a packet."""
    aside = Gap(span("kubelet: something"), "expected a line of a log", kind=GapKind.ASIDE)
    assert diagnose(replace(SOUND, gaps=(aside,)), (PROBE,)).verdict is Verdict.NONE


@given(st.data())
def test_a_sysctl_that_is_taken_away_never_clears(data: st.DataObject) -> None:
    """A value that nobody states makes the walk ask, and what works only by one answer is not
    cleared.
    """
    host = SOUND.node.host
    gone = data.draw(st.sets(st.sampled_from(sorted(host.sysctls)), min_size=1))
    left = {key: value for key, value in host.sysctls.items() if key not in gone}
    answer = diagnose(
        with_host(SOUND, replace(host, sysctls=left, sysctls_complete=False)), (PROBE,)
    )
    deciding = {key for key in gone if key.endswith(("ip_forward", "all.rp_filter"))}
    assert not deciding or answer.verdict is Verdict.POSSIBLE
    assert not deciding or SomeBranchesFail in kinds(answer)


def test_nothing_walked_is_no_all_clear() -> None:
    """A node of which no connection is in question is not cleared, and the answer asks for one."""
    empty = whole(cilium_node(known(GOOD)))
    answer = diagnose(case(replace(empty, namespaces={HOST: empty.host})))
    assert (Verdict.POSSIBLE, 3, [NothingWalked]) == (
        answer.verdict,
        answer.exit_code,
        kinds(answer),
    )
    assert "--probe" in answer.questions[0].ask


@pytest.mark.parametrize("family", ["bridge", "arp"])
def test_chains_that_are_not_walked_forbid_it(family: str) -> None:
    """A table of a bridge or of ARP that drops could decide, and no walk goes through it."""
    chain = NftChain(
        name="forward", type=NftChainType.FILTER, hook=NftHook.FORWARD, policy=NftPolicy.DROP
    )
    table = NftTable(
        family=NftFamily(family),
        name="filter",
        chains={"forward": chain},
        span=span(f"table {family} filter {{"),
    )
    host = SOUND.node.host
    shown = host.nftables._replace(items=(*host.nftables.items, table))
    assert [NotModelled] == kinds(
        diagnose(with_host(SOUND, replace(host, nftables=shown)), (PROBE,))
    )


@given(diagnoses)
def test_json_exit_code_and_headline_say_the_same(diagnosis: Diagnosis) -> None:
    """All three follow from the verdict."""
    document = json.loads(render_diagnosis_json(diagnosis))
    headline = render_diagnosis(diagnosis, Style(width=100)).splitlines()[0]
    assert document["verdict"] == diagnosis.verdict.value
    assert diagnosis.exit_code == {"fault": 1, "possible": 3, "none": 0}[document["verdict"]]
    assert headline.startswith(tuple(f"{word}:" for word in WORDS[diagnosis.verdict]))


def test_an_all_clear_that_something_forbids_cannot_be_built() -> None:
    """The value itself refuses it."""
    with pytest.raises(AssertionError, match="an all-clear"):
        Diagnosis(verdict=Verdict.NONE, findings=(), forbids=(NothingWalked(),))


def test_a_branch_that_works_hides_none_that_fails_by_rules_left_out() -> None:
    """Each branch that fails is looked at, whatever stands before it."""
    dropped = cause_of(node(DROP)).trace
    made = Assumption("the rest of FORWARD", 1, "no rule of it matches", "iptables -S", 0, False)
    step = dropped.steps[-1]._replace(assumed=(made,))
    left_out = replace(dropped, steps=(*dropped.steps[:-1], step))
    branches = tuple(
        Branch(assumptions=(), traces=(trace,), works=works)
        for works, trace in ((True, dropped), (False, dropped), (False, left_out))
    )
    held = Conversation(
        probe=PROBE, branches=branches, verdict=Reachability.SOMETIMES, truncated=False
    )

    assert [(made,)] == [
        one.assumed for one in forbid_failure(held) if isinstance(one, RulesLeftOut)
    ]
    assert () == forbid_failure(replace(held, branches=branches[:2]))
