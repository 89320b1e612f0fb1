"""What makes an explanation certain: all of it stated, and nothing that speaks against it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import podpath
from podpath.checks.finding import WEIGHTY
from podpath.datapath.conversations.places import UNSEEN
from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.explanations import Explanation, _made_up_start, is_certain
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.questions import _decides
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement, Supposition, World
from podpath.library.given import Pasted
from podpath.testing.nodes import given_netns, given_node, probe
from tests.diagnosis.test_repairs import DROP, cause_of, node

ROOT = Path(__file__).resolve().parents[2]
ASKED = probe("tcp 10.0.0.1 > 10.0.0.2:80")


def judged(fit: Fit, *, fails: bool) -> Judgement:
    """Judge a connection that was seen to fail or to work."""
    conversation = Conversation(
        probe=ASKED, branches=(), verdict=Reachability.UNDECIDED, truncated=False
    )
    return Judgement(Symptom(probe=ASKED, fails=fails), conversation, None, fit)


def explanation(*judgements: Judgement) -> Explanation:
    """Return a world without a guess, and what it makes of connections."""
    return Explanation(world=World(given_node(), ()), judgements=judgements, blames=())


def test_an_explanation_breaks_what_worked_and_fails_in_it() -> None:
    """A connection that failed and works in it is contradicted, not broken."""
    worked = judged(Fit.CONTRADICTS, fails=False)
    failed = judged(Fit.CONTRADICTS, fails=True)

    assert (1, 1) == (explanation(worked).broken, explanation(worked).contradicted)
    assert (0, 1) == (explanation(failed).broken, explanation(failed).contradicted)


def test_what_breaks_a_connection_that_works_is_never_certain() -> None:
    """However much of it is stated."""
    sound = explanation(judged(Fit.KEEPS, fails=False))
    broken = explanation(judged(Fit.CONTRADICTS, fails=False))

    assert is_certain(sound, (sound,))
    assert not is_certain(broken, (broken,))


def test_possibilities_are_counted_from_one() -> None:
    """As a list on paper is."""
    guess = Supposition("FORWARD", "it drops", "it accepts", "iptables -S FORWARD", None)
    first, second = (
        Explanation(world=World(given_node(), made), judgements=(), blames=())
        for made in ((guess,), ())
    )

    assert ["possibility 1", "possibility 2"] == [
        word
        for line in _decides((first, second), 0, guess)
        for word in re.findall(r"possibility \d", line)
    ]


NODE = """\
$ ip -br addr
lo               UNKNOWN        127.0.0.1/8
eth0             UP             192.168.1.10/24
cni0             UP             10.244.0.1/24
$ ip route
default via 192.168.1.1 dev eth0
10.244.0.0/24 dev cni0 proto kernel scope link src 10.244.0.1
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.10
$ iptables-save -t nat
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
COMMIT
$ tcpdump -ni eth0
"""


@pytest.mark.parametrize("connections", [1, 5])
def test_what_left_and_has_no_answer_is_never_certain(connections: int) -> None:
    """However many connections ask: nobody saw an answer, and a silent far end looks the same."""
    lines = (
        f"10:00:0{second}.0{port} IP 10.244.0.7.4000{port} > 198.51.100.7.443: Flags [S], "
        f"seq {port + 1}, win 64240, length 0\n"
        for second in (1, 2, 4)
        for port in range(connections)
    )
    found = podpath.diagnose(Pasted(NODE + "".join(lines), "console.txt"))
    causes = [one for one in found.findings if one.severity in WEIGHTY]

    assert ["missing-masquerade"] == [one.check for one in causes]
    assert [] == [one for one in causes if one.certainty == 1]


@pytest.mark.parametrize(
    ("device", "guesses"), [(UNSEEN.name, 1), ("(port of cni0)", 0), ("eth0", 0)]
)
def test_the_device_of_a_sender_that_nothing_shows_is_a_guess(device: str, guesses: int) -> None:
    """Behind a bridge it is none that matters: rules see the bridge."""
    trace = cause_of(node(DROP)).trace
    steps = tuple(step._replace(netns="host", link=device) for step in trace.steps)
    branch = Branch(
        assumptions=(), traces=(replace(trace, start="host", steps=steps),), works=False
    )
    host = given_netns("host", "cni0 bridge", "eth0")
    judgement = judged(Fit.EXPLAINS, fails=True)._replace(
        symptom=Symptom(probe=ASKED, fails=True, asked=True), branch=branch
    )

    assert guesses == len(list(_made_up_start(World(given_node(host), ()), judgement)))


def test_a_certain_cause_is_told_of_a_connection_that_is_seen() -> None:
    """An address that nothing speaks of is asked about: that its packets fail alike rests on a
    guess, so the cause is told of those that the evidence shows, with their fix.
    """
    asked = podpath.diagnose(
        ROOT / "examples" / "incidents" / "rp-filter-reset" / "bundle",
        ["tcp 10.88.5.16 > 192.168.77.11:6443"],
    )

    first = asked.diagnosis.findings[0]
    assert ("rp-filter", 1.0) == (first.check, first.certainty)
    shown = first.shown_by
    assert shown is not None
    failed = shown.traces[-1].packet
    assert "10.88.5.61" in {str(failed.src), str(failed.dst)}
    assert any(repair.commands for repair in first.repairs)


DROPS = frozenset({"forward-policy", "ip-forward"})


@pytest.mark.parametrize(
    ("error", "guessed"), [("i/o timeout", DROPS), ("read: connection refused", frozenset())]
)
def test_a_silent_drop_that_nobody_states_explains_no_refusal(
    error: str, guessed: frozenset[str]
) -> None:
    """Of an answer that stayed out it may be the cause."""
    line = f"lookup quay.io on 10.77.0.1:53: read udp 10.77.0.9:41234->10.77.0.1:53: {error}"
    text = f"Images cannot be pulled by the virtual machine:\n\n```\n{line}\n```\n"
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert guessed == DROPS & {one.check for one in found}
