"""The playbook: what is asked next follows from the clues of a case, and nothing is asked that the
evidence holds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.clues import ShownPart, list_clues
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.playbook import MOST, ask_expert, fill, fill_words, is_asked, is_held, weigh
from podpath.diagnosis.plays.play import Play
from podpath.diagnosis.plays.table import list_plays
from podpath.diagnosis.verdict import Verdict
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Listing
from podpath.net.technologies import Emphasis, Technology
from podpath.node.case import Case
from podpath.node.routing import DEFAULT_RULES
from tests.assembly.evidence_text import case_of_document
from tests.checks.nodes import netns, node, span

EMPTY = Case(node=node(replace(netns("host"), netfilter={})))


def complain(*mentions: Technology, works: bool = False, **said: object) -> Case:
    """Make a case in which one sentence complains."""
    complaint = replace(Complaint(span=span("it fails"), works=works), **said)  # type: ignore[arg-type] # fields by name
    return replace(EMPTY, complaints=(complaint,), mentions=frozenset(mentions))


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (
            complain(failure=FailureKind.REFUSED, source=EndKind.POD, target=EndKind.SERVICE),
            "ss -tlnp",
        ),
        (
            complain(failure=FailureKind.HANGS, source=EndKind.POD, target=EndKind.OUTSIDE),
            "ping -M do",
        ),
        (complain(failure=FailureKind.NAME_NOT_RESOLVED, source=EndKind.POD), "resolv.conf"),
        (
            complain(
                Technology.VXLAN, Technology.FLANNEL, failure=FailureKind.TIMEOUT, same_node=False
            ),
            "ethtool -k",
        ),
        (complain(Technology.ESXI, failure=FailureKind.NO_ADDRESS), "promiscuous"),
        (
            complain(
                Technology.AWS,
                failure=FailureKind.TIMEOUT,
                source=EndKind.OUTSIDE,
                target=EndKind.NODE_PORT,
            ),
            "security-groups",
        ),
        (
            complain(Technology.CNI, failure=FailureKind.NOT_STARTED, source=EndKind.POD),
            "/etc/cni/net.d",
        ),
        (
            complain(source=EndKind.POD, target=EndKind.OUTSIDE, failure=FailureKind.TIMEOUT),
            "ip_forward",
        ),
        (complain(Technology.ISTIO, failure=FailureKind.ERROR_ANSWER), "istioctl proxy-config"),
        (complain(failure=FailureKind.SOMETIMES), "conntrack -S"),
        (complain(Technology.SECOND_INTERFACE, failure=FailureKind.TIMEOUT), "ip rule"),
        (
            complain(
                source=EndKind.POD,
                target=EndKind.SERVICE,
                same_node=True,
                failure=FailureKind.TIMEOUT,
            ),
            "br_netfilter",
        ),
        (complain(Technology.VANISHES), "NetworkManager"),
        (complain(Technology.RENAMED), "udev"),
        (complain(Technology.LIMIT), "ulimit"),
        (complain(Technology.DUPLICATE), "arping"),
        (complain(Technology.SOURCE_LOST), "MASQUERADE"),
        (complain(Technology.ACROSS, failure=FailureKind.TIMEOUT), "security-groups"),
        (complain(Technology.HEALTH_CHECK, Technology.AWS), "healthz"),
        (
            complain(
                Technology.EXTERNAL_NAME,
                Technology.COREDNS,
                failure=FailureKind.NAME_NOT_RESOLVED,
            ),
            "forward",
        ),
        (
            complain(
                Technology.HTTP_ERROR,
                Technology.AFTER_DEPLOY,
                Technology.KUBERNETES,
                failure=FailureKind.ERROR_ANSWER,
            ),
            "kubectl logs",
        ),
        (
            complain(Technology.LOCALHOST, Technology.NODE_PORT, failure=FailureKind.TIMEOUT),
            "route_localnet",
        ),
        (complain(Technology.CRASH_LOOP, failure=FailureKind.NOT_STARTED), "--previous"),
        (complain(Technology.CABLE), "ethtool"),
        (complain(Technology.MODULE), "lsmod"),
        (complain(Technology.SCRIPT), "cat -A"),
    ],
)
def test_expert_asks_for_what_the_clues_speak_for(case: Case, word: str) -> None:
    """Among the first three questions is the one that an expert asks there."""
    assert any(word in question.ask for question in ask_expert(case)[:3])


def test_rules_are_asked_for_late_where_nothing_points_to_filtering() -> None:
    """Names that fail are asked about first; where a port is refused or rules are spoken of, the
    rules are.
    """
    rules = next(play.ask for play in list_plays() if play.otherwise)
    names = ask_expert(complain(failure=FailureKind.NAME_NOT_RESOLVED, source=EndKind.POD))[:3]
    refused = ask_expert(
        complain(
            Technology.UFW,
            failure=FailureKind.REFUSED,
            source=EndKind.OUTSIDE,
            target=EndKind.NODE_PORT,
        )
    )[:3]

    assert (False, True) == (
        rules in {one.ask for one in names},
        rules in {one.ask for one in refused},
    )


def test_what_is_shown_in_part_is_a_clue() -> None:
    """A policy rule that somebody pasted makes an expert ask who writes rules, and what their
    tables hold.
    """
    shown = replace(
        netns("host"),
        rules=Listing(
            (replace(DEFAULT_RULES[4][0], span=span("0: from all lookup local")),), False, ""
        ),
    )
    case = replace(complain(), node=node(shown))

    assert ShownPart.POLICY_RULES in list_clues(case)
    assert any("ip monitor rule" in question.ask for question in ask_expert(case)[:3])


def test_nothing_is_asked_for_that_is_held() -> None:
    """A play whose output the evidence holds whole is left out."""
    play = Play(fact="f", ask="a", decides=(), held=frozenset({AnsweringOutput.RULESET}))

    assert (True, False) == (
        is_held(play, frozenset({AnsweringOutput.RULESET})),
        is_held(play, frozenset()),
    )


def test_play_needs_one_of_its_clues() -> None:
    """Without any of them it is not asked; with one, the clues that speak for it add up."""
    play = Play(
        fact="f",
        ask="a",
        decides=(),
        needs=frozenset({Technology.VLAN}),
        signs={Technology.VLAN: 5},
        base=1,
    )

    assert (0, 6) == (weigh(play, frozenset()), weigh(play, frozenset({Technology.VLAN})))


def test_commands_are_filled_in_with_what_is_said() -> None:
    """Addresses and ports of the complaint stand in the command; what nobody says stands there in
    capitals.
    """
    case = complain(addresses=(Address.parse("10.0.0.9"),), ports=(8080,))

    assert "nc 10.0.0.9 8080 DEVICE" == fill("nc {address} {port} {device}", fill_words(case))


def test_every_play_says_what_its_answers_mean_and_fills_in_every_word() -> None:
    """No brace is left in a command, and each question has at least two answers."""
    words = fill_words(EMPTY)

    assert [] == [
        play.fact
        for play in list_plays()
        if len(play.decides) < 2 or "{" in fill(play.ask, words).replace("{print", "")
    ]
    assert len(list_plays()) == len({play.ask for play in list_plays()})


def test_complaint_alone_is_undecided_with_the_experts_questions() -> None:
    """A ticket that holds a sentence and no output gets questions, not a verdict."""
    answer = diagnose(complain(failure=FailureKind.REFUSED))

    assert Verdict.POSSIBLE is answer.verdict
    assert "ss -tlnp" in answer.questions[0].ask
    assert MOST >= len(ask_expert(complain()))


LED = """\
Pods of this node cannot resolve names: lookups time out.

