"""Drops in words: what stands in the first line, and how each agreement is said."""

from __future__ import annotations

import pytest

from podpath.checks.owned import OwnerPlaces
from podpath.datapath.reasons.devices import LinkDown
from podpath.datapath.reasons.failures import NobodyListens
from podpath.datapath.tracing.trace import Step
from podpath.datapath.vocabulary import DropCause, StageName, StepDecision
from podpath.diagnosis.freed import DropAgreement, DropExplanation
from podpath.drops.events import DropKey, DropNames, DropNotes
from podpath.drops.tally import FlowCount
from podpath.net import protocols
from podpath.net.owners import Owned, OwnedKind, OwnerSign, name_owner
from podpath.net.packet import Packet
from podpath.report.drop_text import (
    MEANINGS,
    render_drop,
    render_losses,
    render_rates,
    spell_drop,
    spell_flow,
)
from podpath.report.style import Style
from podpath.testing.nodes import ip, span

PACKET = Packet(ip("10.0.0.1"), ip("10.0.0.2"), protocols.TCP, 40000, 80, protocols.SYN)
KEY = DropKey("DEV_READY", 1, 7, 2, 2, 0x0800, 6, protocols.SYN, 40000, 80, PACKET.src, PACKET.dst)
STEP = Step(
    StageName.DEVICE_RECEIVE, "host", "net/core/dev.c:enqueue_to_backlog v6.12", PACKET, PACKET,
    StepDecision.DROP, LinkDown("eth0"),
)  # fmt: skip


def explanation(agreement: DropAgreement, **more: object) -> DropExplanation:
    """Return an explanation in the host on eth0."""
    fields: dict[str, object] = {"netns": "host", "link": "eth0", "step": STEP} | more
    return DropExplanation(agreement=agreement, **fields)  # type: ignore[arg-type]  # as a test gives them


def test_a_drop_is_told_in_its_first_line() -> None:
    """Time, reason, packet, place and function, and under them what did it with its line."""
    found = explanation(DropAgreement.NAMED, spans=(span("eth0: <BROADCAST>", "ip-link.txt"),))

    assert render_drop(KEY, "enqueue_to_backlog+0x1", found, Style(), clock="01:02:03.004") == (
        "01:02:03.004 DEV_READY tcp 10.0.0.1:40000 > 10.0.0.2:80 [SYN] in host on eth0"
        " (enqueue_to_backlog+0x1)\n"
        "    device receive: eth0 is down\n"
        "    ip-link.txt:1 | eth0: <BROADCAST>\n"
    )


def test_whose_the_line_is_stands_below_it() -> None:
    """And when it is written again."""
    line = span("a rule")
    owner = name_owner(OwnerSign.CHAIN, "ufw-user-input")
    assert owner is not None
    rule = Owned(OwnedKind.RULE, "ufw-user-input 1", "", line, owner)
    found = explanation(DropAgreement.NAMED, spans=(line,), owners=OwnerPlaces({line: (rule,)}))

    assert render_drop(KEY, "f+0x1", found, Style(), clock="0").splitlines()[-1] == (
        "    written by ufw, again at `ufw reload`, and at boot: rule ufw-user-input 1"
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            explanation(DropAgreement.OTHERWISE),
            ("the model ends it too, but in another way, in host"),
        ),
        (explanation(DropAgreement.UNDECIDED), "undecided: device receive"),
        (explanation(DropAgreement.DISAGREES, step=None), "the model lets it pass"),
        (explanation(DropAgreement.ELSEWHERE), "not an IP packet"),
        (explanation(DropAgreement.ELSEWHERE, netns=""), "none of this node's namespaces"),
        (explanation(DropAgreement.OUTSIDE, step=None), MEANINGS["DEV_READY"]),
        (explanation(DropAgreement.NAMED, unheard=NobodyListens("packet", "host", PACKET)), "80"),
    ],
)
def test_each_agreement_has_its_words(found: DropExplanation, words: str) -> None:
    """What the model makes of a drop is said as it is."""
    assert words in spell_drop(KEY, found)


def test_a_table_is_said_to_be_full_of_what_netfilter_dropped_alone() -> None:
    """Of another reason, the lines are those of the device."""
    found = explanation(DropAgreement.DISAGREES, step=None, spans=(span("count = 1"),))
    filtered = KEY._replace(reason="NETFILTER_DROP")

    assert "connection tracking table is full" in spell_drop(filtered, found)
    assert spell_drop(KEY, found) == "the model lets it pass"


def test_an_old_model_says_its_age() -> None:
    """A disagreement with a node that was read long before the drop is said to be of that node."""
    found = explanation(DropAgreement.DISAGREES, step=None)

    assert "30 s earlier" in render_drop(
        KEY, "f", found, Style(), clock="", notes=DropNotes(age=30.0)
    )
    assert "podpath and this kernel disagree" in render_drop(KEY, "f", found, Style(), clock="")


def test_meanings_are_of_reasons_that_the_model_does_not_have() -> None:
    """A reason of the model needs no meaning: the step has one. Those that a device's state decides
    may have both.
    """
    assert set(MEANINGS) & set(DropCause) == set()


def test_pods_are_called_by_their_names() -> None:
    """Ends that are pods of the node, and the pod in which it was dropped."""
    names = DropNames("web-0", "shop/web-0", "shop/web-0", "shop/api-0")
    text = render_drop(
        KEY, "f", explanation(DropAgreement.DISAGREES), Style(), clock="", notes=DropNotes(names)
    )
    assert "from shop/web-0 to shop/api-0 in shop/web-0 on eth0 (f)" in text


def test_rates_are_told_by_flow() -> None:
    """Each flow has a line, ports that clients drew are stars, and the rest is counted."""
    flow = FlowCount(KEY._replace(sport=0), 30, 0)
    text = render_rates(
        [flow, flow, flow], [DropNames("host"), DropNames()], 2.0, Style(), "01:02:03.004"
    )

    assert text == (
        "01:02:03.004     15.0/s DEV_READY tcp 10.0.0.1:* > 10.0.0.2:80 [SYN] in host\n"
        "01:02:03.004     15.0/s DEV_READY tcp 10.0.0.1:* > 10.0.0.2:80 [SYN]\n"
        "01:02:03.004 and 1 more flows\n"
    )
    assert (
        spell_flow(KEY._replace(protocol=protocols.UDP, dport=0))
        == "udp 10.0.0.1:40000 > 10.0.0.2:*"
    )


def test_losses_are_told_where_there_are_any() -> None:
    """What was told in full has no words."""
    assert render_losses(0, 0, 0) == ""
    assert render_losses(3, 0, 5) == "3 not received, 5 flows counted without a sample packet"
    assert "2 not counted for any flow" in render_losses(0, 2, 0)


def test_a_namespace_that_the_source_does_not_tell_is_not_said_to_be_foreign() -> None:
    """The trace event names none."""
    found = DropExplanation(agreement=DropAgreement.ELSEWHERE)
    assert spell_drop(KEY._replace(inode=0), found) == "in a namespace that is not known"