```
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0
$ ip route
default via 192.0.2.1 dev eth0
10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1
$ curl --max-time 2 http://10.244.1.7/
curl: (28) Connection timed out after 2000 milliseconds
$ conntrack -L
udp      17 21 src=10.244.1.5 dst=10.96.0.10 sport=57400 dport=53 [UNREPLIED] src=10.244.2.3 dst=10.244.1.5 sport=53 dport=57400 mark=0 use=1
udp      17 170 src=192.0.2.10 dst=10.96.0.10 sport=37337 dport=53 src=10.244.2.3 dst=192.0.2.10 sport=53 dport=37337 [ASSURED] mark=0 use=1
```
"""  # noqa: E501


def test_what_settles_the_finding_that_leads_is_asked_first() -> None:
    """Before what would let a walk go on that has no cause."""
    answer = diagnose(case_of_document(LED))

    assert "source-unanswered" == answer.findings[0].check
    assert answer.findings[0].asks[0].command == answer.questions[0].ask


def test_where_nothing_is_said_to_fail_no_expert_is_asked() -> None:
    """Then the connection in question is asked for."""
    assert (False, True) == (is_asked(EMPTY), is_asked(complain()))


def test_the_strongest_clues_weigh_and_weak_ones_add_nothing_to_them() -> None:
    """A question that many weak clues fit is not asked before one that fits well."""
    clues = [
        Technology.VLAN, Technology.VXLAN, Technology.FLANNEL, Technology.CALICO, Technology.CILIUM
    ]  # fmt: skip
    play = Play(fact="", ask="", decides=(), signs=dict(zip(clues, (1, 4, 2, 2, 2), strict=True)))

    assert 10 == weigh(play, frozenset(clues))


def test_what_a_text_begins_with_and_its_words_weigh_more() -> None:
    """The same clue counts half as much again at the text's beginning; a word that few plays have
    counts where the text has it, and nothing where no clue speaks for the play.
    """
    play = next(play for play in list_plays() if "rp_filter" in play.fact)
    clues = frozenset({Technology.SECOND_INTERFACE})
    bare = weigh(play, clues)
    opening = weigh(play, clues, Emphasis(clues, frozenset()))
    alike = weigh(play, clues, Emphasis(frozenset(), frozenset({"rp_filter", "log_martians"})))
    none = replace(play, base=0)

    assert 0.5 * play.signs[Technology.SECOND_INTERFACE] == opening - bare
    assert bare < alike
    assert 0 == weigh(none, frozenset(), Emphasis(frozenset(), frozenset({"rp_filter"})))


def test_the_first_question_is_about_what_the_text_begins_with() -> None:
    """Of two technologies that are spoken of alike, that of the text's beginning is asked about."""
    spoken = complain(
        Technology.MACVLAN, Technology.IPVS, failure=FailureKind.TIMEOUT, target=EndKind.SERVICE
    )
    asked = [
        ask_expert(replace(spoken, emphasis=(Emphasis(frozenset({begun}), frozenset()),)))[0].ask
        for begun in (Technology.MACVLAN, Technology.IPVS)
    ]

    assert ["macvlan" in asked[0], "ipvsadm" in asked[1]] == [True, True]
